"""The settings of a recipe by name, to be read and exchanged: what scikit-learn's searches turn.

Blocks are named as scikit-learn names the steps of a pipeline: by their class in small letters, numbered where there
are several of one class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from koopsieve._types import KoopsieveError
from koopsieve.dictionary.observables import Block, Sum


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

    Raises
    ------
    KoopsieveError
        If a name is not known, or what is to stand for a block is none.

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
