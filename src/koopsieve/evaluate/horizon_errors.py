"""Errors of predictions at several horizons: squared errors of every window, and their mean with its standard error.

Comes in: a model and measured trajectories. `HorizonErrors` gives, piece by piece, (y − ŷ)² per start and output and
the spread of y that it is compared with, both in units of the magnitude of y so that neither overflows where the data
do not. `window_errors` gives per horizon the mean NMSE over the outputs, its standard error, and the errors of
consecutive blocks of windows. Windows overlap, so neighbouring errors are alike; blocks are at least as long as the
longest horizon, and are the same for every model and every horizon, so that models can be compared block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._display import Facts, Shown, number
from koopsieve._types import FloatArray, KoopsieveError, magnitude, require_kind, sorted_horizons
from koopsieve.data import Trajectories, embedded

if TYPE_CHECKING:
    from koopsieve.forms import Model

_MAX_BLOCKS = 50
_LARGEST_ERROR = 1e300  # above it the mean of several would overflow
_ROUNDING, _DIVERGED = 1e-14, 1e100  # errors beyond these differ no more


@dataclass(frozen=True, eq=False)
class HorizonErrors:
    """A model's predictions beside what was measured."""

    model: Model
    data: Trajectories  # where predictions start, and whose inputs they use, with the model's delays embedded
    reference: Trajectories  # what they are compared with
    scale: FloatArray  # (n_outputs,): the magnitude of each output in the reference, the unit of the errors

    @classmethod
    def of(cls, model: Model, trajectories: Trajectories, truth: Trajectories | None = None) -> HorizonErrors:
        """Embed the model's delays, and compare with the measured values unless a truth is given."""
        if not hasattr(model, "predictions"):
            raise KoopsieveError(
                f"Expected a model, got {type(model).__name__}. Pass result.model, or Model.load(path)."
            )
        require_kind("Trajectories", trajectories, Trajectories, "Build them with Trajectories.from_arrays.")
        data = embedded(trajectories, model.signals.embedding)
        reference = data if truth is None else _checked_truth(embedded(truth, model.signals.embedding), data)
        outputs = len(model.output_names)  # the first columns of the state
        return cls(model, data, reference, magnitude(np.concatenate([x[:, :outputs] for x in reference.states])))

    def squared(self, horizons: Sequence[int]) -> Iterator[tuple[int, int, int, FloatArray]]:
        """Yield (episode, first start, horizon, squared errors of consecutive starts), errors in units of scale²."""
        for episode, first, h, predicted in self.model.predictions(self.data, horizons):
            true = self.reference.states[episode][first + h :][: len(predicted), : len(self.scale)]
            with np.errstate(over="ignore"):
                scaled = predicted / self.scale
            yield episode, first, h, squared_error(true / self.scale, scaled)

    def spread(self, horizon: int) -> tuple[FloatArray, int]:
        """Return Σ(y − mean(y))² of the values predicted at a horizon, in units of scale², and their number."""
        values = np.concatenate([x[horizon:, : len(self.scale)] for x in self.reference.states])
        return spread(values / self.scale), len(values)


