"""MATLAB files of version 4 to 7, read without trust: every length is checked before it is followed.

Comes in: the bytes of a file. Goes out: its numeric arrays by name, those that are asked for unpacked. The format is
MathWorks' "MAT-File Format". Files of version 7.3 are HDF5 and read elsewhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import KoopsieveError

_HEADER = 128  # bytes before the first element
_START = 1024  # bytes of a compressed array that hold its name
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_NUMERIC_CLASSES = range(6, 16)
_COMPLEX = 0x0800
_VERSION_4_TYPES = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}


@dataclass(frozen=True, eq=False)
class Variable:
    """An array in the file: its name, how large it is unpacked, and how to unpack it."""

    name: str
    size: int
    unpack: Callable[[], NDArray[Any]]


def variables(content: bytes) -> Iterator[Variable]:
    """Yield the arrays of a file.

    Raises
    ------
    KoopsieveError
        If it is not such a file, or damaged.
    """
    if content[126:128] in (b"IM", b"MI") and len(content) >= _HEADER:
        return _version_5(content, "<" if content[126:128] == b"IM" else ">")
    return _version_4(content)


def _version_5(content: bytes, order: str) -> Iterator[Variable]:
    place = _HEADER
    while place < len(content):
        kind, data, place = _element(content, place, order)
        if kind == _COMPRESSED:
            yield _compressed(data, order)
        elif kind == _MATRIX:
            yield Variable(_name(data, order), len(data), lambda data=data: _matrix(data, order))  # type: ignore[misc]


def _compressed(data: bytes, order: str) -> Variable:
    """Return an array of which only the start was unpacked, for its name and size."""
    try:
        start = zlib.decompressobj().decompress(data, _START)
    except zlib.error as error:
        raise KoopsieveError(f"It is damaged: {error}.") from error
    if len(start) < 8:
        raise KoopsieveError("It is damaged: a compressed array is cut off.")
    kind, size = _numbers(start[:8], f"{order}u4")
    if kind != _MATRIX:
        raise KoopsieveError("It is damaged: a compressed element is no array.")

    def unpack() -> NDArray[Any]:
        whole = zlib.decompressobj().decompress(data, 8 + int(size))
        return _matrix(_element(whole, 0, order)[1], order)

    return Variable(_name(start[8:], order), int(size), unpack)


def _element(content: bytes, place: int, order: str) -> tuple[int, bytes, int]:
    """Return kind and bytes of the element at a place, and where the next one begins."""
    if place + 8 > len(content):
        raise KoopsieveError("It is damaged: it ends in the middle of an element.")
    kind, size = (int(number) for number in _numbers(content[place : place + 8], f"{order}u4"))
    if kind >> 16:  # small elements hold size and kind in one word, and the data beside
        kind, size, start, following = kind & 0xFFFF, kind >> 16, place + 4, place + 8
        if size > 4:
            raise KoopsieveError("It is damaged: a small element claims to be large.")
    else:
        start = place + 8
        following = start + size if kind == _COMPRESSED else start + -(-size // 8) * 8
    if start + size > len(content):
        raise KoopsieveError("It is damaged: an element is longer than the file.")
    return kind, content[start : start + size], following


def _name(data: bytes, order: str) -> str:
    _, place = _flags(data, order)
    _, _, place = _element(data, place, order)
    _, name, _ = _element(data, place, order)
    return name.decode("utf-8", "replace")


def _flags(data: bytes, order: str) -> tuple[int, int]:
    kind, flags, place = _element(data, 0, order)
    if kind != 6 or len(flags) != 8:
        raise KoopsieveError("It is damaged: an array has no flags.")
    return int(_numbers(flags, f"{order}u4")[0]), place


def _matrix(data: bytes, order: str) -> NDArray[Any]:
    """Return a numeric array; MATLAB stores columns first."""
    flags, place = _flags(data, order)
    kind, sizes, place = _element(data, place, order)
    _, name, place = _element(data, place, order)
    if flags & 0xFF not in _NUMERIC_CLASSES:
        raise KoopsieveError(f"{name.decode('utf-8', 'replace')!r} is no array of numbers. Save numeric arrays.")
    if kind != 5 or len(sizes) % 4 or len(sizes) < 8:
        raise KoopsieveError("It is damaged: an array has no dimensions.")
    shape = tuple(int(number) for number in _numbers(sizes, f"{order}i4"))
    real, place = _values(data, place, order)
    values = real if not flags & _COMPLEX else real + 1j * _values(data, place, order)[0]
    if min(shape) < 0 or int(np.prod(shape, dtype=object)) != len(values):
        raise KoopsieveError(f"It is damaged: an array of shape {shape} has {len(values)} values.")
    return values.reshape(shape, order="F")


def _values(data: bytes, place: int, order: str) -> tuple[NDArray[Any], int]:
    kind, content, place = _element(data, place, order)
    if kind not in _TYPES or len(content) % np.dtype(_TYPES[kind]).itemsize:
        raise KoopsieveError("It is damaged: values are of no known type.")
    return _numbers(content, f"{order}{_TYPES[kind]}"), place


def _version_4(content: bytes) -> Iterator[Variable]:
    place = 0
    while place < len(content):
        order = "<" if int(_numbers(_cut(content, place, 4), "<i4")[0]) in range(5000) else ">"
        mopt, rows, columns, complex_, length = (int(n) for n in _numbers(_cut(content, place, 20), f"{order}i4"))
        machine, _, kind, text = (mopt // 1000, mopt // 100 % 10, mopt // 10 % 10, mopt % 10)
        known = kind in _VERSION_4_TYPES and machine in (0, 1) and 0 <= text <= 2 and 0 < length < 1000
        if not known or min(rows, columns) < 0:
            raise KoopsieveError("It is no file of MATLAB, or damaged.")
        dtype = np.dtype(f"{order}{_VERSION_4_TYPES[kind]}")
        name = _cut(content, place + 20, length).split(b"\0")[0].decode("latin-1")
        size = rows * columns * dtype.itemsize * (2 if complex_ else 1)
        data = _cut(content, place + 20 + length, size)
        yield Variable(name, size, _plain(data, dtype, (rows, columns), bool(complex_)))
        place += 20 + length + size


def _plain(data: bytes, dtype: np.dtype[Any], shape: tuple[int, int], is_complex: bool) -> Callable[[], NDArray[Any]]:
    def unpack() -> NDArray[Any]:
        values = np.frombuffer(data, dtype)
        half = len(values) // 2
        found = values[:half] + 1j * values[half:] if is_complex else values
        return found.reshape(shape, order="F")

    return unpack


def _cut(content: bytes, place: int, size: int) -> bytes:
    if place + size > len(content):
        raise KoopsieveError("It is no file of MATLAB, or ends too early.")
    return content[place : place + size]


def _numbers(content: bytes, dtype: str) -> NDArray[Any]:
    return np.frombuffer(content, dtype).astype(dtype[1:])
