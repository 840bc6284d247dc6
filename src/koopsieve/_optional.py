"""Packages that only some users need: imported where they are used, named with their command where they are not."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from koopsieve._types import KoopsieveError


class NotInstalledError(KoopsieveError, ImportError):
    """A package that only some users need is not installed; the message says which command installs it."""


def needed(module: str, by: str, extra: str) -> Any:
    """Import a module, or say which command installs it.

    Parameters
    ----------
    module : str
        What to import.
    by : str
        What asks for it, as a user wrote it.
    extra : str
        The extra of koopsieve that brings it.

    Raises
    ------
    NotInstalledError
        If it is not installed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # do-mpc tells of parts that it lacks and nobody asked for
            return import_module(module)
    except ImportError as error:
        raise NotInstalledError(
            f"{by} needs {module}, which is not installed. Install it with: pip install 'koopsieve[{extra}]'"
        ) from error
