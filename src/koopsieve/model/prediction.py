"""Steps of the lifted linear system, many starts at once, and the checks of what a user asks to be predicted.

Rows are starts. One step is φ[k+1]ᵀ = φ[k]ᵀAᵀ + u[k]ᵀBᵀ; with `relift` the state is read from the lifted state after
each step and lifted anew, which leaves the linear subspace but keeps observables and states consistent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary import Dictionary
from koopsieve.model.system import System

_CHUNK_BYTES = 32 * 2**20  # of lifted states carried at once


def predict(system: System, x0: ArrayLike, inputs: ArrayLike | None, horizon: int, relift: bool) -> FloatArray:
    """Return the outputs 1, …, `horizon` steps after each start; see `LiftedModel.predict`."""
    horizon, starts = checked_horizon(horizon), checked_starts(x0, system.dictionary.state_names)
    u = checked_inputs(inputs, len(starts), horizon, system.input_names)
    predicted = np.empty((len(starts), horizon, len(system.C)))
    for part in chunks(len(starts), len(system.A)):
        sequence = (u[part, h] for h in range(horizon))
        lifted = lift(system.dictionary, starts[part])
        for h, state in enumerate(steps(system, lifted, sequence, relift)):
            predicted[part, h] = read(system, state)
    return predicted[0] if np.ndim(x0) == 1 else predicted


def lift(dictionary: Dictionary, states: FloatArray) -> FloatArray:
    """Return the lifted states; a state that is not finite, or too large for an observable, gives nan or inf."""
    finite = np.isfinite(states).all(axis=1)
    with np.errstate(all="ignore"):
        if finite.all():
            return dictionary(states)
        lifted = np.full((len(states), dictionary.size), np.nan)
        if finite.any():
            lifted[finite] = dictionary(states[finite])
    return lifted


def steps(
    system: System, lifted: FloatArray, inputs: Iterable[FloatArray], relift: bool = False
) -> Iterator[FloatArray]:
    """Yield the lifted states after each step; a step whose inputs have fewer rows goes on with as many starts."""
    columns = state_columns(system.dictionary) if relift else None
    for step, u in enumerate(inputs):
        if columns is not None and step:
            lifted = lift(system.dictionary, lifted[: len(u), columns])
        with np.errstate(over="ignore", invalid="ignore"):  # an unstable model leaves the numbers, and may say so
            lifted = lifted[: len(u)] @ system.A.T + u @ system.B.T
        yield lifted


def read(system: System, lifted: FloatArray) -> FloatArray:
    """Return the outputs in lifted states."""
    with np.errstate(over="ignore", invalid="ignore"):
        outputs: FloatArray = lifted @ system.C.T
    return outputs


def state_columns(dictionary: Dictionary) -> IndexArray:
    """Return where in the lifted state each state column stands.

    Raises
    ------
    KoopsieveError
        If a state is not itself an observable, so that the state cannot be read from the lifted state.
    """
    positions = dictionary.state_positions
    missing = [name for name, position in zip(dictionary.state_names, positions, strict=True) if position < 0]
    if missing:
        raise KoopsieveError(
            "relift=True needs every state column among the observables, to read the state back at each step. "
            f"Missing: {', '.join(missing)}. Predict with relift=False, or keep the whole States() block."
        )
    return positions


def chunks(starts: int, observables: int) -> Iterator[slice]:
    """Cut starts into slices whose lifted states fit the memory set aside for them."""
    rows = max(1, _CHUNK_BYTES // (8 * max(1, observables)))
    for first in range(0, starts, rows):
        yield slice(first, min(first + rows, starts))


def checked_horizon(horizon: int) -> int:
    """Return the number of steps ahead, or say that it is not one."""
    if not isinstance(horizon, int | np.integer) or isinstance(horizon, bool) or horizon < 1:
        raise KoopsieveError(f"horizon must be a whole number of steps, at least 1. Got {horizon!r}.")
    return int(horizon)


def checked_starts(x0: ArrayLike, state_names: tuple[str, ...]) -> FloatArray:
    """Return the starts as (starts, n); one start may come as (n,)."""
    states = _real("x0", x0)
    n = len(state_names)
    if states.ndim not in (1, 2) or states.shape[-1] != n:
        raise KoopsieveError(
            f"x0 must hold the {n} states {_listed(state_names)}. Expected ({n},) or (starts, {n}), got {states.shape}."
        )
    return np.atleast_2d(states)


def checked_inputs(inputs: ArrayLike | None, starts: int, horizon: int, input_names: tuple[str, ...]) -> FloatArray:
    """Return the inputs as (starts, horizon, l); the same inputs for all starts may come as (horizon, l)."""
    width = len(input_names)
    if inputs is None:
        if width:
            raise KoopsieveError(
                f"The model has inputs {_listed(input_names)}, and a prediction needs them at every step. "
                f"Expected inputs of shape ({horizon}, {width}) or ({starts}, {horizon}, {width}), got none."
            )
        return np.zeros((starts, horizon, 0))
    given = _real("inputs", inputs)
    if given.shape not in ((horizon, width), (starts, horizon, width)):
        raise KoopsieveError(
            f"inputs must have one row per step and one column per input {_listed(input_names)}. "
            f"Expected ({horizon}, {width}) or ({starts}, {horizon}, {width}), got {given.shape}."
        )
    return np.broadcast_to(given, (starts, horizon, width))


def checked_indices(retained: ArrayLike, observables: int) -> IndexArray:
    """Return sorted unique indices of observables, or say what is wrong with them."""
    kept = np.asarray(retained)
    whole = kept.ndim == 1 and kept.size > 0 and np.issubdtype(kept.dtype, np.integer)
    if not whole or (np.diff(kept) <= 0).any() or kept[0] < 0 or kept[-1] >= observables:
        raise KoopsieveError(
            f"retained must be sorted, unique indices from 0 to {observables - 1}. Got {np.asarray(retained)!r}."
        )
    return kept.astype(np.intp)


def _real(what: str, values: ArrayLike) -> FloatArray:
    array = np.asarray(values)
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise KoopsieveError(f"{what} must hold real numbers. Got dtype {array.dtype}.")
    array = array.astype(float, copy=False)
    if not np.isfinite(array).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise KoopsieveError(f"{what} must be finite. Got {array[where]} at index {where}.")
    return array


def _listed(names: tuple[str, ...]) -> str:
    return f"({', '.join(names[:8])}{', …' if len(names) > 8 else ''})"
