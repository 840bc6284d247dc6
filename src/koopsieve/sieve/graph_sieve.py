"""The paper's own sieve: spike and slab one step ahead, then the ancestors of the outputs (Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.execution import Progress, silent
from koopsieve.identify import Estimate, Identifier, SpikeSlab
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.algorithm_2 import reduce


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
