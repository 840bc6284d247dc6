"""Identification by many workers: targets are independent, so each worker takes some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.execution import Executor, Progress, silent
from koopsieve.identify.estimate import Estimate, Identifier
from koopsieve.regression import RegressionStatistics

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
        Any whose targets do not depend on each other; all of koopsieve's are so.
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
    batches = np.array_split(np.arange(len(statistics.observables)), min(executor.workers, len(statistics.observables)))
    parts = [(statistics.only(batch), start and _only(start, batch)) for batch in batches]
    found = list(progress(executor.map(Identifying(identifier), parts), "Identifying", len(parts)))
    return _joined(found)


@dataclass(frozen=True)
class Identifying:
    """Identify one batch; a value, so that it can be sent to other processes."""

    identifier: Any

    def __call__(self, part: tuple[RegressionStatistics, Estimate | None]) -> Estimate:
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
