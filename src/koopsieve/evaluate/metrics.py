"""The paper's NMSE at one or many steps, and noise of a signal-to-noise ratio.

Stage seven: a model's predictions and measured (or noise-free) trajectories come in, plain numbers go out
(the paper's Section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, magnitude, real_array, sorted_horizons
from koopsieve.data import Trajectories
from koopsieve.evaluate.horizon_errors import HorizonErrors, spread, squared_error

if TYPE_CHECKING:
    from koopsieve.forms import Model

MIN_SNR_DB = -400.0  # noise of 1e20 times the signal; more leaves nothing of it


def nmse(true: ArrayLike, predicted: ArrayLike) -> FloatArray:
    """Return ‖true − predicted‖² / ‖true − mean(true)‖² per column, the paper's NMSE.

    Parameters
    ----------
    true, predicted : array, shape (samples, columns) or (samples,)
        A vector counts as one column. In the paper `true` is free of the artificial noise.

    Returns
    -------
    array, shape (columns,)
        1 is as good as predicting the mean. A prediction that is not finite gives inf. A constant true column gives 0
        if it is predicted without error, otherwise inf.

    Raises
    ------
    KoopsieveError
        If the shapes differ, there are no samples, or `true` is not finite.

    Examples
    --------
    >>> nmse([[1.0, 5.0], [3.0, 5.0]], [[1.0, 5.0], [2.0, 5.0]])
    array([0.5, 0. ])
    """
    x, y = real_array("true", true), real_array("predicted", predicted)
    if x.shape != y.shape or x.ndim not in (1, 2) or x.size == 0:
        raise KoopsieveError(
            "true and predicted must have the same shape, (samples, columns) or (samples,), with at least one sample. "
            f"Got {x.shape} and {y.shape}."
        )
    if not np.isfinite(x).all():
        raise KoopsieveError(f"true must be finite. Got {np.sum(~np.isfinite(x))} samples that are not.")
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    with np.errstate(over="ignore"):
        x, y = x / magnitude(x), y / magnitude(x)
    return _normalised(squared_error(x, y).sum(axis=0), spread(x))


def horizon_nmse(
    model: Model,
    trajectories: Trajectories,
    horizons: Sequence[int],
    truth: Trajectories | None = None,
) -> dict[str, FloatArray]:
    """Return the NMSE of predictions exactly h steps ahead, from every start of every episode, per state.

    Parameters
    ----------
    model : Model
    trajectories : Trajectories
        Where predictions start, and whose inputs they use; the model's delays are embedded here if they are not yet.
    horizons : sequence of int
        Numbers of steps.
    truth : Trajectories, optional
        The same trajectories without noise, to compare with; by default the measured ones.

    Returns
    -------
    dict from state name to array, shape (len(horizons),)
        In the order of `horizons`. At each horizon the error is normalised by the spread of the true values it is
        compared with, all episodes together. Diverging predictions give inf.

    Raises
    ------
    KoopsieveError
        If `truth` is not of the same shape, or the model cannot predict these trajectories.
    """
    errors = HorizonErrors.of(model, trajectories, truth)
    total = {h: np.zeros(len(model.output_names)) for h in sorted_horizons(horizons)}
    for _, _, h, squared in errors.squared(tuple(total)):
        total[h] += squared.sum(axis=0)
    table = {h: _normalised(total[h], errors.spread(h)[0]) for h in total}
    return {name: np.array([table[h][i] for h in horizons]) for i, name in enumerate(model.output_names)}


@overload
def add_noise(clean: Trajectories, snr_db: float, rng: np.random.Generator | int) -> Trajectories: ...
@overload
def add_noise(clean: ArrayLike, snr_db: float, rng: np.random.Generator | int) -> FloatArray: ...
def add_noise(
    clean: Trajectories | ArrayLike, snr_db: float, rng: np.random.Generator | int
) -> Trajectories | FloatArray:
    """Add independent Gaussian measurement noise of one signal-to-noise ratio to every state.

    Parameters
    ----------
    clean : Trajectories, or array of shape (samples, columns)
        Noise-free states. Inputs of trajectories stay as they are.
    snr_db : float
        Ratio in decibels: each column gets noise of standard deviation 10^(−snr_db/20) times its own, taken over all
        episodes together. inf adds nothing.
    rng : Generator or int
        Where the noise comes from, or a seed.

    Returns
    -------
    Trajectories or array
        What came, with noise.

    Raises
    ------
    KoopsieveError
        If delays were already embedded, since a sample and its delayed copy must carry the same noise.
    """
    if not snr_db >= MIN_SNR_DB:
        raise KoopsieveError(f"snr_db must be a number of decibels, at least {MIN_SNR_DB:g}. Got {snr_db:g}.")
    generator = np.random.default_rng(rng)
    if not isinstance(clean, Trajectories):
        array = real_array("clean", clean)
        return _noisy(array, _noise_level(array, snr_db), generator)
    if not clean.embedding.trivial:
        raise KoopsieveError(
            "A sample and its delayed copy must carry the same noise. Add noise first, then embed delays."
        )
    level = _noise_level(np.concatenate(clean.states), snr_db)
    return replace(clean, states=tuple(_noisy(x, level, generator) for x in clean.states))


def _noise_level(clean: FloatArray, snr_db: float) -> FloatArray:
    level: FloatArray = 10 ** (-snr_db / 20) * clean.std(axis=0)
    return level


def _noisy(clean: FloatArray, level: FloatArray, rng: np.random.Generator) -> FloatArray:
    return clean + level * rng.standard_normal(clean.shape)


def _normalised(error: FloatArray, spread: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio: FloatArray = error / spread
    return np.where(error == 0, 0.0, ratio)
