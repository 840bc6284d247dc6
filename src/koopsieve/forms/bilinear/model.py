"""The bilinear form: φ[k+1] = A φ[k] + B u[k] + Σ_j u_j[k] N_j φ[k],  y[k] = C φ[k].

It still carries the lifted state; plants that are affine in the input need the products (docs/derivation.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from koopsieve._types import FloatArray, require_kind
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.dictionary.states import Coordinates, Pairs
from koopsieve.dictionary.term_map import shifts, with_delay_line
from koopsieve.forms.interface import Linearisation, NamedMatrix, OutputTerms
from koopsieve.forms.lifted_state import LiftedStateModel, check_made_with, shifted_coefficients
from koopsieve.forms.model import require_shape
from koopsieve.identify import Estimate
from koopsieve.uncertainty.calibrate import Calibration


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
    terms_in_words: ClassVar[str] = (
        "One step ahead, the outputs are a sum of these terms with the coefficients below. The other observables have "
        "rows of their own in A, N and B: see the downloads."
    )

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
    def from_estimate(cls, estimate: Estimate, dictionary: Dictionary) -> BilinearModel:
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

    @property
    def step_dictionary(self) -> Dictionary:
        """Observables, inputs and their products."""
        return self.dictionary.bilinear()

    @property
    def step_coef(self) -> FloatArray:
        """The next observables from those, the inputs and their products, shape (terms, L)."""
        return np.concatenate([super().step_coef, *(N.T[list(self.dictionary.varying)] for N in self.N)])

    def output_terms(self) -> OutputTerms:
        """Return observables, inputs and those products that act on an output."""
        plain, coef = super().output_terms(), np.vstack([(self.C @ N).T for N in self.N])
        names = [f"{u} {name}" for u in self.signals.acting for name in self.names]
        used = np.flatnonzero(coef.any(axis=1))
        return OutputTerms((*plain.names, *(names[i] for i in used)), np.vstack([plain.coef, coef[used]]))

    def matrices(self) -> Mapping[str, NamedMatrix]:
        """Return A, B, N for each input, and C."""
        plain, pairs = dict(super().matrices()), zip(self.signals.acting, self.N, strict=True)
        products = {f"N_{u}": NamedMatrix(N, self.names, self.names) for u, N in pairs}
        return {"A": plain["A"], "B": plain["B"], **products, "C": plain["C"]}

    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Return φᵀ(A + Σ_j u_j N_j)ᵀ + uᵀBᵀ, rows being starts."""
        products = (acting[:, :, None] * carried[:, None]).reshape(len(carried), -1)
        following: FloatArray = np.concatenate([carried, products, acting], axis=1) @ self._one_below_the_other
        return following

    @cached_property
    def _one_below_the_other(self) -> FloatArray:
        """Aᵀ, N₁ᵀ, …, Bᵀ: one product per step instead of several."""
        return np.concatenate([self.A.T, *(N.T for N in self.N), self.B.T])

    def step_map(self) -> TermMap:
        """Return Aφ + Bu + Σ_j u_j N_j φ."""
        names, acting = self.carried_names, self.signals.acting
        L, width = len(names), len(names) + len(acting)
        observables = Coordinates(names, np.arange(L))
        inputs = [Coordinates((name,), np.array([L + j])) for j, name in enumerate(acting)]
        products = tuple(Pairs.of(one, observables, (width, width)) for one in inputs)
        weights = np.hstack([np.empty((L, 0)), *self.N])
        return TermMap.linear(names + acting, names, np.hstack([self.A, self.B]), products, weights)

    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return A + Σ_j u_j N_j and B with columns N_j φ added, around each point."""
        A = self.A + np.tensordot(acting, self.N, axes=1)
        bent = np.matmul(self.N, carried.T).transpose(2, 1, 0)
        return Linearisation(A, self.B + bent, self.C, -np.einsum("paj,pj->pa", bent, acting))

    def arrays(self) -> Mapping[str, FloatArray]:
        """Return A, B, N and C."""
        return {"A": self.A, "B": self.B, "N": self.N, "C": self.C}
