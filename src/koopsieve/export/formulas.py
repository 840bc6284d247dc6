"""Expressions and whole models as people read them: plain text with raised powers, and LaTeX, with the user's names.

Symbols have safe names of their own; what a user calls a signal may hold anything and is put in at the very end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from sympy import Expr, Float, Integer, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from koopsieve._display import number, superscript
from koopsieve._types import FloatArray
from koopsieve.data.embedding import sample_name
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.dictionary.expressions import real_symbols
from koopsieve.forms import Model

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


SHORT_SUM, SHORT_LIST = 8, 12  # terms of a sum and lines of a list that are shown when it must be short


class _TextNotation:
    """How names, numbers and sums are written: as text."""

    minus = "−"

    def sample(self, signal: str, steps: int, name: str, later: int) -> str:
        """Return a sample of a signal, called `name`, or the one some steps later."""
        return sample_name(signal, steps + later) if later else name

    def observable(self, number: int, later: int) -> str:
        """Return an observable that has no name of its own in equations."""
        return sample_name(f"φ{number}", later)

    def expression(self, of: Expr, names: Names) -> str:
        """Return an expression."""
        return text(of, names)

    def words(self, plain: str) -> str:
        """Return plain words among formulas."""
        return plain

    def code(self, name: str) -> str:
        """Return a term of a user's own code."""
        return name

    def sum(self, pieces: Sequence[str], hidden: int) -> str:
        """Return pieces added up, and how many more there are."""
        joined = pieces[0] if pieces else "0"
        for piece in pieces[1:]:
            negative = piece.startswith(self.minus)
            joined += f" {self.minus} {piece[len(self.minus) :].lstrip()}" if negative else f" + {piece}"
        return joined + self.words(f" + … ({hidden} more terms)") if hidden else joined


class _LatexNotation(_TextNotation):
    """The same in LaTeX."""

    minus = "-"

    def sample(self, signal: str, steps: int, name: str, later: int) -> str:
        return latex_name(signal, f"k{steps + later:+d}" if steps + later else "k")

    def observable(self, number: int, later: int) -> str:
        return rf"\varphi_{{{number},\,k{later:+d}}}" if later else rf"\varphi_{{{number}}}"

    def expression(self, of: Expr, names: Names) -> str:
        return latex(of, names)

    def words(self, plain: str) -> str:
        return rf"\text{{{plain.replace('…', '...').replace('−', '-')}}}"

    def code(self, name: str) -> str:
        return latex_name(name)


def equations(model: Model, short: bool = False) -> str:
    """Return the equations of one step as text, see `Model.equations`; in short, long sums and lists are cut."""
    return "\n".join(_lines(model, _TextNotation(), " = ", short))


def equations_in_latex(model: Model) -> str:
    """Return the equations in short as a display formula, for notebooks."""
    rows = " \\\\\n".join(_lines(model, _LatexNotation(), " &= ", short=True))
    return f"$$\\begin{{aligned}}\n{rows}\n\\end{{aligned}}$$"


def _lines(model: Model, notation: _TextNotation, equals: str, short: bool) -> list[str]:
    """Return the sums of the step, then those of the outputs, then what observables are at the start."""
    signals, carried = model.signals, model.carried_names
    known = dict(zip(signals.state_names + signals.acting, signals.samples, strict=True))

    def shown(names: Sequence[str], later: int = 0) -> list[str]:
        return [
            notation.observable(i + 1, later)
            if name not in known and model.carries_observables
            else notation.sample(*known.get(name, (name, 0)), name, later)
            for i, name in enumerate(names)
        ]

    steps = _sums(
        model.step_map(), shown(carried, later=1), shown((*carried, *signals.acting)), notation, equals, short
    )
    reads = _sums(model.read_map(), shown(signals.outputs), shown(carried), notation, equals, short)
    new = [i for i, name in enumerate(carried) if name not in known]
    starts = _sums(model.start_map(), shown(carried), shown(signals.state_names), notation, equals, short, new)
    return [*steps, *reads, *(line + notation.words(" at the start") for line in starts)]


def _sums(
    of: TermMap,
    targets: Sequence[str],
    coordinates: Sequence[str],
    notation: _TextNotation,
    equals: str,
    short: bool,
    wanted: Sequence[int] | None = None,
) -> list[str]:
    """Return an equation per weighted sum, or per wanted target among them; copies go without saying."""
    point = real_symbols("p", len(of.coordinates))
    names = dict(zip(point, coordinates, strict=True))
    rows = [(i, int(t)) for i, t in enumerate(of.sums) if wanted is None or t in wanted]
    listed = rows[:SHORT_LIST] if short and len(rows) > SHORT_LIST + 1 else rows
    terms = _terms(of, point, names, notation) if listed else []
    lines = []
    for i, target in listed:
        every = _summands(of.weights[i], terms)
        first = every[:SHORT_SUM] if short and len(every) > SHORT_SUM + 1 else every
        pieces = [notation.expression(factor * term, names) for factor, term in first]
        line = f"{targets[target]}{equals}{notation.sum(pieces, len(every) - len(first))}"
        if of.bounds is not None:
            low, high = map(number, of.bounds[:, i])
            line += notation.words(f", held within {low} and {high}")
        lines.append(line)
    hidden = len(rows) - len(listed)
    return [*lines, notation.words(f"… and {hidden} more")] if hidden else lines


def _summands(weights: FloatArray, terms: Sequence[Expr]) -> list[tuple[float, Expr]]:
    """Return the terms that count with their weights; constants, such as those of scaled inputs, are one summand."""
    found: list[tuple[float, Expr]] = []
    constant, place = 0.0, None
    for j in np.flatnonzero(weights).tolist():
        alone, varying = terms[j].as_coeff_Add()
        found += [(float(weights[j]), varying)] if varying != 0 else []
        constant += float(weights[j] * alone)
        place = len(found) if place is None and alone != 0 else place
    return found if place is None or not constant else [*found[:place], (constant, Float(1.0)), *found[place:]]


def _terms(of: TermMap, point: Sequence[Symbol], names: dict[Symbol, str], notation: _TextNotation) -> list[Expr]:
    """Return the terms; one of a user's own code is a symbol with its name."""
    found: list[Expr] = []
    for family in of.families:
        if any(family.code()):
            symbols = real_symbols(f"code{len(found)}_", family.size)
            names |= dict(zip(symbols, map(notation.code, family.names), strict=True))
            found += symbols
        else:
            found += [family.expression(column, point) for column in range(family.size)]
    return found
