"""Terms of one shape: grouped whatever their numbers and coordinates, and given back unchanged."""

import numpy as np
import pytest
import sympy

from koopsieve.data import Trajectories
from koopsieve.dictionary import Monomials, RandomFourier, SquaredExponential, States
from koopsieve.dictionary.expressions import Absolute, Maximum, derivative, real_symbols
from koopsieve.export.c.terms import shapes

RNG = np.random.default_rng(0)
DATA = Trajectories.from_arrays(RNG.normal(size=(60, 3)))
POINT = real_symbols("p", 3)


def expressions_of(block):
    (family,) = block.fit(DATA).families
    return [family.expression(column, POINT) for column in range(family.size)]


@pytest.mark.parametrize(
    "block, count",
    [
        (States(), 1),
        (SquaredExponential(20, coefficients=[0.3, 2.0], standardize=True), 1),
        (RandomFourier(30), 1),
        (Monomials(degree=3), 6),  # x², xy, x³, x²y, xy², xyz
    ],
)
def test_a_family_has_as_many_shapes_as_forms_of_its_terms(block, count):
    given = expressions_of(block)
    found = shapes(given, POINT)
    assert len(found) == count
    assert sorted(i for shape in found for i in shape.terms) == list(range(len(given)))


@pytest.mark.parametrize(
    "block", [SquaredExponential(9, coefficients=[0.3, 2.0]), RandomFourier(8), Monomials(degree=4)]
)
def test_a_shape_filled_with_a_terms_own_numbers_is_the_term(block):
    given = expressions_of(block)
    for shape in shapes(given, POINT):
        for term, indices, values in zip(shape.terms, shape.indices, shape.values, strict=True):
            filled = shape.expression.xreplace(
                dict(zip(shape.coordinates, (POINT[i] for i in indices), strict=True))
                | dict(zip(shape.numbers, map(sympy.Float, values), strict=True))
            )
            at = dict(zip(POINT, (0.3, -0.7, 1.1), strict=True))
            assert float(filled.subs(at)) == pytest.approx(float(given[term].subs(at)), rel=1e-14)


def test_numbers_that_all_share_stand_in_the_expression_and_equal_columns_are_one():
    x, y, _ = POINT
    given = [sympy.exp(-0.5 * (x - a) ** 2 - 0.5 * (y - b) ** 2) for a, b in ((1.5, 2.5), (3.5, 4.5))]
    (shape,) = shapes(given, POINT)
    assert shape.values.tolist() == [[-1.5, -2.5], [-3.5, -4.5]]
    (shape,) = shapes([c * x * sympy.sin(c * y) for c in (0.25, 0.75)], POINT)
    assert shape.values.tolist() == [[0.25], [0.75]]


def test_the_tangent_touches():
    x, y, _ = POINT
    given = [x**2 * sympy.exp(-0.3 * y), Absolute(x) * y, Maximum(x - 0.2, 0), sympy.Integer(1)]
    at = {x: 0.7, y: -0.4}
    for shape in shapes(given, POINT):
        rest, slopes = shape.tangent()
        places = dict(zip(shape.coordinates, (POINT[i] for i in shape.indices[0]), strict=True))
        tangent = rest + sum(p * d for p, d in zip(shape.coordinates, slopes, strict=True))
        assert float(numeric(tangent.xreplace(places), at)) == pytest.approx(float(numeric(given[shape.terms[0]], at)))
        for place, slope in zip(shape.coordinates, slopes, strict=True):
            expected = derivative(given[shape.terms[0]], places[place])
            assert float(numeric(slope.xreplace(places), at)) == pytest.approx(float(numeric(expected, at)))


def numeric(expression, at):
    return sympy.lambdify(list(at), expression, modules=[{"Absolute": abs, "Maximum": max, "Sign": np.sign}, "math"])(
        *at.values()
    )
