"""What is done with terms as SymPy expressions: symbols for coordinates, functions with kinks, derivatives, NumPy.

SymPy is imported with this file, and this file only where an expression is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sympy
from sympy import Add, Dummy, Expr, Function, Integer, Mul, Piecewise, Pow, Symbol

from koopsieve._types import KoopsieveError

if TYPE_CHECKING:
    from koopsieve.dictionary.dictionary import Dictionary


def real_symbols(prefix: str, count: int) -> tuple[Symbol, ...]:
    """Return `count` real symbols, named by the prefix and a number: safe in any language."""
    return tuple(sympy.symbols(f"{prefix}0:{count}", real=True)) if count else ()


class Kinked(Function):  # type: ignore[misc]  # SymPy has no types
    """A function with a kink or a jump, which SymPy is not asked to simplify: that can take forever.

    At a kink its slope is the mean of those on both sides, at a jump zero. Subclasses give their name in formulas and
    in MATLAB, in C, and in SymPy.
    """

    is_real = True
    name: ClassVar[str]
    in_c: ClassVar[str]
    in_sympy: ClassVar[Any]

    def _sympystr(self, printer: Any) -> str:
        return f"{self.name}({', '.join(map(printer.doprint, self.args))})"

    _octave = _sympystr

    def _latex(self, printer: Any, exp: str = "") -> str:
        arguments = ", ".join(map(printer.doprint, self.args))
        written = rf"\operatorname{{{self.name}}}\left({arguments}\right)"
        return f"{written}^{{{exp}}}" if exp else written

    def _ccode(self, printer: Any) -> str:
        return self.in_c.format(*map(printer.doprint, self.args))


class Sign(Kinked):
    """−1, 0 or 1."""

    name, in_c, in_sympy = "sign", "(({0} > 0.0) - ({0} < 0.0))", sympy.sign

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return zero."""
        return Integer(0)


class Absolute(Kinked):
    """The absolute value."""

    name, in_c, in_sympy = "abs", "fabs({0})", sympy.Abs

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return the sign."""
        return Sign(self.args[0])


class Maximum(Kinked):
    """The larger of two numbers."""

    name, in_c, in_sympy = "max", "fmax({0}, {1})", sympy.Max

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return one for the larger, zero for the smaller."""
        return (1 + Sign(self.args[argindex - 1] - self.args[2 - argindex])) / 2


class Minimum(Kinked):
    """The smaller of two numbers."""

    name, in_c, in_sympy = "min", "fmin({0}, {1})", sympy.Min

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return one for the smaller, zero for the larger."""
        return (1 - Sign(self.args[argindex - 1] - self.args[2 - argindex])) / 2


KINKED = (Sign, Absolute, Maximum, Minimum)
_NUMPY = {"Sign": np.sign, "Absolute": np.abs, "Maximum": np.maximum, "Minimum": np.minimum}


def derivative(expression: Expr, symbol: Symbol) -> Expr:
    """Return ∂expression/∂symbol; a root has the slope zero where its own would be infinite.

    Examples
    --------
    >>> x = Symbol("x", real=True)
    >>> derivative(Absolute(x) * x, x), derivative(Maximum(x, 3), x), derivative(Sign(x), x)
    (x*sign(x) + abs(x), sign(x - 3)/2 + 1/2, 0)
    >>> derivative(sympy.sqrt(x), x)
    Piecewise((1/(2*sqrt(x)), x > 0), (0, True))
    """
    if not expression.has(symbol) or expression == symbol:
        return Integer(int(expression == symbol))
    moving = [argument for argument in expression.args if argument.has(symbol)]
    if isinstance(expression, Add):
        return Add(*(derivative(argument, symbol) for argument in moving))
    inner = {argument: Dummy(real=True) for argument in moving}
    outer = expression.func(*(inner.get(argument, argument) for argument in expression.args))
    slopes = [_outer_slope(outer, place) * derivative(argument, symbol) for argument, place in inner.items()]
    return Add(*slopes).xreplace({place: argument for argument, place in inner.items()})


def _outer_slope(outer: Expr, place: Symbol) -> Expr:
    found = sympy.diff(outer, place)
    if isinstance(outer, Pow) and outer.exp.is_number and 0 < outer.exp < 1:
        return Piecewise((found, place > 0), (0, True))
    return found


def numpy_function(point: Sequence[Symbol], expressions: Sequence[Expr]) -> Callable[..., Any]:
    """Return a function of the coordinates' columns that gives the values of all expressions."""
    found: Callable[..., Any] = sympy.lambdify(list(point), list(expressions), modules=[_NUMPY, "numpy"], cse=True)
    return found


_NARY = {Add: "add", Mul: "multiply", Maximum: "maximum", Minimum: "minimum"}
_UNARY = {Absolute: "absolute", Sign: "sign"}
_UNARY |= {getattr(sympy, name): name for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan")}
Node = tuple[str, int, int, float]


def program_nodes(
    expressions: Sequence[Expr], point: Sequence[Symbol], first: int
) -> tuple[list[Node], list[int] | None]:
    """Return the nodes of expressions for a flat program, and the atom that is the value of each expression.

    Nodes are numbered from `first` on, equal parts of expressions once. The atoms are None where a function is unknown.
    """
    atoms: dict[Expr, int] = {symbol: place for place, symbol in enumerate(point)}
    nodes: list[Node] = []

    def added(node: Node) -> int:
        nodes.append(node)
        return first + len(nodes) - 1

    def atom(part: Expr) -> int:
        if part not in atoms:
            atoms[part] = made(part)
        return atoms[part]

    def made(part: Expr) -> int:
        if part.is_number:
            return added(("number", 0, 0, float(part)))
        if isinstance(part, Pow) and part.exp.is_number:
            return added(("power", atom(part.base), 0, float(part.exp)))
        inner = [atom(argument) for argument in part.args]
        if part.func in _NARY:
            name = _NARY[part.func]
            return reduce(lambda left, right: added((name, left, right, 0.0)), inner)
        return added((_UNARY[part.func], inner[0], 0, 0.0))

    try:
        return nodes, [atom(expression) for expression in expressions]
    except KeyError:
        return [], None


def require_expressions(dictionary: Dictionary, target: str) -> None:
    """Refuse dictionaries that hold a user's Python code; `target` is what they were to be written in."""
    families = (*dictionary.families, *dictionary.input_families)
    for family in (code for one in families for code in one.code()):
        names = ", ".join(family.names[:3]) + (", …" if family.size > 3 else "")
        raise KoopsieveError(
            f"The observables {names} are computed by {family.described()}, which cannot be written in {target}. "
            "Use built-in blocks in its place, or keep the model in Python."
        )
