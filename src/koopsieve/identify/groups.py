"""Interchangeable observables: which included regressors could be exchanged for which others.

Like the credible sets of SuSiE for correlated predictors: inclusion split between copies becomes "one of these".
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.identify.estimate import Estimate
from koopsieve.identify.linalg.standardise import standardise
from koopsieve.regression import RegressionStatistics


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
    if not 0 < correlation <= 1:
        raise KoopsieveError(f"correlation must lie in (0, 1]. Got {correlation}.")
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
