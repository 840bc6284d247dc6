"""Options of commands, declared once as fields of a dataclass: check, default, flag and help; where a command writes.

A check takes the name of an option and its value, and returns the value or refuses it.
"""

from __future__ import annotations

import difflib
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer
from rich.markup import escape

from koopsieve._display import csv_text
from koopsieve._types import POSITIVE, SHARE, KoopsieveError, real_number, whole_number
from koopsieve._written import write_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier run.")]
_METAVARS: dict[Any, str] = {str: "TEXT", int: "N", float: "NUMBER", list[str]: "NAMES"}
Check = Callable[..., Any]  # (name, value) to the value
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
            found[key] = checks[key](key, value)
        except KoopsieveError as error:
            raise KoopsieveError(f"{error} It comes from {source}.") from None
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


def texts(what: str, value: Any) -> tuple[str, ...]:
    """Return one text or several."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(item, str) and item for item in given):
        raise KoopsieveError(f"{what} must be text, or a list of texts. Got {value!r}.")
    return tuple(given)


def text(what: str, value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str) or not value:
        raise KoopsieveError(f"{what} must be text. Got {value!r}.")
    return value


def any_text(what: str, value: Any) -> str:
    """Return a text that may be empty."""
    return str(value)


whole: Check = whole_number
count: Check = partial(whole_number, least=1)
share: Check = partial(real_number, allowed=SHARE)
positive: Check = partial(real_number, allowed=POSITIVE)


def whole_or_auto(what: str, value: Any) -> int | str:
    """Return a whole number from 0, also if it is written as text, or "auto"."""
    if value == "auto":
        return "auto"
    try:
        return whole_number(what, int(value) if isinstance(value, str) and value.isdecimal() else value)
    except KoopsieveError:
        raise KoopsieveError(f"{what} must be a whole number, 0 or more, or auto. Got {value!r}.") from None


def wholes(what: str, value: Any) -> tuple[int, ...]:
    """Return one or more whole numbers from 1, sorted."""
    given = [value] if isinstance(value, int) else value
    ints = isinstance(given, Sequence) and all(isinstance(h, int) and not isinstance(h, bool) for h in given)
    if not ints or not given or min(given) < 1:
        raise KoopsieveError(f"{what} must be one or more whole numbers, each at least 1. Got {value!r}.")
    return tuple(sorted(set(given)))


def one_of(*choices: str) -> Check:
    """Return a check that lets only `choices` pass."""

    def check(what: str, value: Any) -> str:
        if value not in choices:
            raise KoopsieveError(f"{what} must be one of {', '.join(choices)}. Got {value!r}.")
        return str(value)

    return check


def some_of(*choices: str) -> Check:
    """Return a check that lets only lists of `choices` pass."""

    def check(what: str, value: Any) -> tuple[str, ...]:
        given = texts(what, value)
        if not given or not set(given) <= set(choices):
            raise KoopsieveError(f"{what} must be some of {', '.join(choices)}. Got {value!r}.")
        return given

    return check
