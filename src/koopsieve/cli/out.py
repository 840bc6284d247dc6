"""Where a command writes to, and whether it may replace what is there."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Annotated

import typer

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier run.")]


def chosen(out: Path | None, default: str, overwrite: bool) -> Path:
    """Return where to write: `out`; without it `default`, numbered if that is taken and may not be replaced."""
    place = Path(default)
    if out is not None or overwrite:
        return out or place
    numbered = (place.with_stem(f"{place.stem}-{n}") for n in itertools.count(2))
    return next(one for one in itertools.chain([place], numbered) if not os.path.lexists(one))
