"""Recipes: blocks to be fitted to data, written as sums and products (`States() + SquaredExponential(centers=20)`).

Fitting a block gives a family of observables φ(x), one of input terms ψ(x, u), or both. The settings of a recipe can be
read and exchanged by name, which is what scikit-learn's searches do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, whole_number
from koopsieve.data.delays import require_dataset
from koopsieve.data.signals import Dataset
from koopsieve.dictionary.observables import Observables

if TYPE_CHECKING:
    from koopsieve.dictionary.dictionary import Dictionary

_LARGEST = 1e150  # squares of larger numbers overflow
STATES, STATES_AND_INPUTS = "states", "states and inputs"


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a block becomes: a family of observables φ(x) and one of input terms ψ(x, u); either may be missing."""

    observables: Observables | None = None
    input_terms: Observables | None = None


@dataclass(frozen=True, eq=False)
class Domain:
    """The points to fit to, with a name per coordinate."""

    samples: Dataset
    of: str = STATES  # {"states", "states and inputs"}

    def __post_init__(self) -> None:
        if self.of not in (STATES, STATES_AND_INPUTS):
            raise KoopsieveError(f'of must be "{STATES}" or "{STATES_AND_INPUTS}". Got {self.of!r}.')
        if self.of == STATES_AND_INPUTS and not self.samples.signals.inputs:
            raise KoopsieveError(f'of="{STATES_AND_INPUTS}" needs data with inputs, and these have none.')

    @property
    def names(self) -> tuple[str, ...]:
        """One per coordinate."""
        signals = self.samples.signals
        return signals.state_names + (signals.acting if self.of == STATES_AND_INPUTS else ())

    @property
    def symbol(self) -> str:
        """How a point is written in names."""
        return "x" if self.of == STATES else "(x,u)"

    def points(self) -> Iterator[FloatArray]:
        """Yield all points, block by block, whatever they hold."""
        return self.samples.state_blocks() if self.of == STATES else self.samples.acted_blocks()

    def blocks(self) -> Iterator[FloatArray]:
        """Yield all points, block by block."""
        for points in self.points():
            largest = np.abs(points).max(axis=0, initial=0.0)
            if (largest > _LARGEST).any():
                column = int(np.argmax(largest))
                raise KoopsieveError(
                    f"{self.names[column]} reaches {largest[column]:.3g}, too large for distances between samples. "
                    "Scale the data, or look for samples that are far too large."
                )
            yield points

    def fitted(self, family: Observables) -> Fitted:
        """Return the family in its role: observables of the state, or input terms."""
        return Fitted(observables=family) if self.of == STATES else Fitted(input_terms=family)


class Block(ABC):
    """A recipe for observables or input terms; add recipes to concatenate them, multiply them for all products."""

    @abstractmethod
    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
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
        from koopsieve.dictionary.states import Times

        _refuse_class(other)
        if not isinstance(other, Block):
            return NotImplemented
        products = tuple(Times(a, b) for a in self.recipes() for b in other.recipes())
        return products[0] if len(products) == 1 else Sum(products)

    def __rmul__(self, other: object) -> Block:
        _refuse_class(other)
        return NotImplemented

    def fit(self, trajectories: Dataset, seed: int = 0) -> Dictionary:
        """Fit every block to the data, in order, with one generator seeded by `seed`.

        Returns
        -------
        Dictionary
            The frozen map from states to observables. Without a block that sees the inputs, the inputs themselves are
            the input terms.

        Raises
        ------
        KoopsieveError
            If a block cannot be fitted to these data, or two observables carry the same name.
        """
        from koopsieve.dictionary.dictionary import Dictionary

        require_dataset(trajectories)
        return Dictionary.fitted(self.recipes(), trajectories, np.random.default_rng(whole_number("seed", seed)))


@dataclass(frozen=True, repr=False)
class Sum(Block):
    """Blocks one after the other, as `+` writes them."""

    blocks: tuple[Block, ...]

    def recipes(self) -> tuple[Block, ...]:
        """Return the blocks in order."""
        return self.blocks

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
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


def block_names(block: Block) -> tuple[str, ...]:
    """Return a name per block of a recipe.

    Examples
    --------
    >>> from koopsieve import Monomials, SquaredExponential, States
    >>> block_names(States() + SquaredExponential(centers=5) + SquaredExponential(centers=9))
    ('states', 'squaredexponential-1', 'squaredexponential-2')
    """
    kinds = [type(one).__name__.lower() for one in block.recipes()]
    total, seen = Counter(kinds), Counter[str]()
    names = []
    for kind in kinds:
        seen[kind] += 1
        names.append(f"{kind}-{seen[kind]}" if total[kind] > 1 else kind)
    return tuple(names)


def parameters(block: Block) -> dict[str, Any]:
    """Return the blocks of a recipe and their settings by name.

    Examples
    --------
    >>> from koopsieve import Monomials, States
    >>> parameters(States() + Monomials(degree=3))["monomials__degree"]
    3
    """
    found: dict[str, Any] = {}
    for name, one in zip(block_names(block), block.recipes(), strict=True):
        found[name] = one
        found |= {f"{name}__{key}": getattr(one, key) for key in _settings(one)}
    return found


def with_parameters(block: Block, changes: Mapping[str, Any]) -> Block:
    """Return a recipe with some blocks or settings exchanged.

    Examples
    --------
    >>> from koopsieve import Monomials, States
    >>> with_parameters(States() + Monomials(degree=3), {"monomials__degree": 2})
    States() + Monomials()
    """
    names = block_names(block)
    parts = dict(zip(names, block.recipes(), strict=True))
    known = parameters(block)
    for key in sorted(changes, key=lambda key: key.count("__")):  # whole blocks first, then their settings
        name, _, setting = key.partition("__")
        if key not in known and (name not in parts or setting not in _settings(parts[name])):
            raise KoopsieveError(f"The dictionary has no parameter {key!r}. It has {', '.join(known)}.")
        parts[name] = _exchanged(parts[name], setting, changes[key])
    found = tuple(parts[name] for name in names)
    return found[0] if len(found) == 1 else Sum(found)


def _exchanged(block: Block, setting: str, value: Any) -> Block:
    if setting:
        return replace(block, **{setting: value})  # type: ignore[type-var]
    if not isinstance(value, Block):
        raise KoopsieveError(f"Expected a block such as Monomials(degree=2). Got {type(value).__name__}.")
    return value


def _settings(block: Block) -> tuple[str, ...]:
    return tuple(field.name for field in fields(block) if field.init) if is_dataclass(block) else ()
