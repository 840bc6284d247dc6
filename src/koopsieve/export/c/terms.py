"""Families of functions in C: one function for their values, one that adds up weighted derivatives.

Terms of one shape are expressions that differ in numbers and coordinates only: the kernels of a family, its numbers a
table, or all products of two coordinates. The shape is found from the expressions themselves, whatever their family.

Terms of one shape are a loop over their numbers, its body the one expression as SymPy prints it. Both functions take a
point `p`. The second, for weights w, adds Σ_i w_i ∂φ_i/∂p_d to slope[d] and returns what the tangent leaves at p = 0;
the derivative of one sum costs about one evaluation, and there is no table of all derivatives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Add, Dummy, Expr, Float, Mul, Pow, Symbol, cse, numbered_symbols, preorder_traversal
from sympy.printing.c import C99CodePrinter

from koopsieve._types import FloatArray, IndexArray
from koopsieve.dictionary import Observables
from koopsieve.dictionary.expressions import derivative, real_symbols
from koopsieve.export.c.literals import comment, index_kind, index_table, number, table

_COORDINATE, _NUMBER = "coordinate", "number"


@dataclass(frozen=True, eq=False)
class Shape:
    """Some terms as one expression in places, which each term fills with its own coordinates and numbers."""

    terms: IndexArray  # (terms,): which terms these are
    expression: Expr
    # coordinates, numbers: the places
    coordinates: tuple[Symbol, ...]
    numbers: tuple[Symbol, ...]
    indices: IndexArray  # (terms, coordinates): the coordinate of the point in each place
    values: FloatArray  # (terms, numbers)

    def tangent(self) -> tuple[Expr, list[Expr]]:
        """Return the tangent's value at zero, and its slopes with respect to the coordinates' places."""
        slopes = [derivative(self.expression, place) for place in self.coordinates]
        return self.expression - Add(*(p * d for p, d in zip(self.coordinates, slopes, strict=True))), slopes


def shapes(expressions: Sequence[Expr], point: Sequence[Symbol]) -> list[Shape]:
    """Return the expressions of the coordinates `point`, sorted by shape in the order of their first terms."""
    position = {symbol: place for place, symbol in enumerate(point)}
    found: dict[Any, list[tuple[int, list[int], list[float]]]] = {}
    for term, expression in enumerate(expressions):
        indices: list[int] = []
        values: list[float] = []
        found.setdefault(_key(expression, position, indices, values), []).append((term, indices, values))
    return [_shape(expressions[members[0][0]], members, position) for members in found.values()]


def _key(expression: Expr, position: dict[Symbol, int], indices: list[int], values: list[float]) -> Any:
    """Return what is the same for all terms of a shape; coordinates and numbers are noted in the order of the walk."""
    if isinstance(expression, Symbol):
        place = position[expression]
        if place not in indices:
            indices.append(place)
        return _COORDINATE, indices.index(place)
    if isinstance(expression, Float):
        values.append(float(expression))
        return _NUMBER, len(values)
    if not expression.args:
        return expression
    if isinstance(expression, Pow) and expression.exp.is_number:  # a power stays what it is
        return Pow, _key(expression.base, position, indices, values), expression.exp
    return expression.func, *(_key(one, position, indices, values) for one in _arguments(expression, position))


def _arguments(expression: Expr, position: dict[Symbol, int]) -> list[Expr]:
    """Return the arguments, of sums and products by their coordinates: SymPy's order depends on the numbers."""
    if not isinstance(expression, Add | Mul):
        return list(expression.args)
    return sorted(expression.args, key=lambda argument: sorted(position[s] for s in argument.free_symbols))


def _shape(first: Expr, members: list[tuple[int, list[int], list[float]]], position: dict[Symbol, int]) -> Shape:
    terms, indices, values = (np.array(column) for column in zip(*members, strict=True))
    places = tuple(Dummy(_COORDINATE, real=True) for _ in range(indices.shape[1]))
    point = dict(zip(members[0][1], places, strict=True))
    numbers: list[Symbol] = []
    expression = _filled(first, position, point, numbers)
    shape = Shape(terms, expression, places, tuple(numbers), indices.astype(np.intp), values.astype(float))
    return _with_common_numbers(shape)


