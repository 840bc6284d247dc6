"""Files of named arrays (.npz, .mat) as tables.

An array (T, k) called y becomes the columns y_1 … y_k, one of shape (T,) or (T, 1) the column y. Either the array or
single columns of it may be asked for.
"""

from __future__ import annotations

import re
import struct
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from koopsieve._archive import array_names, read_arrays, refuse_oversized
from koopsieve._types import FloatArray, KoopsieveError, real_matrix
from koopsieve.io.reading.columns import Columns, check_columns
from koopsieve.io.reading.table import Table

Arrays = Mapping[str, Any]
_DATA_RATIO = 200  # bytes unpacked per byte on disk that samples may reach, where compressed
_ONE_COLUMN = re.compile(r"(.+)_([1-9]\d*)")
_ADVICE = "Save the arrays uncompressed."
_MATRIX, _COMPRESSED = 14, 15  # elements of .mat files of version 5
_COMPLEX = 0x0800
_PLAIN_TYPES = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13}
_NUMERIC_CLASSES = range(6, 16)
_VERSION_4_BYTES = (8, 4, 4, 2, 2, 1)  # of a value, by its type
_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_NUMERIC_KINDS = {"double", "single", "logical", *_INTEGERS}


def read_npz(path: Path, columns: Columns) -> Table:
    """Read named arrays of NumPy; nothing in the file is executed."""
    needed = _needed(array_names(path), columns, str(path))
    return _table(read_arrays(path, _DATA_RATIO, wanted=lambda name: name in needed), columns, str(path))


def read_mat(path: Path, columns: Columns) -> Table:
    """Read named arrays of MATLAB, any version; a row vector counts as a column."""
    import h5py

    arrays = _hdf5_arrays(path, columns) if h5py.is_hdf5(path) else _matlab_arrays(path, columns)
    shown = {name: array.T if np.ndim(array) == 2 and len(array) == 1 else array for name, array in arrays.items()}
    return _table(shown, columns, str(path))


def check_unpacked(path: Path, unpacked: int, advice: str) -> None:
    """Refuse a file that would unpack to far more than its size; `advice` says what to do instead."""
    try:
        refuse_oversized(unpacked, path.stat().st_size, _DATA_RATIO, advice)
    except KoopsieveError as error:
        raise KoopsieveError(f"{path} cannot be read at once. {error}") from None


def _table(arrays: Arrays, columns: Columns, source: str) -> Table:
    """Return named arrays as a table.

    Inputs may have one row fewer than states, as nothing follows the last; the table holds a missing sample there.
    """
    import pandas as pd

    states = _matrices(arrays, columns.states, source)
    inputs = _matrices(arrays, columns.inputs, source)
    rows = _common_length(states, source)
    padded = {name: _pad(values, name, rows, source) for name, values in inputs.items()}
    marks = {name: _per_sample(_column(arrays, name, source), name, rows, source) for name in columns.marks}
    _check_distinct(states | inputs, columns, source)
    state_columns, input_columns = _expand(states), _expand(padded)
    frame = pd.DataFrame({**state_columns, **input_columns, **marks}, index=range(1, rows + 1))
    return Table(source, frame, replace(columns, states=tuple(state_columns), inputs=tuple(input_columns)))


def _needed(available: Sequence[str], columns: Columns, source: str) -> set[str]:
    """Return the arrays that hold the wanted columns: y itself, or y where y_2 is asked for."""
    found = {name: name if name in available else _array_of(name) for name in columns.wanted}
    if not set(found.values()) <= set(available):
        check_columns(available, columns, source)
    return set(found.values())


def _array_of(name: str) -> str:
    match = _ONE_COLUMN.fullmatch(name)
    return match.group(1) if match else name


def _matrices(arrays: Arrays, names: Sequence[str], source: str) -> dict[str, FloatArray]:
    return {name: real_matrix(f"The values of {name!r} of {source}", _column(arrays, name, source)) for name in names}


def _column(arrays: Arrays, name: str, source: str) -> Any:
    """Return the array of that name, or the column that the number at its end means."""
    if name in arrays:
        return arrays[name]
    array, number = _array_of(name), int(name.rpartition("_")[2])
    values = np.asarray(arrays[array])
    if values.ndim != 2 or number > values.shape[1]:
        raise KoopsieveError(f"{source} has no {name!r}: {array!r} there has shape {values.shape}.")
    return values[:, number - 1]


