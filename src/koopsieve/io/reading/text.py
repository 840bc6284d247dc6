"""Delimited text by pandas: where the names stand, the separator, the decimal mark and a row of units are found first.

Loggers write comments before the names and units after them, semicolons and decimal commas. The wanted names tell which
line holds the names and what separates them; nothing else is guessed.
"""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from koopsieve._types import KoopsieveError
from koopsieve.io.reading.columns import Columns, check_columns
from koopsieve.io.reading.table import Table

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
MISSING = frozenset(
    {"", "na", "n/a", "nan", "-nan", "null", "none", "#n/a", "#n/a n/a", "#na"}
    | {"1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"}
)  # marks of missing values, in small letters
_COMMENT_MARKS = "#%"
_INSPECTED_BYTES = 256 * 2**10  # bytes at the start of a file that the dialect is found from
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_BLOCK_CELLS = 2**22  # cells whose text is in memory at once
_MARKS = [*{mark for name in MISSING for mark in (name, name.upper(), name.capitalize())}, "NaN", "-NaN"]


@dataclass(frozen=True)
class Dialect:
    """How a file of delimited text is written."""

    names: tuple[str, ...]  # of all columns
    skipped: int = 0  # lines before the names
    units: int = 0  # lines after the names up to a row of units; 0 if there is none
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8-sig"

    @property
    def first_row(self) -> int:
        """The first row of samples, as a spreadsheet shows it."""
        return self.skipped + self.units + 2

    def notes(self, path: Path, empty: int) -> tuple[str, ...]:
        """Return what is not as usual, in words; `empty` is the number of empty lines between samples."""
        found = []
        if self.separator != ",":
            found.append(f"columns separated by {SEPARATORS[self.separator]}")
        if self.decimal != ".":
            found.append("decimal commas")
        found += skipped_lines(self.skipped, bool(self.units))
        if empty:
            found.append(f"{empty} empty line{'s'[: empty != 1]} between samples skipped")
        return (f"{path.name}: {', '.join(found)}.",) if found else ()


def read_csv(path: Path, columns: Columns) -> Table:
    """Read delimited text with a line of column names; the text of all rows is never in memory at once."""
    import pandas as pd

    dialect = dialect_of(path, columns)
    check_columns(dialect.names, columns, str(path))
    try:
        blocks = list(_blocks(path, dialect, columns))
    except (pd.errors.ParserError, pd.errors.ParserWarning):
        _blank_rows(path, dialect, strict=True)  # says which row has too many fields, or an open quotation mark
        raise
    frame, between = pd.concat([block for block, _ in blocks]), 0
    if any(ragged for _, ragged in blocks):
        blank = _blank_rows(path, dialect)
        frame = frame.drop(index=blank)
        between = len([row for row in blank if len(frame) and frame.index[0] < row < frame.index[-1]])
    if columns.episode is not None:
        frame[columns.episode] = _numbers_or_text(frame[columns.episode])
    skipped = bool(dialect.skipped or dialect.units or between)
    return Table(str(path), frame, columns, dialect.notes(path, between), skipped)


def skipped_lines(skipped: int, units: bool) -> list[str]:
    """Return in words what was skipped."""
    before = [f"{skipped} line{'s'[: skipped != 1]} before the names skipped"] if skipped else []
    return [*before, "a row of units skipped"] if units else before


