"""The linear form: an estimate and its dictionary come in; predictions, spectra and files go out.

φ[k+1] = A φ[k] + B u[k],  y[k] = C φ[k],  φ[k] = φ(x[k])   (the paper's Section 2, in column convention).

Delayed copies among the observables are shifted exactly: their rows of A and B are ones and zeros, not estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, increasing_indices, real_array, require_kind
from koopsieve.data import Signals, Trajectories
from koopsieve.data.signals import complete_names
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.dictionary.custom import Calls
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.states import Coordinates
from koopsieve.dictionary.term_map import shifts, with_delay_line
from koopsieve.evaluate.rollout import HorizonPredictions, checked_horizons, embedded_for
from koopsieve.forms.interface import Linearisation
from koopsieve.forms.lifted_state import (
    LiftedStateModel,
    check_made_with,
    powers_are_cheaper,
    prediction_matrices,
    predictions_by_powers,
    runs_by_powers,
    shifted_coefficients,
)
from koopsieve.forms.model import require_shape
from koopsieve.forms.spectra import Modes, modes
from koopsieve.identify import Estimate
from koopsieve.identify.stacks import spectral_radius
from koopsieve.regression import condition_number
from koopsieve.uncertainty.calibrate import Calibration


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(LiftedStateModel):
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
        The map φ from states to the L observables; it knows names, sample time and delays.
    calibration : Calibration, optional
        Bands, support and certificate: see `koopsieve.calibrate`.
    """

    form: ClassVar[str] = "linear"
    step_is_linear: ClassVar[bool] = True
    terms_in_words: ClassVar[str] = (
        "One step ahead, the outputs are a sum of these terms with the coefficients below. The other observables have "
        "rows of their own in A and B: see the downloads."
    )

    A: FloatArray
    B: FloatArray
    C: FloatArray
    dictionary: Dictionary
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        L = self.dictionary.size
        require_shape("A", self.A, (L, L))
        require_shape("B", self.B, (L, len(self.input_names)))
        require_shape("C", self.C, (len(self.output_names), L))

    @classmethod
    def from_estimate(cls, estimate: Estimate, dictionary: Dictionary) -> LinearModel:
        """Build the model of an estimate; the outputs are the dictionary's measured states.

        Delayed copies are shifted exactly. Where the dictionary holds a copy but not the younger one that it is copied
        from, that one is carried too: as a state of the model, not as a regressor.

        Parameters
        ----------
        estimate : Estimate
            With coefficients (L + l, L), from statistics made with `dictionary`.
        dictionary : Dictionary
            With L observables, linear in the inputs.

        Raises
        ------
        KoopsieveError
            If estimate and dictionary are not of the same observables, or the dictionary lacks a measured state.
        """
        require_kind("a fitted dictionary", dictionary, Dictionary, "Fit it to data first: recipe.fit(data).")
        check_made_with(estimate, dictionary, dictionary.linear().regressors)
        carried = with_delay_line(dictionary.linear())
        structure = shifts(carried)
        coef = shifted_coefficients(estimate.coef, dictionary.size, carried, structure)
        L = carried.size
        return cls(
            A=np.ascontiguousarray(coef[:L].T),
            B=np.ascontiguousarray(coef[L:].T),
            C=np.eye(L)[list(carried.outputs)],
            dictionary=carried,
        )

    @classmethod
    def from_matrices(
        cls,
        A: ArrayLike,
        B: ArrayLike | None = None,
        C: ArrayLike | None = None,
        *,
        lift: Callable[[FloatArray], Any] | None = None,
        names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        input_names: Sequence[str] | None = None,
        dt: float = 1.0,
    ) -> LinearModel:
        """Build the model φ[k+1] = Aφ[k] + Bu[k], y[k] = Cφ[k] of given matrices, with any lifting.

        Parameters
        ----------
        A, B, C : array, shape (L, L), (L, l) and (n, L)
            Of an `Estimate` A is `coef[:L].T` and B is `coef[L:].T`.
        lift : callable, optional
            Takes measured outputs (samples, n), returns lifted states (samples, L). Left out, the lifted state itself
            is what is measured and predicted, and C is the identity.
        names, output_names, input_names : sequence of str, optional
            By default phi1, …, y1, …, u1, ….
        dt : float
            Sample time.

        Raises
        ------
        KoopsieveError
            If shapes or names do not fit, a number is not finite, or only one of C and `lift` is given.

        Examples
        --------
        >>> model = LinearModel.from_matrices(
        ...     A=[[0.9, 0.1], [0.0, 0.81]], C=[[1.0, 0.0]], lift=lambda y: np.hstack([y, y**2])
        ... )
        >>> model.predict([[2.0]], horizon=2).round(3).tolist()
        [[2.2], [2.304]]
        """
        if lift is None and output_names is not None:
            raise KoopsieveError("Without lift the outputs are the lifted state: name them with names=.")
        a = _matrix("A", A, L := len(np.atleast_1d(A)), L)
        b = _matrix("B", np.empty((L, 0)) if B is None else B, L, None)
        if (lift is None) != (C is None):
            raise KoopsieveError(
                "Give C and lift together: lift makes the lifted state of measured outputs, C reads them from it. "
                "Without both, the lifted state itself is measured and predicted."
            )
        c = np.eye(L) if C is None else _matrix("C", C, None, L)
        observables = complete_names(names, L, "observable", "phi")
        measured = observables if lift is None else complete_names(output_names, len(c), "output", "y")
        signals = Signals(measured, complete_names(input_names, b.shape[1], "input", "u"), dt)
        columns = np.arange(L)
        lifted: Observables = Coordinates(observables, columns) if lift is None else Calls(observables, lift, columns)
        return cls(a, b, c, Dictionary((lifted,), signals).linear())

    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Return φᵀAᵀ + uᵀBᵀ, rows being starts."""
        following: FloatArray = carried @ self.A.T + acting @ self.B.T
        return following

    @property
    def step_terms(self) -> tuple[str, ...]:
        """Observables and inputs."""
        return self.step_dictionary.regressors

    def with_step_coef(self, coef: FloatArray) -> Self:
        """Return the model with other coefficients; delayed copies stay exact shifts."""
        structure, L = shifts(self.dictionary), len(self.A)
        full = shifted_coefficients(coef, L, self.dictionary, structure)
        return replace(self, A=np.ascontiguousarray(full[:L].T), B=np.ascontiguousarray(full[L:].T))

    def step_map(self) -> TermMap:
        """Return Aφ + Bu."""
        point = self.carried_names + self.signals.acting
        return TermMap.linear(point, self.carried_names, np.hstack([self.A, self.B]))

    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the model's own matrices, which are the same everywhere."""
        A, B = (np.broadcast_to(matrix, (len(carried), *matrix.shape)) for matrix in (self.A, self.B))
        return Linearisation(A, B, self.C, np.zeros((len(carried), len(self.A))))

    def arrays(self) -> Mapping[str, FloatArray]:
        """Return A, B and C."""
        return {"A": self.A, "B": self.B, "C": self.C}

    def predictions(self, trajectories: Trajectories, horizons: Sequence[int]) -> Iterator[HorizonPredictions]:
        """Yield the predictions at some horizons from every start, the cheaper way: see `Model.predictions`."""
        data = embedded_for(self, trajectories)
        wanted = checked_horizons(horizons, data)
        if powers_are_cheaper(self, wanted):
            return predictions_by_powers(self, data, wanted)
        return super().predictions(data, wanted)

    def free_runs(self, states: FloatArray, acting: FloatArray) -> FloatArray:
        """Return the outputs of runs, many steps at a time."""
        return runs_by_powers(self, states, acting)

    def prediction_matrices(self, horizon: int) -> tuple[FloatArray, FloatArray]:
        """Return what a quadratic programme of model predictive control needs of the model.

        Returns
        -------
        F : array, shape (horizon·n_outputs, L)
        G : array, shape (horizon·n_outputs, horizon·l)
            With Y = (y[k+1], …, y[k+horizon]) and U = (u[k], …, u[k+horizon−1]), one after the other, the linear
            prediction is Y = F·φ(x[k]) + G·U. The size of the programme does not depend on the number of observables.
        """
        return prediction_matrices(self.A, self.B, self.C, horizon)

    def restrict(self, retained: ArrayLike) -> LinearModel:
        """Return the block restriction A[R, R], B[R], C[:, R] with the dictionary cut to R, nothing refitted.

        Raises
        ------
        KoopsieveError
            If an output would be lost.
        """
        kept = increasing_indices("retained", retained, len(self.A))
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
            calibration=None,  # it was of the model before
        )

    @property
    def spectral_radius(self) -> float:
        """Largest absolute eigenvalue of A; above one, long predictions grow without bound."""
        return spectral_radius(self.A)

    @property
    def modes(self) -> Modes:
        """Eigenvalues, and the shape of each mode in the outputs."""
        return modes(self.A, self.C, self.dt)

    @property
    def condition_number(self) -> float:
        """κ(Aᵀ), as the paper reports it; inf when A is singular."""
        return condition_number(self.A)

    @property
    def coef_condition_number(self) -> float:
        """κ of the whole coefficient matrix [Aᵀ; Bᵀ]."""
        return condition_number(np.hstack([self.A, self.B]))


def _matrix(name: str, values: ArrayLike, rows: int | None, columns: int | None) -> FloatArray:
    """Return a finite matrix with as many rows and columns as given; None stands for any number."""
    matrix = real_array(name, values)
    expected = " × ".join("any" if count is None else str(count) for count in (rows, columns))
    if matrix.ndim != 2 or rows not in (None, len(matrix)) or columns not in (None, matrix.shape[1]):
        raise KoopsieveError(f"{name} must be a matrix of {expected}. Got the shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise KoopsieveError(f"{name} must hold finite numbers. Got {matrix[~np.isfinite(matrix)][0]}.")
    return matrix
