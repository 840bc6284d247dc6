"""How nearly a model's observables are closed under the dynamics, from the statistics alone.

Comes in: a linear or bilinear model and the statistics of data. Goes out: how well each eigenfunction of the model is
one on the data (residual dynamic mode decomposition, Colbrook & Townsend 2023), and the largest relative error one step
ahead of any combination of the observables (invariance proximity, Haseli & Cortés 2023). Both need the cross products
of the regression's residuals, and nothing else of the data. See (D62) and (D63) in docs/derivation.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import ComplexArray, FloatArray, KoopsieveError, or_one
from koopsieve.regression import RegressionStatistics, TriangularFactor

if TYPE_CHECKING:
    from koopsieve.forms.lifted_state import LiftedStateModel

_MIN_SINGULAR = 1e-7  # combinations of the scaled observables below this are rounding errors of the cross products


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Shown):
    """How far a model's observables are from an invariant space.

    Parameters
    ----------
    eigenvalues : complex array, shape (L,)
        Of A, the largest in absolute value first.
    residuals : array, shape (L,)
        ‖ψ⁺ − λψ − what the inputs add‖ / ‖ψ‖ over the data, ψ the eigenfunction of each: 0 if it is one exactly. λ
        belongs to the pseudospectrum of the Koopman operator at this level.
    invariance_error : float
        The largest ‖f⁺ − predicted f⁺‖ / ‖f⁺‖ of any combination f of the observables, between 0 and 1 for least
        squares.
    """

    eigenvalues: ComplexArray
    residuals: FloatArray
    invariance_error: float

    def _facts(self) -> Facts:
        return {"eigenvalues": str(len(self.eigenvalues)), "invariance error": f"{self.invariance_error:.3g}"}


def eigenpair_residuals(
    model: LiftedStateModel, statistics: RegressionStatistics, acting: FloatArray | None = None
) -> tuple[ComplexArray, FloatArray]:
    """Return the eigenvalues of A, the largest first, and the residual of each on the data.

    With the left eigenvector wᵀA = λwᵀ the model says that ψ = wᵀφ moves as ψ⁺ = λψ + wᵀ(Bu + Σ_j u_j N_j φ). Over all
    rows ‖T w − Φ K w‖² = ‖S w − R K w‖² + wᴴ E w, E the cross products of what is left over, and ‖ψ‖ = ‖R_φ w‖: (D62).

    Parameters
    ----------
    model : LinearModel or BilinearModel
    statistics : RegressionStatistics
        Of any data, with at least the model's observables and input terms.
    acting : array, shape (l,), optional
        Inputs ū at which a bilinear model is linearised: the eigenvalues are then those of A + Σ_j ū_j N_j, and the
        inputs add what they do beyond ū. Zero if left out.

    Returns
    -------
    eigenvalues : complex array, shape (L,)
    residuals : array, shape (L,)
        nan where ψ vanishes on the data.

    Raises
    ------
    KoopsieveError
        If the statistics lack an observable or an input term of the model, or A is not finite.
    """
    K, factor = _matched(model, statistics)
    if not np.isfinite(K).all():
        raise KoopsieveError("The model's coefficients are not finite, so it has no eigenpairs. Identify it again.")
    L = len(model.A)
    step = model.A if acting is None else model.jacobian(np.zeros(L), acting).A
    values, vectors = np.linalg.eig(step.T)
    order = np.argsort(-np.abs(values), kind="stable")
    values, W = values[order].astype(complex), vectors[:, order].astype(complex)
    size = _norms(factor.R[:, :L] @ W)
    with np.errstate(divide="ignore", invalid="ignore"):
        residuals = np.sqrt(_norms((factor.S - factor.R @ K) @ W) ** 2 + _form(factor.leftover_products, W)) / size
    return values, np.where(size > 0, residuals, np.nan)


def invariance_error(statistics: RegressionStatistics, model: LiftedStateModel | None = None) -> float:
    """Return the largest relative error one step ahead over all combinations of the observables.

    max over f = wᵀφ of ‖f⁺ − predicted f⁺‖ / ‖f⁺‖. For least squares it is the sine of the largest angle between the
    observables one step later and what regressors reach: E w = sin²·(SᵀS + E) w, see (D63). Choosing other observables
    that span the same space does not change it.

    Parameters
    ----------
    statistics : RegressionStatistics
        Of these observables: `statistics.select(retained)`.
    model : LinearModel or BilinearModel, optional
        Model with the same observables that predicts f⁺; by default least squares does.

    Returns
    -------
    float
        0 if the space is invariant, 1 if some combination cannot be predicted at all; above 1 only with `model`.
        Combinations that vanish on the data to seven digits are left out.

    Raises
    ------
    KoopsieveError
        If the statistics lack an observable or an input term of the model.
    """
    factor = statistics.factor
    gap = np.zeros_like(factor.S)
    if model is not None:
        K, factor = _matched(model, statistics)
        gap = factor.S - factor.R @ K
    length = np.sqrt(np.einsum("ij,ij->j", factor.S, factor.S) + factor.leftover)
    scale = or_one(length)  # every observable in units of its own size, before anything is rounded
    rest = _root(factor.leftover_products / np.outer(scale, scale))
    following, missed = np.concatenate([factor.S / scale, rest]), np.concatenate([gap / scale, rest])
    _, singular, directions = np.linalg.svd(following, full_matrices=False)
    strong = singular > _MIN_SINGULAR * singular.max(initial=0.0)
    if not strong.any():
        return 0.0
    ratios: FloatArray = missed @ directions[strong].T / singular[strong]
    return float(np.linalg.svd(ratios, compute_uv=False)[0])


def certified(model: LiftedStateModel, statistics: RegressionStatistics) -> Certificate | None:
    """Return the certificate of a linear or bilinear model; None if the statistics lack some of its observables."""
    if not set(model.dictionary.names) <= set(statistics.observables):
        return None
    return Certificate(*eigenpair_residuals(model, statistics), invariance_error(statistics, model))


def _matched(model: LiftedStateModel, statistics: RegressionStatistics) -> tuple[FloatArray, TriangularFactor]:
    """Return the model's coefficients (regressors, L), and the factor of these regressors and targets."""
    K, names, L = model.step_coef, model.step_dictionary.regressors, len(model.A)
    position = {name: i for i, name in enumerate(statistics.regressors)}
    used = K.any(axis=1) | (np.arange(len(K)) < L)  # what is only carried along has no products
    missing = [name for name, one in zip(names, used, strict=True) if one and name not in position]
    if missing:
        raise KoopsieveError(
            f"The statistics lack {len(missing)} of the model's regressors, such as {missing[0]}. Give statistics of a "
            "dictionary that holds them."
        )
    columns = np.array([position[name] for name, one in zip(names, used, strict=True) if one], dtype=np.intp)
    return K[used], statistics.factor.select(columns, columns[:L])


def _norms(columns: FloatArray | ComplexArray) -> FloatArray:
    norms: FloatArray = np.linalg.norm(columns, axis=0)
    return norms


def _form(E: FloatArray, W: ComplexArray) -> FloatArray:
    """Return wᴴEw for every column, never negative."""
    squares: FloatArray = np.einsum("ij,ij->j", W.conj(), E @ W).real
    return np.maximum(squares, 0.0)


def _root(E: FloatArray) -> FloatArray:
    """Return F with FᵀF = E."""
    values, vectors = np.linalg.eigh(E)
    root: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root
