"""Delimited text: the line of names, the separator, the decimal mark and a row of units are found out, and told.

Loggers write comments before the names and units after them, semicolons and decimal commas. The wanted names say which
line holds the names and what separates them; nothing else is guessed.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from koopsieve.data.reading.fields import MISSING, join, parse
from koopsieve.data.reading.table import Column, Table
from koopsieve.data.reading.tables import Columns, Loaded, check_columns

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_COMMENT_MARKS = "#%"
_INSPECTED_BYTES = 256 * 2**10  # bytes at the start of a file that the dialect is found from
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_BLOCK_ROWS = 65_536  # rows whose text is in memory at once


@dataclass(frozen=True)
class Dialect:
    """How a file of delimited text is written.

    Parameters
    ----------
    names : tuple of str
        Of all columns.
    skipped : int
        Lines before the names.
    units : bool
        Whether the line after the names holds units.
    separator, decimal, encoding : str
    """

    names: tuple[str, ...]
    skipped: int = 0
    units: bool = False
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8-sig"

    def notes(self, path: Path) -> tuple[str, ...]:
        """Say what is not as usual."""
        said = []
        if self.separator != ",":
            said.append(f"columns separated by {SEPARATORS[self.separator]}")
        if self.decimal != ".":
            said.append("decimal commas")
        if self.skipped:
            said.append(f"{self.skipped} line{'s'[: self.skipped != 1]} before the names skipped")
        if self.units:
            said.append("a row of units skipped")
        return (f"{path.name}: {', '.join(said)}.",) if said else ()


def read_csv(path: Path, columns: Columns) -> Loaded:
    """Read delimited text with a line of column names; text of all rows is never in memory at once."""
    dialect = dialect_of(path, columns)
    check_columns(dialect.names, columns, str(path))
    wanted = [i for i, name in enumerate(dialect.names) if name in columns.wanted]
    parts: list[list[Column]] = [[parse(())] for _ in wanted]
    rows = 0
    for block in _blocks(path, dialect):
        _check_widths(block, len(dialect.names), rows)
        rows += len(block)
        fields = list(zip(*block, strict=True))
        for place, i in enumerate(wanted):
            parts[place].append(parse(fields[i], dialect.decimal))
    table = Table(tuple((dialect.names[i], join(part)) for i, part in zip(wanted, parts, strict=True)), rows)
    return Loaded(str(path), table, columns, dialect.notes(path))


def _blocks(path: Path, dialect: Dialect) -> Iterator[list[list[str]]]:
    """Yield the rows below the names and the units, some at a time; empty lines are no rows."""
    with path.open(encoding=dialect.encoding, newline="") as stream:
        lines = islice(stream, dialect.skipped + 1, None)
        rows = (row for row in csv.reader(lines, delimiter=dialect.separator) if row)
        next(rows if dialect.units else iter(()), None)
        while block := list(islice(rows, _BLOCK_ROWS)):
            yield block


def _check_widths(block: Sequence[Sequence[str]], width: int, first: int) -> None:
    for row, fields in enumerate(block, first):
        if len(fields) != width:
            raise ValueError(
                f"row {row} (counted from 0) has {len(fields)} fields, but there are {width} names of columns"
            )


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
    rows = [row for row in (_fields(line, separator) for line in lines[skipped + 1 :] if line.strip()) if row]
    held = [names.index(name) for name in (*columns.states, *columns.inputs) if name in names]
    return Dialect(
        tuple(names),
        skipped,
        _is_units(rows, held),
        separator,
        _decimal(rows, separator),
        encoding,
    )


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
    return [field.strip() for field in next(csv.reader([line], delimiter=separator), [])]


def _decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """Return the decimal mark: a comma where numbers are written with one and none with a point."""
    if separator == ",":
        return "."
    fields = [field for row in rows for field in row if _NUMBER.fullmatch(field)]
    commas = any(_DECIMAL_COMMA.fullmatch(field) for field in fields)
    return "," if commas and not any("." in field for field in fields) else "."


def _is_units(rows: Sequence[Sequence[str]], held: Sequence[int]) -> bool:
    """Tell whether the first row holds words where the second holds numbers, in the columns of samples."""
    if len(rows) < 2 or len(rows[0]) <= max(held, default=0) or len(rows[1]) <= max(held, default=0):
        return False
    first, second = ([row[i] for i in held] for row in rows[:2])
    words = [field for field in first if field.lower() not in MISSING and not _NUMBER.fullmatch(field)]
    numbers = [field for field in first if _NUMBER.fullmatch(field)]
    return bool(words) and not numbers and any(_NUMBER.fullmatch(field) for field in second)


def _encoding(start: bytes) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if start.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"
