"""A folder of results that changes all at once or not at all."""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from koopsieve._types import KoopsieveError
from koopsieve._written import new_mode

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of renameat2


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
    target = Path(os.path.realpath(folder))
    try:
        _probe(_home(target))
    except OSError as error:
        raise KoopsieveError(
            f"Results cannot be written to {folder}: {error.strerror or error}. Name another folder with --out."
        ) from error


@contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden folder to write in; it takes the place of `folder` only after everything was written.

    Files of the same name are replaced and keep their permissions, others in `folder` stay. Whoever reads sees the old
    results or the new ones and never some of each; only where `folder` is a mount point, which cannot be exchanged, do
    the files follow one another. If anything fails, or the user interrupts, `folder` is as it was, and is not made if
    it was not there.
    """
    check_writable(folder)
    target = Path(os.path.realpath(folder))
    missing = [place for place in (target, *target.parents) if not place.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=_home(target), prefix=f".{target.name}."))
    try:
        yield staging
        _put(staging, target)
        missing = []
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        for place in missing:  # what was made for nothing goes again; rmdir leaves what is not empty
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()


def _home(target: Path) -> Path:
    """Return where to write first: beside the folder, or in it where it is a mount point or has a closed parent."""
    if not target.exists():
        return next(place for place in target.parents if place.exists())
    try:
        probe = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError:
        return target
    there = target / probe.name
    try:
        probe.rename(there)
    except OSError:
        probe.rmdir()
        return target
    there.rmdir()
    return target.parent


def _probe(place: Path) -> None:
    """Fail now if nothing can be made in a folder."""
    Path(tempfile.mkdtemp(dir=place, prefix=".koopsieve.")).rmdir()


def _put(staging: Path, target: Path) -> None:
    """Move what was written into its place."""
    if not target.exists():
        staging.chmod(new_mode(0o777))
        staging.rename(target)
        return
    written = sorted(staging.iterdir())
    for file in written:
        before = target / file.name
        if before.is_file():
            file.chmod(stat.S_IMODE(before.stat().st_mode))
    here = target.samefile(Path.cwd())  # who works in a folder must not find it gone
    if not here and staging.parent != target and _exchanged(staging, target):
        return
    for file in written:
        file.replace(target / file.name)


def _exchanged(staging: Path, target: Path) -> bool:
    """Let the two folders change places, what else was in `target` staying there; tell whether that was possible."""
    others = [entry for entry in target.iterdir() if not (staging / entry.name).exists()]
    linked = [entry for entry in others if _link(entry, staging / entry.name)]
    staging.chmod(stat.S_IMODE(target.stat().st_mode))
    if not _rename_exchange(staging, target):
        for entry in linked:
            (staging / entry.name).unlink()
        return False
    for entry in others:
        if entry not in linked:  # a folder cannot be in two places
            (staging / entry.name).rename(target / entry.name)
    return True


def _link(entry: Path, other: Path) -> bool:
    if entry.is_dir() and not entry.is_symlink():
        return False
    try:
        os.link(entry, other, follow_symlinks=False)
    except OSError:  # some file systems have no links
        return False
    return True


def _rename_exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step, which Linux can on most file systems."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if rename is None:
        return False
    done: int = rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return done == 0