def _expand(matrices: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    return {
        name if matrix.shape[1] == 1 else f"{name}_{j + 1}": column
        for name, matrix in matrices.items()
        for j, column in enumerate(matrix.T)
    }


def _check_distinct(matrices: Mapping[str, FloatArray], columns: Columns, source: str) -> None:
    """Refuse an array called y_2 beside an array y of two columns."""
    for name, matrix in matrices.items():
        taken = (_expand({name: matrix}).keys() & {*columns.wanted}) - {name}
        if taken:
            raise KoopsieveError(
                f"{source} gives two columns named {min(taken)!r}, one of them from {name!r}. Rename an array."
            )


def _common_length(states: Mapping[str, FloatArray], source: str) -> int:
    lengths = {name: len(values) for name, values in states.items()}
    if len(set(lengths.values())) > 1:
        raise KoopsieveError(f"All state arrays must have the same number of samples. Got {lengths} in {source}.")
    rows = next(iter(lengths.values()))
    if rows == 0:
        raise KoopsieveError(f"There are no rows in {source}. Expected at least two samples.")
    return rows


def _pad(values: FloatArray, name: str, rows: int, source: str) -> FloatArray:
    if len(values) not in (rows - 1, rows):
        raise KoopsieveError(
            f"inputs must have one row fewer than states. Expected {(rows - 1, values.shape[1])}, got {values.shape} "
            f"in {name!r} of {source}."
        )
    return np.vstack([values, np.full((1, values.shape[1]), np.nan)])[:rows]


def _per_sample(values: Any, name: str, rows: int, source: str) -> Any:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (rows,):
        raise KoopsieveError(
            f"{name!r} must have one value per sample. Expected ({rows},), got {array.shape} in {source}."
        )
    return array


def _matlab_arrays(path: Path, columns: Columns) -> Arrays:
    """Return the needed arrays of a file of version 4 to 7, whose sizes are checked first."""
    from scipy.io import loadmat, whosmat

    _check_elements(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # SciPy warns of an array that it cannot read
        listed = {name: (shape, kind) for name, shape, kind in whosmat(path, appendmat=False)}
        needed = _needed(list(listed), columns, str(path))
        for name in needed:
            _check_kind(listed[name][1], name, path)
        check_unpacked(path, sum(_bytes(listed[name][0]) for name in needed), _ADVICE)
        found = loadmat(path, appendmat=False, variable_names=list(needed))
    return {name: found[name] for name in needed}


def _check_elements(path: Path) -> None:
    """Refuse a file whose elements do not fit into it: SciPy would crash on them, never end, or fill the memory."""
    content = memoryview(np.memmap(path, np.uint8, "r"))  # type: ignore[arg-type]
    if 0 in content[:4]:
        return _check_version_4(content)
    order, start, unpacked = "<" if bytes(content[126:128]) == b"IM" else ">", 128, 0
    while start + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, start)
        data = content[start + 8 : start + 8 + size]
        start += 8 + size
        if kind == _COMPRESSED:
            kind, size = struct.unpack(f"{order}II", zlib.decompressobj().decompress(data, 8))
            unpacked += size
            check_unpacked(path, unpacked, _ADVICE)
            data = memoryview(zlib.decompressobj().decompress(data, 8 + size))[8:]
        if kind == _MATRIX:
            _check_matrix(data, order)
    return None


def _check_version_4(content: memoryview) -> None:
    """Refuse negative sizes, with which SciPy would read the same array again and again."""
    start, order = 0, "<" if 0 <= struct.unpack_from("<i", content)[0] <= 5000 else ">"
    while start + 20 <= len(content):
        kind, rows, columns, imaginary, length = struct.unpack_from(f"{order}5i", content, start)
        if min(kind, rows, columns, length) < 0:
            raise ValueError("an array has a negative size")
        start += 20 + length + rows * columns * _VERSION_4_BYTES[kind // 10 % 10] * (2 if imaginary == 1 else 1)


def _check_matrix(content: memoryview, order: str) -> None:
    """Refuse an array without flags, dimensions and name, or a numeric one whose values are of no known type."""
    elements = list(_elements(content, order, 3))
    if [kind for kind, _ in elements] != [6, 5, 1] or len(elements[0][1]) != 8:
        raise ValueError("an array has no flags, dimensions or name")
    if len(elements[1][1]) not in range(8, 129, 4):
        raise ValueError("an array has no dimensions, or too many")
    (flags,) = struct.unpack_from(f"{order}I", elements[0][1])
    if flags & 0xFF in _NUMERIC_CLASSES:
        parts = 2 if flags & _COMPLEX else 1
        values = list(_elements(content, order, 3 + parts))[3:]
        if len(values) < parts or not all(kind in _PLAIN_TYPES for kind, _ in values):
            raise ValueError("an array has no values of a known type")


def _elements(content: memoryview, order: str, most: int) -> Iterator[tuple[int, memoryview]]:
    """Yield kind and bytes of the elements of an array."""
    start = 0
    for _ in range(most):
        if start >= len(content):
            return
        kind, size = struct.unpack_from(f"{order}II", content, start)
        first, after = start + 8, start + 8 + -(-size // 8) * 8
        if kind >> 16:  # a small element holds size and kind in one word, and the data beside
            kind, size, first, after = kind & 0xFFFF, kind >> 16, start + 4, start + 8
        if first + size > len(content) or (after == start + 8 and size > 4):
            raise ValueError("an element is longer than the array that it is in")
        yield kind, content[first : first + size]
        start = after


def _hdf5_arrays(path: Path, columns: Columns) -> Arrays:
    import h5py

    with h5py.File(path, "r") as file:
        needed = _needed([name for name in file if not name.startswith("#")], columns, str(path))
        for name in needed:
            if not isinstance(file[name], h5py.Dataset):
                raise KoopsieveError(f"{name!r} of {path} is a structure, not an array. Save its fields as arrays.")
            kind = file[name].attrs.get("MATLAB_class", b"double")
            _check_kind(kind.decode() if isinstance(kind, bytes) else str(kind), name, path)
        check_unpacked(path, sum(_bytes(file[name].shape or (0,)) for name in needed), _ADVICE)
        return {name: _hdf5_array(file[name]) for name in needed}


def _hdf5_array(dataset: Any) -> Any:
    """Return the values, which MATLAB stores columns first; of an empty array it stores the shape in their place."""
    empty = dataset.shape is None or dataset.attrs.get("MATLAB_empty", 0)
    return np.empty((0, 1)) if empty else dataset[()].T


def _check_kind(kind: str, name: str, path: Path) -> None:
    if kind not in _NUMERIC_KINDS:
        raise KoopsieveError(f"{name!r} of {path} is of kind {kind}. Save numeric arrays.")


def _bytes(shape: Sequence[int]) -> int:
    return 8 * int(np.prod(shape, dtype=object))
