"""What exports ask of a model. They stand below the models, whose methods call them, so they see these only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data import Signals
from koopsieve.dictionary import Dictionary


class Step(Protocol):
    """The step around one point, or around many (a leading axis): x[k+1] ≈ A·x[k] + B·u[k] + offset, y = C·x."""

    @property
    def A(self) -> FloatArray: ...  # noqa: D102
    @property
    def B(self) -> FloatArray: ...  # noqa: D102
    @property
    def C(self) -> FloatArray: ...  # noqa: D102
    @property
    def offset(self) -> FloatArray: ...  # noqa: D102


class Predictor(Protocol):
    """A model in any form; `koopsieve.model.Model` is one."""

    @property
    def form(self) -> str: ...  # noqa: D102
    @property
    def dictionary(self) -> Dictionary: ...  # noqa: D102
    @property
    def signals(self) -> Signals: ...  # noqa: D102
    def arrays(self) -> Mapping[str, FloatArray]: ...  # noqa: D102
    def start(self, states: FloatArray) -> FloatArray: ...  # noqa: D102
    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray: ...  # noqa: D102
    def read(self, carried: FloatArray) -> FloatArray: ...  # noqa: D102
    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Step: ...  # noqa: D102


class LinearPredictor(Predictor, Protocol):
    """A model in the linear form; `LiftedModel` is one."""

    @property
    def A(self) -> FloatArray: ...  # noqa: D102
    @property
    def B(self) -> FloatArray: ...  # noqa: D102
    @property
    def C(self) -> FloatArray: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class LiftedStep:
    """φ[k+1] = A φ[k] + B u[k] + Σ_j u_j[k] N_j φ[k], y = C φ; N is empty, shape (0, L, L), in the linear form."""

    A: FloatArray
    B: FloatArray
    N: FloatArray
    C: FloatArray


@dataclass(frozen=True, eq=False)
class ReprojectedStep:
    """y[k+1] = coefᵀ·[φ, ψ](x[k], u[k]), held within `bounds` (2, n_outputs)."""

    coef: FloatArray
    bounds: FloatArray


def step_of(model: Predictor) -> LiftedStep | ReprojectedStep:
    """Return the numbers of one step of a model, in whichever form it is."""
    arrays = model.arrays()
    if model.form == "reprojected":
        bounds: FloatArray = model.bounds  # type: ignore[attr-defined]  # a model in this form has them
        return ReprojectedStep(arrays["coef"], bounds)
    A = arrays["A"]
    return LiftedStep(A, arrays["B"], arrays.get("N", np.zeros((0, *A.shape))), arrays["C"])


def carried_names(model: Predictor) -> tuple[str, ...]:
    """Return a name for every number that is carried from step to step."""
    return model.signals.state_names if model.form == "reprojected" else model.dictionary.names
