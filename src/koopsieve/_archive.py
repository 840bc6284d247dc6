"""Files of arrays with a JSON header: one .npz, written whole or not at all, read without pickle, so never run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import KoopsieveError, written_whole

Value = TypeVar("Value")
Arrays = dict[str, NDArray[Any]]


def write_archive(
    path: str | os.PathLike[str], kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write the file; if anything fails, a full disk for example, what was there under that name before stays.

    Raises
    ------
    KoopsieveError
        If it could not be written.
    """
    text = json.dumps({"format": kind, "version": version, **header}, allow_nan=False)
    try:
        with written_whole(path) as stream:
            np.savez(stream, header=np.frombuffer(text.encode(), dtype=np.uint8), **dict(arrays))  # type: ignore[arg-type]
    except OSError as error:
        raise KoopsieveError(
            f"{os.fspath(path)} could not be written: {error.strerror or error}. Nothing was left under that name that "
            "was not there before. Check the folder and the space on its disk."
        ) from error


def read_archive(
    path: str | os.PathLike[str], kind: str, version: int, build: Callable[[dict[str, Any], Arrays], Value]
) -> Value:
    """Read the file and build a value from its header and arrays.

    Raises
    ------
    KoopsieveError
        If it is not there, damaged, of another kind or of a later version.
    """
    try:
        # opened here, because np.load leaves a damaged file open
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:  # noqa: PTH123
            header = json.loads(archive["header"].tobytes().decode())
            found = (header.get("format"), header.get("version"))
            if found != (kind, version):
                raise KoopsieveError(
                    f"Expected {kind!r}, version {version}; got {found[0]!r}, version {found[1]}. "
                    "Use the koopsieve that wrote it."
                )
            return build(header, {name: archive[name] for name in archive.files if name != "header"})
    except FileNotFoundError as error:
        raise KoopsieveError(f"There is no file {os.fspath(path)}. Check the path.") from error
    except KoopsieveError as error:
        raise KoopsieveError(f"{os.fspath(path)} cannot be read as {kind}. {error}") from error
    except Exception as error:  # a damaged archive can make zipfile, zlib, json and numpy raise almost anything
        raise KoopsieveError(
            f"{os.fspath(path)} is damaged or not a file of koopsieve ({type(error).__name__}: {error}). "
            f"Expected {kind}."
        ) from error