def _filled(expression: Expr, position: dict[Symbol, int], point: dict[int, Symbol], numbers: list[Symbol]) -> Expr:
    """Return an expression with places for its coordinates and numbers, in the order of `_key`."""
    if isinstance(expression, Float):
        numbers.append(Dummy(_NUMBER, real=True))
        return numbers[-1]
    if not expression.args:
        return point[position[expression]] if isinstance(expression, Symbol) else expression
    if isinstance(expression, Pow) and expression.exp.is_number:
        return Pow(_filled(expression.base, position, point, numbers), expression.exp)
    return expression.func(*(_filled(one, position, point, numbers) for one in _arguments(expression, position)))


def _with_common_numbers(shape: Shape) -> Shape:
    """Return the shape with numbers that all terms share put in, and columns of equal numbers as one."""
    kept: dict[bytes, Symbol] = {}
    known: dict[Symbol, Any] = {}
    for place, column in zip(shape.numbers, shape.values.T, strict=True):
        if (column == column[0]).all():
            known[place] = Float(column[0])
        else:
            known[place] = kept.setdefault(column.tobytes(), place)
    numbers = tuple(kept.values())
    columns = [shape.numbers.index(place) for place in numbers]
    expression = shape.expression.xreplace(known)
    return Shape(shape.terms, expression, shape.coordinates, numbers, shape.indices, shape.values[:, columns])


_MAX_PRODUCT = 8  # higher powers are left to pow


def family_source(family: Observables, width: int, name: str, with_slopes: bool) -> str:
    """Return the functions of a family of points with `width` coordinates, named `name` and `name`_slope."""
    point = real_symbols("p", width)
    found = shapes([family.expression(column, point) for column in range(family.size)], point)
    named = [(shape, f"{name}_{number}" if len(found) > 1 else name) for number, shape in enumerate(found)]
    tables = "".join(_tables(shape, own) for shape, own in named)
    shown = ", ".join(family.names[:6]) + (", ..." if family.size > 6 else "")
    body = "".join(_loop(shape, own, _value(shape, own)) for shape, own in named)
    values = function(f"static void {name}(const real_t *restrict p, real_t *restrict out)", body)
    source = f"\n/* {comment(shown)} */\n{tables}{values}"
    if not with_slopes:
        return source
    body = "".join(_slope_loop(shape, own) for shape, own in named)
    body = f"    real_t rest = 0.0;\n{body}    return rest;\n"
    arguments = "const real_t *restrict p, const real_t *restrict weight, real_t *restrict slope"
    return source + function(f"static real_t {name}_slope({arguments})", body)


def function(head: str, body: str) -> str:
    """Return a definition; arguments that the body leaves alone are marked, so that no compiler warns of them."""
    arguments = re.findall(r"(\w+)[,)]", head)
    unused = [argument for argument in arguments if not re.search(rf"\b{argument}\b", body)]
    return f"\n{head}\n{{\n{''.join(f'    (void){argument};{chr(10)}' for argument in unused)}{body}}}\n"


def _tables(shape: Shape, name: str) -> str:
    if len(shape.terms) == 1:
        return ""
    found = table(f"{name}_number", shape.values) if shape.numbers else ""
    if _scattered(shape):
        found += index_table(f"{name}_at", shape.indices[:, _scattered(shape)])
    return found if _offset(shape.terms) is not None else found + index_table(f"{name}_term", shape.terms)


def _scattered(shape: Shape) -> list[int]:
    """Return the places whose coordinates no formula gives."""
    return [j for j, column in enumerate(shape.indices.T) if _offset(column) is None and column.min() < column.max()]


def _offset(column: Any) -> int | None:
    """Return where a run of consecutive indices begins; None if it is no run."""
    return int(column[0]) if (column == column[0] + np.arange(len(column))).all() else None


def _counted(offset: int) -> str:
    return f"{offset} + i" if offset else "i"


def _term(shape: Shape, name: str) -> str:
    """Return the index of the term of round i."""
    if len(shape.terms) == 1:
        return str(int(shape.terms[0]))
    offset = _offset(shape.terms)
    return f"{name}_term[i]" if offset is None else _counted(offset)


