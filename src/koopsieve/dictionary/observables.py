"""What a dictionary is made of: blocks to be fitted, and fitted, frozen families of functions.

A `Block` is a recipe (`States() + SquaredExponential(centers=20)`); fitting it to data gives `Observables`: a
memoryless map from points (samples, d) to values (samples, k) with a readable name per column, which can be cut to any
of its columns. A point is a state x, or a state and the input that acts on it, (x, u). Functions of x alone are the
*observables* φ(x); functions that see the input are the *drives* ψ(x, u).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import Field, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, whole_number
from koopsieve.data.signals import Signals

if TYPE_CHECKING:
    from koopsieve.dictionary.dictionary import Dictionary


class Samples(Protocol):
    """What fitting needs to see of the data; `Trajectories` is one, and so is a `Stream`."""

    @property
    def signals(self) -> Signals: ...  # noqa: D102
    def state_blocks(self) -> Iterator[FloatArray]: ...  # noqa: D102 - all states, anew each time
    def acted_blocks(self) -> Iterator[FloatArray]: ...  # noqa: D102 - states with the inputs that act on them, (x, u)


@dataclass(frozen=True, eq=False)
class Observables(ABC):
    """A fitted family of functions of a point.

    Parameters
    ----------
    names : tuple of str
        One per column.
    """

    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.names)

    @abstractmethod
    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Write the values at `points` (samples, d) into `out` (samples, size)."""

    @abstractmethod
    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the derivatives with respect to the point's coordinates, shape (samples, size, d)."""

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the derivatives of weighted sums of the functions, shape (samples, sums, d); weights (sums, size)."""
        return weights @ self.gradient(points)

    @abstractmethod
    def select(self, columns: IndexArray) -> Self:
        """Return the family cut to the given columns; what is cut away is not computed any more."""

    def picked_names(self, columns: IndexArray) -> tuple[str, ...]:
        """Return the names of some columns."""
        return tuple(self.names[i] for i in columns)

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the values at `points`, shape (samples, size)."""
        out = np.empty((len(points), self.size))
        self.evaluate(points, out)
        return out


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a block becomes: a family of observables φ(x) and one of drives ψ(x, u); either may be missing."""

    observables: Observables | None = None
    drives: Observables | None = None


class Block(ABC):
    """A recipe for observables or drives; add recipes to concatenate them, multiply them for all products."""

    @abstractmethod
    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """Return the families with everything that data decide (centres, scales, frequencies) decided."""

    def __repr__(self) -> str:
        """Return the recipe as it was written: settings at their defaults are left out."""
        own: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        values = [(field, getattr(self, field.name)) for field in own]
        written = [f"{field.name}={value!r}" for field, value in values if not _same(value, field.default)]
        return f"{type(self).__name__}({', '.join(written)})"

    def recipes(self) -> tuple[Block, ...]:
        """Return the blocks this one consists of, in order."""
        return (self,)

    def __add__(self, other: Block) -> Block:
        _refuse_class(other)
        if not isinstance(other, Block):
            return NotImplemented
        return Sum(self.recipes() + other.recipes())

    def __radd__(self, other: object) -> Block:
        _refuse_class(other)
        return NotImplemented

    def __mul__(self, other: Block) -> Block:
        from koopsieve.dictionary.products import Times

        _refuse_class(other)
        if not isinstance(other, Block):
            return NotImplemented
        products = tuple(Times(a, b) for a in self.recipes() for b in other.recipes())
        return products[0] if len(products) == 1 else Sum(products)

    def __rmul__(self, other: object) -> Block:
        _refuse_class(other)
        return NotImplemented

    def fit(self, trajectories: Samples, seed: int = 0) -> Dictionary:
        """Fit every block to the data, in order, with one generator seeded by `seed`.

        Returns
        -------
        Dictionary
            The frozen map from states to observables. Without a block that sees the inputs, the inputs themselves are
            the drives.

        Raises
        ------
        KoopsieveError
            If a block cannot be fitted to these data, or two observables carry the same name.
        """
        from koopsieve.dictionary.dictionary import Dictionary

        if not hasattr(trajectories, "signals"):
            raise KoopsieveError(
                f"Expected Trajectories or a Stream, got {type(trajectories).__name__}. Build them with "
                "Trajectories.from_arrays(states, inputs)."
            )
        return Dictionary.fitted(self.recipes(), trajectories, np.random.default_rng(whole_number("seed", seed)))


@dataclass(frozen=True, repr=False)
class Sum(Block):
    """Blocks one after the other, as `+` writes them."""

    blocks: tuple[Block, ...]

    def recipes(self) -> tuple[Block, ...]:
        """Return the blocks in order."""
        return self.blocks

    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """Refuse: a sum is fitted block by block."""
        raise NotImplementedError("A sum of blocks is fitted block by block; call `fit`.")

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.blocks))


def _refuse_class(other: object) -> None:
    """Say what is missing where `States` was written for `States()`."""
    if isinstance(other, type) and issubclass(other, Block):
        raise KoopsieveError(f"{other.__name__} must be written with brackets: {other.__name__}().")


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def frozen(values: ArrayLike) -> FloatArray:
    """Return a read-only float array."""
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array
