"""The commands, put together; and what happens when one of them fails."""

from __future__ import annotations

import io
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve._version import __version__
from koopsieve._written import refuse_taken
from koopsieve.cli import INTERRUPTED
from koopsieve.cli.demo import demo, example
from koopsieve.cli.options import Overwrite
from koopsieve.cli.predict import predict, simulate
from koopsieve.cli.saved import compare, export, inspect
from koopsieve.cli.sift import sift
from koopsieve.datasets import FOLDER_VARIABLE
from koopsieve.execution.executors import bar

_ARGUMENT = re.compile(r"""\b(gaps|max_gap|resample|outliers|episode|time|dt)=["']?(\w(?:[\w.+-]*\w)?)?["']?(?:…)?""")
_TEXT_ARGUMENT = re.compile(r"""\b(missing|date_format)=("[^"]*"|'[^']*')?""")  # values that a shell needs quoted
INTERRUPTED_CODE = 130  # the exit code of shells for Ctrl-C


def serve_app(
    files: Annotated[list[Path] | None, typer.Argument(help="Logs to begin with; they stay where they are.")] = None,
    port: Annotated[int | None, typer.Option(help="Port on 127.0.0.1 (default: a free one).", min=1, max=65535)] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for runs and dropped files.")] = Path(
        "koopsieve-runs"
    ),
) -> None:
    """Open the app in a browser: drop logs, pick columns, find a model, compare, download.

    It runs on this computer only, and no data leave it.

    Example: koopsieve app bench.csv
    """
    from koopsieve.app import serve

    serve(files or [], out, port, not no_browser, typer.echo)


class System(StrEnum):
    """What can be reproduced."""

    LORENZ = "lorenz"
    USV = "usv"
    WIENER_HAMMERSTEIN = "wiener-hammerstein"
    ALL = "all"


def reproduce(
    system: Annotated[System, typer.Argument(help="Which experiment of the paper.")],
    out: Annotated[Path, typer.Option(help="Folder for summaries, tables and figures; runs found there are kept.")],
    runs: Annotated[int | None, typer.Option(min=1, help="Monte Carlo runs per noise level (paper: 25).")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with the measured Wiener-Hammerstein records.", envvar=FOLDER_VARIABLE),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="3 runs and fewer noise levels.")] = False,
    as_published: Annotated[bool, typer.Option("--as-published", help="Method IV by the paper's own updates.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Rerun the paper's experiments; tables and figures stand beside the paper's own numbers.

    Interrupted in any way, the same command goes on where it stopped. A finished reproduction is
    replaced only with --overwrite.
    """
    from koopsieve.reproduction.reproduce import reproduce as run
    from koopsieve.reproduction.reproduce import summaries

    refuse_taken(summaries(system.value, out), overwrite)
    found = run(
        system.value,
        out,
        runs=runs,
        data=data,
        seed=seed,
        quick=quick,
        as_published=as_published,
        workers=workers,
        progress=bar,
    )
    for name in found:
        typer.echo(f"{name}: {out / name / 'summary.json'}, tables.md and figures beside it")


app = typer.Typer(
    help="Learn a small model of a plant from measured logs: keep the few terms that matter, judge on data held out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (sift, serve_app, predict, simulate, inspect, compare, export, demo, example, reproduce):
    paragraphs = [" ".join(one.split()) for one in (command.__doc__ or "").split("\n\n")]  # as wide as the screen is
    app.command("app" if command is serve_app else None, help="\n\n".join(paragraphs))(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"koopsieve {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Options of the program itself, whatever the command."""


def main() -> None:
    """Run the command line; an error of the user's is one or two lines and exit code 2."""
    warnings.showwarning = _say
    _allow_any_letter()
    arguments = sys.argv[1:]
    debug = "--debug" in arguments  # wherever it stands: people add it at the end of the line that failed
    try:
        with _ended_by_signals():
            code = app([a for a in arguments if a != "--debug"], prog_name="koopsieve", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED_CODE
    except Exception as error:
        if debug or not _is_for_users(error):
            raise
        sys.stderr.write(_words(error))
        code = 2
    if code == INTERRUPTED_CODE:
        sys.stderr.write(INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _allow_any_letter() -> None:
    """Replace characters that the screen cannot show, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Remove temporary files when a signal ends the command; before and after, signals do what they did."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    before = {number: signal.signal(number, _end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _end(number: int, _: Any) -> None:
    sys.exit(128 + number)


def _is_for_users(error: Exception) -> bool:
    return isinstance(error, KoopsieveError | OSError) or hasattr(error, "format_message")


def _words(error: Any) -> str:
    """Return an error in one or two lines; those of the command line parser know which command they are about."""
    if isinstance(error, KoopsieveError):
        return f"koopsieve: {as_options(str(error))}\n"
    if isinstance(error, OSError):
        place = f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error)
        return f"koopsieve: {place}\n"
    if not error.format_message():  # a command without arguments has shown its help already
        return ""
    context = getattr(error, "ctx", None)
    message = error.format_message().replace(": Value error, ", ": ")  # what the parser's own checks begin with
    return f"koopsieve: {message}\nSee: {context.command_path if context else 'koopsieve'} --help\n"


def as_options(message: str) -> str:
    """Return advice that names arguments of Python with the options of the command line in their place.

    Examples
    --------
    >>> as_options('Pass gaps="split" to cut, or resample=0.02, or name the column with time=.')
    'Pass --gaps split to cut, or --resample 0.02, or name the column with --time.'
    >>> as_options('date_format="%d/%m/%Y"')
    '--date-format "%d/%m/%Y"'
    """
    message = _TEXT_ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')} {found[2] or ''}".rstrip(), message)
    message = re.sub(r"\bmax_gap\b(?!=)", "--max-gap", message)
    return _ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')}{' ' * bool(found[2])}{found[2] or ''}", message)


def _say(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, KoopsieveWarning):
        text = f"koopsieve: note: {as_options(str(message))}\n"
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
    (file or sys.stderr).write(text)
