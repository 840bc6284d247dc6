"""A folder of results that changes all at once or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from koopsieve._types import KoopsieveError


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be written to, before any work is done for it.

    Raises
    ------
    KoopsieveError
        If it, or what it would be made in, is not a folder or may not be written.
    """
    place = Path(folder).absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise KoopsieveError(f"Results go into a folder, but {place} is a file. Name another with --out.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise KoopsieveError(f"Results cannot be written: {place} may not be changed by you. Name another with --out.")


@contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden folder to write in; its files move into `folder` only after everything was written.

    Files of the same name are replaced, others in `folder` stay. If anything fails, or the user interrupts, `folder` is
    as it was, and is not made if it was not there.
    """
    check_writable(folder)
    target = Path(folder).absolute()
    missing = [place for place in (target, *target.parents) if not place.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        yield staging
        target.mkdir(exist_ok=True)
        for written in sorted(staging.iterdir()):
            written.replace(target / written.name)
        missing = []
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        for place in missing:  # what was made for nothing goes again; rmdir leaves what is not empty
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()
