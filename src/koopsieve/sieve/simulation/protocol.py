"""What the simulation needs to know of a dictionary: values and gradients of its regressors, and cutting it."""

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

    def gradient(self, z: FloatArray, columns: IndexArray) -> FloatArray:
        """Return ∂p_i/∂z_j for j in `columns`, shape (N, p, len(columns)); only these are computed."""
        ...

    def select(self, indices: IndexArray) -> Self:
        """Return the regressors with these (increasing) indices; the others are not computed any more."""
        ...
