"""A prediction with its bands: mean, lower and upper bound, and what lies outside the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import BoolArray, FloatArray, KoopsieveError, warn_user
from koopsieve.evaluate.rollout import chunks
from koopsieve.forms.histories import Starts

if TYPE_CHECKING:
    from koopsieve.forms.model import Model

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
    """Return predictions (starts, horizon, n_outputs) of a model with its bands.

    Raises
    ------
    KoopsieveError
        If the model has no bands, or not for this level or horizon.

    Warns
    -----
    KoopsieveWarning
        If the model was calibrated on too few windows to know such a level.
    """
    bands, horizon = None if model.calibration is None else model.calibration.bands, mean.shape[1]
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
    support = None if model.calibration is None else model.calibration.support
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
