"""Ctrl-C in the first second of the command line, while packages are still imported, ends in words too.

Only where this process is the command `koopsieve` or `python -m koopsieve`; an import from elsewhere changes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

INTERRUPTED_WORDS = "koopsieve: interrupted; no file is half written.\n"


def is_the_command(arguments: list[str]) -> bool:
    """Tell whether a process with these arguments, the interpreter's own included, is the command line.

    Examples
    --------
    >>> is_the_command(["python", "-m", "koopsieve", "sift"]), is_the_command(["python", "/usr/bin/koopsieve"])
    (True, True)
    >>> is_the_command(["python", "-m", "pytest"]), is_the_command(["python"])
    (False, False)
    """
    return "koopsieve" in (Path(name).stem for name in arguments[1:3] if name != "-m")


def end_in_words(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say that the user interrupted; anything else is shown as ever."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write(INTERRUPTED_WORDS)
    else:
        sys.__excepthook__(kind, error, trace)


if is_the_command(sys.orig_argv):
    sys.excepthook = end_in_words
