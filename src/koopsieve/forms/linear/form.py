"""The linear form: statistics of learning and validation data, a sieve of the observables, refits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate import simulation_errors
from koopsieve.forms.form import Candidates, Form, Outcome, short_or_whole
from koopsieve.forms.linear.model import LinearModel
from koopsieve.forms.linear.refits import Refitted, Refitter, default_refits
from koopsieve.forms.path import PathPoint
from koopsieve.forms.task import Task, filled, learning_statistics, with_validation
from koopsieve.identify import Estimate, Identifier, LeastSquares
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve.algorithm_2 import Sieve, TermSet
from koopsieve.sieve.horizon import HorizonSieve


@dataclass(frozen=True, eq=False)
class LinearForm(Form):
    """Linear models on the observables of a dictionary."""

    model: ClassVar[type[LinearModel]] = LinearModel
    linear_in_delays: ClassVar[bool] = True

    sieve: Sieve = field(default_factory=HorizonSieve)  # gives the family of sets; by default `HorizonSieve()`
    # from name to Identifier: each set gets the one that predicts best; by default least squares one step ahead and
    # over the horizons
    refits: Mapping[str, Identifier] = field(default_factory=default_refits)
    # move eigenvalues outside the unit circle onto it where that costs no accuracy on the validation windows
    stable: bool = True

    @property
    def fits_per_set(self) -> int:
        """Number of refits."""
        return len(self.refits)

    def candidates(self, task: Task) -> LinearCandidates:
        """Compress and sieve the learning part; refit every set and judge it on the validation windows."""
        phi = self.observables(task.dictionary)
        learned = learning_statistics(task, phi, filled(task.horizons))
        refitter = Refitter(task.windows, task.horizons, self.refits, self.stable)

        def search(path_length: int) -> LinearCandidates:
            sets = with_plain_linear(self.sieve.path(learned, path_length, task.progress), phi)
            fits = [
                refitter(learned.select(one.retained), phi.select(one.retained))
                for one in task.progress(sets, "Refitting", len(sets))
            ]
            points = tuple(_point(one, fit, learned, task) for one, fit in zip(sets, fits, strict=True))
            return LinearCandidates(self, task, phi, points, sets, learned, refitter)

        return short_or_whole(task, search)


@dataclass(frozen=True, eq=False)
class LinearCandidates(Candidates):
    """The path of linear models, and what it takes to learn one of them anew."""

    form: LinearForm
    sets: tuple[TermSet, ...]  # what the sieve gave, point by point
    learned: RegressionStatistics  # of the learning part
    refitter: Refitter

    def refitted(self, chosen: Sequence[int], data: Trajectories) -> tuple[LinearModel, ...]:
        """Refit some sets in the same way to other data."""
        found = compress(data, self.dictionary, horizons=filled(self.task.horizons), executor=self.task.executor)
        models = []
        for point in (self.points[i] for i in chosen):
            small, kept = self.dictionary.select(point.retained), found.select(point.retained)
            models.append(self.refitter.again(point, kept, small)[0])
        return tuple(models)

    def relearn(self, chosen: int) -> Outcome:
        """Refit one set in the same way on learning and validation data together."""
        phi, kept = self.dictionary, self.points[chosen].retained
        both = with_validation(self.learned, self.task, phi, filled(self.task.horizons))
        small = both.select(kept)
        model, status = self.refitter.again(self.points[chosen], small, phi.select(kept))
        whole = getattr(self.sets[chosen], "estimate", None)  # a sieve that decides by the graph shows its own
        return Outcome(
            path=self.path(chosen),
            model=model,
            status=status,
            everything=(_least_squares(self.learned, phi), _least_squares(both, phi)),
            dictionary=phi,
            statistics=both,
            kept=small,
            always_kept=phi.input_term_names,
            decided=whole if isinstance(whole, Estimate) else None,
        )


@dataclass(frozen=True, eq=False)
class PlainLinear:
    """The states and the constant, nothing lifted: with delays a plain ARX model."""

    retained: IndexArray
    elbo: float = np.nan


def with_plain_linear(candidates: Sequence[TermSet], phi: Dictionary) -> tuple[TermSet, ...]:
    """Return the candidates with the plain linear set among them, so that the choice never loses to it.

    A single candidate stays alone: it was decided by something else than the validation windows.
    """
    constant = set(range(phi.size)) - set(phi.varying.tolist())
    plain = np.unique([*phi.state_positions[phi.state_positions >= 0], *constant]).astype(np.intp)
    known = any(np.array_equal(plain, candidate.retained) for candidate in candidates)
    if len(candidates) == 1 or known:
        return tuple(candidates)
    return tuple(sorted([*candidates, PlainLinear(plain)], key=lambda candidate: len(candidate.retained)))


def _point(candidate: TermSet, fit: Refitted, statistics: RegressionStatistics, task: Task) -> PathPoint:
    names, runs = (
        tuple(statistics.observables[i] for i in candidate.retained),
        simulation_errors(fit.model, task.windows),
    )
    return PathPoint(candidate.retained, names, candidate.elbo, fit.errors, runs, fit.model, fit.refit, fit.status)


def _least_squares(statistics: RegressionStatistics, phi: Dictionary) -> LinearModel:
    return LinearModel.from_estimate(LeastSquares().identify(statistics), phi)
