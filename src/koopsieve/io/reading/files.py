"""Files and frames as tables: the suffix chooses the reader of a file; several of them are several episodes.

Frames are those of pandas, polars, a mapping or anything with the Arrow interface. polars is read through NumPy, so it
needs no Arrow. Only columns that are asked for are converted.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from koopsieve._types import KoopsieveError, is_several, needed, warn_user
from koopsieve.io.reading.arrays import check_unpacked, read_mat, read_npz
from koopsieve.io.reading.columns import Columns, MissingColumnsError, check_columns
from koopsieve.io.reading.table import FIRST_ROW, AnyPath, Table, reading_in_words
from koopsieve.io.reading.text import read_csv, skipped_lines, text_as_numbers, units_row, without_marks
from koopsieve.io.reading.times import DATES_AND_DURATIONS

if TYPE_CHECKING:
    import pandas as pd

WHOLE_FRAME = "the frame"  # how a single frame is called
INDEX = "the index"  # how an index without a name of its own is called


def tables_from_frames(frames: Any, columns: Columns) -> list[Table]:
    """Return the wanted columns of a frame, or of a list of frames.

    An index of dates or durations is the time unless another column is.
    """
    if not isinstance(frames, list | tuple):
        return [_table(frames, columns, WHOLE_FRAME)]
    if not frames:
        raise KoopsieveError("There are no frames. Expected at least one, got an empty list.")
    return [_table(frame, columns, f"frame {i}") for i, frame in enumerate(frames)]


def _table(frame: Any, columns: Columns, source: str) -> Table:
    if columns.time is None and _has_times(frame):
        own = isinstance(frame.index.name, str) and frame.index.name not in frame.columns
        name = frame.index.name if own else INDEX
        columns = replace(columns, reading=replace(columns.reading, time=name))
        frame = frame.rename_axis(index=name)
    return Table(source, as_frame(frame, columns, source), columns)


def _has_times(frame: Any) -> bool:
    """Tell whether a pandas frame has an index of dates or durations."""
    import pandas as pd

    index = getattr(frame, "index", None)
    of_frame = isinstance(index, pd.Index) and hasattr(frame, "columns")
    return of_frame and pd.api.types.infer_dtype(index, skipna=True) in DATES_AND_DURATIONS


def as_frame(frame: Any, columns: Columns, source: str) -> pd.DataFrame:
    """Return the wanted columns of a pandas or polars frame, a mapping, or anything with the Arrow interface.

    The index holds the numbers of the rows.
    """
    import pandas as pd

    if hasattr(frame, "iloc") and hasattr(frame, "columns") and not hasattr(frame, "__dask_graph__"):
        found = _wanted(_pandas_columns(frame), lambda series: series.array, columns, source)
    elif hasattr(frame, "get_columns"):
        found = _wanted(((series.name, series) for series in frame.get_columns()), _from_polars, columns, source)
    elif isinstance(frame, Mapping):
        found = _wanted(frame.items(), _from_mapping, columns, source)
    elif hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "collect"):
        found = _from_arrow(frame, columns, source)
    else:
        raise KoopsieveError(
            f"A frame must be a pandas or polars DataFrame, or have the Arrow interface. Got {type(frame).__name__}. "
            "Collect or compute a lazy frame first; for arrays use from_arrays, for paths from_file."
        )
    rows = len(next(iter(found.values())))
    return pd.DataFrame(found, index=range(FIRST_ROW, FIRST_ROW + rows))


def arrow_frame(table: Any, first_row: int = FIRST_ROW) -> pd.DataFrame:
    """Return an Arrow table, or one batch of a larger one, as a pandas frame with the numbers of the rows as index."""
    schema = table.schema
    for i, kind in enumerate(schema.types):
        if hasattr(kind, "value_type") and hasattr(kind, "index_type"):  # pandas has no dictionaries that hold null
            schema = schema.set(i, schema.field(i).with_type(kind.value_type))
    frame = table.cast(schema).to_pandas(date_as_object=False, ignore_metadata=True)
    frame.index = range(first_row, first_row + len(frame))
    return frame


def _wanted(pairs: Iterable[tuple[Any, Any]], convert: Any, columns: Columns, source: str) -> dict[str, Any]:
    """Convert the columns that are asked for; any other need not be convertible."""
    named = [(str(name), values) for name, values in pairs]
    check_columns([name for name, _ in named], columns, source)
    found = {name: convert(values) for name, values in named if name in columns.wanted}
    lengths = {name: len(values) for name, values in found.items()}
    if len(set(lengths.values())) > 1:
        raise KoopsieveError(f"All columns must have the same number of rows. Got {lengths} in {source}.")
    return found


def _pandas_columns(frame: Any) -> list[tuple[Any, Any]]:
    """Return the columns by position, as names may occur twice, and the levels of the index that have a name."""
    levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
    index = [(name, frame.index.get_level_values(name).to_series()) for name in levels]
    return [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)] + index


def _from_polars(series: Any) -> Any:
    import pandas as pd

    if series.dtype.is_numeric() and not (series.dtype.is_decimal() or str(series.dtype).endswith("128")):
        return series.to_numpy()
    if series.dtype.is_temporal() and (stamps := series.to_numpy()).dtype != object:  # times of day are objects
        zoned = getattr(series.dtype, "time_zone", None) is not None
        return (pd.Series(stamps).dt.tz_localize("UTC") if zoned else pd.Series(stamps)).array
    return np.array([*series.to_list(), None], dtype=object)[:-1]


def _from_mapping(values: Any) -> Any:
    import pandas as pd

    if not hasattr(values, "dtype"):
        if not is_several(values):
            raise KoopsieveError(f"A column must have one value per row. Got {str(values)[:80]!r}.")
        return np.array([*values, None], dtype=object)[:-1]
    array = np.asarray(values)
    if array.ndim != 1:
        raise KoopsieveError(f"A column must have one value per row. Got an array of shape {array.shape}.")
    return pd.Series(values).array if np.ma.isMaskedArray(values) else array


def _from_arrow(frame: Any, columns: Columns, source: str) -> dict[str, Any]:
    pyarrow = needed("pyarrow", "A frame with the Arrow interface", "parquet")
    try:
        table = pyarrow.Table.from_batches([frame]) if isinstance(frame, pyarrow.RecordBatch) else pyarrow.table(frame)
        check_columns(table.column_names, columns, source)
        chosen = arrow_frame(table.select(list(columns.wanted)))
    except (TypeError, pyarrow.ArrowException) as error:
        raise KoopsieveError(
            f"{source.capitalize()} could not be read: {error}. Expected columns of real numbers."
        ) from error
    return {name: chosen[name].array for name in columns.wanted}


Reader = Callable[[Path, Columns], Table]
_HEADER_ROWS = 200  # rows of a sheet that the names are looked for in
_SHEET_ROWS = 2**20  # that a sheet can have; numbers of rows in a damaged one may be any


def tables_from_files(paths: AnyPath | Sequence[AnyPath], columns: Columns) -> list[Table]:
    """Return the wanted columns of all files, in order."""
    files = _listed(paths)
    _check_text_options(files, columns)
    tables = [read_table(path, columns) for path in files]
    notes = [note for table in tables if table.skipped for note in table.notes]
    if notes:
        more = f" {len(notes) - 1} more files are written like that." if len(notes) > 1 else ""
        warn_user(f"{notes[0]}{more}")
    return tables


def _listed(paths: AnyPath | Sequence[AnyPath]) -> list[Path]:
    several = [Path(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]
    if not several:
        raise KoopsieveError("There are no files. Expected at least one path, got an empty list.")
    twice = [path for path, times in Counter(several).items() if times > 1]
    if twice:
        raise KoopsieveError(f"{twice[0]} is listed twice. List every file once.")
    return several


def _check_text_options(files: Sequence[Path], columns: Columns) -> None:
    """Refuse options about text for files that hold none."""
    given = [name for name in ("missing", "date_format") if getattr(columns.reading, name)]
    if given and not any(path.suffix.lower() in TEXT_SUFFIXES for path in files):
        raise KoopsieveError(f"{given[0]}= is about text, in {' or '.join(TEXT_SUFFIXES)} files. Got {files[0]}.")


def read_table(path: Path, columns: Columns) -> Table:
    """Return the wanted columns of a file; named arrays of several columns are replaced by the names of those."""
    reader = READERS.get(path.suffix.lower())
    if path.is_dir():
        raise KoopsieveError(
            f"{path} is a folder. Pass the files in it, for example sorted(Path(…).glob('*.parquet'))."
        )
    if not path.exists():
        raise KoopsieveError(f"There is no file {path}. Check the path; the current folder is {Path.cwd()}.")
    if reader is None:
        raise KoopsieveError(
            f"{path} has a suffix that is not known. Expected {', '.join(READERS)}; rename text to .csv."
        )
    if path.stat().st_size == 0:
        raise KoopsieveError(f"{path} is empty. Expected samples.")
    with reading_in_words(path):
        return reader(path, columns)


def column_names(path: Path) -> tuple[str, ...]:
    """Return the names of a file's columns; of .npz and .mat files those of its arrays."""
    try:
        read_table(path, Columns(("\0",)))  # a name that no column has
    except MissingColumnsError as error:
        return tuple(dict.fromkeys(name for name in error.available if name))
    return ()


