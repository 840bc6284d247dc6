"""What a model asks of the dictionary and of the estimate it is built from."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import ArrayLike, NDArray

from koopsieve._types import FloatArray, IndexArray, KoopsieveError


class Lifting(Protocol):
    """The part of a fitted dictionary that a model uses."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the L observables."""
        ...

    @property
    def size(self) -> int:
        """The number L of observables."""
        ...

    @property
    def outputs(self) -> tuple[int, ...]:
        """Indices of the observables that are the measured outputs."""
        ...

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the n state columns that are lifted."""
        ...

    @property
    def state_positions(self) -> IndexArray:
        """For each state, the index of the observable that is this state itself; −1 where there is none."""
        ...

    def __call__(self, states: FloatArray, /) -> FloatArray:
        """Lift states (samples, n) to (samples, L)."""
        ...

    def select(self, retained: ArrayLike, /) -> Lifting:
        """Cut the dictionary to some observables."""
        ...

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Split into what JSON holds and arrays, for a file."""
        ...


class Coefficients(Protocol):
    """The part of an estimate that a model uses."""

    @property
    def coef(self) -> FloatArray:
        """Coefficients, shape (L + l, L)."""
        ...

    @property
    def noise_precision(self) -> FloatArray:
        """Precision of each target's noise, shape (L,)."""
        ...

    @property
    def regressors(self) -> tuple[str, ...]:
        """Names of the observables, then of the inputs."""
        ...


def state_columns(dictionary: Lifting) -> IndexArray:
    """Return where in the lifted state each state column stands.

    Raises
    ------
    KoopsieveError
        If a state is not itself an observable, so that the state cannot be read from the lifted state.
    """
    positions = dictionary.state_positions
    missing = [name for name, position in zip(dictionary.state_names, positions, strict=True) if position < 0]
    if missing:
        raise KoopsieveError(
            "relift=True needs every state column among the observables, to read the state back at each step. "
            f"Missing: {', '.join(missing)}. Predict with relift=False, or keep the whole States() block."
        )
    return positions
