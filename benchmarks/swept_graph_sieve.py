"""The paper's sieve swept over its prior odds, as a rival: `GraphSieve` at many odds gives a path of sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from koopsieve import KoopsieveError, SpikeSlab, reduce
from koopsieve.identify import Estimate, Start
from koopsieve.regression import RegressionStatistics

_ALIKE = 0.98  # sets whose sizes differ by less tell nothing new


@dataclass(frozen=True, eq=False)
class SweptSet:
    """What the paper's reduction kept.

    Parameters
    ----------
    retained : array of int
        Increasing indices.
    estimate : Estimate
        The inclusion probabilities behind it.
    worth : float
        How strict the prior was: see `SpikeSlabPrior.worth`.
    """

    retained: np.ndarray
    estimate: Estimate
    worth: float


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

    def path(self, statistics: RegressionStatistics, path_length: int) -> tuple[SweptSet, ...]:
        """Return the sets, the smallest first; of those nearly alike in size one."""
        return _different(list(self._swept(statistics, path_length)))

    def _swept(self, statistics: RegressionStatistics, path_length: int) -> Iterator[SweptSet]:
        found: list[SweptSet] = []
        for worth in np.geomspace(self.generous, self.strict, max(2, (path_length + 1) // 2)):
            found.append(self._set(statistics, float(worth), found[-1] if found else None))
            yield found[-1]
        while len(found) < path_length:
            jumps = [len(a.retained) - len(b.retained) for a, b in pairwise(found)]
            widest = int(np.argmax(np.abs(jumps)))
            if abs(jumps[widest]) <= 1 or found[widest + 1].worth < 1.001 * found[widest].worth:
                break
            between = float(np.sqrt(found[widest].worth * found[widest + 1].worth))
            found.insert(widest + 1, self._set(statistics, between, found[widest]))
            yield found[widest + 1]

    def _set(self, statistics: RegressionStatistics, worth: float, before: SweptSet | None) -> SweptSet:
        identifier = replace(self.identifier, prior=replace(self.identifier.prior, worth=worth))
        if before is None:
            estimate = identifier.identify(statistics)
        else:
            estimate = replace(identifier, starts=(Start.ZERO,)).identify(statistics, start=before.estimate)
        retained = reduce(estimate.inclusion, statistics.outputs, self.threshold).retained
        return SweptSet(retained, estimate, worth)


def _different(found: list[SweptSet]) -> tuple[SweptSet, ...]:
    """Return the sets from small to large; of those nearly alike in size, the one with the most generous odds."""
    largest_first = sorted(found, key=lambda candidate: (-len(candidate.retained), candidate.worth))
    kept = largest_first[:1]
    for candidate in largest_first[1:]:
        if len(candidate.retained) < _ALIKE * len(kept[-1].retained):
            kept.append(candidate)
    return tuple(kept[::-1])