def _blocks(path: Path, dialect: Dialect, columns: Columns) -> Iterator[tuple[pd.DataFrame, bool]]:
    """Yield the wanted columns of some rows at a time, and whether one of them may have too few or too many fields.

    Such a row leaves the last column empty, or has something in the column after it. An empty line is one, too.
    """
    import pandas as pd

    width = len(dialect.names)
    wanted = {name: dialect.names.index(name) for name in columns.wanted}
    as_text = {columns.episode, columns.time if columns.reading.date_format is not None else None}
    numbers = {i for name, i in wanted.items() if name not in as_text}
    text = {*wanted.values(), width - 1, width} - numbers
    exact = {"float_precision": "round_trip"} if _version(pd) < (3, 1) else {}  # later ones always are
    with _below_names(path, dialect) as stream, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the names
        for block in pd.read_csv(
            stream,
            sep=dialect.separator,
            decimal=dialect.decimal,
            skipinitialspace=True,
            header=None,
            names=range(width + 1),
            index_col=False,
            dtype=dict.fromkeys(text, "str"),
            na_values={i: [""] if i in text else [*_MARKS, *columns.reading.missing] for i in text | numbers},
            keep_default_na=False,
            skip_blank_lines=False,
            chunksize=max(_BLOCK_CELLS // width, 1),
            low_memory=False,
            **exact,
        ):
            block.index += dialect.first_row
            ragged = block[width - 1].isna() | block[width].notna()
            found = pd.DataFrame({name: block[i] for name, i in wanted.items()})
            yield _typed(Table(str(path), found, columns), dialect), bool(ragged.any())


def _typed(table: Table, dialect: Dialect) -> pd.DataFrame:
    """Return the rows with samples as numbers and times as times."""
    columns, frame, marks = table.columns, table.frame, table.columns.reading.missing
    for name in columns.samples:
        if frame[name].dtype.kind not in "iufb":
            frame[name] = text_as_numbers(frame[name], marks, dialect.decimal, name, table.source)
    if columns.time is not None and frame[columns.time].dtype.kind not in "iufb":
        times = without_marks(frame[columns.time], marks)
        if dialect.decimal == ",":
            times = times.str.replace(r"^([+-]?\d*),(\d+)", r"\1.\2", regex=True)
        frame[columns.time] = times
        frame[columns.time] = table.times()
    return frame


def text_as_numbers(column: pd.Series, marks: Collection[str], decimal: str, name: str, source: str) -> pd.Series:
    """Return text as numbers, the marks of missing values as NaN and flags as 0 and 1."""
    import pandas as pd

    text = without_marks(column.map(str, na_action="ignore"), marks)
    plain = text.str.replace(",", ".") if decimal == "," else text
    flags = text.str.lower().map({"true": 1.0, "false": 0.0})
    found = pd.to_numeric(plain, errors="coerce").astype(float).fillna(flags)
    bad = found.isna() & text.notna()
    bad |= text.str.contains(".", regex=False).fillna(False).astype(bool) if decimal == "," else False
    if bad.any():
        row, value = text.index[bad][0], text[bad].iloc[0]
        raise KoopsieveError(
            f"Column {name!r} of {source} must hold numbers. Got text, {value[:80]!r} at row {row}. If it marks a "
            f"missing value, pass missing={value[:80]!r}; otherwise repair the row."
        )
    return found


def without_marks(text: pd.Series, marks: Collection[str]) -> pd.Series:
    """Return text without spaces round it, and nothing where it marks a missing value."""
    bare = text.str.strip()
    return bare.mask(bare.str.lower().isin(MISSING) | bare.isin([mark.strip() for mark in marks]))


def _version(package: Any) -> tuple[int, ...]:
    return tuple(map(int, package.__version__.split(".")[:2]))


def _numbers_or_text(column: pd.Series) -> pd.Series:
    import pandas as pd

    if not pd.api.types.is_string_dtype(column):
        return column
    text = column.str.strip()
    found = pd.to_numeric(text, errors="coerce")
    return found if found.notna().eq(text.notna()).all() else text


def _below_names(path: Path, dialect: Dialect) -> TextIO:
    """Return the open file, read up to the line below the names and the units."""
    stream = path.open(encoding=dialect.encoding, newline="")
    for _ in range(dialect.first_row - 1):
        stream.readline()
    return stream


def _blank_rows(path: Path, dialect: Dialect, strict: bool = False) -> list[int]:
    """Return which rows are empty lines, as a spreadsheet counts them; `strict` refuses stray quotation marks."""
    blank, width, row = [], len(dialect.names), dialect.first_row - 1
    with _below_names(path, dialect) as stream:
        rows = csv.reader(stream, delimiter=dialect.separator, skipinitialspace=True, strict=strict)
        try:
            for row, fields in enumerate(rows, dialect.first_row):
                if not fields:
                    blank.append(row)
                elif len(fields) != width and not (len(fields) == width + 1 and not fields[-1]):
                    raise ValueError(f"row {row} has {len(fields)} fields, but there are {width} names of columns")
        except csv.Error as error:
            raise ValueError(f"the quotation marks in row {row + 1} do not match") from error
    return blank


def dialect_of(path: Path, columns: Columns) -> Dialect:
    """Find out how a file is written from its first lines and the wanted names."""
    with path.open("rb") as stream:
        start = stream.read(_INSPECTED_BYTES)
    encoding = _encoding(start)
    whole = path.stat().st_size <= len(start)
    lines = re.split(r"\r\n|\n|\r", start.decode(encoding, errors="replace"))
    lines = lines if whole else lines[:-1]  # the last one may be torn
    skipped, separator, names = _name_line(lines, columns)
    if len(names) == 1 and any(_DECIMAL_COMMA.fullmatch(line.strip()) for line in lines[skipped + 1 :]):
        separator = ";"  # a single column: its commas are decimal ones
    rows = [_fields(line, separator) for line in lines[skipped + 1 :]]
    units = units_row(rows, names, columns)
    if units and set(columns.wanted) <= set(rows[units - 1]):  # the names: a comment above listed them in another order
        skipped, names, rows = skipped + units, rows[units - 1], rows[units:]
        units = units_row(rows, names, columns)
    return Dialect(tuple(names), skipped, units, separator, _decimal(rows, separator), encoding)


def units_row(rows: Sequence[Sequence[str]], names: Sequence[str], columns: Columns) -> int:
    """Return how many rows end with one of units: words, in the columns of samples, where the next row has numbers."""
    held = [names.index(name) for name in columns.samples if name in names]
    filled = [(line, row) for line, row in enumerate(rows, 1) if row][:2]
    if len(filled) < 2 or any(len(row) <= max(held, default=0) for _, row in filled):
        return 0
    first, second = ([row[i] for i in held] for _, row in filled)
    marks = {*MISSING, *(mark.strip().lower() for mark in columns.reading.missing)}
    numbers = [field for field in first if _NUMBER.fullmatch(field)]
    words = [field for field in first if field.lower() not in marks and field not in numbers]
    return filled[0][0] if words and not numbers and any(map(_NUMBER.fullmatch, second)) else 0


def _name_line(lines: Sequence[str], columns: Columns) -> tuple[int, str, list[str]]:
    """Return the number of the line that holds the wanted names, the separator, and all names.

    If there is none, the first line that is no comment: the error about missing columns then lists what it holds.
    """
    for number, line in enumerate(lines):
        for separator, names in _splits(line):
            if set(columns.wanted) <= set(names):
                return number, separator, names
    plain = (number for number, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in _COMMENT_MARKS)
    number = next(plain, 0)
    separator, names = max(_splits(lines[number] if lines else ""), key=lambda split: len(split[1]))
    return number, separator, names


def _splits(line: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the fields of a line for every separator; a comment mark before them is no part of the first."""
    text = line.lstrip("\ufeff")
    bare = text.lstrip().lstrip(_COMMENT_MARKS) if text.lstrip()[:1] in _COMMENT_MARKS else text
    for candidate in dict.fromkeys((text, bare)):
        for separator in SEPARATORS:
            yield separator, _fields(candidate, separator)


def _fields(line: str, separator: str) -> list[str]:
    return [field.strip() for field in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]


def _decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """Return the decimal mark: a comma where numbers are written with one and none with a point."""
    if separator == ",":
        return "."
    fields = [field for row in rows for field in row if _NUMBER.fullmatch(field)]
    commas = any(_DECIMAL_COMMA.fullmatch(field) for field in fields)
    return "," if commas and not any("." in field for field in fields) else "."


def _encoding(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"
