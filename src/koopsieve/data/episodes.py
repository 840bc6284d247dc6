"""One episode on its way in: arrays of the user's kind become checked float64 matrices.

Whatever the source (arrays, a frame, a file), each episode becomes an `Episode` here, so that every later message can
say where the trouble is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError, real_array
from koopsieve.data.clock import PLAIN_NUMBERS, Clock


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode.

    Parameters
    ----------
    label : str
        How to call it in a message.
    name : number or text, optional
        What the source itself calls it: the value in the column that tells episodes apart, or the file.
    states : array, shape (T, n)
    inputs : array, shape (T-1, l)
    times : array, shape (T,), optional
        When the samples were taken, if known, as `clock` tells it.
    broken : array of bool, shape (T-1,), optional
        Marks transitions over which samples are missing.
    first_row : int, optional
        The row of the first sample in the source; none if samples no longer are rows there.
    clock : Clock
    """

    label: str
    states: FloatArray
    inputs: FloatArray
    times: FloatArray | None = None
    broken: BoolArray | None = None
    first_row: int | None = 0
    clock: Clock = PLAIN_NUMBERS
    name: Any = None


def as_matrix(values: Any, what: str, label: str) -> FloatArray:
    """Return `values` as a read-only C-contiguous float64 matrix with samples as rows; one dimension is one column.

    What already is one is not copied. Masked samples become NaN, that is, missing.
    """
    array = real_array(f"The {what} of {label}", values)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise KoopsieveError(
            f"The {what} of {label} must have shape (samples, columns). Got {array.shape}. "
            "If the first axis counts episodes, pass list(array)."
        )
    matrix = np.ascontiguousarray(array, dtype=np.float64).view()
    matrix.flags.writeable = False
    return matrix


def make_episode(
    label: str,
    states: Any,
    inputs: Any = None,
    times: FloatArray | None = None,
    first_row: int = 0,
    clock: Clock = PLAIN_NUMBERS,
    name: Any = None,
) -> Episode:
    """Return the checked episode; the last row of inputs as long as the states is dropped, as nothing follows it."""
    x = as_matrix(states, "states", label)
    if x.shape[1] == 0:
        raise KoopsieveError(f"The states of {label} have no columns. Expected (samples, columns), got {x.shape}.")
    if len(x) < 2:
        raise KoopsieveError(
            f"An episode needs at least two samples, one transition. Got states of shape {x.shape} in {label}. "
            "Rows are samples: transpose the array if they are its columns, or leave the episode out."
        )
    u = np.zeros((len(x) - 1, 0)) if inputs is None else as_matrix(inputs, "inputs", label)
    if len(u) not in (len(x) - 1, len(x)):
        raise KoopsieveError(
            f"inputs must have one row fewer than states. Expected {(len(x) - 1, u.shape[1])}, got {u.shape}. "
            f"This is {label}, whose states have shape {x.shape}."
        )
    return Episode(label, x, u[: len(x) - 1], times, first_row=first_row, clock=clock, name=name)


def episodes_from_arrays(states: Any, inputs: Any = None) -> list[Episode]:
    """Return the episodes in an array or a list of arrays, with their inputs if there are any."""
    if not _is_list_of_episodes(states):
        alone = inputs[0] if _is_list_of_episodes(inputs) and len(inputs) == 1 else inputs
        return [make_episode("episode 0", states, alone)]
    _refuse_list_of_samples(states)
    if inputs is None:
        return [make_episode(f"episode {i}", x) for i, x in enumerate(states)]
    if len(states) == 1 and not _is_list_of_episodes(inputs):
        inputs = [inputs]
    if not isinstance(inputs, list | tuple) or len(inputs) != len(states):
        came = f"a list of {len(inputs)}" if isinstance(inputs, list | tuple) else f"one {type(inputs).__name__}"
        raise KoopsieveError(
            f"inputs must be a list with one array per episode, as states are. Expected {len(states)} arrays, "
            f"got {came}."
        )
    return [make_episode(f"episode {i}", x, u) for i, (x, u) in enumerate(zip(states, inputs, strict=True))]


def check_alike(episodes: Sequence[Episode]) -> None:
    """Refuse no episodes at all, and episodes with different numbers of columns."""
    if not episodes:
        raise KoopsieveError("There are no episodes. Expected at least one array of states, got an empty list.")
    first = episodes[0]
    for episode in episodes[1:]:
        for what, mine, theirs in (("state", episode.states, first.states), ("input", episode.inputs, first.inputs)):
            if mine.shape[1] != theirs.shape[1]:
                raise KoopsieveError(
                    f"All episodes must have the same {what} columns. Expected {theirs.shape[1]} as in {first.label}, "
                    f"got {mine.shape[1]} in {episode.label}."
                )


def _is_list_of_episodes(values: Any) -> bool:
    """Tell a list of arrays from one array written as nested lists."""
    if not isinstance(values, list | tuple):
        return False
    return not values or any(_is_array(v) or (isinstance(v, list | tuple) and _holds_rows(v)) for v in values)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") and np.ndim(value) > 0


def _holds_rows(values: Sequence[Any]) -> bool:
    return len(values) > 0 and (isinstance(values[0], list | tuple) or _is_array(values[0]))


def _refuse_list_of_samples(states: Sequence[Any]) -> None:
    """Refuse what looks like samples collected in a loop rather than like episodes of one column each."""
    shapes = {np.shape(x) if _is_array(x) else None for x in states}
    shape = shapes.pop() if len(shapes) == 1 else None
    if shape is not None and len(shape) == 1 and len(states) > max(shape[0], 1):
        raise KoopsieveError(
            f"states is a list of {len(states)} arrays of shape {shape}: {len(states)} samples, or as many episodes of "
            "one column? Pass np.stack(states) for one trajectory, or arrays of shape (samples, 1) for episodes."
        )
