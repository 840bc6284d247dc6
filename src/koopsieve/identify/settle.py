"""The loop: sweep until every target has settled. It exists once, for STLSQ, sparse Bayes and spike and slab.

A method brings a state (a frozen dataclass of arrays whose last axis runs over targets), a pure `step` and a pure
`converged`. Targets that settled leave the batch, so that they cost nothing while others are still at work. Targets are
independent, so `on_all_cores` divides them among threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from koopsieve._types import BoolArray, IndexArray
from koopsieve.execution import Threads, one_blas_thread
from koopsieve.identify.estimate import Estimate
from koopsieve.regression import RegressionStatistics

State = TypeVar("State")
MIN_WEIGHTS_PER_THREAD = 1 << 16  # with fewer, threads wait for Python's lock more than they work
_PER_TARGET = ("coef", "inclusion", "noise_precision", "elbo", "coef_variance", "sweeps", "agreement")


@dataclass(frozen=True, eq=False)
class Settled(Generic[State]):
    """Where the loop ended: the state, the sweeps each target took, and whether it settled."""

    state: State
    sweeps: IndexArray
    settled: BoolArray


def settle(
    start: State,
    step: Callable[[State, IndexArray], State],
    converged: Callable[[State, State], BoolArray],
    targets: int,
    max_sweeps: int | IndexArray,
) -> Settled[State]:
    """Apply `step` until `converged`, target by target.

    `step` takes the state of the unsettled targets and their indices, and returns their next state. `converged` takes
    the states before and after a step, and returns per target whether the change is negligible. After `max_sweeps`, one
    number or one per target, a target is left as it is.
    """
    budget = np.broadcast_to(max_sweeps, targets)
    sweeps, settled = np.zeros(targets, dtype=np.intp), np.zeros(targets, dtype=bool)
    open_ = np.flatnonzero(budget > 0)
    state, current = start, take(start, open_)
    while open_.size:
        following = step(current, open_)
        sweeps[open_] += 1
        settled[open_] = converged(current, following)
        done = settled[open_] | (sweeps[open_] >= budget[open_])
        current = following
        if done.any():
            state = put(state, open_[done], take(following, np.flatnonzero(done)))
            current, open_ = take(following, np.flatnonzero(~done)), open_[~done]
    return Settled(state, sweeps, settled)


def join(states: Sequence[State]) -> State:
    """Return several states as one, their targets side by side."""
    arrays = [_arrays(state) for state in states]
    return type(states[0])(**{name: np.concatenate([a[name] for a in arrays], axis=-1) for name in arrays[0]})


def take(state: State, targets: IndexArray) -> State:
    """Return the state of some targets."""
    arrays = _arrays(state)
    if _everything(targets, arrays):
        return state
    return type(state)(**{name: value[..., targets] for name, value in arrays.items()})


def put(state: State, targets: IndexArray, part: State) -> State:
    """Return the state with some targets replaced."""
    arrays = _arrays(state)
    if targets.size == 0:
        return state
    if _everything(targets, arrays):
        return part
    changed = {}
    for name, value in arrays.items():
        changed[name] = value.copy(order="K")
        changed[name][..., targets] = getattr(part, name)
    return type(state)(**changed)


def _arrays(state: object) -> dict[str, Any]:
    return {name: getattr(state, name) for name in state.__dataclass_fields__}  # type: ignore[attr-defined]


def _everything(targets: IndexArray, arrays: dict[str, Any]) -> bool:
    """Return whether these are all the targets, in order: then nothing need be copied."""
    count = next(iter(arrays.values())).shape[-1]
    return len(targets) == count and bool((targets == np.arange(count)).all())


def on_all_cores(
    identify: Callable[[RegressionStatistics, Estimate | None], Estimate],
    statistics: RegressionStatistics,
    start: Estimate | None = None,
) -> Estimate:
    """Identify every target from an earlier answer or None, the targets divided among the cores that BLAS would use."""
    with one_blas_thread() as threads:
        count = min(threads, len(statistics.regressors) * len(statistics.observables) // MIN_WEIGHTS_PER_THREAD)
        if count <= 1:
            return identify(statistics, start)
        batches = np.array_split(np.arange(len(statistics.observables)), count)
        parts = [(statistics.only(batch), start and _only(start, batch)) for batch in batches]
        return _joined(list(Threads(threads).map(lambda part: identify(*part), parts)))


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
