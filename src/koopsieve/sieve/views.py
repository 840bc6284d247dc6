"""What files, figures and reports look at in a result: which model the errors are of, and all models side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.evaluate import Errors
from koopsieve.model import LiftedModel, Model
from koopsieve.sieve.result import EVERYTHING, LINEAR, PERSISTENCE, SIFTED, SieveResult


@runtime_checkable
class FittedEstimator(Protocol):
    """An estimator after `fit`: `KoopmanSieve` is one."""

    result_: SieveResult


Sifted = SieveResult | FittedEstimator


def result_of(given: Sifted) -> SieveResult:
    """Return the result itself, or that of a fitted estimator.

    Raises
    ------
    KoopsieveError
        If it is neither.
    """
    found = given.result_ if isinstance(given, FittedEstimator) else given
    if not isinstance(found, SieveResult):
        raise KoopsieveError(
            f"Expected the result of sift(), or a KoopmanSieve after fit(). Got {type(given).__name__}; "
            "call sift(...) or fit(...) first."
        )
    return found


def judged_model(result: SieveResult) -> Model:
    """Return the model that the errors are of: before it learned from the validation data, if they are on these."""
    return result.path.choice.model if result.judged.on == "validation" else result.model


@dataclass(frozen=True, eq=False)
class Contender:
    """One model in the table of all: the sifted one, a baseline, or a further method.

    Parameters
    ----------
    name : str
        Of the model or the method.
    label : str
        The name, and for a further method whether it uses all terms or those kept.
    model : Model
    errors : Errors
        On the judged data.
    terms : int
        Number of regressors, drives included.
    of_kept : bool
        Whether it uses the kept terms only.
    """

    name: str
    label: str
    model: Model
    errors: Errors
    terms: int
    of_kept: bool

    @property
    def condition_number(self) -> float:
        """κ(Aᵀ); nan for a form without a matrix A."""
        return self.model.condition_number if isinstance(self.model, LiftedModel) else np.nan

    @property
    def spectral_radius(self) -> float:
        """Largest absolute eigenvalue of A; nan for a form without it."""
        return self.model.spectral_radius if isinstance(self.model, LiftedModel) else np.nan


def contenders(result: SieveResult) -> tuple[Contender, ...]:
    """Return the sifted model, the baselines, then each further method on all candidates and on those kept."""
    found = [Contender(SIFTED, SIFTED, result.model, result.errors, result.terms, of_kept=True)]
    for name in (LINEAR, EVERYTHING, PERSISTENCE):
        baseline = result.baselines[name]
        terms = len(baseline.model.output_names) if name == PERSISTENCE else _regressors(baseline.model)
        found.append(Contender(name, name, baseline.model, baseline.errors, terms, of_kept=False))
    for name, one in result.comparison.items():
        for which, fit in (("all", one.full), ("kept", one.reduced)):
            label, terms = f"{name}, {which}", _regressors(fit.model)
            found.append(Contender(name, label, fit.model, fit.errors, terms, of_kept=which == "kept"))
    return tuple(found)


def _regressors(model: Model) -> int:
    return len(model.dictionary.regressors)
