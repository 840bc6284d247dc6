"""Noise of a plant and its sensors, for filters and gates: from held-out errors, or from the statistics of a model.

A one-step error holds noise of the plant, and measurement noise of the sample predicted and of those predicted from.
They differ in how the variance grows with the number of steps, which the slopes of the model tell: two variances per
output explain those at the first horizons (D93). Where there are only statistics, the curve through the variances,
continued to zero steps, leaves twice the measurement variance (D77).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.evaluate.rollout import StepErrors
from koopsieve.regression import RegressionStatistics

if TYPE_CHECKING:
    from koopsieve.forms import Model

MAX_CURVE_STEPS = 5  # horizons up to this one define the curve
MIN_RESIDUAL_SHARE = 1e-7  # lower bound of an output's residual variance, as a share of its mean square
MAX_SLOPE_WINDOWS = 100  # of whose slopes the mean square is taken
MIN_NOISE_SHARE = 0.02  # share of the one-step variance that is always left to either noise: the curve is a rough guide


@dataclass(frozen=True, eq=False, repr=False)
class Noise(Shown):
    """Variances of independent noises.

    Parameters
    ----------
    process : array, shape (size,)
        Added to what the model carries, per step.
    measurement : array, shape (n_outputs,)
        Added to the measured outputs.
    one_step : array, shape (n_outputs,), optional
        Of the errors of one-step predictions from measured states; None if they are not known.
    """

    process: FloatArray
    measurement: FloatArray
    one_step: FloatArray | None = None

    def __post_init__(self) -> None:
        for what, values in (("process", self.process), ("measurement", self.measurement)):
            if not (isinstance(values, np.ndarray) and np.isfinite(values).all() and (values >= 0).all()):
                raise KoopsieveError(f"The variances of the {what} noise must be an array, 0 or more. Got {values!r}.")
        if not (self.measurement > 0).all():
            raise KoopsieveError(f"The variances of the measurement must be above 0. Got {self.measurement.tolist()}.")

    def _facts(self) -> Facts:
        return {"measured outputs": str(len(self.measurement)), "carried": str(len(self.process))}


def noise_from_errors(model: Model, errors: StepErrors) -> Noise:
    """Return the noises that errors of predictions on held-out data show, for a model of any form.

    The noise of the plant is that of its outputs; it enters what the model carries as the newest outputs do.
    """
    near = replace(errors, errors=errors.errors[:, :MAX_CURVE_STEPS])
    whole = np.isfinite(near.errors).all(axis=(1, 2))
    near = replace(near, episodes=near.episodes[whole], starts=near.starts[whole], errors=near.errors[whole])
    outputs = near.errors.shape[2]
    data = np.concatenate(near.data.states)[:, :outputs]
    smallest = np.maximum(MIN_RESIDUAL_SHARE * np.mean(data**2, axis=0), np.finfo(float).tiny)
    variance = np.maximum((near.errors**2).mean(axis=0) if whole.any() else np.var(data, axis=0)[None], smallest)
    sensors, plant = _explained(model, near, variance) if len(variance) > 1 else (variance[0] / 4, variance[0] / 2)
    process = np.maximum(plant, MIN_NOISE_SHARE * variance[0])
    return Noise(_through_start(model, process), np.maximum(sensors, 0.5 * MIN_NOISE_SHARE * variance[0]), variance[0])


def _explained(model: Model, errors: StepErrors, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the variances of sensors and plant that explain those of the errors (steps, n_outputs) best (D93).

    Each variance counts by how far it is missed as a share of itself; where slopes are not finite, half is left to
    either noise.
    """
    states, acting, _ = errors.complete_windows()
    some = np.linspace(0, len(states) - 1, min(len(states), MAX_SLOPE_WINDOWS)).astype(int)
    with np.errstate(all="ignore"):
        shares = _grown(model, states[some], acting[some]) / variance[:, :, None] * np.tile(variance[0], 2)
    if not np.isfinite(shares).all():
        return variance[0] / 4, variance[0] / 2
    found, _ = nnls(shares.reshape(-1, shares.shape[2]), np.ones(variance.size))
    sensors, plant = found.reshape(2, -1) * variance[0]
    return sensors, plant


