"""Every family: gradients against differences, cutting, files, and its expression, at random points."""

from functools import cache

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import (
    Constant,
    Dictionary,
    Fourier,
    Function,
    Inputs,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
    Terms,
    Transformer,
)
from koopsieve.dictionary.expressions import numpy_function
from koopsieve.forms.reprojected.structure import DictionaryRegressors

RNG = np.random.default_rng(0)
DATA = Trajectories.from_arrays(RNG.normal(size=(60, 2)), RNG.normal(size=(59, 2)))
FAR = Trajectories.from_arrays(DATA.states[0] + [300.0, 0.0], DATA.inputs[0] - [0.0, 1e4])
BOTH = "states and inputs"


def swirl(x):
    return np.column_stack([np.sin(x[:, 0]) * x[:, 1], x[:, 0] ** 3])


def swirl_gradient(x):
    first = np.stack([np.cos(x[:, 0]) * x[:, 1], np.sin(x[:, 0])], axis=1)
    second = np.stack([3 * x[:, 0] ** 2, np.zeros(len(x))], axis=1)
    return np.stack([first, second], axis=1)


BLOCKS = {
    "states": States(),
    "constant": Constant(),
    "inputs": Inputs(),
    "monomials": Monomials(degree=4),
    "monomials of both": Monomials(degree=3, of=BOTH),
    "monomials about a mean": Monomials(degree=3, of=BOTH),
    "kernels": SquaredExponential(centers=4, coefficients=[0.3, 2.0]),
    "standardised kernels": SquaredExponential(centers=3, standardize=True),
    "kernels of both": SquaredExponential(centers=3, coefficients=[0.2], of=BOTH),
    "periodic kernels": PeriodicSquaredExponential(centers=3, coefficients=[0.5, 1.5], frequencies=[0.3, 1.0]),
    "standardised periodic kernels": PeriodicSquaredExponential(centers=2, standardize=True),
    "periodic kernels of both": PeriodicSquaredExponential(centers=2, of=BOTH),
    "waves": Fourier(frequencies=[0.25, 0.6]),
    "waves of both": Fourier(of=BOTH),
    "random waves": RandomFourier(features=5),
    "terms": Terms("x1*sin(x2)", "u1*tanh(x1)", "exp(-x1^2)", "x2^3"),
    "function": Function(swirl, names=["s", "c"]),
    "function with gradient": Function(swirl, names=["s", "c"], gradient=swirl_gradient),
    "function of both": Function(lambda p: p[:, 0] * np.tanh(p[:, 3]), names=["t"], of=BOTH),
    "transformer": Transformer(PolynomialFeatures(degree=2, include_bias=False), names=list("abcde")),
    "products of states": States() * Monomials(degree=2),
    "products with inputs": Inputs() * SquaredExponential(centers=2, coefficients=[0.4]),
    "products of products": Inputs() * (States() * States()),
    "products of inputs": Inputs() * Inputs(),
}
every_block = pytest.mark.parametrize("name", BLOCKS)
CODE = [name for name in BLOCKS if name.startswith(("function", "transformer"))]


@cache
def fitted(name):
    return BLOCKS[name].fit(FAR if "mean" in name else DATA, seed=1)


def points_near(name, rng, count=3, scale=1.0):
    """Return points (x, u) about the data."""
    return scale * rng.normal(size=(count, 4)) + ([300.0, 0.0, 0.0, -1e4] if "mean" in name else 0.0)


@every_block
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.1, 1.0, 3.0]), sums=st.integers(1, 3))
def test_every_gradient_is_that_of_differences_and_so_are_slopes_of_sums(name, seed, scale, sums):
    phi, rng, step = fitted(name), np.random.default_rng(seed), 1e-5
    points, weights = points_near(name, rng, scale=scale), rng.normal(size=(sums, len(phi.regressors)))
    found = phi.gradient(points)
    assert found.shape == (3, len(phi.regressors), 4)
    ends = [[phi.evaluate(points + way * moved) for moved in step * np.eye(4)] for way in (1, -1)]
    expected = np.moveaxis(np.subtract(*ends) / (2 * step), 0, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(expected).max()))
    close = {"rtol": 1e-10, "atol": 1e-11 * max(1.0, np.abs(found).max())}
    np.testing.assert_allclose(phi.slope_of_sums(points, weights), weights @ found, **close)


@every_block
def test_cutting_commutes_with_values_and_gradients(name):
    phi, points = fitted(name), points_near(name, np.random.default_rng(2), 5)
    kept, terms = np.arange(0, phi.size, 2), np.arange(0, len(phi.input_term_names), 2)
    cut, columns = phi.select(kept, terms), [*kept, *(phi.size + terms)]
    assert cut.regressors == tuple(phi.regressors[i] for i in columns)
    np.testing.assert_allclose(cut.evaluate(points), phi.evaluate(points)[:, columns], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(cut.gradient(points), phi.gradient(points)[:, columns], rtol=1e-9, atol=1e-9)
    assert phi.select(kept).input_term_names == phi.input_term_names
    assert phi.select(kept, []).input_term_names == ()


@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in CODE])
def test_files_expressions_and_programs_hold_the_same_functions(name, tmp_path):
    phi, points = fitted(name), points_near(name, np.random.default_rng(3), 5)
    phi.save(tmp_path / "phi.npz")
    again = Dictionary.load(tmp_path / "phi.npz")
    assert (again.regressors, again.signals) == (phi.regressors, phi.signals)
    np.testing.assert_array_equal(again.evaluate(points), phi.evaluate(points))
    np.testing.assert_array_equal(again.gradient(points), phi.gradient(points))
    symbols = sympy.symbols("p:4", real=True)
    families = (*phi.families, *phi.input_families)
    exact = numpy_function(symbols, [family.expression(i, symbols) for family in families for i in range(family.size)])
    values = np.column_stack(np.broadcast_arrays(*exact(*points.T), points[:, 0])[:-1])
    np.testing.assert_allclose(values, phi.evaluate(points), rtol=1e-9, atol=1e-12)
    if not name.startswith(("periodic", "standardised periodic")):
        assert DictionaryRegressors.of(phi).program is not None


@pytest.mark.parametrize("name", CODE)
def test_code_is_not_put_into_files_and_has_no_expression(name):
    with pytest.raises(KoopsieveError, match="come from Python code"):
        fitted(name).to_parts()
    (family,) = (*fitted(name).families, *(fitted(name).input_families if "both" in name else ()))
    with pytest.raises(KoopsieveError, match=r"is computed by the Python code of .* has no formula"):
        family.expression(0, ())


def test_differences_of_a_function_keep_their_digits_far_out():
    """The step grows with the coordinate, so that its rounding does not drown the difference."""
    phi = Function(lambda x: x[:, 0] ** 2, names=["square"]).fit(DATA)
    for x in (1e-8, 1.0, 1e6):
        (slope,) = phi.gradient(np.array([[x, 0.0, 0.0, 0.0]]))[0, 0, :1]
        assert slope == pytest.approx(2 * x, rel=1e-6)


def test_a_gradient_of_the_wrong_shape_is_refused():
    phi = Function(swirl, names=["s", "c"], gradient=lambda x: np.zeros((len(x), 2))).fit(DATA)
    with pytest.raises(KoopsieveError, match=r"Expected \(3, columns, 2\), got \(3, 2\) for s, c"):
        phi.gradient(np.zeros((3, 4)))
