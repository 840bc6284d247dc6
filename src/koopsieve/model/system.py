"""What functions of a linear model ask of it."""

from __future__ import annotations

from typing import Protocol

from koopsieve._types import FloatArray
from koopsieve.dictionary import Dictionary


class System(Protocol):
    """φ[k+1] = A φ[k] + B u[k], y[k] = C φ[k], φ[k] = dictionary(x[k]); `LiftedModel` is one."""

    @property
    def A(self) -> FloatArray: ...  # noqa: D102
    @property
    def B(self) -> FloatArray: ...  # noqa: D102
    @property
    def C(self) -> FloatArray: ...  # noqa: D102
    @property
    def dictionary(self) -> Dictionary: ...  # noqa: D102
    @property
    def dt(self) -> float: ...  # noqa: D102
    @property
    def input_names(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def output_names(self) -> tuple[str, ...]: ...  # noqa: D102
