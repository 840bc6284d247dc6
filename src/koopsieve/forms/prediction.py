"""What a user asks to be predicted from, and a prediction with its bands: mean, bounds, and what lies outside the data.

Raw rows of measured outputs and inputs become states and acting inputs. A history is the last measured outputs, newest
last. Inputs are those that follow, or, where the state holds past inputs, those during the history too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._display import Facts, Shown
from koopsieve._types import BoolArray, FloatArray, KoopsieveError, real_array, warn_user, whole_number
from koopsieve.data import Signals
from koopsieve.evaluate.rollout import chunks

if TYPE_CHECKING:
    from koopsieve.forms.model import Model


@dataclass(frozen=True, eq=False)
class Starts:
    """Where predictions start, and what acts after."""

    states: FloatArray  # (starts, n): delays embedded
    acting: FloatArray  # (starts, horizon, l): the inputs that act in each step
    alone: bool  # whether one history was given, and not a stack of them


def starts(signals: Signals, history: ArrayLike, inputs: ArrayLike | None, horizon: int) -> Starts:
    """Return the states that histories lead to and the inputs after them, both as `Model.predict` takes them."""
    rows = _histories(signals, history)
    embedding = signals.embedding
    acting = _inputs(signals, inputs, rows.shape[1], len(rows), horizon)
    known = acting.shape[1] - horizon  # acting inputs before the newest row
    past = [rows[:, rows.shape[1] - 1 - delay] for delay in range(embedding.state_delays + 1)]
    past += [acting[:, known - delay] for delay in range(1, embedding.input_delays + 1)]
    return Starts(np.concatenate(past, axis=1), acting[:, known:], alone=np.ndim(history) < 3)


def measured_state(signals: Signals, rows: ArrayLike, inputs: ArrayLike | None) -> FloatArray:
    """Return the state (n,) at the newest of measured rows, with the inputs between them."""
    given = _histories(signals, rows)
    embedding, none = (
        signals.embedding,
        np.zeros((given.shape[1] - 1 + signals.embedding.input_lead, len(signals.inputs))),
    )
    past = none if inputs is None and not embedding.input_delays else inputs
    found: FloatArray = starts(signals, rows, past, 0).states[0]
    return found


def checked_horizon(horizon: int, what: str = "horizon") -> int:
    """Return the number of steps ahead, or say that it is not one."""
    return whole_number(f"{what}, the number of steps,", horizon, 1)


def whole_record(signals: Signals, inputs: ArrayLike | None, samples: int | None) -> FloatArray:
    """Return the inputs of a whole record (samples, l), which also say how long it is."""
    if inputs is None and samples is None:
        raise KoopsieveError("How long is the record? Give its inputs, or samples= for a model without inputs.")
    length = None if samples is None else checked_horizon(samples, "samples")
    given = (
        np.zeros((length or 0, 0)) if inputs is None else as_rows(finite_array("inputs", inputs), len(signals.inputs))
    )
    if length is not None and len(given) != length:
        raise KoopsieveError(f"inputs must have a row per sample of the record. Expected {length}, got {len(given)}.")
    return given


def as_rows(values: FloatArray, columns: int) -> FloatArray:
    """Return an array of one dimension as a single column if only one is expected, otherwise as a single row."""
    if values.ndim != 1:
        return values
    return values[:, None] if columns == 1 else values[None]


def _histories(signals: Signals, history: ArrayLike) -> FloatArray:
    n, needed = len(signals.outputs), signals.embedding.history
    values = as_rows(finite_array("history", history), n)
    values = values[None] if values.ndim == 2 else values
    if values.ndim != 3 or values.shape[2] != n or values.shape[1] < needed:
        expected = "(rows,), " if n == 1 else f"({n},), " if needed == 1 else ""
        raise KoopsieveError(
            f"history must hold the last {needed} or more rows of the outputs {_listed(signals.outputs)}, newest last. "
            f"Expected {expected}(rows, {n}) or (starts, rows, {n}), got {np.shape(history)}."
        )
    return values


def _inputs(signals: Signals, inputs: ArrayLike | None, rows: int, count: int, horizon: int) -> FloatArray:
    """Return the acting inputs (starts, steps, l), those of the last `horizon` steps last."""
    width, embedding = len(signals.inputs), signals.embedding
    every = rows - 1 + horizon + embedding.input_lead  # from the oldest row of the history on
    lengths = {every} if embedding.input_delays else {horizon, every}
    if inputs is None:
        if width:
            raise KoopsieveError(
                f"The model has inputs {_listed(signals.inputs)}, and a prediction needs them at every step. "
                f"Expected inputs of shape ({max(lengths)}, {width}), got none."
            )
        return np.zeros((count, horizon, 0))
    given = as_rows(finite_array("inputs", inputs), width)
    shapes = [shape for length in sorted(lengths) for shape in ((length, width), (count, length, width))]
    if given.shape not in shapes:
        raise KoopsieveError(
            f"inputs must have a column per input {_listed(signals.inputs)}, and a row per sample: "
            f"{_which_rows(signals, horizon)}. Expected {' or '.join(map(str, shapes))}, got {np.shape(inputs)}."
        )
    acting = given if given.shape[-2] == horizon else given[..., embedding.input_lead :, :]
    return np.broadcast_to(acting, (count, *acting.shape[-2:]))


def _which_rows(signals: Signals, horizon: int) -> str:
    last = "u[k+horizon]" if signals.embedding.input_lead else "u[k+horizon-1]"
    every = f"all from the oldest row of the history to {last}"
    return every if signals.embedding.input_delays else f"the {horizon} that act in the steps predicted, or {every}"


def finite_array(what: str, values: ArrayLike) -> FloatArray:
    """Return the values as floats, or say that they are not real and finite; `what` names them."""
    array = real_array(what, values)
    if not np.isfinite(array).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise KoopsieveError(f"{what} must be finite. Got {array[where]} at index {where}.")
    return array


def _listed(names: tuple[str, ...]) -> str:
    return f"({', '.join(names[:8]) or 'none'}{', …' if len(names) > 8 else ''})"


Level = float | Sequence[float]


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Shown):
    """What `Model.predict` returns with a level.

    Parameters
    ----------
    mean : array, shape (horizon, n_outputs) or (starts, horizon, n_outputs)
        The prediction itself.
    lower, upper : array
        In the shape of `mean`, with one more axis in front if several levels were asked for. Measured outputs lie
        between with the probability of the level, as far as they are of the kind that the model was calibrated on.
    outside : array of bool, shape (horizon,) or (starts, horizon), optional
        Where the prediction rests on a start, an input or an earlier prediction beyond what the model was learned from;
        there the bands do not hold. None if the model does not know what it was learned from.
    """

    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    outside: BoolArray | None

    def _facts(self) -> Facts:
        flagged = "not known" if self.outside is None else f"{100 * np.mean(self.outside):.0f} %"
        return {"shape": str(self.mean.shape), "beyond the learned data": flagged}


def predicted(model: Model, given: Starts) -> FloatArray:
    """Return the outputs at every step after each start, shape (starts, horizon, n_outputs)."""
    steps = given.acting.shape[1]
    found = np.empty((len(given.states), steps, len(model.output_names)))
    for part in chunks(len(given.states), model.numbers_per_start):
        acting = (given.acting[part, h] for h in range(steps))
        for h, carried in enumerate(model.steps(model.start(given.states[part]), acting)):
            found[part, h] = model.read(carried)
    return found


def banded(model: Model, given: Starts, mean: FloatArray, level: Level, joint: bool) -> Prediction:
    """Return predictions (starts, horizon, n_outputs) of a model with its bands."""
    bands, horizon = model.bands, mean.shape[1]
    if bands is None:
        raise KoopsieveError(
            "The model has no bands. Those that sift returns have; give others bands with "
            "calibrate(model, held_out_data, horizon=…)."
        )
    levels = np.atleast_1d(np.asarray(level, dtype=float))
    if not len(levels):
        raise KoopsieveError("level is empty. Expected a number such as 0.9, or several of them.")
    widths = [bands.around(model.dictionary, given.states, horizon, one, joint=joint) for one in levels]
    if shortage := bands.shortage(horizon, float(levels.max())):
        warn_user(shortage)
    lower, upper = (np.stack([_bound(mean, sign * width) for width in widths]) for sign in (-1, 1))
    several = np.ndim(level) > 0
    flags = outside(model, given, mean)
    found = Prediction(mean, lower if several else lower[0], upper if several else upper[0], flags)
    return _alone(found) if given.alone else found


def outside(model: Model, given: Starts, mean: FloatArray) -> BoolArray | None:
    """Return which predictions lie outside the data, shape (starts, horizon); None if these are not known."""
    support = model.support
    return None if support is None else support.outside(model.dictionary, given.states, given.acting, mean)


def _bound(mean: FloatArray, width: FloatArray) -> FloatArray:
    """Return mean + width; an infinite width is a bound at infinity, whatever the mean."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(width), width, mean + width)


def _alone(many: Prediction) -> Prediction:
    """Return the prediction of the one start there is, without the axis of starts."""
    return replace(
        many,
        mean=many.mean[0],
        lower=many.lower[..., 0, :, :],
        upper=many.upper[..., 0, :, :],
        outside=None if many.outside is None else many.outside[0],
    )
