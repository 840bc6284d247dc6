"""Checks of settings, each returning the value or raising TypeError with what was expected; names of methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from koopsieve._types import KoopsieveError
from koopsieve.identify import STLSQ, Identifier, LeastSquares, SparseBayes, SpikeSlab
from koopsieve.io.reading.columns import GAPS, REFUSE

METHODS: dict[str, Identifier] = {
    "least-squares": LeastSquares(),
    "thresholded-least-squares": STLSQ(),
    "sparse-bayes": SparseBayes(),
    "spike-and-slab": SpikeSlab(),
}


def shown(name: str) -> str:
    """Return a method's name as it stands in tables."""
    return name.replace("-", " ")


def texts(value: Any) -> tuple[str, ...]:
    """Return one text or several; raises TypeError for anything else."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(item, str) and item for item in given):
        raise TypeError("text, or a list of texts")
    return tuple(given)


def text(value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str) or not value:
        raise TypeError("text")
    return value


def whole(value: Any) -> int:
    """Return a whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("a whole number, 0 or more")
    return value


def count(value: Any) -> int:
    """Return a whole number from 1."""
    if whole(value) < 1:
        raise TypeError("a whole number, 1 or more")
    return int(value)


def whole_or_auto(value: Any) -> int | str:
    """Return a whole number from 0, also if it is written as text, or "auto"."""
    if value == "auto":
        return "auto"
    try:
        return whole(int(value) if isinstance(value, str) and value.isdecimal() else value)
    except TypeError:
        raise TypeError("a whole number, 0 or more, or auto") from None


def wholes(value: Any) -> tuple[int, ...]:
    """Return one or more whole numbers from 1, sorted."""
    given = [value] if isinstance(value, int) else value
    ints = isinstance(given, Sequence) and all(isinstance(h, int) and not isinstance(h, bool) for h in given)
    if not ints or not given or min(given) < 1:
        raise TypeError("one or more whole numbers, each at least 1")
    return tuple(sorted(set(given)))


def share(value: Any) -> float:
    """Return a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise TypeError("a number between 0 and 1, both excluded")
    return float(value)


def positive(value: Any) -> float:
    """Return a positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= sys.float_info.max:
        raise TypeError("a positive number")
    return float(value)


def one_of(*choices: str) -> Callable[[Any], str]:
    """Return a check that lets only `choices` pass."""

    def check(value: Any) -> str:
        if value not in choices:
            raise TypeError(f"one of {', '.join(choices)}")
        return str(value)

    return check


def checked_gaps(value: str) -> str:
    """Return what is done about missing samples, as the rest of the package calls it."""
    if value not in ("refuse", *GAPS):
        raise KoopsieveError(f"--gaps must be one of refuse, split, interpolate. Got {value!r}.")
    return REFUSE if value == "refuse" else value


def some_of(*choices: str) -> Callable[[Any], tuple[str, ...]]:
    """Return a check that lets only lists of `choices` pass."""

    def check(value: Any) -> tuple[str, ...]:
        given = texts(value)
        if not given or not set(given) <= set(choices):
            raise TypeError(f"some of {', '.join(choices)}")
        return given

    return check
