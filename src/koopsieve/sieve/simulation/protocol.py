"""What the simulation needs to know of a dictionary: values and slopes of its regressors, and cutting it."""

from __future__ import annotations

from typing import Protocol, Self

from koopsieve._types import FloatArray, IndexArray


class Regressors(Protocol):
    """The regressors p(z) = [φ(x), ψ(x, u)] of a reprojected model, as functions of z = [x | u]."""

    @property
    def size(self) -> int:
        """Number of regressors p."""
        ...

    def evaluate(self, z: FloatArray) -> FloatArray:
        """Return the regressors of every row of z (N, n_x + n_u), shape (N, p)."""
        ...

    def slope_of_sums(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return ∂(Σ_i w_ci p_i)/∂z_j for weights (sums, p), shape (N, sums, n_x + n_u)."""
        ...

    def select(self, indices: IndexArray) -> Self:
        """Return the regressors with these (increasing) indices; the others are not computed any more."""
        ...
