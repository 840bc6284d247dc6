"""Files that appear complete or not at all, in the place and with the permissions that the user means."""

from __future__ import annotations

import io
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open `path` for writing so that it appears complete or not at all.

    The bytes go to a temporary file in the same folder, which replaces `path` only after everything was written and
    takes over its permissions. A link is followed. A device or a pipe is not replaced: it gets the bytes at the end.
    """
    if Path(path).exists() and not Path(path).is_file():
        with _written_at_the_end(Path(path)) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def new_mode(everything: int) -> int:
    """Return the permissions that something new gets: all of them but those that the user's mask takes away."""
    umask = os.umask(0)
    os.umask(umask)
    return everything & ~umask


def _mode(target: Path) -> int:
    """Return the permissions of a file, or those that a new one would get."""
    if not target.exists():
        return new_mode(0o666)
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", str(target))
    return stat.S_IMODE(target.stat().st_mode)


@contextmanager
def _written_at_the_end(target: Path) -> Iterator[IO[bytes]]:
    held = io.BytesIO()
    yield held
    with target.open("wb") as stream:
        stream.write(held.getvalue())


def encoded(text: str) -> bytes:
    """Return text in UTF-8; what has no letter, as in a file name of another encoding, is written as its code."""
    return text.encode("utf-8", "backslashreplace")
