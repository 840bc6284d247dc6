"""The lifted linear model: an estimate and its dictionary come in; predictions, spectra and files go out.

φ[k+1] = A φ[k] + B u[k],  y[k] = C φ[k],  φ[k] = φ(x[k])   (the paper's Section 2, in column convention).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.model import files
from koopsieve.model.condensed import prediction_matrices
from koopsieve.model.export import to_control, to_scipy
from koopsieve.model.prediction import checked_indices, predict
from koopsieve.model.rollout import Ahead, predictions, rollout
from koopsieve.model.spectrum import ComplexArray, Modes, eigenvalues, modes, spectral_radius
from koopsieve.model.system import Coefficients
from koopsieve.model.uncertainty import output_deviation
from koopsieve.regression import condition_number


@dataclass(frozen=True, eq=False, repr=False)
class LiftedModel:
    """A linear predictor in the space of observables.

    Parameters
    ----------
    A : array, shape (L, L)
        The next lifted state from this one.
    B : array, shape (L, l)
        The next lifted state from the input; l may be 0.
    C : array, shape (n_outputs, L)
        The outputs from the lifted state.
    dictionary : Dictionary
        The map φ from states to the L observables.
    dt : float
        Sample time.
    input_names, output_names : tuple of str
        Names of the columns of B and the rows of C.
    noise_variance : array, shape (L,), optional
        Variance of the one-step noise of each observable, if the estimate knew it.
    """

    A: FloatArray
    B: FloatArray
    C: FloatArray
    dictionary: Dictionary
    dt: float
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    noise_variance: FloatArray | None = None

    def __post_init__(self) -> None:
        L = self.dictionary.size
        _require_shape("A", self.A, (L, L))
        _require_shape("B", self.B, (L, len(self.input_names)))
        _require_shape("C", self.C, (len(self.output_names), L))
        if self.noise_variance is not None:
            _require_shape("noise_variance", self.noise_variance, (L,))
        if not (np.isfinite(self.dt) and self.dt > 0):
            raise KoopsieveError(f"dt must be a positive sample time. Got {self.dt}.")

    @classmethod
    def from_estimate(cls, estimate: Coefficients, dictionary: Dictionary, dt: float = 1.0) -> LiftedModel:
        """Build the model of an estimate; the outputs are the dictionary's measured states.

        Parameters
        ----------
        estimate : Estimate
            With coefficients (L + l, L), from statistics made with `dictionary`.
        dictionary : Dictionary
            With L observables.
        dt : float
            Sample time of the data.

        Raises
        ------
        KoopsieveError
            If estimate and dictionary are not of the same observables, or the dictionary holds no measured state.
        """
        L, names = dictionary.size, dictionary.names
        if estimate.regressors[:L] != names or estimate.coef.shape[1] != L:
            raise KoopsieveError(
                f"The estimate was not made with this dictionary. Expected {L} observables {list(names[:5])}…, got "
                f"{estimate.coef.shape[1]}, {list(estimate.regressors[:5])}…. "
                "After a reduction pass `dictionary.select(retained)`."
            )
        if not dictionary.outputs:
            raise KoopsieveError(
                "The dictionary holds no measured state, so the model would have no output. Add a States() block."
            )
        outputs = list(dictionary.outputs)
        with np.errstate(divide="ignore"):
            variance = 1.0 / estimate.noise_precision
        return cls(
            A=np.ascontiguousarray(estimate.coef[:L].T),
            B=np.ascontiguousarray(estimate.coef[L:].T),
            C=np.eye(L)[outputs],
            dictionary=dictionary,
            dt=float(dt),
            input_names=tuple(estimate.regressors[L:]),
            output_names=tuple(names[i] for i in outputs),
            noise_variance=variance,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the observables."""
        return self.dictionary.names

    def __repr__(self) -> str:
        inputs = ", ".join(self.input_names) or "none"
        return (
            f"LiftedModel({len(self.A)} observables, outputs: {', '.join(self.output_names)}, inputs: {inputs}, "
            f"dt={self.dt:g})"
        )

    def predict(
        self, x0: ArrayLike, inputs: ArrayLike | None = None, horizon: int = 1, relift: bool = False
    ) -> FloatArray:
        """Predict the outputs 1, …, `horizon` steps after each start.

        Parameters
        ----------
        x0 : array, shape (n,) or (starts, n)
            States to start from.
        inputs : array, shape (horizon, l) or (starts, horizon, l), optional
            Inputs u[k], …, u[k+horizon−1]; the first form is the same for all starts. May be left out only if the
            model has none.
        horizon : int
            Steps ahead.
        relift : bool
            False: the linear prediction, φ lifted once at the start. True: the state is read from the lifted state and
            lifted anew after every step; needs all state columns among the observables.

        Returns
        -------
        array, shape (horizon, n_outputs) or (starts, horizon, n_outputs)
            Row h−1 is y[k+h]. A model that diverges gives inf or nan.

        Raises
        ------
        KoopsieveError
            If shapes do not fit, inputs are missing, or `relift` cannot read the state.
        """
        return predict(self, x0, inputs, horizon, relift)

    def rollout(self, trajectories: Trajectories, horizon: int, relift: bool = False) -> tuple[FloatArray, ...]:
        """Predict from every start that has `horizon` samples after it, with the measured inputs.

        Parameters
        ----------
        trajectories : Trajectories
            With the states and inputs the model was made with.
        horizon : int
            Steps ahead.
        relift : bool
            As for `predict`.

        Returns
        -------
        tuple of arrays, each (T − horizon, horizon, n_outputs)
            One per episode. Entry (k, h−1) is the prediction of sample k + h from sample k. An episode that is too
            short has no starts.

        Raises
        ------
        KoopsieveError
            If columns do not fit, or no episode is long enough.
        """
        return rollout(self, trajectories, horizon, relift)

    def predictions(self, trajectories: Trajectories, horizons: Sequence[int], relift: bool = False) -> Iterator[Ahead]:
        """Yield, piece by piece, the predictions at some horizons from every start that has a sample that far ahead.

        The memory in use does not grow with the length of the trajectories. Each piece says its episode, its first
        start and its horizon.

        Raises
        ------
        KoopsieveError
            If columns do not fit, or a horizon is longer than every episode.
        """
        return predictions(self, trajectories, horizons, relift)

    def predict_interval(
        self, x0: ArrayLike, inputs: ArrayLike | None = None, horizon: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return the linear prediction and its standard deviation, both in the shape `predict` gives.

        The deviation carries the one-step noise of every observable through A, taken as independent from observable to
        observable and from step to step. The start and the coefficients are taken as exact, so it is the least
        uncertainty there is.

        Raises
        ------
        KoopsieveError
            As `predict`, or if the model has no `noise_variance`.
        """
        if self.noise_variance is None:
            raise KoopsieveError("The model has no noise_variance, so it cannot say how far predictions may stray.")
        mean = self.predict(x0, inputs, horizon)
        return mean, np.broadcast_to(output_deviation(self.A, self.C, self.noise_variance, horizon), mean.shape)

    def prediction_matrices(self, horizon: int) -> tuple[FloatArray, FloatArray]:
        """Return what a quadratic programme of model predictive control needs of the model.

        Returns
        -------
        F : array, shape (horizon·n_outputs, L)
        G : array, shape (horizon·n_outputs, horizon·l)
            With Y = (y[k+1], …, y[k+horizon]) and U = (u[k], …, u[k+horizon−1]), one after the other, the linear
            prediction is Y = F·φ(x[k]) + G·U. The size of the programme does not depend on the number of observables.
        """
        return prediction_matrices(self, horizon)

    def restrict(self, retained: ArrayLike) -> LiftedModel:
        """Return the block restriction A[R, R], B[R], C[:, R] with the dictionary cut to R, nothing refitted.

        Raises
        ------
        KoopsieveError
            If an output would be lost.
        """
        kept = checked_indices(retained, len(self.A))
        lost = [name for name, row in zip(self.output_names, np.delete(self.C, kept, axis=1), strict=True) if row.any()]
        if lost:
            raise KoopsieveError(
                f"The restriction would lose the outputs {', '.join(lost)}. Keep the observables they read."
            )
        return replace(
            self,
            A=self.A[np.ix_(kept, kept)],
            B=self.B[kept],
            C=self.C[:, kept],
            dictionary=self.dictionary.select(kept),
            noise_variance=None if self.noise_variance is None else self.noise_variance[kept],
        )

    @property
    def eigenvalues(self) -> ComplexArray:
        """Eigenvalues of A, the largest in absolute value first."""
        return eigenvalues(self.A)

    @property
    def spectral_radius(self) -> float:
        """Largest absolute eigenvalue of A; above one, long predictions grow without bound."""
        return spectral_radius(self.A)

    @property
    def modes(self) -> Modes:
        """Eigenvalues with what each looks like in the outputs."""
        return modes(self)

    @property
    def condition_number(self) -> float:
        """κ(Aᵀ), as the paper reports it; inf when A is singular."""
        return condition_number(self.A)

    @property
    def coef_condition_number(self) -> float:
        """κ of the whole coefficient matrix [Aᵀ; Bᵀ]."""
        return condition_number(np.hstack([self.A, self.B]))

    def to_scipy(self) -> Any:
        """Return the model as `scipy.signal.dlti`; its state is the lifted state."""
        return to_scipy(self)

    def to_control(self) -> Any:
        """Return the model as `control.StateSpace` with all names (dots become middle dots); needs python-control."""
        return to_control(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one .npz file of arrays and JSON, whole or not at all.

        Raises
        ------
        KoopsieveError
            If the dictionary holds a user's own code, which a safe file cannot.
        """
        matrices = {"A": self.A, "B": self.B, "C": self.C}
        if self.noise_variance is not None:
            matrices["noise_variance"] = self.noise_variance
        files.write(path, self, matrices)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LiftedModel:
        """Read a model that `save` wrote; nothing in the file is ever executed.

        Raises
        ------
        KoopsieveError
            If the file is damaged or foreign.
        """
        return files.read(path, cls)


def _require_shape(name: str, array: FloatArray, expected: tuple[int, ...]) -> None:
    if array.shape != expected:
        raise KoopsieveError(
            f"{name} does not fit the dictionary and the names. Expected {expected}, got {array.shape}."
        )
