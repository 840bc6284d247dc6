"""Coverage of the bands on data: share covered, width and interval score, at each horizon and for whole windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.evaluate.rollout import StepErrors, checked_horizons, step_errors
from koopsieve.uncertainty.bands import Bands

if TYPE_CHECKING:
    from koopsieve.forms import Model

CURVE_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Shown):
    """Share of measured outputs that lies inside a model's bands.

    Parameters
    ----------
    level : float
        The share that bands should cover.
    horizons : tuple of int
    outputs : tuple of str
    share : array, shape (len(horizons), n_outputs)
        The share of all windows that they cover.
    joint : array, shape (len(horizons),)
        The share of windows that lie inside the joint band with every output at every step up to the horizon.
    width : array, shape (len(horizons), n_outputs)
        Mean distance from lower to upper bound, in the output's units.
    score : array, shape (len(horizons), n_outputs)
        Mean interval score: the width plus 2/(1 − level) times the distance by which a value lies outside.
    outside : array, shape (len(horizons),), optional
        Share of predictions flagged as outside the data.
    """

    level: float
    horizons: tuple[int, ...]
    outputs: tuple[str, ...]
    share: FloatArray
    joint: FloatArray
    width: FloatArray
    score: FloatArray
    outside: FloatArray | None = None

    def _facts(self) -> Facts:
        shares = ", ".join(f"{share:.2f}" for share in self.share.mean(axis=1))
        return {"level": f"{self.level:g}", "horizons": ", ".join(map(str, self.horizons)), "covered": shares}


def coverage(model: Model, data: Trajectories, horizons: Sequence[int], level: float = 0.9) -> Coverage:
    """Return the coverage of a model's bands on data that it was neither learned from nor calibrated on.

    Parameters
    ----------
    model : Model
        With bands up to the longest horizon.
    data : Trajectories
    horizons : sequence of int
        Numbers of steps.
    level : float
        The share that bands should cover.

    Raises
    ------
    KoopsieveError
        If the model's bands are too short, or it does not fit the data.
    """
    bands, wanted, errors = _bands_and_errors(model, data, horizons)
    half = bands.around(model.dictionary, errors.states, wanted[-1], level)
    pairs = [(np.abs(errors.errors[rows, h - 1]), half[rows, h - 1]) for h, rows in _reaching(errors, wanted)]
    joint = [_inside(errors, rows, h, bands, model, level) for h, rows in _reaching(errors, wanted)]
    return Coverage(
        level=float(level),
        horizons=wanted,
        outputs=model.output_names,
        share=np.array([np.mean(error <= width, axis=0) for error, width in pairs]),
        joint=np.array(joint),
        width=np.array([2 * np.mean(width, axis=0) for _, width in pairs]),
        score=np.array([np.mean(interval_score(error, width, level), axis=0) for error, width in pairs]),
        outside=_flagged(model, errors, wanted),
    )


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """Share covered at several levels."""

    levels: tuple[float, ...]
    horizons: tuple[int, ...]
    share: FloatArray  # (levels, len(horizons)): of all windows, averaged over the outputs


def coverage_curve(model: Model, data: Trajectories, horizons: Sequence[int]) -> CoverageCurve:
    """Return the share covered at several levels and horizons; see `coverage`.

    Raises
    ------
    KoopsieveError
        If the model's bands are too short, or it does not fit the data.
    """
    bands, wanted, errors = _bands_and_errors(model, data, horizons)
    share = np.empty((len(CURVE_LEVELS), len(wanted)))
    for i, level in enumerate(CURVE_LEVELS):
        half = bands.around(model.dictionary, errors.states, wanted[-1], level)
        for j, (h, rows) in enumerate(_reaching(errors, wanted)):
            share[i, j] = np.mean(np.abs(errors.errors[rows, h - 1]) <= half[rows, h - 1])
    return CoverageCurve(CURVE_LEVELS, wanted, share)


def interval_score(errors: FloatArray, half_widths: FloatArray, level: float) -> FloatArray:
    """Return the interval score (Gneiting & Raftery 2007) of absolute errors and symmetric bands; small is good.

    Examples
    --------
    >>> interval_score(np.array([0.5, 2.0]), np.array(1.0), 0.9).round(9).tolist()
    [2.0, 22.0]
    """
    with np.errstate(invalid="ignore"):
        missed = np.maximum(errors - half_widths, 0.0)
    score: FloatArray = 2 * half_widths + 2 / (1 - level) * np.where(np.isnan(missed), 0.0, missed)
    return score


def _bands_and_errors(
    model: Model, data: Trajectories, horizons: Sequence[int]
) -> tuple[Bands, tuple[int, ...], StepErrors]:
    if model.bands is None:
        raise KoopsieveError("The model has no bands. Use calibrate(model, held_out_data, horizon=…) first.")
    wanted = checked_horizons(horizons, data)
    return model.bands, wanted, step_errors(model, data, wanted[-1])


def _reaching(errors: StepErrors, horizons: tuple[int, ...]) -> list[tuple[int, IndexArray]]:
    return [(h, errors.reaching(h)) for h in horizons]


def _inside(errors: StepErrors, rows: IndexArray, horizon: int, bands: Bands, model: Model, level: float) -> float:
    """Return the share of windows that stay inside their joint band at every step."""
    half = bands.around(model.dictionary, errors.states[rows], horizon, level, joint=True)
    return float(np.mean(np.all(np.abs(errors.errors[rows, :horizon]) <= half, axis=(1, 2))))


def _flagged(model: Model, errors: StepErrors, horizons: tuple[int, ...]) -> FloatArray | None:
    if model.support is None:
        return None
    states, acting, predicted = errors.complete_windows()
    outside = model.support.outside(model.dictionary, states, acting, predicted)
    share: FloatArray = outside[:, np.array(horizons) - 1].mean(axis=0)
    return share
