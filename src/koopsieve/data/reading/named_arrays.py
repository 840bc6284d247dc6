"""Files of named arrays (.npz, .mat) as tables.

An array (T, k) called y becomes the columns y_1 … y_k, one of shape (T,) or (T, 1) the column y. Either the array or
single columns of it may be asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from koopsieve._archive import array_names, read_arrays, refuse_oversized
from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.episodes import as_matrix
from koopsieve.data.reading.mat5 import variables
from koopsieve.data.reading.objects import array_column
from koopsieve.data.reading.table import Table
from koopsieve.data.reading.tables import Columns, Loaded, check_columns

Arrays = Mapping[str, Any]
_DATA_RATIO = 200  # bytes unpacked per byte on disk that samples may reach, where compressed
_ONE_COLUMN = re.compile(r"(.+)_([1-9]\d*)")


def read_npz(path: Path, columns: Columns) -> Loaded:
    """Read named arrays of NumPy; nothing in the file is executed."""
    needed = _needed(array_names(path), columns, str(path))
    arrays = read_arrays(path, _DATA_RATIO, wanted=lambda name: name in needed)
    return _loaded(arrays, columns, str(path))


def read_mat(path: Path, columns: Columns) -> Loaded:
    """Read named arrays of MATLAB, any version; a row vector counts as a column."""
    import h5py

    arrays = _hdf5_arrays(path, columns) if h5py.is_hdf5(path) else _mat5_arrays(path, columns)
    shown = {name: array.T if np.ndim(array) == 2 and len(array) == 1 else array for name, array in arrays.items()}
    return _loaded(shown, columns, str(path))


def check_unpacked(path: Path, unpacked: int, advice: str) -> None:
    """Refuse a file that would unpack to far more than its size; `advice` says what to do instead."""
    try:
        refuse_oversized(unpacked, path.stat().st_size, _DATA_RATIO, advice)
    except KoopsieveError as error:
        raise KoopsieveError(f"{path} cannot be read at once. {error}") from None


def _loaded(arrays: Arrays, columns: Columns, source: str) -> Loaded:
    """Return named arrays as a table.

    Inputs may have one row fewer than states, as nothing follows the last; the table holds a missing sample there.
    """
    states = _matrices(arrays, columns.states, source)
    inputs = _matrices(arrays, columns.inputs, source)
    rows = _common_length(states, source)
    padded = {name: _pad(values, name, rows, source) for name, values in inputs.items()}
    marks = {name: _per_sample(_column(arrays, name, source), name, rows, source) for name in columns.marks}
    _check_distinct(states | inputs, columns, source)
    state_columns, input_columns = _expand(states), _expand(padded)
    every = {**state_columns, **input_columns, **marks}
    table = Table(tuple((name, array_column(values)) for name, values in every.items()), rows)
    return Loaded(source, table, replace(columns, states=tuple(state_columns), inputs=tuple(input_columns)))


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
    return {name: as_matrix(_column(arrays, name, source), f"values of {name!r}", source) for name in names}


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
    return next(iter(lengths.values()))


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


def _mat5_arrays(path: Path, columns: Columns) -> Arrays:
    try:
        found = {one.name: one for one in variables(path.read_bytes())}
    except KoopsieveError as error:
        raise KoopsieveError(f"{path} could not be read as .mat: {error}") from None
    needed = _needed(list(found), columns, str(path))
    check_unpacked(path, sum(found[name].size for name in needed), "Save the arrays uncompressed.")
    try:
        return {name: found[name].unpack() for name in needed}
    except KoopsieveError as error:
        raise KoopsieveError(f"{path} could not be read as .mat: {error}") from None


def _hdf5_arrays(path: Path, columns: Columns) -> Arrays:
    import h5py

    with h5py.File(path, "r") as file:
        needed = _needed([name for name in file if not name.startswith("#")], columns, str(path))
        for name in needed:
            if not isinstance(file[name], h5py.Dataset):
                raise KoopsieveError(f"{name!r} of {path} is a structure, not an array. Save its fields as arrays.")
        unpacked = sum(_bytes(file[name].shape or (0,)) for name in needed)
        check_unpacked(path, unpacked, "Save the arrays uncompressed.")
        return {name: file[name][()].T for name in needed}  # MATLAB stores columns first


def _bytes(shape: Sequence[int]) -> int:
    return 8 * int(np.prod(shape, dtype=object))
