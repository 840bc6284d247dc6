"""The horizon sieve: spike and slab with one inclusion flag per observable, shared by all outputs at several horizons.

Beyond the paper. One step ahead is almost the identity when sampling is fast, and on a rich dictionary every kernel's
own regression needs several others. So the outputs y[k+h] themselves, h in a set of horizons, are regressed on φ(x[k])
and the inputs in between: t = Σ_i γ_i β_{i,t} φ_i + inputs + noise_t. Each target has its own noise and weights, with
the paper's priors; the flag γ_i is common to all. In come statistics compressed with `horizons`, out comes a
`HorizonEstimate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from koopsieve._types import FINITE, FloatArray, IndexArray, check_fields
from koopsieve.execution import Progress, one_blas_thread, silent
from koopsieve.identify.estimate import Status
from koopsieve.identify.prior import SpikeSlabPrior
from koopsieve.regression import RegressionStatistics, required_multistep
from koopsieve.sieve.horizon.flag_search import FlagSearch, by_size
from koopsieve.sieve.horizon.horizon_problem import horizon_problem
from koopsieve.sieve.horizon.posterior import HorizonPosterior


@dataclass(frozen=True, eq=False)
class HorizonEstimate:
    """A set of observables on which the outputs at all horizons depend, with what is known about it.

    Parameters
    ----------
    retained : array of int
        Indices of the observables kept, increasing; the outputs' own are always among them.
    composite_inclusion : array, shape (L,)
        Probability of each observable's flag given the other flags under a composite likelihood: every target with the
        rows that do not overlap, rows/h of them, and the targets as if they were independent (D78).
    noise_precision : array, shape (len(horizons), len(outputs))
        Expected noise precision of the prediction at each horizon, in the data's own units.
    elbo : float
        Lower bound of what the search raised: the composite likelihood, each target weighted as `HorizonSieve.emphasis`
        says. It counts rows/h for a set found by `identify`, and all rows for one found by `sizes`.
    trace : tuple of float
        The bound after every accepted move; it never falls. One value where a size was asked for.
    status : Status
        How the search ended.
    agreement : int
        How many of the two starts (everything in, only the outputs in) ended at this set.
    observables, outputs : tuple of str
        Names.
    horizons : tuple of int
        Steps ahead; without those for which there are too few windows.
    """

    retained: IndexArray
    composite_inclusion: FloatArray
    noise_precision: FloatArray
    elbo: float
    trace: tuple[float, ...]
    status: Status
    agreement: int
    observables: tuple[str, ...]
    outputs: tuple[str, ...]
    horizons: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of observables kept."""
        return len(self.retained)

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the observables kept."""
        return tuple(self.observables[i] for i in self.retained)


@dataclass(frozen=True)
class HorizonSieve:
    """Spike and slab with flags shared by all outputs and horizons.

    `identify` finds the set that the evidence favours; `sizes` finds the best set of each size that is asked for.
    Windows of h steps overlap, so `identify` counts rows/h of them: with all of them it would be certain of observables
    that have nothing to do with the outputs. `sizes` compares sets of one size, where certainty plays no part, and
    counts all of them. The flags of q are certain (in or out), the weights have a full covariance given the flags, and
    the search maximises the resulting closed-form bound: from everything in towards few and from few towards more, with
    exchanges, the better of the two kept. Observables and targets are brought to unit mean square inside, so units do
    not matter.
    Inputs between now and the horizon are always in and integrated over.

    Parameters
    ----------
    prior : SpikeSlabPrior
        a, b, c, d as for `SpikeSlab`, by default those of `SpikeSlabPrior.strict`; e/f (or `odds`, `always`,
        `expected_size`) are the prior odds of a flag, and `worth`, zero here, is the share of noise power it must
        explain on average over the targets.
    emphasis : float
        The evidence of the targets at horizon h is weighted in proportion to h to this power. 0 treats all horizons
        alike, which mostly counts the short ones, where noise is small and differences are certain; raising it
        favours sets that predict far ahead. The default was set by `benchmarks/reduction.py`.
    max_sweeps : int
        Sweeps over the possible moves at most in `identify`; each ends with the first move that raises the bound.
    weight_sweeps : int
        Sweeps of the updates of weights and precisions after every move.
    max_newcomers : int
        Newcomers tried for each exchange at most; raising it finds better sets, more slowly.
    max_exchanges : int
        Accepted exchanges at most, for each size in `sizes`.
    """

    sifts: ClassVar[type[RegressionStatistics]] = RegressionStatistics

    prior: SpikeSlabPrior = field(default_factory=SpikeSlabPrior.strict)
    emphasis: float = 1.0
    max_sweeps: int = 1000
    weight_sweeps: int = 2
    max_newcomers: int = 5
    max_exchanges: int = 20

    def __post_init__(self) -> None:
        counts = ("max_sweeps", "weight_sweeps", "max_newcomers")
        check_fields(self, wholes=("max_exchanges",), counts=counts, ranges={"emphasis": FINITE})

    def identify(self, statistics: RegressionStatistics) -> HorizonEstimate:
        """Find the observables that the evidence of windows that do not overlap favours, given the prior odds.

        Parameters
        ----------
        statistics : RegressionStatistics
            Compressed with `horizons`.

        Returns
        -------
        HorizonEstimate

        Raises
        ------
        KoopsieveError
            If the statistics hold no horizons.
        """
        search = self._search(statistics).independent()
        with one_blas_thread():
            ends = [search.climb(start, self.max_sweeps) for start in (search.dense(), search.sparse())]
        best, trace = max(ends, key=lambda end: end[1][-1])
        agreement = sum(set(end.kept.tolist()) == set(best.kept.tolist()) for end, _ in ends)
        status = Status.MAX_SWEEPS if len(trace) > self.max_sweeps else Status.SETTLED
        return _estimate(search, statistics, best, search.inclusion(best), trace, status, agreement)

    def sizes(
        self, statistics: RegressionStatistics, sizes: Sequence[int], progress: Progress = silent
    ) -> tuple[HorizonEstimate, ...]:
        """Find the best set of each size: the path of the prior odds from generous to strict, by where it leads.

        Sets are warm-started from one another. Sizes below the number of outputs or above that of observables are
        brought to those ends.

        Parameters
        ----------
        statistics : RegressionStatistics
            Compressed with `horizons`.
        sizes : sequence of int
            How many observables to keep, the outputs' own included.
        progress : Progress
            Shows how far the search is.

        Returns
        -------
        tuple of HorizonEstimate
            One per different size, the smallest first.
        """
        search = self._search(statistics)
        least = int(np.sum(np.isinf(search.prior.log_odds)))
        wanted = sorted({int(np.clip(size, max(least, 1), search.problem.observables)) for size in sizes})
        with one_blas_thread():
            found = by_size(search, wanted, progress)
            counted = search.independent()
            inclusion = {size: counted.inclusion(counted.of(found[size].kept)) for size in wanted}
        return tuple(
            _estimate(search, statistics, found[size], inclusion[size], (search.bound(found[size]),), Status.SETTLED, 1)
            for size in wanted
        )

    def path(
        self, problem: RegressionStatistics, path_length: int, progress: Progress = silent
    ) -> tuple[HorizonEstimate, ...]:
        """Find the best sets of about `path_length` sizes: see `path_sizes`."""
        least, most = len(problem.outputs), len(problem.observables)
        return self.sizes(problem, path_sizes(max(least, 1), most, path_length), progress)

    def _search(self, statistics: RegressionStatistics) -> FlagSearch:
        multistep = required_multistep(statistics)
        problem = horizon_problem(statistics, self.emphasis)
        prior = self.prior.on(multistep.observables, float(np.sum(problem.rows)))
        always = np.isin(np.arange(len(multistep.observables)), statistics.outputs)  # the outputs themselves stay
        prior = replace(prior, log_odds=np.where(always, np.inf, prior.log_odds))
        return FlagSearch(problem, prior, self.weight_sweeps, self.max_newcomers, self.max_exchanges)


def path_sizes(least: int, most: int, steps: int) -> tuple[int, ...]:
    """Return `steps` sizes, evenly spaced in their logarithm from the outputs to all, a quarter of all among them.

    Small sizes cannot be closer than one apart, so the spacing is made finer until there are as many as asked for.

    Examples
    --------
    >>> path_sizes(2, 120, 7)
    (2, 4, 8, 15, 30, 60, 120)
    >>> path_sizes(1, 6, 20)
    (1, 2, 3, 4, 5, 6)
    """
    steps = min(steps, most - least + 1)
    for finer in range(steps, 20 * steps):
        sizes = _spaced(least, most, finer)
        if len(sizes) >= steps:
            return sizes
    return tuple(range(least, most + 1))


def _spaced(least: int, most: int, count: int) -> tuple[int, ...]:
    """Return the different ones of `count` sizes in even ratios, with a quarter of `most` if there is room for it."""
    quarter = most // 4
    if quarter <= least or count < 3:
        spaced = np.geomspace(least, most, count)
    else:
        above = round((count - 1) * np.log(most / quarter) / np.log(most / least))
        above = min(max(above, 1), count - 2)
        spaced = np.append(np.geomspace(least, quarter, count - above), np.geomspace(quarter, most, above + 1))
    return tuple(sorted({round(size) for size in spaced}))


def _estimate(
    search: FlagSearch,
    statistics: RegressionStatistics,
    posterior: HorizonPosterior,
    inclusion: FloatArray,
    trace: tuple[float, ...],
    status: Status,
    agreement: int,
) -> HorizonEstimate:
    multistep = required_multistep(statistics)
    precision = posterior.rho / search.problem.target_scale**2
    return HorizonEstimate(
        retained=np.sort(posterior.kept),
        composite_inclusion=inclusion,
        noise_precision=precision.reshape(-1, len(multistep.outputs)),
        elbo=trace[-1],
        trace=trace,
        status=status,
        agreement=agreement,
        observables=multistep.observables,
        outputs=multistep.outputs,
        horizons=tuple(np.unique(search.problem.horizon).tolist()),
    )
