"""`Estimate`, the result of every identifier, with a `Status` per target; and `Identifier`, their protocol.

`interchangeable_groups` says which included regressors could be exchanged for which others. Like the credible sets of
SuSiE for correlated predictors: inclusion split between copies becomes "one of these".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from koopsieve._display import Facts, Shown, shorten
from koopsieve._types import BoolArray, FloatArray, IndexArray, Range, real_number, require_kind
from koopsieve.identify.standardise import standardise
from koopsieve.regression import RegressionStatistics

if TYPE_CHECKING:
    from koopsieve.identify.spike_slab.equations import MeanField


class Status(Enum):
    """How the inference of one target ended; the value is a sentence that also says what to do."""

    SETTLED = "Settled."
    MAX_SWEEPS = (
        "The updates had not settled after max_sweeps; raise max_sweeps, or remove observables that are nearly copies."
    )
    DIVERGED = (
        "The updates left the range of floating point; the last finite answer is returned. "
        "Lower relaxation, or use SpikeSlab() instead of the published updates."
    )
    DEGENERATE = (
        "The target is constant zero or reproduced exactly by the regressors, so its noise cannot be estimated; "
        "its coefficients are least squares. Nothing needs to be done."
    )
    OUT_OF_RANGE = (
        "The answer does not fit into 64-bit floats, so numbers that are not finite are returned as zero. Change the "
        "units, so that no column is many orders of magnitude larger or smaller than the others."
    )
    STALLED = (
        "The optimiser found no descent from where it stopped, though its gradient had not vanished: rounding limits "
        "the answer. Remove observables that are nearly copies, or use LeastSquares()."
    )


def statuses(
    settled: BoolArray, exceptional: BoolArray | None = None, meaning: Status = Status.DEGENERATE
) -> tuple[Status, ...]:
    """Return how each target ended: settled or not, or with the given meaning where it is exceptional."""
    ends = zip(settled, np.zeros_like(settled) if exceptional is None else exceptional, strict=True)
    return tuple(meaning if odd else Status.SETTLED if done else Status.MAX_SWEEPS for done, odd in ends)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Shown):
    """A Koopman matrix inferred from statistics, with inclusion probabilities, noise, evidence and status.

    Parameters
    ----------
    coef : array, shape (p, q)
        The paper's K̂: column j predicts target j from the regressors (observables, then inputs). For spike and slab it
        is the effective weight γ̂∘μ.
    inclusion : array, shape (p, q)
        Probability that regressor i drives target j. Methods that only select give 0 or 1.
    noise_precision : array, shape (q,)
        Expected precision ρ of each target's noise, in the data's own units.
    elbo : array, shape (q,)
        The evidence (or its lower bound) per target; nan for methods that have none.
    status : tuple of Status
        One per target.
    coef_variance : array, shape (p, q)
        Posterior variance of each effective weight; zero for methods that have none.
    sweeps : array of int, shape (q,)
        Sweeps until settled, per target.
    agreement : array of int, shape (q,)
        Number of starts that ended at the best answer, per target; 1 for methods with one start.
    regressors, targets : tuple of str
        Names of the rows and columns of `coef`.
    posterior : MeanField, optional
        Algorithm 1's q(β), q(γ), q(α), q(π) and q(ρ), from `SpikeSlab.published`; None for the other methods.
    """

    coef: FloatArray
    inclusion: FloatArray
    noise_precision: FloatArray
    elbo: FloatArray
    status: tuple[Status, ...]
    coef_variance: FloatArray
    sweeps: IndexArray
    agreement: IndexArray
    regressors: tuple[str, ...]
    targets: tuple[str, ...]
    posterior: MeanField | None = None

    @classmethod
    def of(
        cls,
        statistics: RegressionStatistics,
        coef: FloatArray,
        *,
        inclusion: FloatArray | None = None,
        noise_precision: FloatArray | None = None,
        elbo: FloatArray | None = None,
        status: tuple[Status, ...] | None = None,
        coef_variance: FloatArray | None = None,
        sweeps: int | IndexArray = 1,
        agreement: int | IndexArray = 1,
        posterior: MeanField | None = None,
    ) -> Estimate:
        """Return the estimate of a method, with what it does not infer filled in.

        Left out, every regressor counts as included, the noise is what the residual shows, there is no bound, every
        target has settled, and variances are zero.
        """
        targets = coef.shape[1]
        inclusion = np.ones_like(coef) if inclusion is None else inclusion
        coef_variance = np.zeros_like(coef) if coef_variance is None else coef_variance
        weights = (coef, inclusion, coef_variance)
        lost = ~np.all([np.isfinite(one).all(axis=0) for one in weights], axis=0)
        coef, inclusion, coef_variance = (_finite(one, lost) for one in weights)
        ends = (Status.SETTLED,) * targets if status is None else status
        return cls(
            coef=coef,
            inclusion=inclusion,
            noise_precision=residual_precision(statistics, coef) if noise_precision is None else noise_precision,
            elbo=np.full(targets, np.nan) if elbo is None else elbo,
            status=tuple(Status.OUT_OF_RANGE if bad else end for bad, end in zip(lost, ends, strict=True)),
            coef_variance=coef_variance,
            sweeps=np.broadcast_to(sweeps, targets).astype(np.intp),
            agreement=np.broadcast_to(agreement, targets).astype(np.intp),
            regressors=statistics.regressors,
            targets=statistics.observables,
            posterior=posterior,
        )

    @property
    def settled(self) -> bool:
        """True if no target stopped before its updates settled."""
        return not {Status.MAX_SWEEPS, Status.STALLED, Status.OUT_OF_RANGE} & set(self.status)

    def describe(self) -> str:
        """Return one line per kind of ending, with the targets that ended so."""
        lines = []
        for kind in Status:
            names = [name for name, status in zip(self.targets, self.status, strict=True) if status is kind]
            if names:
                shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
                lines.append(f"{len(names)} of {len(self.targets)} targets ({shown}): {kind.value}")
        return "\n".join(lines)

    def _facts(self) -> Facts:
        settled = sum(status is not Status.MAX_SWEEPS for status in self.status)
        return {
            "targets": shorten(self.targets),
            "regressors": shorten(self.regressors),
            "settled": f"{settled} of {len(self.targets)}",
        }


class Identifier(Protocol):
    """Anything that turns statistics into an estimate. It sees no data, and calling it twice gives the same answer."""

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix of every target."""
        ...


