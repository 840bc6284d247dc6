"""The paper's own sieve: spike and slab one step ahead, then the ancestors of the outputs in the graph (Algorithm 2).

As in the paper it gives one set. Swept, the prior odds go from generous to strict and give a path of sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from koopsieve._types import IndexArray, KoopsieveError
from koopsieve.execution import Progress, silent
from koopsieve.identify import Estimate, Identifier, SpikeSlab, Start
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.reduction import reduce

_ALIKE = 0.98  # sets whose sizes differ by less tell nothing new


@dataclass(frozen=True, eq=False)
class GraphCandidate:
    """What the paper's reduction kept.

    Parameters
    ----------
    retained : array of int
        Increasing indices.
    elbo : float
        Sum of the targets' bounds.
    estimate : Estimate
        The inclusion probabilities behind it.
    worth : float
        How strict the prior was: see `SpikeSlabPrior.worth`.
    """

    retained: IndexArray
    elbo: float
    estimate: Estimate
    worth: float = 0.0


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

    identifier: Identifier = field(default_factory=SpikeSlab)
    threshold: float = 0.1

    def path(
        self, statistics: RegressionStatistics, steps: int, progress: Progress = silent
    ) -> tuple[GraphCandidate, ...]:
        """Return the one set that the paper keeps."""
        (estimate,) = (self.identifier.identify(statistics) for _ in progress(range(1), "Inferring", 1))
        retained = reduce(estimate.inclusion, statistics.outputs, self.threshold).retained
        return (GraphCandidate(retained, float(np.sum(estimate.elbo)), estimate),)


@dataclass(frozen=True)
class SweptGraphSieve:
    """The paper's sieve, its prior odds swept from generous to strict by `SpikeSlabPrior.worth`.

    Each inference is warm-started from the one before. Half of the steps are spaced evenly in log worth; the others go
    where neighbours differ most in size.

    Parameters
    ----------
    identifier : SpikeSlab
        Its prior's `worth` is replaced along the path; its starts are used for the first step only. By default it
        settles to a hundredth of a nat, which is enough to tell on which side of the threshold an inclusion is, and
        does not average: each step is to start from one answer.
    threshold : float
        Inclusion from which one observable counts as driving another.
    generous, strict : float
        The ends of the sweep.
    """

    identifier: SpikeSlab = field(
        default_factory=lambda: SpikeSlab(starts=(Start.RIDGE,), tolerance=1e-2, averaged=False)
    )
    threshold: float = 0.1
    generous: float = 1e-2
    strict: float = 30.0

    def __post_init__(self) -> None:
        if not 0 < self.generous < self.strict < np.inf:
            raise KoopsieveError(
                f"The sweep goes from generous to strict, both positive. Got {self.generous} to {self.strict}."
            )

    def path(
        self, statistics: RegressionStatistics, steps: int, progress: Progress = silent
    ) -> tuple[GraphCandidate, ...]:
        """Return the candidates, the smallest first; of those nearly alike in size one."""
        return _different(list(progress(self._swept(statistics, steps), "Sweeping the prior odds", steps)))

    def _swept(self, statistics: RegressionStatistics, steps: int) -> Iterator[GraphCandidate]:
        found: list[GraphCandidate] = []
        for worth in np.geomspace(self.generous, self.strict, max(2, (steps + 1) // 2)):
            found.append(self._candidate(statistics, float(worth), found[-1] if found else None))
            yield found[-1]
        while len(found) < steps:
            jumps = [len(a.retained) - len(b.retained) for a, b in pairwise(found)]
            widest = int(np.argmax(np.abs(jumps)))
            if abs(jumps[widest]) <= 1 or found[widest + 1].worth < 1.001 * found[widest].worth:
                break
            between = float(np.sqrt(found[widest].worth * found[widest + 1].worth))
            found.insert(widest + 1, self._candidate(statistics, between, found[widest]))
            yield found[widest + 1]

    def _candidate(
        self, statistics: RegressionStatistics, worth: float, before: GraphCandidate | None
    ) -> GraphCandidate:
        identifier = replace(self.identifier, prior=replace(self.identifier.prior, worth=worth))
        if before is None:
            estimate = identifier.identify(statistics)
        else:
            estimate = replace(identifier, starts=(Start.ZERO,)).identify(statistics, start=before.estimate)
        retained = reduce(estimate.inclusion, statistics.outputs, self.threshold).retained
        return GraphCandidate(retained, float(np.sum(estimate.elbo)), estimate, worth)


def _different(found: list[GraphCandidate]) -> tuple[GraphCandidate, ...]:
    """Return the sets from small to large; of those nearly alike in size, the one with the most generous odds."""
    largest_first = sorted(found, key=lambda candidate: (-len(candidate.retained), candidate.worth))
    kept = largest_first[:1]
    for candidate in largest_first[1:]:
        if len(candidate.retained) < _ALIKE * len(kept[-1].retained):
            kept.append(candidate)
    return tuple(kept[::-1])