def read_parquet(path: Path, columns: Columns) -> Table:
    """Read the wanted columns of one Parquet file."""
    needed("pyarrow", "Reading Parquet", "parquet")
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        check_columns(file.schema_arrow.names, columns, str(path))
        check_unpacked(path, 8 * file.metadata.num_rows * len(columns.wanted), "Use Stream.from_parquet.")
        return Table(str(path), arrow_frame(file.read(columns=list(columns.wanted))), columns)


def read_excel(path: Path, columns: Columns) -> Table:
    """Read the first sheet of a workbook; rows before the names and a row of units are skipped, as in text.

    Of every row only the wanted cells are kept, so that a single one far to the right does not fill the memory.
    """
    import pandas as pd

    with ZipFile(path) as archive:
        check_unpacked(path, sum(member.file_size for member in archive.infolist()), "Save it as .csv.")
    kept, filled = [], []
    with warnings.catch_warnings(action="ignore", category=UserWarning), closing(_sheet_rows(path)) as rows:
        head = list(islice(rows, _HEADER_ROWS))
        skipped, names, units = _sheet_head(head, columns, str(path))
        places = [names.index(name) for name in columns.wanted]
        for row in chain(head[skipped + 1 + units :], rows):
            kept.append([row[i] if i < len(row) else None for i in places])
            filled.append(any(cell not in (None, "") for cell in row))
    first = skipped + units + 2  # a sheet counts its rows from 1
    frame = pd.DataFrame(kept, range(first, first + len(kept)), columns.wanted, dtype=object)
    ends = np.flatnonzero(filled)
    frame = frame.iloc[ends[0] : ends[-1] + 1] if len(ends) else frame[:0]  # no empty rows before and after all samples
    found = skipped_lines(skipped, bool(units))
    notes = (f"{path.name}: {', '.join(found)}.",) if found else ()
    read = pd.DataFrame({name: _values(frame[name], columns, name, str(path)) for name in columns.wanted})
    return Table(str(path), read, columns, notes, bool(found))


