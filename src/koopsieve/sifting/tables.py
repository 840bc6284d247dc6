"""A result as rows of a table: its models side by side, and its terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from koopsieve.evaluate import Errors
from koopsieve.forms import Model
from koopsieve.identify import Estimate
from koopsieve.sifting.judge import EVERYTHING, LINEAR, PERSISTENCE, SIFTED
from koopsieve.sifting.result import SieveResult


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
        On the evaluation data.
    terms : int
        Number of regressors, input terms included.
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
        return self.model.condition_number

    @property
    def spectral_radius(self) -> float:
        """Largest absolute eigenvalue of A; nan for a form without it."""
        return self.model.spectral_radius


def contenders(result: SieveResult) -> tuple[Contender, ...]:
    """Return the sifted model, the baselines, then each further method on all candidates and on those kept."""
    found = [Contender(SIFTED, SIFTED, result.model, result.errors, result.n_terms, of_kept=True)]
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
    return len(model.term_names)


def term_rows(result: SieveResult) -> list[dict[str, Any]]:
    """Return every term of the model with its formula, and what it adds to what it drives one step ahead."""
    from koopsieve.export.formulas import formulas  # SymPy is loaded where it is used

    model, terms = result.model, result.model.output_terms()
    texts = formulas(model.step_dictionary)
    probability = probabilities(result.explanation)
    return [
        {
            "name": name,
            "formula": texts.get(name, name),
            "coefficient": dict(zip(model.driven_names, map(float, row), strict=True)),
            "probability": {o: probability[o][name] for o in model.driven_names if name in probability.get(o, {})},
        }
        for name, row in zip(terms.names, terms.coef, strict=True)
    ]


def probabilities(found: Estimate) -> dict[str, dict[str, float]]:
    """Return the inclusion probabilities by target, then by regressor."""
    columns = zip(found.targets, found.inclusion.T, strict=True)
    return {target: dict(zip(found.regressors, map(float, column), strict=True)) for target, column in columns}