def _coordinates(shape: Shape) -> list[str]:
    """Return the index of the coordinate in each place, in round i."""
    scattered, found = _scattered(shape), []
    for j, column in enumerate(shape.indices.T):
        offset = _offset(column)
        if column.min() == column.max():
            found.append(str(int(column[0])))
        else:
            found.append(f"at[{scattered.index(j)}]" if offset is None else _counted(offset))
    return found


def _loop(shape: Shape, name: str, lines: Sequence[str]) -> str:
    if len(shape.terms) == 1:
        inner = "".join(f"        {line}\n" for line in lines)
        return f"    {{\n{inner}    }}\n"
    text = "\n".join(lines)
    if "number[" in text:
        lines = [f"const real_t *number = {name}_number[i];", *lines]
    if "at[" in text:
        kind = index_kind(int(shape.indices[:, _scattered(shape)].max()))
        lines = [f"const {kind} *at = {name}_at[i];", *lines]
    inner = "".join(f"        {line}\n" for line in lines)
    return f"    for (int i = 0; i < {len(shape.terms)}; i++) {{\n{inner}    }}\n"


def _value(shape: Shape, name: str) -> list[str]:
    declared, (value,) = _printed([shape.expression], shape)
    return [*declared, f"out[{_term(shape, name)}] = {value};"]


def _slope_loop(shape: Shape, name: str) -> str:
    """Return the loop that adds up slopes; those of a coordinate that all terms share are summed beside the table."""
    at_zero, tangent = shape.tangent()
    declared, (rest, *slopes) = _printed([at_zero, *tangent], shape)
    places = [(at, slope) for at, slope in zip(_coordinates(shape), slopes, strict=True) if slope != "0"]
    shared = {at: f"slope{at}" for at, _ in places if at.isdigit() and len(shape.terms) > 1}
    lines = [f"{shared.get(at, f'slope[{at}]')} += {_weighted(slope)};" for at, slope in places]
    lines += [f"rest += {_weighted(rest)};"] if rest != "0" else []
    if not lines:
        return ""
    loop = _loop(shape, name, [*declared, f"const real_t w = weight[{_term(shape, name)}];", *lines])
    if not shared:
        return loop
    sums = "".join(f"    real_t {own} = 0.0;\n" for own in shared.values())
    added = "".join(f"    slope[{at}] += {own};\n" for at, own in shared.items())
    return f"    {{\n{sums}{loop}{added}    }}\n"


def _weighted(slope: str) -> str:
    return "w" if slope == "1" else f"w * ({slope})"


def _printed(expressions: Sequence[Expr], shape: Shape) -> tuple[list[str], list[str]]:
    """Return declarations of common subexpressions, and the expressions that use them."""
    powers = [node for one in expressions for node in preorder_traversal(one) if isinstance(node, Pow)]
    bases = dict.fromkeys(power.base for power in powers if power.exp.is_Integer and power.base.args)
    common, found = cse([*expressions, *bases], symbols=numbered_symbols("t"))  # a base is computed once
    known = {place: f"p[{at}]" for place, at in zip(shape.coordinates, _coordinates(shape), strict=True)}
    known |= {place: f"number[{j}]" for j, place in enumerate(shape.numbers)}
    printer = _C(known)
    declared = [f"const real_t {symbol.name} = {printer.doprint(value)};" for symbol, value in common]
    return declared, [printer.doprint(value) for value in found[: len(expressions)]]


class _C(C99CodePrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's printer of C, with places for symbols, numbers to the last bit, and small powers as products."""

    def __init__(self, places: Mapping[Symbol, str]) -> None:
        super().__init__()
        self._places = places

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._places.get(expr, expr.name)

    _print_Dummy = _print_Symbol  # noqa: N815

    def _print_Float(self, expr: Float) -> str:
        return number(float(expr))

    def _print_Pow(self, expr: Pow) -> str:
        if isinstance(expr.base, Symbol) and expr.exp.is_Integer and 2 <= abs(int(expr.exp)) <= _MAX_PRODUCT:
            product = "*".join([self._print(expr.base)] * abs(int(expr.exp)))
            return f"({product})" if expr.exp > 0 else f"(1.0/({product}))"
        return str(super()._print_Pow(expr))
