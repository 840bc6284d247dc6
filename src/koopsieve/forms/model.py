"""What users do with a model in any prediction form: predict, simulate, linearise, save; many starts at once."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._display import Facts, Shown, shorten
from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.evaluate.rollout import HorizonPredictions, horizon_predictions, rollout
from koopsieve.forms.exportable import Exportable, read_model, write_model
from koopsieve.forms.interface import FormInterface, Linearisation
from koopsieve.forms.prediction import (
    Level,
    Prediction,
    as_rows,
    banded,
    checked_horizon,
    finite_array,
    predicted,
    starts,
    whole_record,
)
from koopsieve.uncertainty.bands import Bands
from koopsieve.uncertainty.noise import Noise
from koopsieve.uncertainty.support import Support


class Model(Exportable, FormInterface, Shown, ABC):
    """A fitted model in one of the prediction forms.

    Subclasses are frozen dataclasses with fields `dictionary` and `calibration`. See `FormInterface` for what they say.
    """

    @property
    def history(self) -> int:
        """Rows of measured history that a prediction starts from."""
        return self.signals.embedding.history

    @property
    def bands(self) -> Bands | None:
        """Half-widths of bands around predictions; None if the model has none."""
        return None if self.calibration is None else self.calibration.bands

    @property
    def support(self) -> Support | None:
        """Where the data lie that the model was learned from; None if it does not know them."""
        return None if self.calibration is None else self.calibration.support

    @property
    def noise(self) -> Noise | None:
        """Noise of the plant and its sensors, for filters; None if the model does not know it."""
        return None if self.calibration is None else self.calibration.noise

    @overload
    def predict(self, history: ArrayLike, inputs: ArrayLike | None = ..., horizon: int = ...) -> FloatArray: ...
    @overload
    def predict(
        self, history: ArrayLike, inputs: ArrayLike | None = ..., horizon: int = ..., *, level: Level, joint: bool = ...
    ) -> Prediction: ...
    def predict(
        self,
        history: ArrayLike,
        inputs: ArrayLike | None = None,
        horizon: int = 1,
        *,
        level: Level | None = None,
        joint: bool = False,
    ) -> FloatArray | Prediction:
        """Predict the outputs 1, …, `horizon` steps after each start.

        Parameters
        ----------
        history : array, shape (rows, n_outputs) or (starts, rows, n_outputs)
            Measured outputs, newest last, at least `history` rows; (n_outputs,) is one row. Of a single output (rows,)
            will do.
        inputs : array, shape (steps, l) or (starts, steps, l), optional
            The inputs that act in the `horizon` steps predicted. Where the model holds past inputs, all inputs from the
            oldest row of the history on: rows − 1 + horizon of them, one more where u[k+1] acts on y[k+1]. The first
            shape is the same for all starts. May be left out only if the model has none.
        horizon : int
            Steps ahead.
        level, joint : float or sequence of float, optional, and bool
            Also give bands that hold each measured output, or jointly all at all steps, with this probability.

        Returns
        -------
        array, shape (horizon, n_outputs) or (starts, horizon, n_outputs)
            Row h−1 is y[k+h]. A model that diverges gives inf or nan. With a level, a `Prediction`.

        Raises
        ------
        KoopsieveError
            If shapes do not fit, inputs are missing, a value is not finite, or there are no bands that far ahead.
        """
        steps = checked_horizon(horizon)
        if joint and level is None:
            raise KoopsieveError("joint=True says which bands to give. Say at which level, such as level=0.9.")
        given = starts(self.signals, history, inputs, steps)
        mean = predicted(self, given)
        if level is not None:
            return banded(self, given, mean, level, joint)
        return mean[0] if given.alone else mean

    def simulate(self, outputs: ArrayLike, inputs: ArrayLike | None = None, samples: int | None = None) -> FloatArray:
        """Simulate a record from its first rows on, without looking at the outputs after them.

        Parameters
        ----------
        outputs : array, shape (rows, n_outputs)
            The first rows as measured, at least `history` of them; only the last `history` are used.
        inputs : array, shape (samples, l), optional
            The inputs of the whole record, a row per sample. May be left out only if the model has none.
        samples : int, optional
            Length of the whole record, for a model without inputs.

        Returns
        -------
        array, shape (samples − rows, n_outputs)
            The outputs after the rows given.
        """
        first = as_rows(finite_array("outputs", outputs), len(self.output_names))
        given = whole_record(self.signals, inputs, samples)
        horizon = len(given) - len(first)
        if horizon < 1:
            raise KoopsieveError(
                f"The record must be longer than its first rows. Expected more than {len(first)} samples, got "
                f"{len(given)}."
            )
        acting = given if self.signals.embedding.input_lead else given[:-1]
        return self.predict(first, None if inputs is None else acting, horizon)

    def linearise(self, history: ArrayLike, inputs: ArrayLike | None = None) -> Linearisation:
        """Return A, B and an offset that describe one step around a point.

        Parameters
        ----------
        history, inputs
            As for `predict` with one step.
        """
        given = starts(self.signals, history, inputs, 1)
        if len(given.states) != 1:
            raise KoopsieveError(f"linearise takes one history at a time. Got {len(given.states)}.")
        return self.jacobian(self.start(given.states)[0], given.acting[0, 0])

    def jacobian(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the step linearised around one point, given as (size,) and (l,)."""
        with np.errstate(over="ignore", invalid="ignore"):  # around a point far away, what overflows shows
            around = self.jacobians(carried[None], acting[None])
        return Linearisation(around.A[0], around.B[0], around.C, around.offset[0])

    def rollout(self, trajectories: Trajectories, horizon: int) -> tuple[FloatArray, ...]:
        """Predict from every start that has `horizon` samples after it, with the measured inputs.

        Parameters
        ----------
        trajectories : Trajectories
            With the outputs and inputs the model was made with; delays are embedded here if they are not yet.
        horizon : int
            Steps ahead.

        Returns
        -------
        tuple of arrays, each (starts, horizon, n_outputs)
            One per episode. Entry (k, h−1) is the prediction of the state's sample k + h from its sample k; the state
            begins `history` − 1 samples after the record. An episode that is too short has no starts.

        Raises
        ------
        KoopsieveError
            If columns do not fit, or no episode is long enough.
        """
        return rollout(self, trajectories, horizon)

    def predictions(self, trajectories: Trajectories, horizons: Sequence[int]) -> Iterator[HorizonPredictions]:
        """Yield, piece by piece, the predictions at some horizons from every start that has a sample that far ahead.

        The memory in use does not grow with the length of the trajectories. Each piece says its episode, its first
        start and its horizon.

        Raises
        ------
        KoopsieveError
            If columns do not fit, or a horizon is longer than every episode.
        """
        return horizon_predictions(self, trajectories, horizons)

    def steps(self, carried: FloatArray, acting: Iterable[FloatArray]) -> Iterator[FloatArray]:
        """Yield what is carried after each step; a step whose inputs have fewer rows goes on with as many starts."""
        for u in acting:
            with np.errstate(over="ignore", invalid="ignore"):  # an unstable model overflows, and its outputs show it
                carried = self.advance(carried[: len(u)], u)
            yield carried

    def free_runs(self, states: FloatArray, acting: FloatArray) -> FloatArray:
        """Return the outputs of runs from states (runs, n) under inputs (runs, steps, l), shape (runs, steps, q)."""
        carried, found = self.start(states), np.empty((*acting.shape[:2], len(self.output_names)))
        with np.errstate(over="ignore", invalid="ignore"):  # once: setting it in every step takes as long as the step
            for k in range(acting.shape[1]):
                carried = self.advance(carried, acting[:, k])
                found[:, k] = self.read(carried)
        return found

    def from_each(
        self, states: FloatArray, following: FloatArray, horizons: Sequence[int]
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield each horizon with the outputs predicted that far ahead, from as many starts as have such a sample.

        `states` (starts, n) are of consecutive samples, `following` (samples, l) the inputs that act from the first of
        them on.
        """
        acting = (following[j : j + len(states)] for j in range(min(max(horizons), len(following))))
        for h, carried in enumerate(self.steps(self.start(states), acting), start=1):
            if h in horizons:
                yield h, self.read(carried)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one .npz file of arrays and JSON, whole or not at all.

        Raises
        ------
        KoopsieveError
            If the dictionary holds a user's own code, which a safe file cannot; a function that was given by its import
            path is saved as that path.
        """
        write_model(path, self)

    @staticmethod
    def load(path: str | os.PathLike[str], functions_from: Sequence[str] = ()) -> Model:
        """Read a model that `save` wrote, in whichever form it is; nothing in the file is ever executed.

        Parameters
        ----------
        path : path
        functions_from : sequence of str
            Modules of yours that functions named by the file may be imported from, such as ["mypackage.terms"].

        Raises
        ------
        KoopsieveError
            If the file is damaged or foreign, or needs a function from another module.
        """
        return read_model(path, functions_from)

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<div>{escape(self._repr_latex_())}</div>"

    def _facts(self) -> Facts:
        return {
            "form": self.form,
            "terms": shorten(self.term_names),
            "outputs": shorten(self.output_names),
            "inputs": shorten(self.input_names) or "none",
            "history": str(self.history),
            "dt": f"{self.dt:g}",
        }


def require_shape(name: str, array: FloatArray, expected: tuple[int, ...]) -> None:
    """Refuse an array that does not fit the dictionary."""
    if np.shape(array) != expected:
        raise KoopsieveError(
            f"{name} does not fit the dictionary and the names. Expected {expected}, got {np.shape(array)}."
        )
