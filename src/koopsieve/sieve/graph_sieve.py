"""What a sieve is, anything that gives a path of ever smaller sets of terms; and the paper's own one (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.execution import Progress, silent
from koopsieve.identify import Estimate, Identifier, SpikeSlab
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.algorithm_2 import reduce


class TermSet(Protocol):
    """A set of terms on the path."""

    @property
    def retained(self) -> IndexArray:
        """Increasing indices of the terms kept."""
        ...

    @property
    def elbo(self) -> float:
        """Bound of the evidence for it; nan where a sieve does not weigh evidence."""
        ...


class Sieve(Protocol):
    """Anything that gives sets of terms of different sizes.

    What it sifts decides in which forms it can be used. The graph sieve and the horizon sieve take the
    `RegressionStatistics` of the observables, the simulation sieve a `SimulationProblem`. A sieve says so in the class
    variable `sifts`; without it, it is taken for one of statistics.
    """

    def path(self, problem: Any, path_length: int, progress: Progress = silent) -> Sequence[TermSet]:
        """Return about `path_length` sets, the smallest first."""
        ...


def sifted_by(sieve: object) -> type[Any]:
    """Return the kind of problem that a sieve sifts."""
    kind: type[Any] = getattr(sieve, "sifts", RegressionStatistics)
    return kind


@dataclass(frozen=True, eq=False)
class GraphSet:
    """What the paper's reduction kept.

    Parameters
    ----------
    retained : array of int
        Increasing indices.
    elbo : float
        Sum of the targets' bounds.
    estimate : Estimate
        The inclusion probabilities behind it.
    """

    retained: IndexArray
    elbo: float
    estimate: Estimate


@dataclass(frozen=True)
class GraphSieve:
    """Spike and slab one step ahead, then the ancestors of the outputs.

    Parameters
    ----------
    identifier : Identifier
        Gives the inclusion probabilities; by default `SpikeSlab()`.
    threshold : float
        Inclusion from which one observable counts as driving another.
    """

    sifts: ClassVar[type[RegressionStatistics]] = RegressionStatistics

    identifier: Identifier = field(default_factory=SpikeSlab)
    threshold: float = 0.1

    def path(
        self, problem: RegressionStatistics, path_length: int, progress: Progress = silent
    ) -> tuple[GraphSet, ...]:
        """Return the one set that the paper keeps, whatever length is asked for."""
        (estimate,) = (self.identifier.identify(problem) for _ in progress(range(1), "Inferring", 1))
        retained = reduce(estimate.inclusion, problem.outputs, self.threshold).retained
        return (GraphSet(retained, float(np.sum(estimate.elbo)), estimate),)
