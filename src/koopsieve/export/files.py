"""Files of an export: they appear all together and whole, or not at all; what is in the way is named."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from koopsieve._types import KoopsieveError

Place = str | os.PathLike[str]


def write_file(path: Place, content: bytes) -> Path:
    """Write one file; its folder is made if it is not there."""
    target = Path(path)
    return write_files(target.parent, {target.name: content})[0]


def write_files(folder: Place, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files into a folder, which is made if it is not there, and return their paths.

    All are written beside the folder first, and put in place when the last one is whole.

    Raises
    ------
    KoopsieveError
        If the folder cannot be made or written to, or a file is in its place, or a folder in that of a file.
    """
    place = Path(folder)
    made = [parent for parent in (place, *place.parents) if not parent.exists()]
    try:
        with _told(place):
            place.mkdir(parents=True, exist_ok=True)
            _put_together(place, contents)
    except BaseException:
        for parent in made:
            if parent.exists():
                shutil.rmtree(parent)
        raise
    return tuple(place / name for name in contents)


def _put_together(place: Path, contents: Mapping[str, bytes]) -> None:
    """Write into a hidden folder within `place`, on the same disk, and move from there."""
    with tempfile.TemporaryDirectory(dir=place, prefix=".koopsieve-") as beside:
        for name, content in contents.items():
            (Path(beside) / name).write_bytes(content)
        for name in contents:
            if (place / name).is_dir():
                raise KoopsieveError(f"{place / name} is a folder, and a file of that name was to be written. Move it.")
        for name in contents:
            (Path(beside) / name).replace(place / name)


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise KoopsieveError(
            f"{place} cannot be written to ({error.strerror or error}). Expected a folder that is there or can "
            "be made; choose another one."
        ) from error
