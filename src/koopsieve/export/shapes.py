"""Terms of one shape: expressions that differ in numbers and coordinates only, so that one loop can compute them all.

The kernels of a family are one shape, its numbers a table; so are all products of two coordinates. The shape is found
from the expressions themselves, whatever family they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Add, Dummy, Expr, Float, Mul, Pow, Symbol

from koopsieve._types import FloatArray, IndexArray
from koopsieve.dictionary.expressions import derivative

_COORDINATE, _NUMBER = "coordinate", "number"


@dataclass(frozen=True, eq=False)
class Shape:
    """Some terms as one expression in places, which each term fills with its own coordinates and numbers.

    Parameters
    ----------
    terms : array of int, shape (terms,)
        Which terms these are.
    expression : Expr
    coordinates, numbers : tuple of Symbol
        The places.
    indices : array of int, shape (terms, coordinates)
        The coordinate of the point in each place.
    values : array, shape (terms, numbers)
    """

    terms: IndexArray
    expression: Expr
    coordinates: tuple[Symbol, ...]
    numbers: tuple[Symbol, ...]
    indices: IndexArray
    values: FloatArray

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
