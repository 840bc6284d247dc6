"""Shared by every stage: array types, the error and the warning users see, and checks of numbers and kinds."""

from __future__ import annotations

import operator
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_WHOLE = 2**62  # whole numbers beyond do not fit into arrays
FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
ComplexArray = NDArray[np.complex128]


_PACKAGE = str(Path(__file__).parent) + os.sep


class KoopsieveError(ValueError):
    """What was given cannot be used; the message says what was expected, what came and what to do."""


class KoopsieveWarning(UserWarning):
    """The answer stands, but the user should know something about it."""


def warn_user(message: str) -> None:
    """Warn with `KoopsieveWarning` at the first caller outside koopsieve, however deep inside the warning arises."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, KoopsieveWarning, stacklevel=depth)


def require_kind(what: str, value: object, kinds: type | tuple[type, ...], advice: str) -> None:
    """Refuse what is not of one of these kinds; `what` names what was expected, `advice` says what to do.

    A class where one of its values was meant is named as such: `States` for `States()`.
    """
    if isinstance(value, kinds):
        return
    if isinstance(value, type):
        raise KoopsieveError(f"Expected {what}, got the class {value.__name__}. Write {value.__name__}(…).")
    raise KoopsieveError(f"Expected {what}, got {type(value).__name__}. {advice}")


def increasing_indices(what: str, indices: ArrayLike, size: int) -> IndexArray:
    """Return indices into `size` things, which must be whole, increasing and each once; `what` names them."""
    try:
        kept = np.asarray(indices)
    except ValueError:
        kept = np.asarray(None)  # rows of different lengths
    kept = kept.astype(np.intp) if kept.ndim == 1 and kept.size == 0 else kept
    whole = kept.ndim == 1 and np.issubdtype(kept.dtype, np.integer)
    if not whole or (kept.size and (kept.min() < 0 or kept.max() >= size or (np.diff(kept) <= 0).any())):
        raise KoopsieveError(f"{what} must be increasing indices below {size}, each once. Got {str(indices)[:80]}.")
    return kept.astype(np.intp)


def whole_number(what: str, value: Any, least: int = 0) -> int:
    """Return a whole number of at least `least`; `what` names it in the message. Rejects 2.0 and True."""
    try:
        number = least - 1 if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= MAX_WHOLE:
        raise KoopsieveError(f"{what} must be a whole number, {least} or more. Got {repr(value)[:80]}.")
    return number


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`; an open end is not one of them.

    Examples
    --------
    >>> Range(0, 1, open_low=True).words, 0.0 in Range(0, 1, open_low=True), NOT_NEGATIVE.words
    ('lie above 0 and up to 1', False, 'be a finite number, 0 or more')
    """

    low: float = -np.inf
    high: float = np.inf
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, number: float) -> bool:
        above = number > self.low if self.open_low else number >= self.low
        return bool(above and (number < self.high if self.open_high else number <= self.high))

    @property
    def words(self) -> str:
        """What a number among them must do."""
        low, high = f"{self.low:g}", f"{self.high:g}"
        if np.isinf(self.high):
            if self.open_low and self.low == 0:
                return "be a positive number" + ("" if self.open_high else " or infinity")
            kind = "be a finite number" if self.open_high else "be a number"
            return kind if np.isinf(self.low) else f"{kind}, {low} or more"
        if self.open_low:
            both = f"lie between {low} and {high}, both excluded"
            return both if self.open_high else f"lie above {low} and up to {high}"
        return f"lie from {low} to below {high}" if self.open_high else f"lie from {low} to {high}"


ANY_NUMBER = Range()
FINITE = Range(open_low=True, open_high=True)
NOT_NEGATIVE = Range(0, open_high=True)
POSITIVE = Range(0, open_low=True, open_high=True)
SHARE = Range(0, 1, open_low=True, open_high=True)


