"""How values show themselves: one line at a prompt, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

Facts = Mapping[str, str]


class Shown:
    """Base of what a user prints or shows in a notebook: subclasses give `_facts`, and get a short repr and a table."""

    __slots__ = ()

    def _facts(self) -> Facts:
        """Return what there is to say, in order."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return one_line(type(self).__name__, self._facts())

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._facts())


def one_line(title: str, said: Facts) -> str:
    """Return title(name value, …) on one line."""
    return f"{title}({', '.join(f'{name} {value}' for name, value in said.items())})"


def html_table(title: str, said: Facts) -> str:
    """Return a table of two columns, safe against markup in names."""
    rows = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in said.items())
    return f"<table><caption>{escape(title)}</caption>{''.join(rows)}</table>"


def html_grid(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a head, the first column naming the rows, safe against markup in names."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = (
        f"<tr><th>{escape(first)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return f"<table><caption>{escape(title)}</caption><tr>{top}</tr>{''.join(body)}</table>"


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
