"""The command line: `koopsieve sift`, `koopsieve demo`, … .

Importing its packages takes a second. Ctrl-C during it prints a clean message too, where this process is the command
`koopsieve` or `python -m koopsieve`; an import from elsewhere changes nothing.
"""

import sys
from pathlib import Path
from types import TracebackType

INTERRUPTED = "koopsieve: interrupted; no file is half written.\n"


def is_the_command(arguments: list[str]) -> bool:
    """Return whether a process with these arguments, the interpreter's own included, is the command line.

    Examples
    --------
    >>> is_the_command(["python", "-m", "koopsieve", "sift"]), is_the_command(["python", "/usr/bin/koopsieve"])
    (True, True)
    >>> is_the_command(["python", "-m", "pytest"]), is_the_command(["python"])
    (False, False)
    """
    return "koopsieve" in (Path(name).stem for name in arguments[1:3] if name != "-m")


def print_interruption(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a clean message on Ctrl-C; show any other exception as Python does."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write(INTERRUPTED)
    else:
        sys.__excepthook__(kind, error, trace)


if is_the_command(sys.orig_argv):
    sys.excepthook = print_interruption

from koopsieve.cli.app import app, main  # noqa: E402  the imports that take a second

__all__ = ["app", "main"]
