"""The settings of `sift`, checked before any work is done: what is wrong is said in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from koopsieve._types import KoopsieveError, real_number, whole_number


def check_settings(sieve: Any, steps: Any, refits: Any, stable: Any, threshold: Any, compare: Any) -> None:
    """Refuse what cannot be meant; the parameters are those of `sift`."""
    if whole_number("steps, the number of sets on a path,", steps, 1) < 2:
        raise KoopsieveError(f"A path has at least 2 steps. Got {steps}.")
    check_share("threshold", threshold)
    if not isinstance(stable, bool):
        raise KoopsieveError(f"stable must be True or False. Got {stable!r}.")
    if sieve is not None and (isinstance(sieve, type) or not callable(getattr(sieve, "path", None))):
        raise KoopsieveError(f"Expected a sieve, such as HorizonSieve() or GraphSieve(), got {sieve!r}.")
    for name, methods in (("refits", refits), ("compare", compare)):
        _check_methods(name, methods)


def check_share(what: str, value: Any, *, zero: bool = False) -> float:
    """Return a number between 0 and 1, both excluded, or 0 too where that has a meaning."""
    number = real_number(what, value)
    if not (0 < number < 1 or (zero and number == 0)):
        raise KoopsieveError(f"{what} must be a number between 0 and 1, both excluded. Got {value!r}.")
    return number


def _check_methods(name: str, methods: Any) -> None:
    if methods is None:
        return
    if not isinstance(methods, Mapping):
        raise KoopsieveError(
            f'{name} must be a mapping from names to methods, such as {{"least squares": LeastSquares()}}. '
            f"Got {methods!r}."
        )
    for key, method in methods.items():
        if isinstance(method, type) or not callable(getattr(method, "identify", None)):
            raise KoopsieveError(f"Expected a method such as LeastSquares() in {name}, got {method!r} for {key!r}.")
