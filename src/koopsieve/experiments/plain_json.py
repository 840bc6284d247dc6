"""Numbers to JSON and back: not-finite numbers become the strings "inf", "-inf", "nan", and files appear whole."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from koopsieve._types import written_whole

_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def plain(value: Any) -> Any:
    """Return the same structure with every not-finite number as a string.

    Examples
    --------
    >>> plain({"a": [1.5, float("inf")], "b": float("nan")})
    {'a': [1.5, 'inf'], 'b': 'nan'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def number(value: Any) -> float:
    """Return the number that `plain` may have written as a string."""
    return _WORDS[value] if isinstance(value, str) else float(value)


def write_json(path: Path, value: Any) -> None:
    """Write a structure so that the file is complete or not there at all; the same structure gives the same bytes."""
    text = json.dumps(plain(value), indent=1, allow_nan=False, ensure_ascii=False)
    with written_whole(path) as stream:
        stream.write(text.encode() + b"\n")


def read_json(path: Path) -> Any:
    """Read a structure back; not-finite numbers stay strings until `number` is asked."""
    return json.loads(path.read_text(encoding="utf-8"))