def residual_precision(statistics: RegressionStatistics, coef: FloatArray) -> FloatArray:
    """Return rows / ‖t − Φ·coef‖² per target: the noise precision that the residual shows (inf for an exact fit)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        gap = statistics.S - statistics.R @ coef
        precision: FloatArray = statistics.rows / (statistics.leftover + np.einsum("ij,ij->j", gap, gap))
    return np.nan_to_num(precision, nan=0.0, posinf=np.inf)


def require_statistics(statistics: object) -> None:
    """Check that these are statistics and not data."""
    require_kind(
        "RegressionStatistics", statistics, RegressionStatistics, "Make them of data with compress(data, dictionary)."
    )


def _finite(values: FloatArray, lost: BoolArray) -> FloatArray:
    """Return the values; where targets left the range of floats, what is not finite as zero."""
    return values if not lost.any() else np.where(np.isfinite(values), values, 0.0)


def interchangeable_groups(
    statistics: RegressionStatistics,
    estimate: Estimate,
    *,
    correlation: float = 0.99,
    threshold: float = 0.01,
    constant: str | None = None,
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of regressors of which one is needed, and the data do not determine which.

    Two regressors are interchangeable if their correlation exceeds `correlation` in absolute value; about their means
    where `constant` is among the regressors, which can make up for a difference of these. A group is a regressor, the
    most included first, with all that are interchangeable with it and not in an earlier group. It is returned if at
    least one of them is included for some target.

    Parameters
    ----------
    statistics : RegressionStatistics
        What the estimate was inferred from.
    estimate : Estimate
        The answer.
    correlation : float
        Least absolute correlation of two interchangeable regressors. Raising it gives fewer and smaller groups.
    threshold : float
        Least inclusion probability that counts as included.
    constant : str, optional
        Name of the constant regressor: `Dictionary.constant`.

    Returns
    -------
    tuple of tuples of str
        Names; within a group the most included first, the groups in the order of their first member.

    Examples
    --------
    >>> import numpy as np
    >>> from koopsieve.identify import SpikeSlab
    >>> from koopsieve.regression import TriangularFactor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> x[:, 2] = x[:, 0] + 0.01 * rng.normal(size=200)
    >>> targets = np.outer(x[:, 0], [0.9, 0.5, 0.3]) + 0.1 * rng.normal(size=(200, 3))
    >>> factor = TriangularFactor.empty(3, 3).absorb(x, targets)
    >>> statistics = RegressionStatistics(factor, ("x1", "x2", "copy of x1"))
    >>> [sorted(group) for group in interchangeable_groups(statistics, SpikeSlab().identify(statistics))]
    [['copy of x1', 'x1']]
    """
    real_number("correlation", correlation, Range(0, 1, open_low=True))
    alike = np.abs(_correlations(statistics, constant)) >= correlation
    most = estimate.inclusion.max(axis=1, initial=0.0)
    groups = [group for group in _around_leaders(alike, most) if len(group) > 1 and most[group[0]] >= threshold]
    return tuple(tuple(estimate.regressors[i] for i in group) for group in sorted(groups, key=min))


def _correlations(statistics: RegressionStatistics, constant: str | None) -> FloatArray:
    """Return the correlations of all regressors, zero for one that vanishes or does not vary."""
    problem = standardise(statistics)
    products = problem.gram / problem.rows
    if constant in statistics.regressors:
        mean = products[statistics.regressors.index(constant)]
        products = products - np.outer(mean, mean)
    spread = np.sqrt(np.maximum(np.diagonal(products), 0.0))
    known = spread > 1e-6
    scale = np.where(known, spread, 1.0)
    found: FloatArray = np.where(known[:, None] & known, products / np.outer(scale, scale), 0.0)
    return found


def _around_leaders(alike: BoolArray, most: FloatArray) -> list[list[int]]:
    """Return the groups: the most included regressor that is free takes the free ones like it, until none is free."""
    free, groups = np.ones(len(most), dtype=bool), []
    order = np.argsort(-most, kind="stable")
    for leader in order:
        if free[leader]:
            group = [int(i) for i in order if free[i] and (i == leader or alike[leader, i])]
            free[group] = False
            groups.append(group)
    return groups
