"""Warnings that point at the user's line, however deep inside the package they arise."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

from koopsieve._types import KoopsieveWarning

_PACKAGE = str(Path(__file__).parent.parent) + os.sep


def warn_user(message: str) -> None:
    """Warn with `KoopsieveWarning` at the first caller outside koopsieve."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, KoopsieveWarning, stacklevel=depth)
