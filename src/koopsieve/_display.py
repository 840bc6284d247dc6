"""How numbers and values are shown: at a prompt, in a notebook, in reports and in figures."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
Facts = Mapping[str, str]


def number(value: float) -> str:
    """Return a number in three digits, readable at any size.

    Examples
    --------
    >>> number(-0.01234), number(12345678.0), number(float("inf"))
    ('−0.0123', '1.23·10⁷', '∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return (f"{value:.3g}" if abs(value) < 1e3 else f"{value:.0f}").replace("-", "−")
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.replace('-', '−')}·10{superscript(int(exponent))}"


def superscript(value: int) -> str:
    """Return a whole number raised.

    Examples
    --------
    >>> superscript(-12)
    '⁻¹²'
    """
    return str(value).translate(_SUPERSCRIPT)


def probability(value: float) -> str:
    """Return a probability in two digits; bounds for those near 0 and 1.

    Examples
    --------
    >>> probability(0.9999), probability(0.456), probability(1e-7)
    ('>0.99', '0.46', '<0.01')
    """
    if value > 0.99:
        return "1" if value == 1 else ">0.99"
    return f"{value:.2f}" if value >= 0.01 else "<0.01"


def per_cent(value: float) -> str:
    """Return a share in per cent, with more digits near 100 %.

    Examples
    --------
    >>> per_cent(99.987), per_cent(87.34), per_cent(-0.01), per_cent(-250.0)
    ('99.99 %', '87.3 %', '0.0 %', '< −100 %')
    """
    if math.isnan(value):
        return "–"
    if value < -100:
        return "< −100 %"
    digits = 2 if value > 99 else 1
    return f"{round(value, digits) + 0.0:.{digits}f} %".replace("-", "−")  # adding zero makes −0 plain 0


def steps(count: int) -> str:
    """Return a number of steps.

    Examples
    --------
    >>> steps(1), steps(10)
    ('1 step', '10 steps')
    """
    return f"{count} step" if count == 1 else f"{count} steps"


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    r"""Return rows as CSV in which no spreadsheet takes text for a formula, or a line break in a name for a new row.

    Text is quoted, and marked where it would begin a formula; numbers stay.

    Examples
    --------
    >>> csv_text([["=1+1", "y\r=2"], [-1.5, 2]])
    '"\'=1+1","y\r=2"\n-1.5,2\n'
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([_safe_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _safe_cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.lstrip().startswith(("=", "+", "-", "@")) else value


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


def one_line(title: str, facts: Facts) -> str:
    """Return title(name value, …) on one line."""
    return f"{title}({', '.join(f'{name} {value}' for name, value in facts.items())})"


def html_table(title: str, facts: Facts) -> str:
    """Return a table of two columns, safe against markup in names."""
    rows = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
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
    """Return the names, or the first few and their number.

    Examples
    --------
    >>> shorten("abc"), shorten("abcdefgh", most=3)
    ('a, b, c', 'a, b, … (8 in all)')
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])}, … ({len(names)} in all)"