def squared_error(true: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return (true − predicted)², inf where that is not a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        squared: FloatArray = (true - predicted) ** 2
    return np.where(np.isnan(squared), np.inf, squared)


def spread(true: FloatArray) -> FloatArray:
    """Return Σ(true − mean)² per column, exactly zero for a constant one."""
    centred = true - true.mean(axis=0)
    total: FloatArray = np.einsum("ij,ij->j", centred, centred)
    return np.where(np.ptp(true, axis=0) == 0, 0.0, total)  # the mean of equal numbers may round away from them


def _checked_truth(truth: Trajectories, trajectories: Trajectories) -> Trajectories:
    expected, came = ([(x.shape) for x in t.states] for t in (trajectories, truth))
    if expected != came or truth.state_names != trajectories.state_names:
        raise KoopsieveError(
            "truth must have the same episodes and states as the trajectories. "
            f"Expected {list(trajectories.state_names)} of shapes {expected[:5]}, "
            f"got {list(truth.state_names)} of shapes {came[:5]}."
        )
    return truth


@dataclass(frozen=True, eq=False, repr=False)
class WindowErrors(Shown):
    """Mean NMSE over the outputs at each horizon, with its standard error over blocks of windows."""

    horizons: tuple[int, ...]
    # error, standard_error (len(horizons),): inf where predictions diverge; the standard error is nan where there is a
    # single block
    error: FloatArray
    standard_error: FloatArray
    blocks: FloatArray  # (len(horizons), number of blocks): the mean of each block of windows

    @classmethod
    def joined(cls, parts: Sequence[WindowErrors]) -> WindowErrors:
        """Return the errors on several parts of the data as one; blocks are about equally long in all of them."""
        blocks = np.concatenate([one.blocks for one in parts], axis=1)
        counts = [one.blocks.shape[1] for one in parts]
        error = np.average([one.error for one in parts], axis=0, weights=counts)
        return cls(parts[0].horizons, error, _standard_error(blocks), blocks)

    @property
    def logs(self) -> FloatArray:
        """Logarithms of the blocks' errors, shape (len(horizons), number of blocks)."""
        return np.log(clipped_errors(self.blocks))

    def score(self, emphasis: float) -> float:
        """Return the mean logarithm of the error, horizon h weighted as h to the power `emphasis`; inf if one diverges.

        Models of one size are ranked by it: a logarithm, because errors differ by orders of magnitude over horizons.
        """
        weight = np.asarray(self.horizons, dtype=float) ** emphasis
        return float(weight @ np.log(np.maximum(self.error, 1e-300)) / np.sum(weight))

    def _facts(self) -> Facts:
        return {"horizons": ", ".join(map(str, self.horizons)), "NMSE": ", ".join(map(number, self.error))}


def clipped_errors(errors: FloatArray) -> FloatArray:
    """Return errors between rounding and divergence; what is below or beyond is all alike."""
    return np.clip(np.nan_to_num(errors, nan=np.inf, posinf=np.inf), _ROUNDING, _DIVERGED)


def window_errors(
    model: Model,
    trajectories: Trajectories,
    horizons: Sequence[int],
    variance: FloatArray | None = None,
) -> WindowErrors:
    """Predict from every start of every episode and return the error at each horizon.

    The mean over windows of Σ_outputs (y − ŷ)²/variance(y) / n_outputs: the mean over outputs of `horizon_nmse`. An
    output that never changes at a horizon is compared with its magnitude instead. `variance` (n_outputs,) is what
    errors are relative to where these data are one part of several; left out, their own.
    """
    wanted, errors = sorted_horizons(horizons), HorizonErrors.of(model, trajectories)
    units = {h: _variance(errors, h) if variance is None else variance / errors.scale**2 for h in wanted}
    pieces: dict[int, list[tuple[int, int, FloatArray]]] = {h: [] for h in wanted}
    for episode, first, h, squared in errors.squared(wanted):
        with np.errstate(over="ignore"):
            pieces[h].append((episode, first, np.mean(squared / units[h], axis=1)))
    windows = [_in_order(pieces[h]) for h in wanted]
    count = min(_MAX_BLOCKS, max(1, min(map(len, windows)) // max(wanted)))
    blocks = np.array([[block.mean() for block in np.array_split(one, count)] for one in windows])
    error = np.array([one.mean() for one in windows])
    return WindowErrors(wanted, error, _standard_error(blocks), blocks)


def _variance(errors: HorizonErrors, horizon: int) -> FloatArray:
    """Return the variance of every output at a horizon; one for an output that never changes."""
    total, count = errors.spread(horizon)
    return np.where(total > 0, total / count, 1.0)


def _in_order(pieces: list[tuple[int, int, FloatArray]]) -> FloatArray:
    """Return the error of every window at one horizon, in order of time; one above `_LARGEST_ERROR` is infinite."""
    ordered = sorted(pieces, key=lambda piece: piece[:2])
    windows = np.concatenate([errors for _, _, errors in ordered])
    return np.where(windows < _LARGEST_ERROR, windows, np.inf)


def _standard_error(blocks: FloatArray) -> FloatArray:
    count = blocks.shape[1]
    if count < 2:
        return np.full(len(blocks), np.nan)
    whole = np.isfinite(blocks).all(axis=1)
    spread = np.full(len(blocks), np.inf)
    with np.errstate(over="ignore"):  # of errors beyond 1e154 it is infinite
        spread[whole] = np.std(blocks[whole], axis=1, ddof=1) / np.sqrt(count)
    return spread
