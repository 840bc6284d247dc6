"""The linear form: statistics of learning and validation data, a sieve of the observables, refits, a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate import simulation_errors
from koopsieve.execution import one_blas_thread
from koopsieve.identify import Estimate, Identifier, LeastSquares, SpikeSlab
from koopsieve.model import LiftedModel
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.forms.refits import Refitted, Refitter, default_refits
from koopsieve.sieve.forms.search import FormSearch, Outcome, Task, compressed, filled
from koopsieve.sieve.horizon import HorizonSieve
from koopsieve.sieve.path import PathPoint, SievePath, chosen_point
from koopsieve.sieve.protocol import Candidate, Sieve


@dataclass(frozen=True, eq=False)
class LinearSearch(FormSearch):
    """Search a linear model on the observables of a dictionary.

    Parameters
    ----------
    sieve : Sieve
        Gives the family of sets; by default `HorizonSieve()`.
    refits : mapping from name to Identifier
        Each set gets the one that predicts best; by default least squares one step ahead and over the horizons.
    stable : bool
        Move eigenvalues outside the unit circle onto it where that costs no accuracy on the validation windows.
    explain : Identifier
        Says what drives what among the kept observables.
    """

    form: ClassVar[str] = "linear"

    sieve: Sieve = field(default_factory=HorizonSieve)
    refits: Mapping[str, Identifier] = field(default_factory=default_refits)
    stable: bool = True
    explain: Identifier = field(default_factory=SpikeSlab)

    def search(self, task: Task) -> Outcome:
        """Compress both parts, sieve the learning part, refit and choose on validation windows, relearn on both."""
        phi = task.dictionary.linear()
        learned, both = compressed(task, phi, filled(task.horizons))
        refitter = Refitter(task.windows, task.horizons, self.refits, self.stable)
        with one_blas_thread():
            candidates = with_plain_linear(self.sieve.path(learned, task.steps, task.progress), phi)
            fits = [
                refitter(learned.select(candidate.retained), phi.select(candidate.retained))
                for candidate in task.progress(candidates, "Refitting", len(candidates))
            ]
            points = tuple(_point(one, fit, learned, task) for one, fit in zip(candidates, fits, strict=True))
            chosen = chosen_point(points, task.max_terms)
            kept = points[chosen].retained
            small = both.select(kept)
            model, status = refitter.again(fits[chosen], small, phi.select(kept))
        whole = getattr(candidates[chosen], "estimate", None)  # a sieve that decides by the graph shows its own
        return Outcome(
            path=SievePath(self.form, points, task.horizons, chosen, phi.size),
            model=model,
            status=status,
            everything=(_least_squares(learned, task), _least_squares(both, task)),
            dictionary=phi,
            statistics=both,
            kept=small,
            explain=self.explain,
            decided=whole if isinstance(whole, Estimate) else None,
        )


@dataclass(frozen=True, eq=False)
class PlainLinear:
    """The states and the constant, nothing lifted: with delays a plain ARX model."""

    retained: IndexArray
    elbo: float = np.nan


def with_plain_linear(candidates: Sequence[Candidate], phi: Dictionary) -> tuple[Candidate, ...]:
    """Return the candidates with the plain linear set among them, so that the choice never loses to it.

    A single candidate stays alone: it was decided by something else than the validation windows.
    """
    constant = [i for i, name in enumerate(phi.names) if name == "1"]
    plain = np.unique([*phi.state_positions[phi.state_positions >= 0], *constant]).astype(np.intp)
    known = any(np.array_equal(plain, candidate.retained) for candidate in candidates)
    if len(candidates) == 1 or known:
        return tuple(candidates)
    return tuple(sorted([*candidates, PlainLinear(plain)], key=lambda candidate: len(candidate.retained)))


def _point(candidate: Candidate, fit: Refitted, statistics: RegressionStatistics, task: Task) -> PathPoint:
    names, runs = (
        tuple(statistics.observables[i] for i in candidate.retained),
        simulation_errors(fit.model, task.windows),
    )
    return PathPoint(candidate.retained, names, candidate.elbo, fit.errors, runs, fit.model, fit.refit, fit.status)


def _least_squares(statistics: RegressionStatistics, task: Task) -> LiftedModel:
    return LiftedModel.from_estimate(LeastSquares().identify(statistics), task.dictionary.linear())
