"""Which observables cannot leave Python: those computed by a user's own code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Dictionary, Observables
from koopsieve.dictionary.custom import Calls
from koopsieve.dictionary.kernels import Kernels
from koopsieve.dictionary.products import Pairs
from koopsieve.dictionary.states import Coordinates, Ones, Products
from koopsieve.dictionary.waves import Waves

BUILT_IN = (Coordinates, Ones, Products, Kernels, Waves)


def check_built_in(dictionary: Dictionary, target: str) -> None:
    """Refuse a dictionary that holds code; `target` is what it was to be written in.

    Raises
    ------
    KoopsieveError
        Which names the block and its observables.
    """
    for family in _foreign((*dictionary.families, *dictionary.drive_families)):
        names = ", ".join(family.names[:3]) + (", …" if family.size > 3 else "")
        raise KoopsieveError(
            f"The observables {names} are computed by the Python code {_called(family)}, which cannot be written in "
            f"{target}. Use built-in blocks in its place, or keep the model in Python."
        )


def _foreign(families: Sequence[Observables]) -> Iterator[Observables]:
    for family in families:
        if isinstance(family, Pairs):
            yield from _foreign((family.left, family.right))
        elif not isinstance(family, BUILT_IN):
            yield family


def _called(family: Observables) -> str:
    """Return the block as a user knows it: a Function with its callable, a Transformer with its class."""
    if not isinstance(family, Calls):
        return f"of {type(family).__name__}"
    function = family.function
    owner = getattr(function, "__self__", None)
    if owner is not None:
        return f"of Transformer({type(owner).__name__})"
    return f"of Function({getattr(function, '__name__', type(function).__name__)})"