def _grown(model: Model, states: FloatArray, acting: FloatArray) -> FloatArray:
    """Return what unit variances of sensors, then of the plant, add to those of the errors: (steps, n, 2n)."""
    outputs, delays = len(model.signals.outputs), model.signals.embedding.state_delays
    slopes = model.start_slopes(states)
    entering, seen = slopes[:, :, :outputs], slopes[:, :, : outputs * (delays + 1)]
    carried, found = model.start(states), []
    added: list[FloatArray] = []
    for step in range(acting.shape[1]):
        around = model.jacobians(carried, acting[:, step])
        seen, added = around.A @ seen, [*(around.A @ one for one in added), entering]
        carried = model.advance(carried, acting[:, step])
        sensors = ((around.C @ seen) ** 2).mean(axis=0).reshape(outputs, delays + 1, outputs).sum(axis=1)
        plant = sum(((around.C @ one) ** 2).mean(axis=0) for one in added)
        found.append(np.hstack([np.eye(outputs) + sensors, plant]))
    return np.array(found)


def noise_of(model: Model, statistics: RegressionStatistics) -> Noise:
    """Return the noises that the residuals of least squares show.

    Without horizons in the statistics, half of the one-step residual counts as measurement noise.

    Parameters
    ----------
    model : Model
    statistics : RegressionStatistics
        Of the model's observables, best compressed with `horizons` that begin 1, 2, 3.

    Raises
    ------
    KoopsieveError
        If an output is not among the statistics' targets.
    """
    if not isinstance(statistics, RegressionStatistics):
        raise KoopsieveError(
            f"statistics must be RegressionStatistics: result.outcome.kept, or from compress(). Got {statistics!r:.60}."
        )
    variance = _variances(statistics, model.signals.outputs)
    missing = [name for name in model.signals.outputs if name not in variance]
    if missing:
        raise KoopsieveError(
            f"The statistics lack the outputs {', '.join(missing)}. Pass those that the model was identified from: "
            "result.outcome.kept."
        )
    outputs = np.array([variance[name] for name in model.signals.outputs])
    shared = _measured_share(statistics, model.signals.outputs)
    process = {name: (1 - shared[i]) * outputs[i] for i, name in enumerate(model.signals.outputs)}
    others = float(np.mean(1 - shared))
    copies = set(model.signals.state_names[len(model.signals.outputs) :])
    known = {name: others * value for name, value in variance.items()} | dict.fromkeys(copies, 0.0) | process
    entering = _through_start(model, np.array(list(process.values())))
    carried = [known.get(name, entering[i]) for i, name in enumerate(model.carried_names)]
    return Noise(np.array(carried), np.maximum(0.5 * shared * outputs, np.finfo(float).tiny), outputs)


def _through_start(model: Model, process: FloatArray) -> FloatArray:
    """Return the variances that noise of the newest outputs gives to what is carried: those of a hidden state."""
    middle = model.working_range().mean(axis=0)[: len(model.signals.state_names)]
    slopes = model.start_slopes(middle[None])[0][:, : len(process)]
    found: FloatArray = slopes**2 @ process
    return found


def _variances(statistics: RegressionStatistics, outputs: tuple[str, ...]) -> dict[str, float]:
    """Return the variance of the one-step residual of every observable.

    That of an output is not below a small share of its mean square: a filter that is sure of one output, because a
    simulated record had no noise, blames the other ones for whatever disturbs it.
    """
    factor = statistics.factor
    squares = (factor.S**2).sum(axis=0) + factor.leftover
    smallest = MIN_RESIDUAL_SHARE * squares * np.isin(statistics.observables, outputs)
    values = np.maximum(factor.leftover, smallest) / max(factor.rows, 1.0)
    return dict(zip(statistics.observables, values.tolist(), strict=True))


def _measured_share(statistics: RegressionStatistics, outputs: tuple[str, ...]) -> FloatArray:
    """Return which share of the one-step variance of each output is measurement noise of two samples."""
    multistep = statistics.multistep
    near = [] if multistep is None else [h for h in multistep.horizons if h <= MAX_CURVE_STEPS]
    if multistep is None or 1 not in near or len(near) < 2:
        return np.full(len(outputs), 0.5)
    found = [multistep.at(h) for h in near]
    return _intercept_share(np.array(near), np.stack([one.leftover / max(one.rows, 1.0) for one in found]))


def _intercept_share(steps: IndexArray, variance: FloatArray) -> FloatArray:
    """Return the value at zero steps of the curve through variances (steps, n_outputs), as a share of the first."""
    curve = np.vander(steps, min(len(steps), 3), increasing=True)  # a line, or a parabola through three and more
    intercept = np.linalg.lstsq(curve, variance, rcond=None)[0][0]
    share: FloatArray = np.clip(intercept / np.maximum(variance[0], 1e-300), MIN_NOISE_SHARE, 1 - MIN_NOISE_SHARE)
    return share
