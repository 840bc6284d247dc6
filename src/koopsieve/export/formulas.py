"""Expressions as people read them: plain text with raised powers, and LaTeX, both with the user's names.

Symbols have safe names of their own; what a user calls a signal may hold anything and is put in at the very end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sympy import Expr, Float, Integer, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from koopsieve._display import number, superscript
from koopsieve.dictionary import Dictionary
from koopsieve.dictionary.expressions import real_symbols

Names = Mapping[Symbol, str]
_NAME = "\ue000{}\ue001"  # stands for the name of a signal while the text around it is put in order
_UNITS = {Float(1.0): Integer(1), Float(-1.0): Integer(-1)}  # a factor of 1.0 is not written
_LATEX = {"\\": r"\backslash ", "{": r"\{", "}": r"\}", "^": r"\hat{}", "~": r"\sim ", " ": r"\ "} | {
    letter: f"\\{letter}" for letter in "_#&$%"
}


def formulas(dictionary: Dictionary) -> dict[str, str]:
    """Return for every observable and input term a formula that says all of it; of a user's own code, its name.

    Examples
    --------
    >>> from koopsieve import Monomials, SquaredExponential, States, Trajectories
    >>> data = Trajectories.from_arrays([[0.0], [1.0], [4.0]], state_names="y")
    >>> kernels = SquaredExponential(centers=[[0.25]], coefficients=[0.5])
    >>> list(formulas((States() + Monomials(degree=3) + kernels).fit(data)).values())
    ['y', 'y²', 'y³', 'exp(−0.5·(y − 0.25)²)']
    """
    coordinates = (*dictionary.state_names, *dictionary.signals.acting)
    point = real_symbols("p", len(coordinates))
    names = dict(zip(point, coordinates, strict=True))
    found: dict[str, str] = {}
    for family in (*dictionary.families, *dictionary.input_families):
        written = not any(family.code())
        for column, name in enumerate(family.names):
            found[name] = text(family.expression(column, point), names) if written else name
    return found


def text(expression: Expr, names: Names) -> str:
    """Return an expression on one line, numbers in three digits; `names` are those of its symbols.

    Examples
    --------
    >>> x, y = real_symbols("x", 2)
    >>> text(-0.5 * x**2 * y + 1e-7 / y, {x: "a-b", y: "y[k-1]"})
    '−0.5·a-b²·y[k-1] + 1.00·10⁻⁷/y[k-1]'
    """
    known = list(names)
    plain = _Text({symbol: _NAME.format(place) for place, symbol in enumerate(known)}).doprint(
        expression.xreplace(_UNITS)
    )
    plain = re.sub(r"\*\*(\d+)(?![\d.])", lambda power: superscript(int(power[1])), plain)
    plain = plain.replace("**", "^").replace("*", "·").replace("-", "−")
    return re.sub(r"\ue000(\d+)\ue001", lambda place: names[known[int(place[1])]], plain)


class _Text(StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's printer of one line, with other names and shorter numbers."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._names.get(expr, expr.name)

    def _print_Float(self, expr: Float) -> str:
        return number(float(expr)).replace("−", "-", 1) if expr < 0 else number(float(expr))


def latex(expression: Expr, names: Names) -> str:
    r"""Return an expression in LaTeX, numbers in three digits; `names` are LaTeX themselves (see `latex_name`).

    Examples
    --------
    >>> x, y = real_symbols("x", 2)
    >>> print(latex(-0.5 * x**2 * y, {x: "a", y: "y_{k-1}"}))
    - 0.5 a^{2} y_{k-1}
    """
    return str(_Latex({"symbol_names": dict(names)}).doprint(expression.xreplace(_UNITS)))


class _Latex(LatexPrinter):  # type: ignore[misc]
    """SymPy's printer with shorter numbers."""

    def _print_Float(self, expr: Float) -> str:
        mantissa, _, exponent = f"{float(expr):.3g}".partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def latex_name(name: str, sample: str = "") -> str:
    r"""Return a signal's name in LaTeX, whatever it holds, with the sample it is taken at as an index.

    Examples
    --------
    >>> print(latex_name("y", "k-1"), latex_name("pump_1 50%"))
    y_{k-1} \mathrm{pump\_1\ 50\%}
    """
    plain = "".join(_LATEX.get(letter, letter if letter.isprintable() else r"\ ") for letter in name)
    upright = plain if len(name) == 1 and name.isalpha() else rf"\mathrm{{{plain}}}"
    return f"{upright}_{{{sample}}}" if sample else upright
