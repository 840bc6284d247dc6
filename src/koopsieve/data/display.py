"""How trajectories show themselves: one line at a prompt, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

Facts = Mapping[str, str]


def one_line(title: str, said: Facts) -> str:
    """Return title(name value, …) on one line."""
    return f"{title}({', '.join(f'{name} {value}' for name, value in said.items())})"


def html_table(title: str, said: Facts) -> str:
    """Return a table of two columns, safe against markup in names."""
    rows = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in said.items())
    return f"<table><caption>{escape(title)}</caption>{''.join(rows)}</table>"


def shorten(names: Sequence[str], most: int = 6) -> str:
    """Return the names, or the first few and how many there are.

    Examples
    --------
    >>> shorten("abc"), shorten("abcdefgh", most=3)
    ('a, b, c', 'a, b, … (8 in all)')
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])}, … ({len(names)} in all)"
