"""A table: what every reader gives, whatever the source was. Its columns become samples, times and episodes here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.io.reading.columns import Columns
from koopsieve.io.reading.times import TimeBase, as_times

if TYPE_CHECKING:
    import pandas as pd

AnyPath = str | PathLike[str]
FIRST_ROW = 2  # of the samples as a spreadsheet shows them, below the names
_NUMERIC = ("integer", "floating", "boolean", "mixed-integer-float", "decimal")
_KINDS = {
    "string": "text",
    "categorical": "categories",
    "datetime64": "dates",
    "datetime": "dates",
    "date": "dates",
    "timedelta64": "durations",
    "timedelta": "durations",
    "time": "times of day",
    "complex": "complex numbers",
}


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file or frame."""

    source: str  # how messages name it
    frame: pd.DataFrame  # the wanted columns. The index holds the number of each row as a spreadsheet shows it
    columns: Columns
    notes: tuple[str, ...] = ()  # what was found while reading, such as the dialect of a file
    skipped: bool = False  # whether lines were skipped, which a user should know

    def times(self) -> pd.Series | None:
        """Return the column of times, as `as_times` does; None if there is none."""
        name = self.columns.time
        if name is None:
            return None
        column = self.frame[name]
        times = as_times(column, self.columns.reading.date_format)
        if times is None:
            raise KoopsieveError(
                f"Column {name!r} of {self.source} must hold times: numbers, dates or durations. "
                f"Got {_kind(column)}{_first_text(column)}. {_times_advice(self.columns.reading.date_format)}"
            )
        return times

    def runs(self, base: TimeBase) -> Iterator[EpisodeRows]:
        """Yield the rows, or those of one batch of a larger table, episode by episode."""
        states, inputs = (self._samples(names) for names in (self.columns.states, self.columns.inputs))
        times = self.elapsed(base)
        rows, parts = self.frame.index, self._parts()
        for episode, a, b in parts:
            label = self.source if self.columns.episode is None else f"{self.source}, episode {episode!r}"
            yield EpisodeRows(
                episode, label, a, rows[a:b], states[a:b], inputs[a:b], None if times is None else times[a:b]
            )

    def _samples(self, names: Sequence[str]) -> FloatArray:
        """Return some columns of numbers side by side, missing ones as NaN."""
        samples = np.empty((len(self.frame), len(names)))
        for j, name in enumerate(names):
            samples[:, j] = numbers(self.frame[name], name, self.source)
        return samples

    def elapsed(self, base: TimeBase) -> FloatArray | None:
        """Return the times as numbers since the origin of the base; None if there are none."""
        column = self.times()
        if column is None:
            return None
        times = base.elapsed(column)
        if not np.isfinite(times).all():
            row = self.frame.index[int(np.argmin(np.isfinite(times)))]
            raise KoopsieveError(
                f"Time {self.columns.time!r} is missing or infinite at row {row} of {self.source}. Every row needs one."
            )
        return times

    def _parts(self) -> Iterable[tuple[Any, int, int]]:
        """Return the episode, the first row and the row after the last of every run of rows of one episode."""
        import pandas as pd

        name, rows = self.columns.episode, len(self.frame)
        if name is None:
            return [(self.source, 0, rows)]
        try:
            codes, names = pd.factorize(self.frame[name])
        except TypeError:
            kind = _kind(self.frame[name])
            raise KoopsieveError(
                f"Column {name!r} of {self.source} must hold numbers, text or dates to tell episodes apart. Got {kind}."
            ) from None
        if (codes < 0).any():
            raise KoopsieveError(
                f"Column {name!r} of {self.source} must say for every row which episode it is in. "
                f"It is missing at row {self.frame.index[int(np.argmax(codes < 0))]}."
            )
        borders = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), rows]
        return [(_plain(names[codes[a]]), a, b) for a, b in pairwise(borders) if a < b]


@dataclass(frozen=True, eq=False)
class EpisodeRows:
    """Consecutive rows of one episode out of one table.

    `first` is the position of the first of them in the table, `rows` the numbers that a spreadsheet shows.
    """

    episode: Any
    label: str
    first: int
    rows: Sequence[int]
    states: FloatArray
    inputs: FloatArray
    times: FloatArray | None


def numbers(column: pd.Series, name: str, source: str) -> FloatArray:
    """Return a column of numbers as float64, missing ones as NaN."""
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) in _NUMERIC or column.isna().all():
        try:
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as that
                return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
        except (OverflowError, TypeError, ValueError):
            pass  # a number beyond 64 bits
    raise KoopsieveError(
        f"Column {name!r} of {source} must hold numbers. Got {_kind(column)}{_first_text(column)}. Convert it first."
    )


def _kind(column: pd.Series) -> str:
    import pandas as pd

    return _KINDS.get(pd.api.types.infer_dtype(column, skipna=True), "values of several kinds")


def _first_text(column: pd.Series) -> str:
    """Describe the first value that is not a number, or else the first value; empty for an empty column."""
    known = column.dropna()
    other = (row for row, value in enumerate(known) if not _is_number(value))
    row = next(other, 0)
    return f", {repr(known.tolist()[row])[:80]} at row {known.index[row]}" if len(known) else ""


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _times_advice(date_format: str | None) -> str:
    if date_format is not None:
        return f"Not all rows are written as date_format={date_format!r} says."
    return 'If these are dates, say how they are written, for example with date_format="%d/%m/%Y %H:%M:%S".'


def _plain(name: Any) -> Any:
    """Return the name of an episode as a plain number or text."""
    value = name.item() if isinstance(name, np.generic) else name
    return value if isinstance(value, int | float | str | bool) else str(value)


@contextmanager
def reading_in_words(path: AnyPath) -> Iterator[None]:
    """Turn whatever a reader raises on a file into an error that says what to do."""
    try:
        yield
    except KoopsieveError:
        raise
    except MemoryError as error:
        raise KoopsieveError(
            f"{path} does not fit into the memory that is free. Read fewer columns, or read it as a stream "
            "(Stream.from_parquet; on the command line --stream yes)."
        ) from error
    except Exception as error:  # anything from EOFError to zlib.error on a damaged file
        reason = str(error).rstrip(". ") or type(error).__name__
        raise KoopsieveError(
            f"{path} could not be read as {Path(path).suffix}: {reason}. Check that it is whole."
        ) from error
