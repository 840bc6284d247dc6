"""The commands, put together; and what happens when one of them fails."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, TextIO

import typer

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve._version import __version__
from koopsieve.cli.demo import demo

app = typer.Typer(
    help="Sift a Koopman dictionary: keep the observables that drive the outputs, refit a small linear predictor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"koopsieve {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Take the options that belong to no command."""


def main() -> None:
    """Run the command line; an error of the user's is one or two lines and exit code 2."""
    warnings.showwarning = _say
    try:
        app()
    except (KoopsieveError, OSError) as error:
        if "--debug" in sys.argv:
            raise
        sys.stderr.write(f"koopsieve: {error}\n")
        sys.exit(2)


def _say(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, KoopsieveWarning):
        text = f"koopsieve: note: {message}\n"
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
    (file or sys.stderr).write(text)
