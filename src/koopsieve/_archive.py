"""Files of arrays with a JSON header: one .npz, written whole or not at all, read without pickle, so never run.

The sizes that a file claims are checked before anything is unpacked, so that a small file cannot fill the memory.

Whole results are saved by `to_plain` and `from_plain`. Their files name classes. Only frozen dataclasses and
enumerations of the computing rooms below are looked up, and each is built by its own constructor, so reading a file
runs nothing but the checks of those classes.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from koopsieve._types import KoopsieveError
from koopsieve._written import written_whole

Value = TypeVar("Value")
Arrays = dict[str, NDArray[Any]]

ALWAYS_ALLOWED_BYTES = 64 * 2**20  # a file may unpack to this size, however small it is
_OWN_RATIO = 16  # bytes unpacked per byte on disk; our own archives are not compressed


def write_archive(
    path: str | os.PathLike[str], kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write the file; if anything fails, a full disk for example, what was there under that name before stays."""
    text = json.dumps({"format": kind, "version": version, **header}, allow_nan=False)
    with written_whole(path) as stream:
        np.savez(stream, header=np.frombuffer(text.encode(), dtype=np.uint8), **dict(arrays))  # type: ignore[arg-type]


def read_archive(
    path: str | os.PathLike[str], kind: str, version: int, build: Callable[[dict[str, Any], Arrays], Value]
) -> Value:
    """Read the file and build a value from its header and arrays."""
    try:
        arrays = read_arrays(path, ratio=_OWN_RATIO)
        header = json.loads(arrays.pop("header").tobytes().decode())
        found = (header.get("format"), header.get("version"))
        if found != (kind, version):
            raise KoopsieveError(
                f"Expected {kind!r}, version {version}; got {found[0]!r}, version {found[1]}. "
                "Use the koopsieve that wrote it."
            )
        return build(header, arrays)
    except FileNotFoundError as error:
        raise KoopsieveError(f"There is no file {os.fspath(path)}. Check the path.") from error
    except IsADirectoryError as error:
        raise KoopsieveError(f"{os.fspath(path)} is a folder. Name the file in it.") from error
    except KoopsieveError as error:
        raise KoopsieveError(f"{os.fspath(path)} cannot be read as {kind}. {error}") from error
    except Exception as error:  # a damaged archive can make zipfile, zlib, json and numpy raise almost anything
        raise KoopsieveError(
            f"{os.fspath(path)} is damaged or not a file of koopsieve ({type(error).__name__}: {error}). "
            f"Expected a {kind}."
        ) from error


def read_arrays(path: str | os.PathLike[str], ratio: int, wanted: Callable[[str], bool] = lambda _: True) -> Arrays:
    """Return the arrays of an .npz file, or those whose names are wanted; nothing in it is executed."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if len(members) < len(archive.infolist()):
            raise KoopsieveError("It holds two arrays of the same name.")
        chosen = {name: info for name, info in members.items() if wanted(name)}
        refuse_oversized(sum(info.file_size for info in chosen.values()), os.stat(path).st_size, ratio)  # noqa: PTH116
        return {name: _read_array(archive, info) for name, info in chosen.items()}


def array_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the arrays of an .npz file."""
    with zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


