"""Arrow tables and record batches as tables of plain arrays; the one place that knows the types of Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._optional import needed
from koopsieve.data.reading.objects import array_column
from koopsieve.data.reading.table import Column, Table, label_column

if TYPE_CHECKING:
    import pyarrow as pa


def needed_for(by: str) -> Any:
    """Return pyarrow, or say which command installs it; `by` names what asks for it."""
    return needed("pyarrow", by, "parquet")


def table_of(source: pa.Table | pa.RecordBatch) -> Table:
    """Return an Arrow table, or one batch of a larger one, as plain arrays."""
    pairs = zip(source.schema.names, source.columns, strict=True)
    return Table(tuple((name, _column(_whole(column))) for name, column in pairs), source.num_rows)


def _column(column: pa.Array) -> Column:
    import pyarrow as pa

    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
        return Column(codes, tuple(column.dictionary.to_pylist()))
    if types.is_date(kind) or types.is_timestamp(kind):
        zoned = bool(getattr(kind, "tz", None))
        plain = column.cast(pa.timestamp("ms") if types.is_date(kind) else pa.timestamp(kind.unit))
        return array_column(plain.to_numpy(zero_copy_only=False), zoned)
    if types.is_time(kind):
        column = column.cast(pa.int32() if types.is_time32(kind) else pa.int64()).cast(pa.int64())
        return array_column(column.cast(pa.duration(kind.unit)).to_numpy(zero_copy_only=False))
    if types.is_duration(kind):
        return array_column(column.to_numpy(zero_copy_only=False))
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return Column(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    if types.is_integer(kind) or types.is_boolean(kind):
        exact = column if column.null_count == 0 else column.cast(pa.float64(), safe=False)
        return Column(exact.to_numpy(zero_copy_only=False))
    try:
        return _column(column.dictionary_encode())
    except pa.ArrowNotImplementedError:  # lists and other values that cannot be compared
        return label_column(column.to_pylist())


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, dictionaries of its chunks made one."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    whole = column.unify_dictionaries().combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) and whole.num_chunks else whole
