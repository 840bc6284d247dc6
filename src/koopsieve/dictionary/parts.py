"""Taking fitted observables apart into plain values and arrays, and back: what safe model files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary.kernels import Kernels, PeriodicKernels
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.products import Pairs
from koopsieve.dictionary.states import MAX_DEGREE, Coordinates, Ones, Products
from koopsieve.dictionary.waves import Waves

# Only these can come out of a file; a name outside this table is refused, so reading a file never runs foreign code.
_KINDS: dict[str, type[Observables]] = {
    kind.__name__: kind for kind in (Coordinates, Ones, Products, Pairs, Kernels, PeriodicKernels, Waves)
}


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
    config: Sequence[Mapping[str, Any]], arrays: Mapping[str, FloatArray], width: int, prefix: str = ""
) -> tuple[Observables, ...]:
    """Return the families described, which take points of `width` coordinates.

    Raises
    ------
    KoopsieveError
        If a kind is not known, or arrays do not fit the names or the points.
    """
    return tuple(_family(f"{prefix}{number}", entry, arrays, width) for number, entry in enumerate(config))


def array_names(config: Sequence[Mapping[str, Any]], prefix: str = "") -> set[str]:
    """Return the names of the arrays that the families described have."""
    names: set[str] = set()
    for number, entry in enumerate(config):
        for field in fields(_kind(entry))[1:]:
            place = f"{prefix}{number}.{field.name}"
            names |= array_names([entry[field.name]], f"{place}.") if field.name in entry else {place}
    return names


def _kind(entry: Mapping[str, Any]) -> type[Observables]:
    if entry["kind"] not in _KINDS:
        raise KoopsieveError(f"Unknown kind of observables {entry['kind']!r}; expected one of {', '.join(_KINDS)}.")
    return _KINDS[entry["kind"]]


def _family(place: str, entry: Mapping[str, Any], arrays: Mapping[str, FloatArray], width: int) -> Observables:
    kind, names = _kind(entry), entry["names"]
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise KoopsieveError(f"Its family {place} must have a list of names. Got {names!r}.")
    whole = [field.name for field in fields(kind) if "IndexArray" in str(field.type)]
    values: dict[str, Any] = {}
    for field in fields(kind)[1:]:
        name = f"{place}.{field.name}"
        if field.name in entry:
            inner = int(np.asarray(arrays[f"{place}.widths"])[0 if field.name == "left" else 1])
            (values[field.name],) = from_parts([entry[field.name]], arrays, min(inner, width), f"{name}.")
        else:
            values[field.name] = _numbers(name, arrays[name], field.name in whole)
    family = kind(names=tuple(names), **values)
    if not _fits(family, width):
        raise KoopsieveError(f"The arrays of its family {place} do not fit its {family.size} names or {width} columns.")
    return family


def _numbers(name: str, array: NDArray[Any], whole: bool) -> NDArray[Any]:
    """Return an array of a file, which must hold whole numbers, or finite 64-bit floats."""
    if array.dtype.kind not in "iu" if whole else array.dtype != np.float64 or not np.isfinite(array).all():
        expected = "whole numbers" if whole else "finite 64-bit floats"
        raise KoopsieveError(f"Its array {name} should hold {expected}, got {array.dtype}.")
    return array.astype(np.intp) if whole else array


def _fits(family: Observables, width: int) -> bool:
    """Tell whether the arrays of a family belong to its names and to points of `width` coordinates."""
    size = family.size
    if isinstance(family, Coordinates):
        return family.columns.shape == (size,) and _below(family.columns, width)
    if isinstance(family, Products):
        powers = family.powers
        fits = powers.ndim == 2 and len(powers) == size and powers.shape[1] <= width and _below(powers, MAX_DEGREE + 1)
        return fits and bool((powers.sum(axis=1) <= MAX_DEGREE).all())
    if isinstance(family, Pairs):
        factors = ((family.first, family.left.size), (family.second, family.right.size))
        inside = all(index.shape == (size,) and _below(index, count) for index, count in factors)
        return inside and family.widths.shape == (2,) and _below(family.widths, width + 1)
    if isinstance(family, Kernels):
        centers, columns = family.centers, [family.coefficient, family.center]
        columns += [family.frequency] if isinstance(family, PeriodicKernels) else []
        shaped = centers.ndim == 2 and centers.shape[1:] == family.scale.shape == (width,)
        ordered = shaped and all(column.shape == (size,) for column in columns)
        return ordered and _below(family.center, len(centers)) and bool((family.scale > 0).all())
    if isinstance(family, Waves):
        return family.frequencies.shape == (size, width) and family.phases.shape == (size,)
    return True


def _below(values: NDArray[Any], limit: int) -> bool:
    return not values.size or (int(values.min()) >= 0 and int(values.max()) < limit)
