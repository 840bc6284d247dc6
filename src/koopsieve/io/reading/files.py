"""Files: the suffix chooses the reader, every reader gives a table, several files are several episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from koopsieve._types import KoopsieveError, needed, warn_user
from koopsieve.io.reading.arrays import check_unpacked, read_mat, read_npz
from koopsieve.io.reading.columns import Columns, MissingColumnsError, check_columns
from koopsieve.io.reading.frames import arrow_frame, needed_for
from koopsieve.io.reading.table import AnyPath, Table, reading_in_words
from koopsieve.io.reading.text import read_csv, skipped_lines, text_as_numbers, units_row, without_marks

if TYPE_CHECKING:
    import pandas as pd

Reader = Callable[[Path, Columns], Table]
_HEADER_ROWS = 200  # rows of a sheet that the names are looked for in


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
        raise KoopsieveError(f"{path} has a suffix that is not known. Expected {', '.join(READERS)}.")
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
    needed_for("Reading Parquet")
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        check_columns(file.schema_arrow.names, columns, str(path))
        check_unpacked(path, 8 * file.metadata.num_rows * len(columns.wanted), "Use Stream.from_parquet.")
        return Table(str(path), arrow_frame(file.read(columns=list(columns.wanted))), columns)


def read_excel(path: Path, columns: Columns) -> Table:
    """Read the first sheet of a workbook; rows before the names and a row of units are skipped, as in text."""
    import pandas as pd

    needed("openpyxl", "Reading .xlsx", "excel")
    with ZipFile(path) as archive:
        check_unpacked(path, sum(member.file_size for member in archive.infolist()), "Save it as .csv.")
    sheet = pd.read_excel(path, header=None, dtype=object, engine="openpyxl")
    rows = [[_text(cell) for cell in row] for row in sheet.head(_HEADER_ROWS).itertuples(index=False)]
    holders = (i for i, row in enumerate(rows) if set(columns.wanted) <= set(row))
    skipped = next(holders, next((i for i, row in enumerate(rows) if any(row)), 0))
    names = rows[skipped] if rows else []
    check_columns(names, columns, str(path))
    units = units_row([row if any(row) else [] for row in rows[skipped + 1 :]], names, columns)
    below = sheet.iloc[skipped + 1 + units :]
    below = below[below.notna().any(axis=1).cummax()]  # empty rows before the first sample
    frame = pd.DataFrame({name: below[names.index(name)] for name in columns.wanted})
    frame.index += 1  # a sheet counts its rows from 1
    for name in columns.wanted:
        frame[name] = _values(frame[name], columns, name, str(path))
    found = skipped_lines(skipped, bool(units))
    notes = (f"{path.name}: {', '.join(found)}.",) if found else ()
    return Table(str(path), frame, columns, notes, bool(found))


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
