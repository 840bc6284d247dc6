"""Files: the suffix chooses the reader, every reader gives a table, several files are several episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from koopsieve._types import KoopsieveError
from koopsieve.data.reading.arrow import needed_for, table_of
from koopsieve.data.reading.delimited import read_csv
from koopsieve.data.reading.named_arrays import check_unpacked, read_mat, read_npz
from koopsieve.data.reading.tables import Columns, Loaded, check_columns
from koopsieve.data.warn import warn_user

AnyPath = str | PathLike[str]
Reader = Callable[[Path, Columns], Loaded]


def tables_from_files(paths: AnyPath | Sequence[AnyPath], columns: Columns) -> list[Loaded]:
    """Return the wanted columns of all files, in order."""
    loaded = [read_table(path, columns) for path in _listed(paths)]
    notes = [note for one in loaded for note in one.notes if "skipped" in note]
    if notes:
        more = f" {len(notes) - 1} more files are written like that." if len(notes) > 1 else ""
        warn_user(f"{notes[0]}{more}")
    return loaded


def _listed(paths: AnyPath | Sequence[AnyPath]) -> list[Path]:
    several = [Path(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]
    if not several:
        raise KoopsieveError("There are no files. Expected at least one path, got an empty list.")
    twice = [path for path, times in Counter(several).items() if times > 1]
    if twice:
        raise KoopsieveError(f"{twice[0]} is listed twice. List every file once.")
    return several


def read_table(path: Path, columns: Columns) -> Loaded:
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


def read_parquet(path: Path, columns: Columns) -> Loaded:
    """Read the wanted columns of one Parquet file."""
    needed_for("Reading Parquet")
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        check_columns(file.schema_arrow.names, columns, str(path))
        check_unpacked(path, 8 * file.metadata.num_rows * len(columns.wanted), "Use Stream.from_parquet.")
        return Loaded(str(path), table_of(file.read(columns=list(columns.wanted))), columns)


READERS: dict[str, Reader] = {".csv": read_csv, ".parquet": read_parquet, ".npz": read_npz, ".mat": read_mat}
