"""One file that appears complete or not at all, in the place and with the permissions that the user means; and JSON.

JSON is written so that every reader accepts it: numbers that are not finite become the strings "inf", "-inf" and "nan".
"""

from __future__ import annotations

import io
import json
import math
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from koopsieve._types import KoopsieveError

Place = str | os.PathLike[str]

HIDDEN = ".koopsieve-"


@contextmanager
def written_whole(path: Place, overwrite: bool = True) -> Iterator[IO[bytes]]:
    """Open `path` for writing so that it appears complete or not at all.

    The bytes go to a temporary file in the same folder, which replaces `path` only after everything was written and
    takes over its permissions. A link is followed. A device or a pipe is not replaced: it gets the bytes at the end.
    """
    try:
        if _is_device(Path(path)):
            with _written_at_the_end(Path(path)) as stream:
                yield stream
        else:
            with _replaced(Path(path), overwrite) as stream:
                yield stream
    except OSError as error:
        raise KoopsieveError(
            f"{os.fspath(path)} could not be written: {error.strerror or error}. Nothing was left under that name that "
            "was not there before. Check the folder and the space on its disk."
        ) from error


@contextmanager
def _replaced(path: Path, overwrite: bool) -> Iterator[IO[bytes]]:
    target = Path(os.path.realpath(path))
    if target.exists():
        refuse_taken([path], overwrite)
    mode = _mode(target)
    temporary = target.parent / hidden_name()
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(mode)
        if target.exists():
            refuse_taken([path], overwrite)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_file(path: Place, overwrite: bool = True, read: Iterable[Place] = ()) -> None:
    """Refuse a file that cannot be written, or is there already and may not be replaced, before any work is done.

    A file that is `read` for this work is never replaced.
    """
    target = Path(os.path.realpath(path))
    if _is_device(target):
        return
    if target.parent.is_file():
        raise KoopsieveError(f"{path} cannot be written: {target.parent} is a file. Choose another folder.")
    if not target.parent.is_dir():
        raise KoopsieveError(f"{path} cannot be written: there is no folder {target.parent}. Make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise KoopsieveError(f"{path} cannot be written: you have no write permission in {target.parent}.")
    if target.exists():
        refuse_taken([Path(path)], overwrite)
        if any(Path(one).exists() and target.samefile(one) for one in read):
            raise KoopsieveError(f"{path} is read here, so it is not replaced. Name another place with --out.")


def refuse_taken(paths: Iterable[Path], overwrite: bool) -> None:
    """Refuse to write where a folder, a protected file or, unless `overwrite`, any file is."""
    there = [path for path in paths if os.path.lexists(path)]
    for path in there:
        if path.is_dir():
            raise KoopsieveError(f"{path} is a folder, and a file of that name was to be written. Move it.")
        if path.exists() and (not os.access(path, os.W_OK) or os.path.ismount(path)):
            raise KoopsieveError(f"{path} may not be replaced. Change its permissions, or write elsewhere.")
    if there and not overwrite:
        names = ", ".join(map(str, there))
        raise KoopsieveError(f"Already there: {names}. Replace with --overwrite, or name another place with --out.")


def hidden_name() -> str:
    """Return a name that nobody else has, for what is not finished."""
    return f"{HIDDEN}{secrets.token_hex(8)}"


def _is_device(path: Path) -> bool:
    """Tell whether there is a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode(target: Path) -> int:
    """Return the permissions of a file, or those that a new one would get."""
    if not target.exists():
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
    return stat.S_IMODE(target.stat().st_mode)


@contextmanager
def _written_at_the_end(target: Path) -> Iterator[IO[bytes]]:
    held = io.BytesIO()
    yield held
    with target.open("wb") as stream:
        stream.write(held.getvalue())


def write_text(path: Place, text: str, overwrite: bool = True) -> None:
    """Write text as UTF-8, whole or not at all; what has no letter, as in foreign file names, as its code."""
    with written_whole(path, overwrite) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def plain(value: Any) -> Any:
    """Return `value` made of dicts, lists, strings, whole numbers, finite floats, booleans and None only.

    Examples
    --------
    >>> plain({"error": np.array([0.5, np.inf]), "a": (1, float("nan"))})
    {'error': [0.5, 'inf'], 'a': [1, 'nan']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def json_number(value: Any) -> float:
    """Return the number that `plain` may have written as a string.

    Examples
    --------
    >>> json_number("inf"), json_number(0.5)
    (inf, 0.5)
    """
    return _WORDS[value] if isinstance(value, str) else float(value)


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` to `path`, whole or not at all; the same value gives the same bytes."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, f"{text}\n")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a value back; numbers that are not finite stay strings until `json_number` is asked."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise KoopsieveError(f"{os.fspath(path)} cannot be read, it is not JSON ({error}). Remove it.") from error
