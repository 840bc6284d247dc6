"""Options of commands: those that are settings, each declared once in `Settings`; and where a command writes to."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from koopsieve.cli.settings import Settings

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier run.")]
_METAVARS: dict[Any, str] = {str: "TEXT", int: "N", float: "NUMBER", list[str]: "NAMES"}


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command(flags, …)` with one option per setting in the place of its first parameter, `flags`.

    What was given on the command line arrives as a mapping from setting to value; what was not is None.
    """
    hints = get_type_hints(command, include_extras=True)
    own = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name])
        for one in list(inspect.signature(command).parameters.values())[1:]
    ]

    def run(**given: Any) -> None:
        flags = {entry.name: _value(entry, given.pop(entry.name)) for entry in fields(Settings)}
        command(flags, **given)

    parameters = [_parameter(entry) for entry in fields(Settings)]
    run.__signature__ = inspect.Signature([*parameters, *own])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*parameters, *own)}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def chosen(out: Path | None, default: str, overwrite: bool) -> Path:
    """Return where to write: `out`; without it `default`, numbered if that is taken and may not be replaced."""
    place = Path(default)
    if out is not None or overwrite:
        return out or place
    numbered = (place.with_stem(f"{place.stem}-{n}") for n in itertools.count(2))
    return next(one for one in itertools.chain([place], numbered) if not os.path.lexists(one))


def listed(given: list[str] | str | None) -> list[str] | None:
    """Return the names in what was given, once or several times, with commas between them."""
    if given is None:
        return None
    parts = [given] if isinstance(given, str) else given
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


def _parameter(entry: Field[Any]) -> inspect.Parameter:
    about: Mapping[str, Any] = entry.metadata
    if entry.name == "files":
        option = typer.Argument(help=about["help"], show_default=False, metavar="FILES")
    else:
        flags = about["flags"] or (f"--{entry.name.replace('_', '-')}",)
        told = f"{about['help']}{_default(entry.default)}"
        metavar = _METAVARS[about["kind"]]
        option = typer.Option(*flags, help=told, rich_help_panel=about["panel"], show_default=False, metavar=metavar)
    wanted: Any = about["kind"] | None
    annotation: Any = Annotated[wanted, option]
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
