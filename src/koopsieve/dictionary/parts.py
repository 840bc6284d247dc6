"""Taking fitted observables apart into plain values and arrays, and back: what safe model files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary.kernels import Kernels, PeriodicKernels
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.products import Pairs
from koopsieve.dictionary.states import Coordinates, Ones, Products
from koopsieve.dictionary.waves import Waves

# Only these can come out of a file; a name outside this table is refused, so reading a file never runs foreign code.
_KINDS = {kind.__name__: kind for kind in (Coordinates, Ones, Products, Pairs, Kernels, PeriodicKernels, Waves)}


def to_parts(families: Sequence[Observables], prefix: str = "") -> tuple[list[dict[str, Any]], dict[str, FloatArray]]:
    """Return a plain description per family, and every array under the name `<number>.<field>`.

    A family made of other families describes them within itself.
    """
    config: list[dict[str, Any]] = []
    arrays: dict[str, FloatArray] = {}
    for number, family in enumerate(families):
        kind = type(family).__name__
        if kind not in _KINDS:
            raise KoopsieveError(
                f"{', '.join(family.names[:3])} come from Python code, which a model file does not hold. "
                "Use the built-in blocks, or keep the dictionary in your program and save the matrices."
            )
        entry: dict[str, Any] = {"kind": kind, "names": list(family.names)}
        for field in fields(family)[1:]:
            value, name = getattr(family, field.name), f"{prefix}{number}.{field.name}"
            if isinstance(value, Observables):
                (entry[field.name],), inner = to_parts([value], f"{name}.")
                arrays |= inner
            else:
                arrays[name] = value
        config.append(entry)
    return config, arrays


def from_parts(
    config: Sequence[Mapping[str, Any]], arrays: Mapping[str, FloatArray], prefix: str = ""
) -> tuple[Observables, ...]:
    """Return the families described."""
    return tuple(_family(f"{prefix}{number}", entry, arrays) for number, entry in enumerate(config))


def _family(place: str, entry: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> Observables:
    if entry["kind"] not in _KINDS:
        raise KoopsieveError(f"Unknown kind of observables {entry['kind']!r}; expected one of {', '.join(_KINDS)}.")
    kind = _KINDS[entry["kind"]]
    values: dict[str, Any] = {}
    for field in fields(kind)[1:]:
        name = f"{place}.{field.name}"
        if field.name in entry:
            (values[field.name],) = from_parts([entry[field.name]], arrays, f"{name}.")
        else:
            values[field.name] = np.asarray(arrays[name])
    return kind(names=tuple(str(name) for name in entry["names"]), **values)
