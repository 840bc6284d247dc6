"""Files of one folder that appear together or not at all; what this run did not write stays as it is.

A folder that is not there yet is written under a hidden name beside its place and then gets its name: it is complete
as soon as it is seen. Into a folder that is there, files are written in a hidden folder within, and exchanged for those
of the same names: all old ones are moved out of the way, then the new ones are moved in. Whoever reads in between, or
after the process was killed, finds some of the old files or some of the new ones, never some of each. `summary.json`
leaves first and arrives last: where it is, its set is complete.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from koopsieve._types import KoopsieveError
from koopsieve._written import HIDDEN, Place, hidden_name, refuse_taken, written_whole

MARKER = "summary.json"
_NEW, _PREVIOUS = "new", "previous"
_SIGNALS = ("SIGHUP", "SIGTERM", "SIGINT")  # Ctrl-C last: once it is held as well, no handler can raise any more


def check_folder(folder: Place, names: Iterable[str] = (), overwrite: bool = True) -> None:
    """Refuse a folder that cannot be written to, before any work is done for it; it need not be there.

    `names` are files that will be written into it, which may be replaced if `overwrite`. A folder in which an earlier
    run was killed while it exchanged files is refused too.
    """
    target = place = Path(os.path.realpath(folder))
    with _in_words(folder):
        target.exists()  # fails for a name that the file system does not take
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise KoopsieveError(f"{folder} cannot be written to: {place} is a file. Choose another folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise KoopsieveError(
            f"{folder} cannot be written to: you have no write permission in {place}. Choose another folder."
        )
    with _in_words(folder), held_signals():
        _probe(place)
    if place == target:
        _refuse_interrupted(target)
        refuse_taken([Path(folder) / name for name in names], overwrite)


def write_file(path: Place, content: bytes) -> Path:
    """Write one file; its folder is made if it is not there, a link or a device stays where it is."""
    target = Path(path)
    if not target.parent.is_dir():
        return write_files(target.parent, {target.name: content})[0]
    with written_whole(target) as stream:
        stream.write(content)
    return target


def write_files(folder: Place, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files into a folder, which is made if it is not there, and return their paths; see `whole_folder`."""
    with whole_folder(folder) as place:
        for name, content in contents.items():
            with written_whole(place / name) as stream:
                stream.write(content)
    return tuple(Path(folder) / name for name in contents)


@contextmanager
def whole_folder(folder: Place, overwrite: bool = True) -> Iterator[Path]:
    """Give a hidden folder to write files in; they appear in `folder` together, after everything was written.

    Files of the same name are replaced and hand on their permissions; everything else in `folder` stays untouched. If
    anything fails, or the user interrupts, `folder` is as it was, and is not made if it was not there.
    """
    check_folder(folder)
    target = Path(os.path.realpath(folder))
    fresh, made, done = not target.exists(), list[Path](), False
    staging = (target.parent if fresh else target) / hidden_name()
    parents = [place for place in reversed(target.parents) if not place.exists()]
    try:
        with _in_words(folder, staging / _NEW):
            with held_signals():
                _make((*parents, staging, staging / _NEW, staging / _PREVIOUS), made)
            yield staging / _NEW
            with held_signals():
                if fresh:
                    (staging / _NEW).rename(target)  # fails if somebody else has made and filled it meanwhile
                else:
                    _exchange(staging, target, Path(folder), overwrite)
                done = True
                _clear(staging)
    except BaseException:
        if not done:
            with held_signals():
                _undo(staging, made)
        raise


def _make(places: Iterable[Path], made: list[Path]) -> None:
    """Make folders, and note those that this run made: somebody else may have been faster."""
    for place in places:
        with suppress(FileExistsError):
            place.mkdir()
            made.append(place)


