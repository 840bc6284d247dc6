"""Model files: one archive for every form, with the dictionary inside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._archive import Arrays, read_archive, write_archive
from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Dictionary

if TYPE_CHECKING:
    from koopsieve.model.forms import Model

KIND = "koopsieve model"
VERSION = 2
_PREFIX = "dictionary."


def write(path: str | os.PathLike[str], model: Model) -> None:
    """Write the file, whole or not at all."""
    config, arrays = model.dictionary.to_parts()
    named = {**model.arrays(), **{_PREFIX + name: values for name, values in arrays.items()}}
    write_archive(path, KIND, VERSION, {"form": model.form, "dictionary": config}, named)


def read(path: str | os.PathLike[str]) -> Model:
    """Read a model in whichever form it is.

    Raises
    ------
    KoopsieveError
        If the file is not there, damaged, or not a model of koopsieve.
    """
    return read_archive(path, KIND, VERSION, _build)


def _build(header: dict[str, Any], arrays: Arrays) -> Model:
    from koopsieve.model import FORMS

    if header["form"] not in FORMS:
        raise KoopsieveError(f"Its form is {header['form']!r}. Expected one of {', '.join(FORMS)}.")
    parts = {name.removeprefix(_PREFIX): values for name, values in arrays.items() if name.startswith(_PREFIX)}
    own = {name: values for name, values in arrays.items() if not name.startswith(_PREFIX)}
    for name, values in own.items():
        if values.dtype != np.float64:
            raise KoopsieveError(f"Its array {name} should hold 64-bit floats, got {values.dtype}.")
    build: Any = FORMS[header["form"]]
    model: Model = build(dictionary=Dictionary.from_parts(header["dictionary"], parts), **own)
    return model
