"""Names of states and inputs: defaults, checks, and how a delayed copy is called (`y[k-2]`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from koopsieve._types import KoopsieveError

_DELAYED = re.compile(r"\[k-(\d+)\]$")


def delayed_name(name: str, delay: int) -> str:
    """Return the name of `name` that many samples ago.

    Examples
    --------
    >>> delayed_name("y", 2), delayed_name("y", 0)
    ('y[k-2]', 'y')
    """
    return f"{name}[k-{delay}]" if delay else name


def longest_delay(names: Iterable[str]) -> int:
    """Return the longest delay that `delayed_name` put into any of the names; 0 if none."""
    found = (_DELAYED.search(name) for name in names)
    return max((int(match.group(1)) for match in found if match), default=0)


def complete_names(names: str | Sequence[str] | None, columns: int, what: str, prefix: str) -> tuple[str, ...]:
    """Return one name per column: those given, or `prefix` with a number."""
    if names is None:
        return tuple(f"{prefix}{i + 1}" for i in range(columns))
    given = (names,) if isinstance(names, str) else tuple(names)
    if len(given) != columns:
        raise KoopsieveError(
            f"{what}_names must have one name per {what} column. Expected {columns}, got {len(given)}: {list(given)}."
        )
    return given


def check_names(state_names: Sequence[str], input_names: Sequence[str]) -> None:
    """Refuse names that are not text, are empty, or occur twice among states and inputs together."""
    seen: set[str] = set()
    for name in (*state_names, *input_names):
        if not isinstance(name, str) or not name:
            raise KoopsieveError(f"Names of states and inputs must be text and not empty. Got {name!r}.")
        if name in seen:
            raise KoopsieveError(f"The name {name!r} occurs twice. Give every state and every input its own name.")
        seen.add(name)
