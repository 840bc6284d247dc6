"""Which columns are read and how, as values: the second travels with the data into the model file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

from koopsieve._types import POSITIVE, KoopsieveError, is_several, real_number, whole_number

Names = str | Sequence[str] | Mapping[str, str]
REFUSE, SPLIT, INTERPOLATE = GAPS = ("raise", "split", "interpolate")
KEEP, DROP = "keep", "drop"
OUTLIERS = (KEEP, DROP, "refuse")
_CONTROL = ("Cc", "Cs", "Zl", "Zp")  # Unicode's control characters, halves of pairs, line and paragraph separators
MIN_DT = 1e-100  # powers of the rates 1/dt stay numbers


@dataclass(frozen=True)
class Reading:
    """The columns of episodes and times, how text is written, and what to do about missing samples and uneven times.

    Parameters
    ----------
    episode, time : str, optional
        The columns that tell episodes apart and hold the times.
    gaps : {"raise", "split", "interpolate"}
        Refuse missing samples, cut the episode there, or fill short gaps in and cut at the others.
    max_gap : int, optional
        The longest gap to fill, in samples; goes with gaps="interpolate".
    resample : float, optional
        Put samples on an even time grid with this step first.
    missing : tuple of str
        Text that marks a missing value, beside the usual marks.
    date_format : str, optional
        How dates are written, as for `datetime.strptime`.
    columns : tuple of (name, column)
        Signals that have another name than their column.
    outliers : {"keep", "drop", "refuse"}
        Keep single samples far outside the others with a warning, treat them as missing, or refuse them.
    """

    episode: str | None = None
    time: str | None = None
    gaps: str = REFUSE
    max_gap: int | None = None
    resample: float | None = None
    missing: tuple[str, ...] = ()
    date_format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    outliers: str = KEEP

    def __post_init__(self) -> None:
        for what, name in (("episode", self.episode), ("time", self.time)):
            if name is not None and (not isinstance(name, str) or not name):
                raise KoopsieveError(f"{what} must be the name of a column. Got {str(name)[:80]!r}.")
        self._check_gaps()
        if self.outliers not in OUTLIERS:
            raise KoopsieveError(f'outliers must be "keep", "drop" or "refuse". Got {str(self.outliers)[:80]!r}.')
        if self.resample is not None:
            check_dt(self.resample, "resample, the new sample time,")
        object.__setattr__(self, "missing", names_of("missing", self.missing, "text"))
        if not all(isinstance(mark, str) and mark.strip() for mark in self.missing):
            raise KoopsieveError(f"missing must be text that marks missing values. Got {str(self.missing)[:80]}.")
        if self.date_format is not None and self.time is None:
            raise KoopsieveError("date_format= is about the column of times. Name the column of times with time=.")
        if self.date_format is not None and (not isinstance(self.date_format, str) or "%" not in self.date_format):
            raise KoopsieveError(
                f'date_format must be a format such as "%d.%m.%Y %H:%M:%S". Got {str(self.date_format)[:80]!r}.'
            )

    def _check_gaps(self) -> None:
        if self.gaps not in GAPS:
            raise KoopsieveError(f'gaps must be "raise", "split" or "interpolate". Got {str(self.gaps)[:80]!r}.')
        if self.max_gap is not None:
            whole_number("max_gap, the longest gap in samples,", self.max_gap, 1)
            if self.gaps != INTERPOLATE:
                raise KoopsieveError('max_gap goes with gaps="interpolate". Pass both, or leave max_gap out.')
        elif self.gaps == INTERPOLATE:
            raise KoopsieveError('gaps="interpolate" needs max_gap, the longest gap to fill, in samples.')

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for files."""
        return {**asdict(self), "missing": list(self.missing), "columns": [list(pair) for pair in self.columns]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Reading:
        """Return what `to_dict` described."""
        columns = tuple((str(name), str(column)) for name, column in values.get("columns", ()))
        return cls(**{**values, "columns": columns})

    def columns_of(self, names: Sequence[str]) -> list[str]:
        """Return the columns that signals were read from."""
        return [dict(self.columns).get(name, name) for name in names]


@dataclass(frozen=True)
class Columns:
    """The columns that hold states and inputs, and how they are read."""

    states: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    reading: Reading = field(default_factory=Reading)

    @classmethod
    def named(cls, states: Names, inputs: Names, reading: Reading) -> Columns:
        """Return the columns as users name them: one, several, or a mapping from a signal's name to its column."""
        outputs, acting = (tuple(one.values()) if isinstance(one, Mapping) else one for one in (states, inputs))
        columns = cls(names_of("states", outputs), names_of("inputs", acting), reading)
        if not columns.states:
            raise KoopsieveError("states must name at least one column. Got none.")
        check_names(columns.states, columns.inputs)
        return columns

    @property
    def samples(self) -> tuple[str, ...]:
        """The columns of states and inputs."""
        return (*self.states, *self.inputs)

    @property
    def episode(self) -> str | None:
        """The column that tells episodes apart."""
        return self.reading.episode

    @property
    def time(self) -> str | None:
        """The column of times."""
        return self.reading.time

    @property
    def marks(self) -> tuple[str, ...]:
        """The columns of episodes and times, as far as given."""
        return tuple(name for name in (self.episode, self.time) if name is not None)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Every column that is needed, once."""
        return tuple(dict.fromkeys((*self.samples, *self.marks)))


class MissingColumnsError(KoopsieveError):
    """Columns that were asked for are not there; `available` are those that are."""

    def __init__(self, message: str, available: tuple[str, ...]) -> None:
        super().__init__(message)
        self.available = available


def check_columns(available: Sequence[str], columns: Columns, source: str) -> None:
    """Refuse wanted columns that are not there, or there twice, and say which there are."""
    missing = [name for name in columns.wanted if name not in available]
    if missing:
        there = ", ".join(repr(name) for name in dict.fromkeys(available)) or "none"
        known = {name.lower(): name for name in available}
        near = (get_close_matches(name.lower(), known, 1) for name in missing)
        meant = dict.fromkeys(repr(known[found[0]]) for found in near if found)
        hint = f" Did you mean {', '.join(meant)}?" if meant else ""
        if available and all(re.fullmatch(r"[-+.,\d]*\d(e[-+]?\d+)?", name, re.IGNORECASE) for name in available):
            hint = " These are numbers: put a line with the names of the columns above them."
        if "," in "".join(meant):
            hint += " On the command line commas separate names: write this one into a file for --config."
        message = f"Not in {source}: {', '.join(map(repr, missing))}. The columns there are: {there}.{hint}"
        raise MissingColumnsError(message, tuple(available))
    twice = [name for name in columns.wanted if list(available).count(name) > 1]
    if twice:
        raise KoopsieveError(f"{source} has several columns named {twice[0]!r}. Give every column its own name.")


def names_of(what: str, names: Any, kind: str = "columns") -> tuple[str, ...]:
    """Return one name or several as a tuple; `what` and `kind` are for the message."""
    if not isinstance(names, str) and not is_several(names):
        raise KoopsieveError(f"{what} must name {kind}: one or a list of them. Got {str(names)[:80]}.")
    return (names,) if isinstance(names, str) else tuple(names)


def check_names(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Refuse names that are not text, are empty, hold control characters, or occur twice among outputs and inputs."""
    seen: set[str] = set()
    for name in (*outputs, *inputs):
        if not isinstance(name, str) or not name:
            raise KoopsieveError(f"Names of states and inputs must be text and not empty. Got {name!r}.")
        if any(unicodedata.category(letter) in _CONTROL for letter in name):
            raise KoopsieveError(
                f"Names of states and inputs must hold no line breaks, tabs or other control characters, which would "
                f"break tables and screens. Got {name[:80]!r}. Rename the column."
            )
        if name in seen:
            raise KoopsieveError(f"The name {name!r} occurs twice. Give every state and every input its own name.")
        seen.add(name)


def check_dt(dt: Any, what: str = "dt, the sample time,") -> None:
    """Refuse a sample time that is not a positive number, or so small or large that a rate overflows."""
    if not MIN_DT <= real_number(what, dt, POSITIVE) <= 1 / MIN_DT:
        raise KoopsieveError(f"{what} must lie between {MIN_DT:g} and {1 / MIN_DT:g}. Got {dt!r}. Use another unit.")
