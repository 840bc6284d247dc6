"""What is given to control problems, filters and controllers, checked once, with words for what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, real_array


def per_signal(what: str, given: ArrayLike, names: tuple[str, ...]) -> FloatArray:
    """Return one finite value per signal, shape (len(names),)."""
    values = np.atleast_1d(real_array(what, given))
    if values.shape != (len(names),) or not np.isfinite(values).all():
        raise KoopsieveError(
            f"{what} must be finite, one value per signal ({', '.join(names[:6])}). Expected ({len(names)},), got "
            f"{values.tolist() if values.ndim == 1 else values.shape}."
        )
    return values


def shaped(what: str, given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return finite numbers of one shape."""
    values = real_array(what, given)
    if values.shape != shape:
        raise KoopsieveError(f"{what} has the wrong shape. Expected {shape}, got {values.shape}.")
    if not np.isfinite(values).all():
        raise KoopsieveError(f"{what} must be finite. Got NaN or infinity; leave such samples out.")
    return values


def in_range(what: str, given: Any, low: float, high: float, open_ends: bool = False) -> float:
    """Return a finite number from `low` to `high`; with `open_ends` it must lie between them."""
    number = real_array(what, given)
    if number.ndim == 0 and np.isfinite(number) and ((low < number < high) if open_ends else (low <= number <= high)):
        return float(number)
    allowed = f"lie from {low:g} to {high:g}" if np.isfinite(high) else f"be a finite number, {low:g} or more"
    allowed = f"lie between {low:g} and {high:g}" if open_ends else allowed
    raise KoopsieveError(f"{what} must {allowed}. Got {given!r}.")


def of_kind(what: str, given: Any, kind: type, example: str) -> None:
    """Refuse a value of another class, with an example of how to make one."""
    if not isinstance(given, kind):
        raise KoopsieveError(
            f"{what} must be a {kind.__name__}, for example {example}. Got {type(given).__name__}: {given!r:.60}."
        )
