"""Files of named arrays (.npz, .mat) as tables.

An array (T, k) called y becomes the columns y_1 … y_k, one of shape (T,) or (T, 1) the column y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.episodes import as_matrix
from koopsieve.data.reading.tables import Columns, check_columns

if TYPE_CHECKING:
    import pyarrow as pa

Arrays = Mapping[str, Any]


def npz_arrays(path: Path, columns: Columns) -> Arrays:
    """Return the wanted arrays of an .npz file."""
    with np.load(path, allow_pickle=False) as file:
        check_columns(file.files, columns, str(path))
        return {name: file[name] for name in columns.wanted}


def mat_arrays(path: Path, columns: Columns) -> Arrays:
    """Return the wanted arrays of a .mat file, as MATLAB shows them; a row vector counts as a column."""
    import h5py

    arrays = _hdf5_arrays(path, columns) if h5py.is_hdf5(path) else _mat5_arrays(path, columns)
    return {name: array.T if np.ndim(array) == 2 and len(array) == 1 else array for name, array in arrays.items()}


def table_from_arrays(arrays: Arrays, columns: Columns, source: str) -> tuple[pa.Table, Columns]:
    """Return named arrays as a table, and the names of its columns.

    Inputs may have one row fewer than states, as nothing follows the last; the table holds a missing sample there.
    """
    import pyarrow as pa

    states = {name: as_matrix(arrays[name], f"values of {name!r}", source) for name in columns.states}
    inputs = {name: as_matrix(arrays[name], f"values of {name!r}", source) for name in columns.inputs}
    rows = _common_length(states, source)
    padded = {name: _pad(values, name, rows, source) for name, values in inputs.items()}
    marks = {name: _per_sample(arrays[name], name, rows, source) for name in columns.marks}
    _check_distinct(states | inputs, columns, source)
    state_columns, input_columns = _expand(states), _expand(padded)
    table = pa.table({**state_columns, **input_columns, **marks})
    return table, replace(columns, states=tuple(state_columns), inputs=tuple(input_columns))


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
    from scipy import io

    check_columns([name for name, _, _ in io.whosmat(path)], columns, str(path))
    contents = io.loadmat(path, variable_names=columns.wanted)
    return {name: contents[name] for name in columns.wanted}


def _hdf5_arrays(path: Path, columns: Columns) -> Arrays:
    import h5py

    with h5py.File(path, "r") as file:
        check_columns([name for name in file if not name.startswith("#")], columns, str(path))
        for name in columns.wanted:
            if not isinstance(file[name], h5py.Dataset):
                raise KoopsieveError(f"{name!r} of {path} is a structure, not an array. Save its fields as arrays.")
        return {name: file[name][()].T for name in columns.wanted}  # MATLAB stores columns first
