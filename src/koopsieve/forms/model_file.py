"""Model files: one archive for every form, with the dictionary inside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._archive import Arrays, read_archive, write_archive
from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Dictionary
from koopsieve.uncertainty.calibrate import Calibration

if TYPE_CHECKING:
    from koopsieve.forms.model import Model

KIND = "koopsieve model"
VERSION = 3
_PREFIX, _CALIBRATION = "dictionary.", "calibration."


def write(path: str | os.PathLike[str], model: Model) -> None:
    """Write the file, whole or not at all."""
    config, arrays = model.dictionary.to_parts()
    named: Arrays = {**model.arrays(), **{_PREFIX + name: values for name, values in arrays.items()}}
    header: dict[str, Any] = {"form": model.form, "dictionary": config, "calibration": None}
    if model.calibration is not None:
        header["calibration"], found = model.calibration.to_parts()
        named |= {_CALIBRATION + name: values for name, values in found.items()}
    write_archive(path, KIND, VERSION, header, named)


def read(path: str | os.PathLike[str], functions_from: Sequence[str] = ()) -> Model:
    """Read a model in whichever form it is; see `Model.load`."""
    return read_archive(path, KIND, VERSION, lambda header, arrays: _build(header, arrays, functions_from))


def _build(header: dict[str, Any], arrays: Arrays, functions_from: Sequence[str]) -> Model:
    from koopsieve.forms import FORMS

    if header["form"] not in FORMS:
        raise KoopsieveError(f"Its form is {header['form']!r}. Expected one of {', '.join(FORMS)}.")
    parts, found = (
        {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
        for prefix in (_PREFIX, _CALIBRATION)
    )
    own = {name: values for name, values in arrays.items() if not name.startswith((_PREFIX, _CALIBRATION))}
    for name, values in own.items():
        if values.dtype != np.float64:
            raise KoopsieveError(f"Its array {name} should hold 64-bit floats, got {values.dtype}.")
        if not np.isfinite(values).all():
            raise KoopsieveError(f"Its array {name} holds numbers that are not finite.")
    build: Any = FORMS[header["form"]].model
    known = None if header["calibration"] is None else Calibration.from_parts(header["calibration"], found)
    dictionary = Dictionary.from_parts(header["dictionary"], parts, functions_from)
    if known is not None:
        known.check(dictionary)
    model: Model = build(dictionary=dictionary, calibration=known, **own)
    return model
