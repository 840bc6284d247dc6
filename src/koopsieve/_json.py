"""JSON that every reader accepts: numbers that are not finite become the strings "inf", "-inf" and "nan"."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve._written import write_text

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
