"""The registry of families, and how each is taken apart into plain values and arrays, and back: what model files hold.

Only families of the registry can come out of a file, so reading a file never runs foreign code; functions by import
path are taken only from modules that the caller names. A new family is its own file and one line here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary import custom, kernels, monomials, states, text_terms, waves
from koopsieve.dictionary.observables import Observables

Texts = tuple[str, ...]

FAMILIES: dict[str, type[Observables]] = {
    family.__name__: family
    for family in (
        states.Coordinates,
        states.Ones,
        monomials.Products,
        monomials.ScaledProducts,
        states.Pairs,
        kernels.Kernels,
        kernels.PeriodicKernels,
        waves.Waves,
        text_terms.TextTerms,
        custom.ImportedCalls,
    )
}


def to_parts(families: Sequence[Observables], prefix: str = "") -> tuple[list[dict[str, Any]], dict[str, FloatArray]]:
    """Return a plain description per family, and every array under the name `<number>.<field>`.

    Texts, and the families that a family is made of, are part of its description.
    """
    config: list[dict[str, Any]] = []
    arrays: dict[str, FloatArray] = {}
    for number, family in enumerate(families):
        kind = type(family).__name__
        if kind not in FAMILIES:
            raise KoopsieveError(
                f"{', '.join(family.names[:3])} come from Python code, which a model file does not hold. "
                "Use the built-in blocks, or give the function by its import path: "
                "Function('mypackage.terms:friction', names=[…])."
            )
        entry: dict[str, Any] = {"kind": kind}
        for field, hint in _fields(type(family)).items():
            value, name = getattr(family, field), f"{prefix}{number}.{field}"
            if hint is Observables:
                (entry[field],), inner = to_parts([value], f"{name}.")
                arrays |= inner
            elif hint == Texts:
                entry[field] = list(value)
            else:
                arrays[name] = value
        config.append(entry)
    return config, arrays


def from_parts(
    config: Sequence[Mapping[str, Any]],
    arrays: dict[str, FloatArray],
    width: int,
    prefix: str = "",
    functions_from: Sequence[str] = (),
) -> tuple[Observables, ...]:
    """Return the families described, which take points of `width` coordinates; what they hold is taken from `arrays`.

    Of a family that holds others, the array `widths` says how many coordinates each of these takes.
    """
    found = tuple(_family(f"{prefix}{number}", entry, arrays, width) for number, entry in enumerate(config))
    require_named_modules(found, functions_from)
    return found


def require_named_modules(families: Sequence[Observables], functions_from: Sequence[str]) -> None:
    """Refuse families that would import a function from a module which the caller did not name."""
    for family in (code for one in families for code in one.code()):
        unnamed = set(getattr(family, "modules", ())) - set(functions_from)
        if unnamed:
            raise KoopsieveError(
                f"It calls {family.described()}, and a file may not import code by itself. If you trust that module, "
                f"load with functions_from={sorted(unnamed)!r}."
            )


@cache
def _fields(kind: type[Observables]) -> dict[str, Any]:
    """Return the fields of a family with what they hold: texts, other families, numbers or indices."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _family(place: str, entry: Mapping[str, Any], arrays: dict[str, FloatArray], width: int) -> Observables:
    if entry["kind"] not in FAMILIES:
        raise KoopsieveError(f"Unknown kind of observables {entry['kind']!r}; expected one of {', '.join(FAMILIES)}.")
    kind, values = FAMILIES[entry["kind"]], dict[str, Any]()
    within = [field for field, hint in _fields(kind).items() if hint is Observables]
    inner = dict(zip(within, np.asarray(arrays[f"{place}.widths"]), strict=True)) if within else {}
    for field, hint in _fields(kind).items():
        name = f"{place}.{field}"
        if hint is Observables:
            values[field] = _family(f"{name}.0", entry[field], arrays, min(int(inner[field]), width))
        elif hint == Texts:
            values[field] = _texts(place, field, entry[field])
        else:
            values[field] = _numbers(name, arrays.pop(name), hint == IndexArray)
    family = kind(**values)
    if not family.fits(width):
        raise KoopsieveError(f"The arrays of its family {place} do not fit its {family.size} names or {width} columns.")
    return family


def _texts(place: str, field: str, found: Any) -> Texts:
    if not isinstance(found, list | tuple) or not all(isinstance(text, str) for text in found):
        raise KoopsieveError(f"Its family {place} must have a list of {field}. Got {found!r}.")
    return tuple(found)


def _numbers(name: str, array: NDArray[Any], whole: bool) -> NDArray[Any]:
    """Return an array of a file, which must hold whole numbers, or finite 64-bit floats."""
    if array.dtype.kind not in "iu" if whole else array.dtype != np.float64 or not np.isfinite(array).all():
        expected = "whole numbers" if whole else "finite 64-bit floats"
        raise KoopsieveError(f"Its array {name} should hold {expected}, got {array.dtype}.")
    return array.astype(np.intp) if whole else array
