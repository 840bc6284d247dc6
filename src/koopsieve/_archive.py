"""Files of arrays with a JSON header: one .npz, written whole or not at all, read without pickle, so never run.

The sizes that a file claims are checked before anything is unpacked, so that a small file cannot fill the memory.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from koopsieve._types import KoopsieveError
from koopsieve._written import written_whole

Value = TypeVar("Value")
Arrays = dict[str, NDArray[Any]]

ALWAYS_ALLOWED_BYTES = 64 * 2**20  # a file may unpack to this size, however small it is
_OWN_RATIO = 16  # bytes unpacked per byte on disk; our own archives are not compressed


def write_archive(
    path: str | os.PathLike[str], kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write the file; if anything fails, a full disk for example, what was there under that name before stays."""
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
    """Read the file and build a value from its header and arrays."""
    try:
        arrays = read_arrays(path, ratio=_OWN_RATIO)
        header = json.loads(arrays.pop("header").tobytes().decode())
        found = (header.get("format"), header.get("version"))
        if found != (kind, version):
            raise KoopsieveError(
                f"Expected {kind!r}, version {version}; got {found[0]!r}, version {found[1]}. "
                "Use the koopsieve that wrote it."
            )
        return build(header, arrays)
    except FileNotFoundError as error:
        raise KoopsieveError(f"There is no file {os.fspath(path)}. Check the path.") from error
    except KoopsieveError as error:
        raise KoopsieveError(f"{os.fspath(path)} cannot be read as {kind}. {error}") from error
    except Exception as error:  # a damaged archive can make zipfile, zlib, json and numpy raise almost anything
        raise KoopsieveError(
            f"{os.fspath(path)} is damaged or not a file of koopsieve ({type(error).__name__}: {error}). "
            f"Expected {kind}."
        ) from error


def read_arrays(path: str | os.PathLike[str], ratio: int, wanted: Callable[[str], bool] = lambda _: True) -> Arrays:
    """Return the arrays of an .npz file, or those whose names are wanted; nothing in it is executed."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if len(members) < len(archive.infolist()):
            raise KoopsieveError("It holds two arrays of the same name.")
        chosen = {name: info for name, info in members.items() if wanted(name)}
        refuse_oversized(sum(info.file_size for info in chosen.values()), os.stat(path).st_size, ratio)  # noqa: PTH116
        return {name: _read_array(archive, info) for name, info in chosen.items()}


def array_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the arrays of an .npz file."""
    with zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


def refuse_oversized(
    unpacked: int, on_disk: int, ratio: int, advice: str = "It is damaged, or meant to do harm."
) -> None:
    """Check that a file does not unpack to far more than it takes on disk."""
    if unpacked > max(ALWAYS_ALLOWED_BYTES, ratio * on_disk):
        raise KoopsieveError(
            f"It would unpack from {on_disk / 2**20:.1f} to {unpacked / 2**20:.0f} MiB, more than {ratio} times its "
            f"size. {advice}"
        )


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return one array, whose own header must agree with the size of the member it is in."""
    with archive.open(info) as stream:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise KoopsieveError(f"Its array {info.filename} is written in a way that is not known.")
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(stream)
        if dtype.hasobject:
            raise KoopsieveError(f"Its array {info.filename} holds Python objects, which are never opened.")
        if int(np.prod(shape, dtype=object)) * dtype.itemsize > info.file_size:
            raise KoopsieveError(f"Its array {info.filename} does not hold what it claims.")
    with archive.open(info) as stream:
        return npy.read_array(stream, allow_pickle=False)