def _exchange(staging: Path, target: Path, shown: Path, overwrite: bool) -> None:
    """Replace the old files by the new ones, or leave everything as it was."""
    names = sorted((file.name for file in (staging / _NEW).iterdir()), key=lambda name: (name != MARKER, name))
    refuse_taken([shown / name for name in names], overwrite)
    for name in names:
        if (target / name).is_file():
            (staging / _NEW / name).chmod(stat.S_IMODE((target / name).stat().st_mode))
    try:
        for name in names:
            if os.path.lexists(target / name):
                (target / name).rename(staging / _PREVIOUS / name)
        for name in reversed(names):
            _move(staging / _NEW / name, target / name)
    except BaseException:
        _put_back(names, staging, target)
        raise


def _move(file: Path, place: Path) -> None:
    """Rename, but never onto something: whatever is there came while this run was at work."""
    if os.path.lexists(place):
        raise KoopsieveError(f"{place} has appeared while files were written. Nothing was changed; run it again.")
    file.rename(place)


def _put_back(names: list[str], staging: Path, target: Path) -> None:
    """Undo an exchange, wherever it stopped: the disk tells which files were moved."""
    for name in names:
        if not os.path.lexists(staging / _NEW / name):
            with suppress(OSError):
                (target / name).rename(staging / _NEW / name)
    for name in reversed(names):
        if os.path.lexists(staging / _PREVIOUS / name):
            with suppress(OSError, KoopsieveError):
                _move(staging / _PREVIOUS / name, target / name)
    if any((staging / _PREVIOUS).iterdir()):
        _refuse_interrupted(target)


def _clear(staging: Path) -> None:
    """Remove the old files after they were replaced."""
    with suppress(OSError):
        for file in (staging / _PREVIOUS).iterdir():
            file.unlink()  # never a folder
    for place in (staging / _PREVIOUS, staging / _NEW, staging):
        with suppress(OSError):
            place.rmdir()


def _undo(staging: Path, made: list[Path]) -> None:
    """Remove what this run made; old files that could not be put back stay where they are."""
    if staging / _NEW in made:
        shutil.rmtree(staging / _NEW, ignore_errors=True)
    for place in reversed(made):
        with suppress(OSError):  # not empty: somebody else has written into it
            place.rmdir()


def _refuse_interrupted(target: Path) -> None:
    """Refuse a folder whose files are halfway between two runs, and say where they are."""
    for staging in target.glob(f"{HIDDEN}*"):
        if _entries(staging / _NEW) and _entries(staging / _PREVIOUS):
            raise KoopsieveError(
                f"A run into {target} was ended while it replaced files, or is still at it. The files from before are "
                f"in {staging / _PREVIOUS}, new ones in {staging / _NEW}. Move the files of one of them to {target}, "
                f"remove {staging}, and run it again."
            )


def _entries(folder: Path) -> list[str]:
    """Return what is in a folder; nothing if it is not there or belongs to somebody else."""
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _probe(place: Path) -> None:
    """Fail now if nothing can be made in a folder."""
    probe = place / hidden_name()
    probe.mkdir()
    probe.rmdir()


@contextmanager
def _in_words(folder: Place, hidden: Path | None = None) -> Iterator[None]:
    """Turn an error of the file system into one that says what to do; of folders within, name the one asked for."""
    try:
        yield
    except KoopsieveError as error:
        if hidden is None or str(hidden) not in str(error):
            raise
        raise KoopsieveError(str(error).replace(str(hidden), str(folder))) from error
    except OSError as error:
        raise KoopsieveError(
            f"{folder} cannot be written to ({error.strerror or error}). Expected a folder that is there or can be "
            "made, and space on its disk. Choose another folder."
        ) from error


@contextmanager
def held_signals() -> Iterator[None]:
    """Delay SIGINT, SIGTERM and SIGHUP until the block is done; then the first that came does what it always does.

    Handlers belong to the main thread, and only there can they raise; in other threads there is nothing to hold.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    came: list[int] = []
    try:
        for number, handler in before.items():
            if handler is not None:  # None: not installed from Python, so that it could not be put back
                signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)
