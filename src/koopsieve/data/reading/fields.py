"""The fields of one column of delimited text as a column: numbers if all are, then flags, dates, times, or text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from koopsieve.data.reading.table import Column, label_column

MISSING = frozenset(
    {"", "na", "n/a", "nan", "-nan", "null", "none", "#n/a", "#n/a n/a", "#na"}
    | {"1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"}
)
_FLAGS = {"true": True, "false": False}
_CLOCK = r"(?P<clock>\d{1,2}:\d\d(:\d\d(?P<fraction>\.\d{1,9})?)?)"
_DATE = re.compile(
    r"((?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)|(?P<y2>\d{4})/(?P<m2>\d{1,2})/(?P<d2>\d{1,2})"
    r"|(?P<d3>\d{1,2})\.(?P<m3>\d{1,2})\.(?P<y3>\d{4}))"
    rf"([ T]{_CLOCK})?(?P<zone>Z|[+-]\d\d(:?\d\d)?)?"
)
_TIME_OF_DAY = re.compile(_CLOCK)
_NANOSECOND_YEARS = range(1678, 2262)  # those that 64 bits of nanoseconds reach
Parser = Callable[[Sequence[str]], Column | None]


def parse(fields: Sequence[str], decimal: str = ".") -> Column:
    """Return the fields of some rows as a column, of the first kind that all of them are; missing ones fit any.

    Examples
    --------
    >>> parse(["1", "2"]).values, parse(["1,5", "NA"], ",").values
    (array([1, 2]), array([1.5, nan]))
    >>> parse(["2024-05-01 12:00", "2024-05-01 12:01"]).values
    array(['2024-05-01T12:00:00', '2024-05-01T12:01:00'],
          dtype='datetime64[s]')
    >>> parse(["on", "off", "on"])
    Column(values=array([0, 1, 0]), labels=('on', 'off'), zoned=False)
    """
    parsers: tuple[Parser, ...] = (lambda given: _numbers(given, decimal), _flags, _dates, _times_of_day)
    made = (parser(fields) for parser in parsers)
    return next((column for column in made if column is not None), None) or label_column(
        field if field.strip() else None for field in fields
    )


def join(parts: Sequence[Column]) -> Column:
    """Return stretches of one column as one; where their kinds differ and one is not all missing, they are text."""
    if all(part.is_numeric for part in parts):
        whole = all(part.values.dtype.kind in "iu" for part in parts)
        flags = all(part.values.dtype.kind == "b" for part in parts)
        joined = np.concatenate([part.values for part in parts])
        return Column(joined if whole or flags else joined.astype(float))
    kinds = {part.kind for part in parts if not part.missing.all()}
    zones = {part.zoned for part in parts if not part.missing.all()}
    if len(kinds) == 1 and len(zones) == 1 and kinds <= {"dates", "durations"}:
        code = "M" if kinds == {"dates"} else "m"
        return Column(np.concatenate([_as_times(part, code) for part in parts]), zoned=zones.pop())
    return label_column(label for part in parts for label in _as_labels(part))


def _numbers(fields: Sequence[str], decimal: str) -> Column | None:
    """Return whole numbers exactly, others as floats; Python alone would also take 1_000 and digits of any script."""
    together = "".join(fields)
    if "_" in together or not together.isascii():
        return None
    if decimal == ",":
        if "." in together:
            return None
        fields = [field.replace(",", ".") for field in fields]
    try:
        if fields and fields[0].strip().lstrip("+-").isdigit():
            return Column(np.array(list(map(int, fields)), dtype=np.int64))
    except (ValueError, OverflowError):
        pass  # not all are whole, or one is beyond 64 bits
    try:
        return Column(np.array(list(map(float, fields)), dtype=float))
    except ValueError:
        return _numbers_with_missing(fields)


def _numbers_with_missing(fields: Sequence[str]) -> Column | None:
    try:
        return Column(np.array([np.nan if _is_missing(field) else float(field) for field in fields], dtype=float))
    except ValueError:
        return None


def _flags(fields: Sequence[str]) -> Column | None:
    found = [_FLAGS.get(field.strip().lower()) for field in fields if not _is_missing(field)]
    if None in found:
        return None
    if len(found) == len(fields):
        return Column(np.array(found, dtype=bool))
    rest = iter(found)
    return Column(np.array([np.nan if _is_missing(field) else float(next(rest) or 0) for field in fields]))


def _dates(fields: Sequence[str]) -> Column | None:
    """Return dates of the ISO form, or written 31.12.2024 or 2024/12/31: the forms that mean one day only."""
    found = _matched(_DATE, fields)
    if found is None:
        return None
    zones = {one["zone"] is not None for one in found if one is not None}
    unit = "ns" if any(one is not None and one["fraction"] for one in found) else "s"
    years = (int(_part(one, "y")) for one in found if one is not None)
    if len(zones) != 1 or (unit == "ns" and not all(year in _NANOSECOND_YEARS for year in years)):
        return None
    try:
        stamps = np.array(["NaT" if one is None else _iso(one) for one in found], dtype=f"M8[{unit}]")
    except ValueError:  # the 31st of February
        return None
    offsets = np.array([0 if one is None else _offset(one["zone"]) for one in found], dtype="m8[m]")
    return Column(stamps - offsets.astype(f"m8[{unit}]"), zoned=zones == {True})


def _times_of_day(fields: Sequence[str]) -> Column | None:
    found = _matched(_TIME_OF_DAY, fields)
    if found is None:
        return None
    unit: Literal["s", "ns"] = "ns" if any(one is not None and one["fraction"] for one in found) else "s"
    return Column(np.array([np.timedelta64("NaT") if one is None else _since_midnight(one, unit) for one in found]))


def _matched(pattern: re.Pattern[str], fields: Sequence[str]) -> list[re.Match[str] | None] | None:
    """Return the match of every field, None where it is missing; nothing at all if another field does not match."""
    found: list[re.Match[str] | None] = []
    for field in fields:
        text = field.strip()
        match = pattern.fullmatch(text)
        if match is None and not _is_missing(text):
            return None
        found.append(match)
    return found


def _iso(match: re.Match[str]) -> str:
    clock = match["clock"] or "00:00"
    clock = f"0{clock}" if clock[1] == ":" else clock
    return f"{_part(match, 'y')}-{_part(match, 'm'):0>2}-{_part(match, 'd'):0>2}T{clock}"


def _part(match: re.Match[str], name: str) -> str:
    return match[name] or match[f"{name}2"] or match[f"{name}3"] or ""


def _offset(zone: str | None) -> int:
    """Return minutes east of Greenwich."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    return (-1 if zone[0] == "-" else 1) * (60 * int(digits[:2]) + int(digits[2:] or 0))


def _since_midnight(match: re.Match[str], unit: Literal["s", "ns"]) -> np.timedelta64:
    whole = [int(part) for part in match["clock"].split(".")[0].split(":")]
    seconds = timedelta(**dict(zip(("hours", "minutes", "seconds"), whole, strict=False))).total_seconds()
    nanoseconds = int((match["fraction"] or ".0")[1:].ljust(9, "0"))
    count = int(seconds) if unit == "s" else int(seconds) * 10**9 + nanoseconds
    return np.timedelta64(count, unit)


def _is_missing(field: str) -> bool:
    return field.strip().lower() in MISSING


def _as_times(part: Column, code: str) -> NDArray[Any]:
    return part.values if part.values.dtype.kind == code else np.full(len(part.values), "NaT", dtype=f"{code}8[s]")


def _as_labels(part: Column) -> Iterable[Any]:
    missing = part.missing.tolist()
    return (None if gone else str(part.value(row)) for row, gone in enumerate(missing))
