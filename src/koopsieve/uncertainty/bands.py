"""Prediction bands: half-widths per step, output and level, found on held-out windows.

`koopsieve.uncertainty.calibrate` makes the bands, a model carries them, and `Model.predict(..., level=0.9)` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._display import steps as as_steps
from koopsieve._types import FloatArray, IndexArray, KoopsieveError, Range, real_number
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.rollout import chunks

MAX_LOG_SCALE = 2.0  # bands are never made wider or narrower than by e²
# the levels at which half-widths are kept; between them they are interpolated
LEVELS = np.array([*np.arange(0, 20) / 20, 0.96, 0.97, 0.98, 0.99, 0.995, 0.999])
TABLE_LEVELS = (0.5, 0.8, 0.9, 0.95)  # default levels of `Bands.table`
SHAPE_LEVEL = 0.9  # joint bands are multiples of the bands at this level
_SHAPE = int(np.argmin(np.abs(LEVELS - SHAPE_LEVEL)))


def at_steps(steps: IndexArray, values: FloatArray, wanted: IndexArray) -> FloatArray:
    """Interpolate over the first axis, which belongs to the increasing `steps`, at the steps `wanted`."""
    upper = np.searchsorted(steps, wanted)
    lower = np.where(steps[upper] == wanted, upper, upper - 1)
    gap = np.maximum(steps[upper] - steps[lower], 1)
    weight = ((wanted - steps[lower]) / gap).reshape(-1, *[1] * (values.ndim - 1))
    return between(values[lower], values[upper], weight)


def between(low: FloatArray, high: FloatArray, weight: FloatArray) -> FloatArray:
    """Return (1 − weight)·low + weight·high, also where one of them is infinite and has no weight."""
    with np.errstate(invalid="ignore"):
        mixed = (1 - weight) * low + weight * high
    return np.where((weight == 0) | (low == high), low, np.where(weight == 1, high, mixed))


@dataclass(frozen=True, eq=False)
class LocalSpread:
    """Size of the error as a function of the start: its logarithm is linear in the observables."""

    steps: IndexArray  # (m,): steps at which it is known, increasing from 1; interpolated between
    center: FloatArray  # (L,): mean of the observables
    projection: FloatArray  # (L, r): from the observables less their mean to the features that are used
    weights: FloatArray  # (m, n_outputs, r): weights of the features; zero where the error does not depend on the start

    def __post_init__(self) -> None:
        fits = self.weights.ndim == 3 and self.weights.shape[::2] == (len(self.steps), self.projection.shape[1])
        if not fits or self.center.shape != self.projection.shape[:1]:
            raise KoopsieveError("The local spread of bands does not fit together.")

    def features(self, dictionary: Dictionary, states: FloatArray) -> FloatArray:
        """Return the features of each state (starts, n), shape (starts, r)."""
        found = np.empty((len(states), self.projection.shape[1]))
        for part in chunks(len(states), len(self.center)):
            with np.errstate(all="ignore"):
                found[part] = np.nan_to_num((dictionary(states[part]) - self.center) @ self.projection)
        return found

    def scale(self, features: FloatArray, horizon: int) -> FloatArray:
        """Return the factors of the half-widths at steps 1, …, `horizon`, shape (starts, horizon, n_outputs)."""
        weights = at_steps(self.steps, self.weights, np.arange(1, horizon + 1))
        with np.errstate(all="ignore"):
            logs = np.tensordot(features, weights, axes=(1, 2))
        scale: FloatArray = np.exp(np.clip(logs, -MAX_LOG_SCALE, MAX_LOG_SCALE))
        return scale


@dataclass(frozen=True, eq=False, repr=False)
class Bands(Shown):
    """Half-widths of bands around predictions that cover the stated share of held-out windows.

    Parameters
    ----------
    steps : array of int, shape (m,)
        Steps at which they were found, increasing from 1; interpolated between, not known beyond.
    widths : array, shape (m, n_outputs, levels)
        Half-width per output and level of `LEVELS`; inf where predictions diverged too often for that level.
    joint : array, shape (m, levels)
        Factor by which the bands at `SHAPE_LEVEL` are multiplied so that every output at every step up to this one lies
        inside with the probability of the level.
    windows : array of int, shape (m,)
        Number of windows of that length that the held-out data hold without overlap.
    local : LocalSpread, optional
        Dependence of the half-widths on the start; without it they are the same after every start.
    """

    steps: IndexArray
    widths: FloatArray
    joint: FloatArray
    windows: IndexArray
    local: LocalSpread | None = None

    def __post_init__(self) -> None:
        m, levels = len(self.steps), len(LEVELS)
        fits = self.widths.ndim == 3 and self.widths.shape[::2] == (m, levels)
        if not fits or self.joint.shape != (m, levels) or self.windows.shape != (m,) or m == 0:
            raise KoopsieveError("Bands do not fit together: every array must have one row per step.")
        if self.steps[0] != 1 or (np.diff(self.steps) <= 0).any():
            raise KoopsieveError("The steps of bands must increase from 1.")
        if not (self.widths >= 0).all() or not (self.joint >= 0).all():
            raise KoopsieveError("Half-widths of bands must be numbers, 0 or more.")

    @property
    def longest(self) -> int:
        """Largest number of steps for which there are bands."""
        return int(self.steps[-1])

    def around(
        self, dictionary: Dictionary, states: FloatArray, horizon: int, level: float, *, joint: bool = False
    ) -> FloatArray:
        """Return the half-widths after starts (starts, n), shape (starts, horizon, n_outputs); see `half_widths`."""
        half = self.half_widths(horizon, level, joint=joint)
        if self.local is None:
            return np.broadcast_to(half, (len(states), *half.shape))
        return half * self.local.scale(self.local.features(dictionary, states), horizon)

    def half_widths(self, horizon: int, level: float, *, joint: bool = False) -> FloatArray:
        """Return the half-widths 1, …, `horizon` steps after a typical start, shape (horizon, n_outputs).

        With `joint` all outputs at all steps lie inside together with the probability `level`, else each of them alone.
        """
        share = checked_level(level)
        self._check_horizon(horizon)
        steps = np.arange(1, horizon + 1)
        if not joint:
            return at_steps(self.steps, at_level(self.widths, share), steps)
        factor = at_steps(self.steps, at_level(self.joint, share), np.array([horizon]))
        shape = at_steps(self.steps, self.widths[..., _SHAPE], steps)
        with np.errstate(invalid="ignore"):
            return np.where(shape == 0, 0.0, factor * shape)

    def table(self, outputs: Sequence[str], levels: Sequence[float] = TABLE_LEVELS) -> list[dict[str, float | str]]:
        """Return the half-widths after a typical start as rows; the joint band is that of all steps up to each."""
        each = {level: self.half_widths(self.longest, level) for level in levels}
        joint = {(h, level): self.half_widths(int(h), level, joint=True)[-1] for h in self.steps for level in levels}
        return [
            {
                "step": int(h),
                "output": output,
                "level": level,
                "half_width": float(each[level][h - 1, i]),
                "joint_half_width": float(joint[h, level][i]),
            }
            for h in self.steps
            for i, output in enumerate(outputs)
            for level in levels
        ]

    def _check_horizon(self, horizon: int) -> None:
        if horizon > self.longest:
            raise KoopsieveError(
                f"The bands reach {self.longest} steps ahead, and {horizon} were asked for. Nothing is known "
                f"of errors further ahead. Sift with horizons up to {horizon}, or calibrate the model on held-out "
                f"data with horizon={horizon}."
            )

    def shortage(self, horizon: int, level: float) -> str:
        """Return a warning if the held-out data hold too few windows for this level, otherwise an empty text."""
        reached = int(np.searchsorted(self.steps, min(horizon, self.longest)))
        needed, there = int(np.ceil(1 / (1 - level) - 1e-9)), int(self.windows[: reached + 1].min())
        if there >= needed:
            return ""
        return (
            f"Bands at level {level:g} need {needed} windows of {as_steps(horizon)} side by side, and the data that "
            f"they were calibrated on hold {there}. Take the bands as the largest errors seen. Hold out more data, or "
            "ask for a lower level or a shorter horizon."
        )

    def _facts(self) -> Facts:
        local = "no" if self.local is None else "yes"
        return {"steps ahead": str(self.longest), "windows": str(self.windows[-1]), "depend on the start": local}


def checked_level(level: float) -> float:
    """Return the level after checking that it is one for which bands are kept."""
    return real_number("level", level, Range(0, float(LEVELS[-1]), open_low=True))


def at_level(values: FloatArray, level: float) -> FloatArray:
    """Interpolate over the last axis, which belongs to `LEVELS`."""
    upper = int(np.searchsorted(LEVELS, level - 1e-12))
    lower = max(upper - 1, 0)
    gap = LEVELS[upper] - LEVELS[lower]
    weight = (level - LEVELS[lower]) / gap if gap else 1.0
    return between(values[..., lower], values[..., upper], np.array(min(weight, 1.0)))


def calibration_steps(longest: int) -> IndexArray:
    """Return the steps at which bands are found: about sixty from 1 to the longest.

    Examples
    --------
    >>> calibration_steps(12).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    """
    spread = np.round(np.geomspace(1, longest, 60))
    few = np.arange(1, min(longest, 20) + 1)
    return np.unique(np.concatenate([few, spread])).astype(np.intp)
