"""Options of commands, declared once as fields of a dataclass: check, default, flag and help; where a command writes.

A check returns the value, or raises TypeError with what was expected.
"""

from __future__ import annotations

import difflib
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer
from rich.markup import escape

from koopsieve._display import csv_text
from koopsieve._types import KoopsieveError
from koopsieve._written import write_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier run.")]
_METAVARS: dict[Any, str] = {str: "TEXT", int: "N", float: "NUMBER", list[str]: "NAMES"}
Check = Callable[[Any], Any]
Row = list[Any]


def option(
    check: Check, default: Any, explanation: str, *flags: str, panel: str | None = None, split: bool = False
) -> Any:
    """Declare an option; `split` says that commas separate several values."""
    numbers: dict[Check, Any] = {whole: int, count: int, positive: float, share: float, texts: list[str]}
    kind = numbers.get(check, str)  # on the command line
    about = {"check": check, "kind": kind, "help": explanation, "panel": panel, "flags": flags, "split": split}
    return field(default=default, metadata=about)


def updated(options: Options, values: Mapping[str, Any], source: str) -> Options:
    """Return the options with some replaced by `values`, checked; `source` names where they come from."""
    checks: dict[str, Check] = {entry.name: entry.metadata["check"] for entry in fields(options)}
    found = {}
    for key, value in values.items():
        if key not in checks:
            near = difflib.get_close_matches(key, checks, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(checks)}."
            raise KoopsieveError(f"{source} has the unknown key {key!r}. {hint}")
        try:
            found[key] = checks[key](value)
        except TypeError as error:
            raise KoopsieveError(f"{key} must be {error}. Got {value!r} from {source}.") from None
    return replace(options, **found)


def from_flags(options: Options, flags: Mapping[str, Any], source: str = "the command line") -> Options:
    """Return the options with those replaced that were given; None and an empty list are nothing given."""
    given = {
        key: value for key, value in flags.items() if not (value is None or (isinstance(value, list) and not value))
    }
    return updated(options, given, source)


def with_options(declared: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that puts one option per field of `declared` in the place of a command's parameter `flags`.

    What was given on the command line arrives as a mapping from field to value; what was not is None.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parameters = [
            each
            for one in inspect.signature(command).parameters.values()
            for each in (
                map(_parameter, fields(declared))
                if one.name == "flags"
                else [one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name])]
            )
        ]

        def run(**given: Any) -> None:
            flags = {entry.name: _value(entry, given.pop(entry.name)) for entry in fields(declared)}
            command(flags=flags, **given)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return decorate


def chosen(out: Path | None, default: str, overwrite: bool) -> Path:
    """Return where to write: `out`; without it `default`, numbered if that is taken and may not be replaced."""
    place = Path(default)
    if out is not None or overwrite:
        return out or place
    numbered = (place.with_stem(f"{place.stem}-{n}") for n in itertools.count(2))
    return next(one for one in itertools.chain([place], numbered) if not os.path.lexists(one))


def write_rows(header: Sequence[str], rows: Iterable[Row], out: Path | None, overwrite: bool) -> None:
    """Write lines under their header, to a file or to standard output."""
    text = csv_text(itertools.chain([header], rows))
    if out is None:
        sys.stdout.write(text)
        return
    write_text(out, text, overwrite)
    typer.echo(f"Written to {out}", err=True)


def listed(given: list[str] | str | None) -> list[str] | None:
    """Return the names in what was given, once or several times, with commas between them."""
    if given is None:
        return None
    parts = [given] if isinstance(given, str) else given
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


def _parameter(entry: Field[Any]) -> inspect.Parameter:
    about: Mapping[str, Any] = entry.metadata
    if entry.name == "files":
        found = typer.Argument(help=about["help"], show_default=False, metavar="FILES")
    else:
        flags = about["flags"] or (f"--{entry.name.replace('_', '-')}",)
        found = typer.Option(
            *flags,
            help=escape(f"{about['help']}{_default(entry.default)}"),  # y[k+1] is no markup
            rich_help_panel=about["panel"],
            show_default=False,
            metavar=_METAVARS[about["kind"]],
        )
    wanted: Any = about["kind"] | None
    annotation: Any = Annotated[wanted, found]
    return inspect.Parameter(entry.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _default(value: Any) -> str:
    if value is None or value == ():
        return ""
    return f" (default {','.join(map(str, value)) if isinstance(value, tuple) else value})"


def _value(entry: Field[Any], given: Any) -> Any:
    """Return what was given, split at commas where the setting takes several values, numbers as numbers."""
    if given is None or not entry.metadata["split"]:
        return given
    parts = listed(given) or []
    return [int(part) if part.isdecimal() and entry.name == "horizons" else part for part in parts]


def texts(value: Any) -> tuple[str, ...]:
    """Return one text or several; raises TypeError for anything else."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(item, str) and item for item in given):
        raise TypeError("text, or a list of texts")
    return tuple(given)


def text(value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str) or not value:
        raise TypeError("text")
    return value


def _number(kind: type[int] | type[float], allowed: Callable[[Any], bool], expected: str) -> Check:
    """Return a check that lets numbers pass which are allowed, flags never; `expected` says which those are."""

    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, kind)) or not allowed(value):
            raise TypeError(expected)
        return kind(value)

    return check


whole = _number(int, lambda value: value >= 0, "a whole number, 0 or more")
count = _number(int, lambda value: value >= 1, "a whole number, 1 or more")
share = _number(float, lambda value: 0 < value < 1, "a number between 0 and 1, both excluded")
positive = _number(float, lambda value: 0 < value <= sys.float_info.max, "a positive number")


def whole_or_auto(value: Any) -> int | str:
    """Return a whole number from 0, also if it is written as text, or "auto"."""
    if value == "auto":
        return "auto"
    try:
        found: int = whole(int(value) if isinstance(value, str) and value.isdecimal() else value)
        return found
    except TypeError:
        raise TypeError("a whole number, 0 or more, or auto") from None


def wholes(value: Any) -> tuple[int, ...]:
    """Return one or more whole numbers from 1, sorted."""
    given = [value] if isinstance(value, int) else value
    ints = isinstance(given, Sequence) and all(isinstance(h, int) and not isinstance(h, bool) for h in given)
    if not ints or not given or min(given) < 1:
        raise TypeError("one or more whole numbers, each at least 1")
    return tuple(sorted(set(given)))


def one_of(*choices: str) -> Callable[[Any], str]:
    """Return a check that lets only `choices` pass."""

    def check(value: Any) -> str:
        if value not in choices:
            raise TypeError(f"one of {', '.join(choices)}")
        return str(value)

    return check


def some_of(*choices: str) -> Callable[[Any], tuple[str, ...]]:
    """Return a check that lets only lists of `choices` pass."""

    def check(value: Any) -> tuple[str, ...]:
        given = texts(value)
        if not given or not set(given) <= set(choices):
            raise TypeError(f"some of {', '.join(choices)}")
        return given

    return check
