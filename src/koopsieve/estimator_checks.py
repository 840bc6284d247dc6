"""scikit-learn's input validation, with clearer errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from koopsieve._types import FloatArray, KoopsieveError, real_array, warn_user


class NotFittedSieveError(KoopsieveError, NotFittedError):  # type: ignore[misc]
    """A sieve was asked before it was fitted."""


def require_fitted(estimator: BaseEstimator) -> None:
    """Refuse an estimator that has not been fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedSieveError(str(error)) from None


def checked_rows(estimator: BaseEstimator, X: Any, *, reset: bool, least: int = 1, where: str = "X") -> FloatArray:
    """Return samples as scikit-learn checks them; masked ones are missing, and what is missing is named."""
    values = real_array(where, X) if isinstance(X, np.ma.MaskedArray) else X
    finite: Any = "allow-nan"  # what is missing is named below
    try:
        rows: FloatArray = validate_data(
            estimator, values, dtype=np.float64, reset=reset, ensure_min_samples=least, ensure_all_finite=finite
        )
    except (ValueError, OverflowError) as error:
        reason = str(error).rstrip(".")
        raise KoopsieveError(
            f"{where} cannot be used: {reason}. Expected real numbers, a row per sample and a column per state."
        ) from error
    _refuse_missing(rows, where)
    return rows


def _refuse_missing(rows: FloatArray, where: str) -> None:
    """Refuse samples that are missing or infinite, with the place of the first."""
    bad = ~np.isfinite(rows)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        what = "NaN (missing)" if np.isnan(rows[row, column]) else "infinity"
        raise KoopsieveError(
            f"{where} contains {what} at sample {row} (counted from 0), column {column}, and {int(bad.sum()) - 1} more "
            'like it. Build Trajectories.from_arrays(X, u, gaps="split") and fit to these: episodes are then cut '
            "at missing samples, or short gaps filled in."
        )


def column_names(inputs: Any) -> list[str] | None:
    """Return the names of the columns where the inputs of all episodes are frames or named series; otherwise None."""
    found = [_names_of(one) for one in inputs] if isinstance(inputs, list | tuple) else []
    if not found or found[0] is None:
        return None
    for i, names in enumerate(found):
        if names != found[0]:
            raise KoopsieveError(
                f"The inputs u must have the same columns in every episode. Expected {found[0]}, got {names} in "
                f"episode {i}."
            )
    return found[0]


def unnamed(what: str, values: Any, expected: Sequence[str] | None) -> Any:
    """Return a frame as an array, if its columns are the expected ones; as it is where either has no names."""
    names = _names_of(values)
    if names is None or expected is None:
        return values
    if names != list(expected):
        raise KoopsieveError(f"{what} must have the columns {list(expected)}, as in fit. Got {names}.")
    return np.asarray(values)


def _names_of(values: Any) -> list[str] | None:
    if hasattr(values, "columns"):
        names = list(values.columns)
    elif hasattr(values, "name") and np.ndim(values) == 1:
        names = [values.name]
    else:
        return None
    return names if all(isinstance(name, str) for name in names) else None


def dimensions(X: Any) -> int:
    """Return the number of axes of an array or of nested lists; 0 for rows of different lengths."""
    try:
        return int(np.ndim(X))
    except ValueError:
        return 0


def belongs_to_rows(X: Any, y: Any) -> bool:
    """Tell whether there is one value of y per row of X."""
    return bool(_num_samples(X) == _num_samples(y))


def refuse_inputs_as_target(X: Any, y: Any) -> None:
    """Refuse what looks like inputs in the place of the target; there is no target.

    Whole numbers, one per sample, are what scikit-learn hands to every estimator as class labels; they are ignored with
    a warning.
    """
    if y is None:
        return
    advice = "KoopmanSieve has no target y. If these are the inputs, name them: fit(X, u=inputs)."
    labels = _as_array(y)
    whole = labels.dtype.kind != "f" or bool((labels == np.round(labels)).all())
    if labels.ndim != 1 or not belongs_to_rows(X, y) or not whole:
        raise KoopsieveError(f"{advice} Got y of shape {np.shape(labels)}.")
    warn_user(f"y is ignored. {advice}")


def _as_array(y: Any) -> Any:
    try:
        return np.asarray(y)
    except ValueError:  # episodes of different lengths
        return np.zeros((0, 0))
