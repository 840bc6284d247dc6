"""Stretches of the judged trajectories to show predictions on: a typical one, the best and the worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.workflow import SieveResult

_MOST_STARTS = 200
_LONGEST = 400  # steps; a longer stretch shows no more


@dataclass(frozen=True, eq=False)
class Example:
    """What was measured over one stretch and what the models said at its start, arrays of shape (steps, outputs).

    Parameters
    ----------
    kind : str
        "typical", "best" or "worst", by the error of the reduced model among starts spread over all episodes.
    episode, start : int
        Where the predictions start.
    measured, full, reduced : array, shape (steps + 1, outputs)
        The first row is the start, the same in all three.
    """

    kind: str
    episode: int
    start: int
    measured: FloatArray
    full: FloatArray
    reduced: FloatArray


def examples(result: SieveResult) -> tuple[Example, ...]:
    """Return a typical, the best and the worst stretch of the longest horizon, by the reduced model's error."""
    data, steps = result.judged, min(max(result.horizons), _LONGEST)
    starts = [(episode, k) for episode, x in enumerate(data.states) for k in range(len(x) - steps)]
    picked = [starts[i] for i in np.unique(np.linspace(0, len(starts) - 1, _MOST_STARTS).round().astype(int))]
    errors = _errors(result, picked, steps)
    order = np.argsort(errors, kind="stable")
    chosen = {"typical": order[len(order) // 2], "best": order[0], "worst": order[-1]}
    return tuple(_example(kind, result, picked[place], steps) for kind, place in chosen.items())


def _errors(result: SieveResult, starts: Sequence[tuple[int, int]], steps: int) -> FloatArray:
    """Return the mean squared error of the reduced model over each stretch, each output in units of its spread."""
    data, columns = result.judged, _columns(result)
    x0 = np.array([data.states[e][k] for e, k in starts])
    inputs = np.array([data.inputs[e][k : k + steps] for e, k in starts])
    measured = np.array([data.states[e][k + 1 : k + steps + 1, columns] for e, k in starts])
    spread = np.concatenate(data.states)[:, columns].std(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (result.model.predict(x0, inputs, steps) - measured) / np.where(spread > 0, spread, 1.0)
        errors: FloatArray = np.mean(gap**2, axis=(1, 2))
    return np.nan_to_num(errors, nan=np.inf)


def _example(kind: str, result: SieveResult, place: tuple[int, int], steps: int) -> Example:
    episode, start = place
    data, columns = result.judged, _columns(result)
    x, u = data.states[episode], data.inputs[episode][start : start + steps]
    first = x[start : start + 1, columns]
    full, reduced = (
        np.vstack([first, fits[result.best].model.predict(x[start], u, steps)])
        for fits in (result.full, result.reduced)
    )
    return Example(kind, episode, start, x[start : start + steps + 1][:, columns], full, reduced)


def _columns(result: SieveResult) -> list[int]:
    return [result.judged.state_names.index(name) for name in result.model.output_names]
