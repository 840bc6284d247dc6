"""Squared errors of predictions so many steps ahead, window by window: what every error over horizons is made of.

Comes in: a model and measured trajectories. Goes out, piece by piece: (y − ŷ)² per start and output, and the spread of
y that it is compared with, both in units of its magnitude so that neither overflows where the data do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, magnitude, require_kind
from koopsieve.data import Signals, Trajectories, embedded


class Predictor(Protocol):
    """Anything that predicts named outputs from every start of trajectories; every `Model` is one."""

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the predicted state columns."""
        ...

    @property
    def signals(self) -> Signals:
        """Names, sample time and delays."""
        ...

    def predictions(
        self, trajectories: Trajectories, horizons: Sequence[int]
    ) -> Iterable[tuple[int, int, int, FloatArray]]:
        """Yield (episode, first start, horizon, predictions of consecutive starts)."""
        ...


class SquaredErrors(NamedTuple):
    """Squared errors (starts, n_outputs) of consecutive starts of one episode at one horizon; inf where not finite."""

    episode: int
    first: int
    horizon: int
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Comparison:
    """A model's predictions beside what was measured.

    Parameters
    ----------
    model : Predictor
    data : Trajectories
        Where predictions start, and whose inputs they use, with the model's delays embedded.
    reference : Trajectories
        What they are compared with.
    scale : array, shape (n_outputs,)
        The magnitude of each output in the reference, in which errors are told.
    """

    model: Predictor
    data: Trajectories
    reference: Trajectories
    scale: FloatArray

    @classmethod
    def of(cls, model: Predictor, trajectories: Trajectories, truth: Trajectories | None = None) -> Comparison:
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

    def squared(self, horizons: Sequence[int]) -> Iterator[SquaredErrors]:
        """Yield the squared errors at each horizon, in units of scale²."""
        for episode, first, h, predicted in self.model.predictions(self.data, horizons):
            true = self.reference.states[episode][first + h :][: len(predicted), : len(self.scale)]
            with np.errstate(over="ignore"):
                scaled = predicted / self.scale
            yield SquaredErrors(episode, first, h, squared_error(true / self.scale, scaled))

    def spread(self, horizon: int) -> tuple[FloatArray, int]:
        """Return Σ(y − mean(y))² of the values so many steps ahead, in units of scale², and how many they are."""
        ahead = np.concatenate([x[horizon:, : len(self.scale)] for x in self.reference.states])
        return spread(ahead / self.scale), len(ahead)


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
