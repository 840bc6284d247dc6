"""Files: the suffix chooses the reader, every reader gives an Arrow table, several files are several episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from koopsieve._types import KoopsieveError
from koopsieve.data.episodes import Episode
from koopsieve.data.reading.named_arrays import mat_arrays, npz_arrays, table_from_arrays
from koopsieve.data.reading.tables import Columns, check_columns, episodes_from_table

if TYPE_CHECKING:
    import pyarrow as pa

AnyPath = str | PathLike[str]
Reader = Callable[[Path, Columns], "tuple[pa.Table, Columns]"]


def episodes_from_files(paths: AnyPath | Sequence[AnyPath], columns: Columns) -> tuple[list[Episode], Columns]:
    """Return the episodes of all files, in order, and the columns they have.

    Without an episode column each file is one episode; with one, no episode may be in two files.
    """
    several = _listed(paths)
    tables = [read_table(path, columns) for path in several]
    found = tables[0][1]
    for path, (_, here) in zip(several, tables, strict=True):
        if here != found:
            raise KoopsieveError(
                f"All files must have the same columns. Expected {[*found.states, *found.inputs]} as in {several[0]}, "
                f"got {[*here.states, *here.inputs]} in {path}."
            )
    episodes = [
        (path, episodes_from_table(table, found, str(path))) for path, (table, _) in zip(several, tables, strict=True)
    ]
    if columns.episode is None:
        return [episode for _, here in episodes for episode in here], found
    return _named_by_file(episodes), found


def _listed(paths: AnyPath | Sequence[AnyPath]) -> list[Path]:
    several = [Path(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]
    if not several:
        raise KoopsieveError("There are no files. Expected at least one path, got an empty list.")
    twice = [path for path, times in Counter(several).items() if times > 1]
    if twice:
        raise KoopsieveError(f"{twice[0]} is listed twice. List every file once.")
    return several


def _named_by_file(found: Sequence[tuple[Path, Sequence[Episode]]]) -> list[Episode]:
    """Return all episodes with their file in the label, and refuse one that is in two files."""
    home: dict[str, Path] = {}
    for path, episodes in found:
        for episode in episodes:
            if home.setdefault(episode.label, path) != path:
                raise KoopsieveError(
                    f"{episode.label} is in two files, {home[episode.label]} and {path}. Give every episode a name of "
                    "its own, or leave episode= out so that every file is one episode."
                )
    return [replace(episode, label=f"{episode.label} of {path}") for path, episodes in found for episode in episodes]


def read_table(path: Path, columns: Columns) -> tuple[pa.Table, Columns]:
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
    try:
        return reader(path, columns)
    except KoopsieveError:
        raise
    except Exception as error:  # the readers raise anything from EOFError to zlib.error on a damaged file
        raise KoopsieveError(
            f"{path} could not be read as {path.suffix}: {error or type(error).__name__}. Check that it is whole."
        ) from error


def read_csv(path: Path, columns: Columns) -> tuple[pa.Table, Columns]:
    """Read comma-separated text whose first line holds the column names."""
    from pyarrow import csv

    table = csv.read_csv(path)
    if table.num_columns == 1 and any(mark in table.column_names[0] for mark in ";\t|"):
        raise KoopsieveError(
            f"{path} seems to be separated by something other than commas: its only column is "
            f"{table.column_names[0]!r}. Read it with pandas or polars and use from_frame."
        )
    check_columns(table.column_names, columns, str(path))
    return table.select([i for i, name in enumerate(table.column_names) if name in columns.wanted]), columns


def read_parquet(path: Path, columns: Columns) -> tuple[pa.Table, Columns]:
    """Read the wanted columns of one Parquet file."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        check_columns(file.schema_arrow.names, columns, str(path))
        return file.read(columns=list(columns.wanted)), columns


def read_npz(path: Path, columns: Columns) -> tuple[pa.Table, Columns]:
    """Read named arrays of NumPy; nothing in the file is executed."""
    return table_from_arrays(npz_arrays(path, columns), columns, str(path))


def read_mat(path: Path, columns: Columns) -> tuple[pa.Table, Columns]:
    """Read named arrays of MATLAB, any version."""
    return table_from_arrays(mat_arrays(path, columns), columns, str(path))


READERS: dict[str, Reader] = {".csv": read_csv, ".parquet": read_parquet, ".npz": read_npz, ".mat": read_mat}