def _sheet_rows(path: Path) -> Generator[list[Any]]:
    """Yield the cells of the first sheet, row by row; errors such as #DIV/0! are missing."""
    openpyxl = needed("openpyxl", "Reading .xlsx", "excel")
    with path.open("rb") as stream, closing(openpyxl.load_workbook(stream, read_only=True, data_only=True)) as book:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # the size that a file states need not be true
        for number, row in enumerate(sheet.rows):
            if number == _SHEET_ROWS:
                raise ValueError(f"a sheet has at most {_SHEET_ROWS} rows")
            yield [None if cell.data_type == "e" else cell.value for cell in row]


def _sheet_head(rows: Sequence[Sequence[Any]], columns: Columns, source: str) -> tuple[int, list[str], int]:
    """Return how many rows stand before the names, the names, and how many rows below end with one of units."""
    texts = [[_text(cell) for cell in row] for row in rows]
    holders = (i for i, row in enumerate(texts) if set(columns.wanted) <= set(row))
    skipped = next(holders, next((i for i, row in enumerate(texts) if any(row)), 0))
    names = texts[skipped] if texts else []
    check_columns(names, columns, source)
    below = [row + [""] * (len(names) - len(row)) if any(row) else [] for row in texts[skipped + 1 :]]
    return skipped, names, units_row(below, names, columns)


def _values(cells: pd.Series, columns: Columns, name: str, source: str) -> pd.Series:
    """Return cells without marks of missing values; samples that are text as numbers."""
    import pandas as pd

    is_text = cells.map(lambda cell: isinstance(cell, str))
    bare = cells.mask(is_text & without_marks(cells.where(is_text).astype("str"), columns.reading.missing).isna())
    if name in columns.samples and pd.api.types.infer_dtype(bare, skipna=True) in ("string", "mixed", "mixed-integer"):
        return text_as_numbers(bare, (), ".", name, source)
    return bare


def _text(cell: object) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()


READERS: dict[str, Reader] = {
    ".csv": read_csv,
    ".xlsx": read_excel,
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".mat": read_mat,
}
TEXT_SUFFIXES = (".csv", ".xlsx")
