"""The mean-field family of the paper, equation (16): q(ρ) ∏ q(β_i) q(γ_i) q(α_i) q(π_i), by its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from koopsieve._types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class MeanField:
    """The parameters of every factor of q, which are the state of Algorithm 1 and, at its end, its output.

    Parameters
    ----------
    mean, precision : array, shape (p, q)
        Of q(β), Gaussian.
    inclusion : array, shape (p, q)
        Of q(γ), Bernoulli.
    c_bar, d_bar : array, shape (p, q)
        Shape and rate of q(α), Gamma.
    e_bar, f_bar : array, shape (p, q)
        Shapes of q(π), Beta.
    a_bar, b_bar : array, shape (q,)
        Shape and rate of q(ρ), Gamma.
    diverged : array of bool, shape (q,)
        Targets whose next update left the range of floats, so that they stayed where they were.
    """

    mean: FloatArray
    precision: FloatArray
    inclusion: FloatArray
    c_bar: FloatArray
    d_bar: FloatArray
    e_bar: FloatArray
    f_bar: FloatArray
    a_bar: FloatArray
    b_bar: FloatArray
    diverged: BoolArray

    @property
    def weights(self) -> FloatArray:
        """The effective weights γ̂∘μ."""
        return self.inclusion * self.mean

    @property
    def expected_noise_precision(self) -> FloatArray:
        """ρ̂ = ā/b̄."""
        return self.a_bar / self.b_bar

    @property
    def expected_weight_precision(self) -> FloatArray:
        """α̂ = c̄/d̄."""
        return self.c_bar / self.d_bar

    @property
    def beta(self) -> Any:
        """q(β) as a `scipy.stats` distribution over arrays: `.mean()`, `.var()`, `.interval(0.95)`, …."""
        return _distribution("norm", self.mean, 1 / np.sqrt(self.precision))

    @property
    def gamma(self) -> Any:
        """q(γ) as a `scipy.stats` distribution."""
        return _distribution("bernoulli", self.inclusion)

    @property
    def alpha(self) -> Any:
        """q(α) as a `scipy.stats` distribution."""
        return _distribution("gamma", self.c_bar, scale=1 / self.d_bar)

    @property
    def pi(self) -> Any:
        """q(π) as a `scipy.stats` distribution."""
        return _distribution("beta", self.e_bar, self.f_bar)

    @property
    def rho(self) -> Any:
        """q(ρ) as a `scipy.stats` distribution."""
        return _distribution("gamma", self.a_bar, scale=1 / self.b_bar)

    def rows(self, block: slice) -> MeanField:
        """Return the same with some of the regressors."""
        return MeanField(**{name: value[block] if value.ndim == 2 else value for name, value in _arrays(self).items()})

    def changed(self, updated: Mapping[str, FloatArray]) -> MeanField:
        """Return the state with some arrays replaced; targets where that is not finite stay, marked as diverged.

        A residual whose square overflows makes b̄ infinite and ρ̂ zero, as in any literal program: the target then starts
        over.
        """
        after = {**_arrays(self), **updated}
        fine = np.isfinite(after["a_bar"] / after["b_bar"])
        for name in ("mean", "precision", "inclusion"):
            fine = fine & np.isfinite(after[name]).all(axis=0)
        kept = {name: np.where(fine, value, getattr(self, name)) for name, value in after.items()}
        return MeanField(**{**kept, "diverged": ~fine})


def _arrays(state: MeanField) -> dict[str, Any]:
    return {each.name: getattr(state, each.name) for each in fields(MeanField)}


def _distribution(kind: str, *shapes: FloatArray, **options: FloatArray) -> Any:
    from scipy import stats  # takes half a second to import

    return getattr(stats, kind)(*shapes, **options)
