"""Identification by many workers: targets are independent, so each worker takes some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.execution import Executor, Progress, Threads, one_blas_thread, silent
from koopsieve.identify.estimate import Estimate, Identifier
from koopsieve.regression import RegressionStatistics

MIN_WEIGHTS_PER_THREAD = 1 << 16  # with fewer, threads wait for Python's lock more than they work
_PER_TARGET = ("coef", "inclusion", "noise_precision", "elbo", "coef_variance", "sweeps", "agreement")


def identify_in_batches(
    identifier: Identifier,
    statistics: RegressionStatistics,
    executor: Executor,
    *,
    start: Estimate | None = None,
    progress: Progress = silent,
) -> Estimate:
    """Identify every target, a batch of them per worker.

    Parameters
    ----------
    identifier : Identifier
        Any whose targets do not depend on each other: all of koopsieve's but `HorizonLeastSquares`.
    statistics : RegressionStatistics
        The compressed data.
    executor : Executor
        Who does the work.
    start : Estimate, optional
        An earlier answer, for identifiers that can start from one.
    progress : Progress
        Wraps the iteration over batches.

    Returns
    -------
    Estimate
        What `identifier.identify(statistics)` gives, to rounding.
    """
    count = min(executor.workers, len(statistics.observables))
    return _spread(Identifying(identifier), statistics, start, count, executor, progress)


def on_all_cores(
    identify: Callable[[RegressionStatistics, Estimate | None], Estimate],
    statistics: RegressionStatistics,
    start: Estimate | None = None,
) -> Estimate:
    """Identify every target with the cores that BLAS would use: small matrices occupy them better by target.

    Parameters
    ----------
    identify : callable
        Takes statistics and an earlier answer or None.
    statistics, start
        Its arguments.
    """
    with one_blas_thread() as threads:
        count = min(threads, len(statistics.regressors) * len(statistics.observables) // MIN_WEIGHTS_PER_THREAD)
        if count <= 1:
            return identify(statistics, start)
        return _spread(lambda part: identify(*part), statistics, start, count, Threads(threads), silent)


Part = tuple[RegressionStatistics, Estimate | None]


def _spread(
    identify: Callable[[Part], Estimate],
    statistics: RegressionStatistics,
    start: Estimate | None,
    count: int,
    executor: Executor,
    progress: Progress,
) -> Estimate:
    batches = np.array_split(np.arange(len(statistics.observables)), count)
    parts = [(statistics.only(batch), start and _only(start, batch)) for batch in batches]
    return _joined(list(progress(executor.map(identify, parts), "Identifying", len(parts))))


@dataclass(frozen=True)
class Identifying:
    """Identify one batch; a value, so that it can be sent to other processes."""

    identifier: Any

    def __call__(self, part: Part) -> Estimate:
        """Return the estimate of the batch."""
        statistics, start = part
        found: Estimate = (
            self.identifier.identify(statistics) if start is None else self.identifier.identify(statistics, start=start)
        )
        return found


def _only(estimate: Estimate, targets: IndexArray) -> Estimate:
    columns: dict[str, Any] = {name: getattr(estimate, name)[..., targets] for name in _PER_TARGET}
    columns |= {name: tuple(getattr(estimate, name)[i] for i in targets) for name in ("status", "targets")}
    return replace(estimate, **columns)


def _joined(parts: Sequence[Estimate]) -> Estimate:
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in _PER_TARGET
    }
    columns |= {name: tuple(v for part in parts for v in getattr(part, name)) for name in ("status", "targets")}
    return replace(parts[0], **columns)
