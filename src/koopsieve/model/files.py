"""Model files: one .npz of plain arrays and a JSON header, read without pickle, so that reading never runs anything."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray, KoopsieveError, written_whole
from koopsieve.dictionary import Dictionary
from koopsieve.model.system import System

FORMAT = "koopsieve model"
VERSION = 1
_PREFIX = "dictionary."

Arrays = dict[str, NDArray[Any]]
Model = TypeVar("Model")


def write(path: str | os.PathLike[str], system: System, matrices: dict[str, FloatArray]) -> None:
    """Write the file, whole or not at all."""
    config, arrays = system.dictionary.to_parts()
    header = {
        "format": FORMAT,
        "version": VERSION,
        "dt": system.dt,
        "input_names": system.input_names,
        "output_names": system.output_names,
        "dictionary": config,
    }
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    named: Arrays = {**matrices, **{_PREFIX + name: values for name, values in arrays.items()}}
    with written_whole(path) as stream:
        np.savez_compressed(stream, header=text, **named)  # type: ignore[arg-type]


def read(path: str | os.PathLike[str], build: Callable[..., Model]) -> Model:
    """Read the file and build the model, called with the fields that `LiftedModel` has.

    Raises
    ------
    KoopsieveError
        If it is damaged, or not a model of koopsieve, or of a later version.
    OSError
        If it cannot be opened.
    """
    with open(path, "rb") as stream:  # noqa: PTH123  (a path-like may not be a Path)
        try:
            return build(**_fields(*_unpacked(stream)))
        except KoopsieveError as error:
            raise KoopsieveError(f"{os.fspath(path)} cannot be read as a model. {error}") from error
        except Exception as error:  # a damaged archive can make zipfile, zlib, json and numpy raise almost anything
            raise KoopsieveError(
                f"{os.fspath(path)} is damaged or not a koopsieve model ({type(error).__name__}: {error}). "
                "Expected a file written by LiftedModel.save."
            ) from error


def _unpacked(stream: Any) -> tuple[dict[str, Any], Arrays]:
    with np.load(stream, allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes().decode())
        _check_format(header)
        return header, {name: archive[name] for name in archive.files if name != "header"}


def _check_format(header: dict[str, Any]) -> None:
    if header["format"] != FORMAT:
        raise KoopsieveError(f"Expected the format {FORMAT!r}, got {header['format']!r}.")
    if header["version"] != VERSION:
        raise KoopsieveError(
            f"It has version {header['version']!r} of the format, and this koopsieve reads version {VERSION}. "
            "Use the koopsieve that wrote it, or save it again."
        )


def _fields(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    parts = {name.removeprefix(_PREFIX): values for name, values in arrays.items() if name.startswith(_PREFIX)}
    return {
        "dictionary": _checked_dictionary(Dictionary.from_parts(header["dictionary"], parts)),
        "dt": float(header["dt"]),
        "input_names": tuple(str(name) for name in header["input_names"]),
        "output_names": tuple(str(name) for name in header["output_names"]),
        **{name: _real(name, values) for name, values in arrays.items() if not name.startswith(_PREFIX)},
    }


def _checked_dictionary(dictionary: Dictionary) -> Dictionary:
    with np.errstate(all="ignore"):  # what does not fit together shows here, not at the first prediction
        lifted = dictionary(np.ones((1, len(dictionary.state_names))))
    if lifted.shape != (1, dictionary.size) or not all(0 <= i < dictionary.size for i in dictionary.outputs):
        raise KoopsieveError("Its dictionary is inconsistent.")
    return dictionary


def _real(name: str, values: NDArray[Any]) -> FloatArray:
    if values.dtype != np.float64:
        raise KoopsieveError(f"Its array {name} should hold 64-bit floats, got {values.dtype}.")
    return values
