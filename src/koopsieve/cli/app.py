"""The commands, put together; and what happens when one of them fails."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any, TextIO

import typer

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve._version import __version__
from koopsieve.cli.compare import compare
from koopsieve.cli.demo import demo
from koopsieve.cli.example import example
from koopsieve.cli.export import export
from koopsieve.cli.inspect import inspect
from koopsieve.cli.predict import predict
from koopsieve.cli.reproduce import reproduce
from koopsieve.cli.sift import sift
from koopsieve.cli.simulate import simulate

INTERRUPTED = 130  # what shells give for Ctrl-C

app = typer.Typer(
    help="Sift a Koopman dictionary: keep the observables that drive the outputs, refit a small linear predictor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (sift, predict, simulate, inspect, compare, export, demo, example, reproduce):
    app.command()(command)
app.command("reduce", hidden=True)(sift)  # its name in earlier versions


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
    arguments = sys.argv[1:]
    debug = "--debug" in arguments  # wherever it stands: people add it at the end of the line that failed
    try:
        code = app([a for a in arguments if a != "--debug"], prog_name="koopsieve", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if debug or not _is_for_users(error):
            raise
        sys.stderr.write(_words(error))
        code = 2
    if code == INTERRUPTED:
        sys.stderr.write("koopsieve: interrupted; no file is half written.\n")
    sys.exit(code if isinstance(code, int) else 0)


def _is_for_users(error: Exception) -> bool:
    return isinstance(error, KoopsieveError | OSError) or hasattr(error, "format_message")


def _words(error: Any) -> str:
    """Return an error in one or two lines; those of the command line parser know which command they are about."""
    if isinstance(error, KoopsieveError):
        return f"koopsieve: {error}\n"
    if isinstance(error, OSError):
        place = f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error)
        return f"koopsieve: {place}\n"
    if not error.format_message():  # a command without arguments has shown its help already
        return ""
    context = getattr(error, "ctx", None)
    return f"koopsieve: {error.format_message()}\nSee: {context.command_path if context else 'koopsieve'} --help\n"


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
