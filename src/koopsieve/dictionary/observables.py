"""What a dictionary is made of: blocks to be fitted, and fitted, frozen families of observables.

A `Block` is a recipe (`States() + SquaredExponential(centers=20)`); fitting it to data gives `Observables`: a
memoryless map from states (samples, n) to values (samples, k) with a readable name per column, which can be cut to any
of its columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray

if TYPE_CHECKING:
    from koopsieve.dictionary.dictionary import Dictionary


class Samples(Protocol):
    """What fitting needs to see of the data; `Trajectories` is one, and so is a `Stream`."""

    def state_blocks(self) -> Iterator[FloatArray]: ...  # noqa: D102 - all states, anew each time
    @property
    def state_names(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def outputs(self) -> tuple[int, ...]: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Observables(ABC):
    """A fitted family of observables.

    Parameters
    ----------
    names : tuple of str
        One per column.
    """

    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of observables."""
        return len(self.names)

    @abstractmethod
    def evaluate(self, states: FloatArray, out: FloatArray) -> None:
        """Write the observables of `states` (samples, n) into `out` (samples, size)."""

    @abstractmethod
    def select(self, columns: IndexArray) -> Self:
        """Return the family cut to the given columns; what is cut away is not computed any more."""

    def picked_names(self, columns: IndexArray) -> tuple[str, ...]:
        """Return the names of some columns."""
        return tuple(self.names[i] for i in columns)


class Block(ABC):
    """A recipe for observables; add recipes to concatenate them."""

    @abstractmethod
    def fit_observables(self, samples: Samples, rng: np.random.Generator) -> Observables:
        """Return the family with everything that data decide (centres, scales, frequencies) decided."""

    def recipes(self) -> tuple[Block, ...]:
        """Return the blocks this one consists of, in order."""
        return (self,)

    def __add__(self, other: Block) -> Block:
        if not isinstance(other, Block):
            return NotImplemented
        return Sum(self.recipes() + other.recipes())

    def fit(self, trajectories: Samples, seed: int = 0) -> Dictionary:
        """Fit every block to the data, in order, with one generator seeded by `seed`.

        Returns
        -------
        Dictionary
            The frozen map from states to observables.

        Raises
        ------
        KoopsieveError
            If a block cannot be fitted to these data, or two observables carry the same name.
        """
        from koopsieve.dictionary.dictionary import Dictionary

        rng = np.random.default_rng(seed)
        families = tuple(block.fit_observables(trajectories, rng) for block in self.recipes())
        return Dictionary(families, trajectories.state_names, trajectories.outputs)


@dataclass(frozen=True)
class Sum(Block):
    """Blocks one after the other, as `+` writes them."""

    blocks: tuple[Block, ...]

    def recipes(self) -> tuple[Block, ...]:
        """Return the blocks in order."""
        return self.blocks

    def fit_observables(self, samples: Samples, rng: np.random.Generator) -> Observables:
        """Refuse: a sum is fitted block by block."""
        raise NotImplementedError("A sum of blocks is fitted block by block; call `fit`.")

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.blocks))


def frozen(values: ArrayLike) -> FloatArray:
    """Return a read-only float array."""
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array
