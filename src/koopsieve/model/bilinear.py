"""The bilinear form: φ[k+1] = A φ[k] + B u[k] + Σ_j u_j[k] N_j φ[k],  y[k] = C φ[k].

It still carries the lifted state; plants that are affine in the input need the products (docs/derivation.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from koopsieve._types import FloatArray, require_kind
from koopsieve.dictionary import Dictionary
from koopsieve.dictionary.delay_line import shifts, with_delay_line
from koopsieve.model.calibration import Calibration
from koopsieve.model.forms import Linearisation, require_shape
from koopsieve.model.lifted import Coefficients, check_made_with, shifted_coefficients
from koopsieve.model.lifted_state import LiftedStateModel


@dataclass(frozen=True, eq=False, repr=False)
class BilinearModel(LiftedStateModel):
    """A predictor in the space of observables that is bilinear in observables and inputs.

    Parameters
    ----------
    A : array, shape (L, L)
    B : array, shape (L, l)
    N : array, shape (l, L, L)
        The next lifted state from the product of each input with the lifted state.
    C : array, shape (n_outputs, L)
    dictionary : Dictionary
        The map φ; it knows names, sample time and delays.
    calibration : Calibration, optional
        Bands, support and certificate: see `koopsieve.calibrate`.
    """

    form: ClassVar[str] = "bilinear"

    A: FloatArray
    B: FloatArray
    N: FloatArray
    C: FloatArray
    dictionary: Dictionary
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        L, width = self.dictionary.size, len(self.input_names)
        require_shape("A", self.A, (L, L))
        require_shape("B", self.B, (L, width))
        require_shape("N", self.N, (width, L, L))
        require_shape("C", self.C, (len(self.output_names), L))

    @classmethod
    def from_estimate(cls, estimate: Coefficients, dictionary: Dictionary) -> BilinearModel:
        """Build the model of an estimate with the regressors of `dictionary.bilinear()`; delays are shifted exactly.

        Raises
        ------
        KoopsieveError
            If estimate and dictionary are not of the same observables, or the dictionary lacks a measured state.
        """
        require_kind("a fitted dictionary", dictionary, Dictionary, "Fit it to data first: recipe.fit(data).")
        L, width = dictionary.size, len(dictionary.signals.inputs)
        check_made_with(estimate, dictionary, dictionary.bilinear().regressors)
        carried = with_delay_line(dictionary.linear())
        structure = shifts(carried)
        coef = shifted_coefficients(estimate.coef[: L + width], L, carried, structure)
        size, varying = carried.size, dictionary.varying
        N = np.zeros((width, size, size))
        N[:, :L, varying] = estimate.coef[L + width :].reshape(width, len(varying), L).transpose(0, 2, 1)
        N[:, structure.targets] = 0.0
        return cls(coef[:size].T.copy(), coef[size:].T.copy(), N, np.eye(size)[list(carried.outputs)], carried)

    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Return φᵀ(A + Σ_j u_j N_j)ᵀ + uᵀBᵀ, rows being starts."""
        following: FloatArray = carried @ self.A.T + acting @ self.B.T
        for u, N in zip(acting.T, self.N, strict=True):
            following += u[:, None] * (carried @ N.T)
        return following

    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return A + Σ_j u_j N_j and B with columns N_j φ added, around each point."""
        A = self.A + np.einsum("pj,jab->pab", acting, self.N)
        bent = np.einsum("jab,pb->paj", self.N, carried)
        return Linearisation(A, self.B + bent, self.C, -np.einsum("paj,pj->pa", bent, acting))

    def arrays(self) -> Mapping[str, FloatArray]:
        """Return A, B, N and C."""
        return {"A": self.A, "B": self.B, "N": self.N, "C": self.C}
