"""A table as plain NumPy arrays: what every reader gives, whatever the source was."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import BoolArray, IndexArray

_CALLED = {
    "b": "flags",
    "i": "whole numbers",
    "u": "whole numbers",
    "f": "numbers",
    "M": "dates",
    "m": "durations",
    "c": "complex numbers",
}


@dataclass(frozen=True, eq=False)
class Column:
    """One column.

    Parameters
    ----------
    values : array, shape (rows,)
        Flags, whole numbers, floats (NaN: missing), dates or durations (NaT: missing), or places in `labels`.
    labels : tuple, optional
        What text, and anything else that is no number, says; −1 in `values` marks a missing one.
    zoned : bool
        Whether dates have a time zone; `values` are in UTC then.
    """

    values: NDArray[Any]
    labels: tuple[Any, ...] | None = None
    zoned: bool = False

    @property
    def kind(self) -> str:
        """What the column holds, as messages say it."""
        if self.labels is None:
            return _CALLED.get(self.values.dtype.kind, str(self.values.dtype))
        return "text" if all(isinstance(label, str) for label in self.labels) else "values of several kinds"

    @property
    def is_numeric(self) -> bool:
        """Whether it holds flags, whole numbers or floats."""
        return self.labels is None and self.values.dtype.kind in "biuf"

    @property
    def missing(self) -> BoolArray:
        """Which rows hold nothing."""
        if self.labels is not None:
            nothing = [i for i, label in enumerate(self.labels) if label is None or _is_nan(label)]
            return (self.values < 0) | np.isin(self.values, nothing)
        if self.values.dtype.kind in "fMm":
            return np.asarray(self.values != self.values)
        return np.zeros(len(self.values), dtype=bool)

    def value(self, row: int) -> Any:
        """Return what a row says: a number or a text, dates as text, None where it is missing."""
        if self.labels is not None:
            return self.labels[self.values[row]] if self.values[row] >= 0 else None
        return str(self.values[row]) if self.values.dtype.kind in "Mm" else self.values[row].item()


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of the same length; names may occur twice, which is refused later in words."""

    columns: tuple[tuple[str, Column], ...]
    num_rows: int

    @property
    def column_names(self) -> list[str]:
        """The names, in order."""
        return [name for name, _ in self.columns]

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        return next(column for called, column in self.columns if called == name)


def label_column(values: Iterable[Any]) -> Column:
    """Return anything at all as places in a tuple of labels."""
    several = list(values)
    seen: dict[Any, int] = {}
    try:
        codes = [-1 if value is None else seen.setdefault(value, len(seen)) for value in several]
    except TypeError:  # what cannot be compared is shown in messages and tells no episodes apart
        return Column(np.arange(len(several)), tuple(several))
    return Column(np.array(codes, dtype=np.intp), tuple(seen))


def changes(column: Column) -> IndexArray:
    """Return the rows that say something else than the row before."""
    return np.flatnonzero(column.values[1:] != column.values[:-1]) + 1


def tells_apart(column: Column) -> bool:
    """Whether the values can be compared, so that they can tell episodes apart."""
    return column.labels is None or all(isinstance(label, Hashable) for label in column.labels)


def _is_nan(label: Any) -> bool:
    return isinstance(label, float) and label != label
