"""Interchangeable observables: which included regressors could be exchanged for which others.

Like the credible sets of SuSiE for correlated predictors: inclusion split between copies becomes "one of these".
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from koopsieve._types import KoopsieveError
from koopsieve.identify.estimate import Estimate
from koopsieve.identify.linalg.standardise import standardise
from koopsieve.regression import RegressionStatistics


def interchangeable_groups(
    statistics: RegressionStatistics, estimate: Estimate, *, correlation: float = 0.99, threshold: float = 0.01
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of regressors of which one is needed, and the data cannot tell which.

    Two regressors are interchangeable if their (uncentred) correlation exceeds `correlation` in absolute value. A group
    holds all that are linked so, and is returned if at least one of them is included for some target.

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
    problem = standardise(statistics)
    alike = np.abs(problem.gram) >= correlation * problem.rows
    count, label = connected_components((alike & (problem.energy > 0)).astype(float), directed=False)
    most = estimate.inclusion.max(axis=1, initial=0.0)
    groups = [np.flatnonzero(label == number) for number in range(count)]
    groups = [group for group in groups if group.size > 1 and most[group].max() >= threshold]
    ordered = [group[np.argsort(-most[group], kind="stable")] for group in sorted(groups, key=lambda group: group[0])]
    return tuple(tuple(estimate.regressors[i] for i in group) for group in ordered)