def real_number(what: str, value: Any, allowed: Range = ANY_NUMBER) -> float:
    """Return a number in a range that is no complex one, no flag, no text and not NaN; `what` names it in messages."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else np.nan
    except OverflowError:
        number = np.nan
    if number not in allowed:
        got = value.item() if isinstance(value, np.generic) else value
        raise KoopsieveError(f"{what} must {allowed.words}. Got {repr(got)[:80]}.")
    return number


def is_several(values: Any) -> bool:
    """Tell whether these are several things in a row: a list, an array of one axis; not text, not a mapping."""
    return (
        isinstance(values, Iterable)
        and not isinstance(values, str | bytes | Mapping)
        and getattr(values, "ndim", 1) == 1
    )


def positive_numbers(what: str, values: Any) -> None:
    """Refuse what is not one or more positive finite numbers."""
    several = list(values) if is_several(values) else []
    if not several:
        raise KoopsieveError(f"{what} must be one or more positive numbers. Got {str(values)[:80]}.")
    for value in several:
        real_number(f"Each of {what}", value, POSITIVE)


def check_fields(
    value: object,
    numbers: Iterable[str] = (),
    wholes: Iterable[str] = (),
    flags: Iterable[str] = (),
    *,
    counts: Iterable[str] = (),
    ranges: Mapping[str, Range] | None = None,
) -> None:
    """Refuse fields that are no numbers (in a range), no whole numbers (counts: from 1), or neither True nor False."""
    for name, allowed in {**dict.fromkeys(numbers, ANY_NUMBER), **(ranges or {})}.items():
        real_number(name, getattr(value, name), allowed)
    for least, names in ((0, wholes), (1, counts)):
        for name in names:
            whole_number(name, getattr(value, name), least)
    for name in flags:
        if not isinstance(getattr(value, name), bool):
            raise KoopsieveError(f"{name} must be True or False. Got {getattr(value, name)!r}.")


def sorted_horizons(horizons: Any) -> tuple[int, ...]:
    """Return numbers of steps ahead in order and each once; the message names one that is not a whole number."""
    if not is_several(horizons):
        raise KoopsieveError(f"horizons must be several numbers of steps, such as [1, 10, 50]. Got {horizons!r}.")
    return tuple(sorted({whole_number("Each of horizons", h, 1) for h in horizons}))


def real_array(what: str, values: Any) -> FloatArray:
    """Return numbers as float64, not copied if they already are; what is masked becomes NaN. `what` names them."""
    try:
        array = np.ma.asarray(values) if _is_masked(values) else np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise KoopsieveError(f"{what} cannot be read as an array ({error}). Expected rows of equal length.") from error
    if array.dtype.kind not in "fiub":
        raise KoopsieveError(
            f"{what} must be real numbers. Expected a float or integer dtype, got {array.dtype}. "
            "Convert them first, for example with .astype(float), or split complex values into two columns."
        )
    with np.errstate(over="ignore"):  # what is too large for float64 becomes infinite, and is refused as that
        numbers = array.astype(np.float64, copy=False)
    return np.ma.filled(numbers, np.nan) if isinstance(numbers, np.ma.MaskedArray) else numbers


def real_matrix(what: str, values: Any) -> FloatArray:
    """Return `values` as a read-only C-contiguous float64 matrix with samples as rows; one dimension is one column.

    What already is one is not copied. Masked samples become NaN, that is, missing.
    """
    array = real_array(what, values)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise KoopsieveError(
            f"{what} must have shape (samples, columns). Got {array.shape}. "
            "If the first axis counts episodes, pass list(array)."
        )
    matrix = np.ascontiguousarray(array, dtype=np.float64).view()
    matrix.flags.writeable = False
    return matrix


def magnitude(values: FloatArray) -> FloatArray:
    """Return the largest power of two in each column; one where all is zero.

    Dividing by it rounds nothing, so squares of what is left neither overflow nor vanish, whatever the unit.
    """
    peak: FloatArray = np.abs(values).max(axis=0, initial=0.0)
    return np.where(peak > 0, np.ldexp(1.0, np.frexp(peak)[1] - 1), 1.0)


def or_one(sizes: FloatArray) -> FloatArray:
    """Return sizes to divide by: one where a size is not above zero."""
    return np.where(sizes > 0, sizes, 1.0)


def _is_masked(values: Any) -> bool:
    """Tell whether NumPy would drop a mask on the way to an array."""
    if isinstance(values, list | tuple):
        return any(map(_is_masked, values))
    return isinstance(values, np.ma.MaskedArray)


class NotInstalledError(KoopsieveError, ImportError):
    """A package that only some users need is not installed; the message says which command installs it."""


def needed(module: str, by: str, extra: str) -> Any:
    """Import a module, or say which command installs it: `by` is what asks for it, `extra` the extra that brings it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # do-mpc warns of optional parts that are not installed
            return import_module(module)
    except ImportError as error:
        raise NotInstalledError(
            f"{by} needs {module}, which is not installed. Install it with: pip install 'koopsieve[{extra}]'"
        ) from error
