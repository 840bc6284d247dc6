"""Numbers and counts as people read them, on the screen, in reports and in figures."""

from __future__ import annotations

import math
from typing import Any

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


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
    """Return a probability in two digits; almost sure and almost impossible are said so.

    Examples
    --------
    >>> probability(0.9999), probability(0.456), probability(1e-7)
    ('>0.99', '0.46', '<0.01')
    """
    if value > 0.99:
        return "1" if value == 1 else ">0.99"
    return f"{value:.2f}" if value >= 0.01 else "<0.01"


def per_cent(value: float) -> str:
    """Return a share in per cent, with as many digits as tell good from very good.

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


def safe_cell(value: Any) -> Any:
    """Return the content of a table's cell so that no spreadsheet takes text for a formula; numbers stay.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("y"), safe_cell(-1.5)
    ("'=1+1", 'y', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