def refuse_oversized(
    unpacked: int, on_disk: int, ratio: int, advice: str = "It is damaged, or meant to do harm."
) -> None:
    """Check that a file does not unpack to far more than it takes on disk."""
    if unpacked > max(ALWAYS_ALLOWED_BYTES, ratio * on_disk):
        raise KoopsieveError(
            f"It would unpack from {on_disk / 2**20:.1f} to {unpacked / 2**20:.0f} MiB, more than {ratio} times its "
            f"size. {advice}"
        )


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return one array, whose own header must agree with the size of the member it is in."""
    with archive.open(info) as stream:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise KoopsieveError(f"Its array {info.filename} is written in a way that is not known.")
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(stream)
        if dtype.hasobject:
            raise KoopsieveError(f"Its array {info.filename} holds Python objects, which are never opened.")
        if int(np.prod(shape, dtype=object)) * dtype.itemsize > info.file_size:
            raise KoopsieveError(f"Its array {info.filename} does not hold what it claims.")
    with archive.open(info) as stream:
        return npy.read_array(stream, allow_pickle=False)


_ROOMS = ("data", "dictionary", "regression", "identify", "evaluate", "uncertainty", "sieve", "forms", "sifting", "io")


def to_plain(value: object) -> tuple[dict[str, Any], Arrays]:
    """Return a value as a JSON header and named arrays; an object or array that occurs twice is held once."""
    writer = _Writer()
    root = writer.plain(value, type(value).__name__)
    return {"root": root, "objects": writer.objects}, writer.arrays


def from_plain(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], check: Callable[[Any], None] = lambda _: None
) -> Any:
    """Return the value; `check` may refuse every object that it is made of before anything is made of that."""
    built: list[Any] = []
    for entry in header["objects"]:  # parts stand before what is made of them
        kind = _class(entry["class"])
        names = {one.name for one in fields(kind) if one.init} if is_dataclass(kind) else set()
        if set(entry["fields"]) != names:
            raise KoopsieveError(f"Its {entry['class']} has other fields than this version of koopsieve expects.")
        built.append(kind(**{name: _value(part, arrays, built) for name, part in entry["fields"].items()}))
        check(built[-1])
    return _value(header["root"], arrays, built)


class _Writer:
    """Collects objects and arrays while a value is taken apart; each is known by its identity."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: Arrays = {}
        self._known: dict[int, tuple[object, dict[str, Any]]] = {}  # what is held cannot lose its identity

    def plain(self, value: Any, place: str) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, Enum):
            return {"enum": _name(type(value)), "member": value.name}
        if isinstance(value, int | float | np.generic):
            return _number(value)
        if isinstance(value, tuple | list):
            items = [self.plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
            return {"tuple": items} if isinstance(value, tuple) else items
        if isinstance(value, Mapping):
            return {"mapping": [[self.plain(k, place), self.plain(v, f"{place}[{k!r}]")] for k, v in value.items()]}
        if id(value) not in self._known:
            self._known[id(value)] = value, self._held(value, place)
        return self._known[id(value)][1]

    def _held(self, value: Any, place: str) -> dict[str, Any]:
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            name = f"a{len(self.arrays)}"
            self.arrays[name] = value
            return {"array": name}
        if not is_dataclass(value) or isinstance(value, type) or not _is_ours(type(value)):
            raise KoopsieveError(
                f"{place} is {type(value).__name__}, which a safe file does not hold. Use the built-in blocks and "
                "methods, or a function by its import path: Function('mypackage.terms:friction', names=[…])."
            )
        parts = {one.name: self.plain(getattr(value, one.name), f"{place}.{one.name}") for one in fields(value)}
        self.objects.append({"class": _name(type(value)), "fields": parts})
        return {"object": len(self.objects) - 1}


def _number(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        return {"float": repr(plain)}
    if not isinstance(plain, bool | int | float | str):
        raise KoopsieveError(f"A number of type {type(plain).__name__} cannot be saved.")
    return plain


def _value(part: Any, arrays: Mapping[str, NDArray[Any]], built: Sequence[Any]) -> Any:
    if isinstance(part, list):
        return [_value(item, arrays, built) for item in part]
    if not isinstance(part, dict):
        return part
    (kind, found), *more = part.items()
    if kind == "tuple":
        return tuple(_value(item, arrays, built) for item in found)
    if kind == "mapping":
        return {_value(k, arrays, built): _value(v, arrays, built) for k, v in found}
    if kind == "enum":
        return _member(_class(found), dict(more)["member"])
    if kind == "float":
        return float(found)
    return arrays[found] if kind == "array" else built[found]


def _member(kind: Any, name: str) -> Any:
    """Return a member of an enumeration; no other attribute of a class comes out of a file."""
    if not issubclass(kind, Enum) or name not in kind.__members__:
        raise KoopsieveError(f"It names {name!r}, which is no member of {kind.__name__}.")
    return kind[name]


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _is_ours(kind: type) -> bool:
    package, _, inner = kind.__module__.partition(".")
    return package == "koopsieve" and inner.split(".")[0] in _ROOMS


def _class(name: str) -> Any:
    """Return a class by its name, if it may come out of a file."""
    module, _, inner = name.partition(":")
    parts = module.split(".")
    if parts[0] == "koopsieve" and len(parts) > 1 and parts[1] in _ROOMS and inner.isidentifier():
        found = getattr(import_module(module), inner, None)
        frozen = is_dataclass(found) and getattr(found, "__dataclass_params__").frozen  # noqa: B009  no public name
        if isinstance(found, type) and found.__module__ == module and (frozen or issubclass(found, Enum)):
            return found
    raise KoopsieveError(f"It names {name!r}, which is no frozen value of this version of koopsieve.")
