"""Checks of trajectories as a whole: their form, and what is allowed but worth a warning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.warn import warn_user


def check_form(states: Sequence[FloatArray], inputs: Sequence[FloatArray], n_states: int, n_inputs: int) -> None:
    """Refuse arrays whose shapes do not belong together."""
    expected = [((len(x), n_states), (len(x) - 1, n_inputs)) for x in states]
    came = [(np.shape(x), np.shape(u)) for x, u in zip(states, inputs, strict=False)]
    if not expected or expected != came or len(inputs) != len(states):
        raise KoopsieveError(
            f"Trajectories takes as many state arrays (T, {n_states}) as input arrays (T-1, {n_inputs}), at least one "
            f"each. Got states {[np.shape(x) for x in states]} and inputs {[np.shape(u) for u in inputs]}. "
            "Use Trajectories.from_arrays, which says what is wrong."
        )


def warn_of_oddities(
    states: Sequence[FloatArray], inputs: Sequence[FloatArray], names: tuple[Sequence[str], Sequence[str]]
) -> None:
    """Warn of what is allowed but most often a mistake."""
    _warn_of_transposed(states)
    _warn_of_constants("State", states, names[0])
    _warn_of_constants("Input", inputs, names[1])


def _warn_of_constants(kind: str, arrays: Sequence[FloatArray], names: Sequence[str]) -> None:
    """Warn of columns that have one value in all episodes."""
    highest = np.max([samples.max(axis=0) for samples in arrays], axis=0)
    lowest = np.min([samples.min(axis=0) for samples in arrays], axis=0)
    constant = [repr(name) for name, same in zip(names, highest == lowest, strict=True) if same]
    if constant:
        warn_user(
            f"{kind} columns that never change: {', '.join(constant)}. They are kept, but nothing can be learnt about "
            "how the system depends on them."
        )


def _warn_of_transposed(states: Sequence[FloatArray]) -> None:
    """Warn of more columns than samples, which most often means that an array lies on its side."""
    samples, columns = sum(len(x) for x in states), states[0].shape[1]
    if columns > samples:
        warn_user(
            f"There are {columns} state columns and only {samples} samples. Rows are samples: if the columns are, "
            "transpose the arrays."
        )
