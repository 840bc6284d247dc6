"""Formulas say all of a function: evaluated as they read, they give its values."""

import numpy as np
import pytest

from koopsieve import (
    Constant,
    Fourier,
    Inputs,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
    Trajectories,
)
from koopsieve.export.formulas import formulas

RNG = np.random.default_rng(0)
DATA = Trajectories.from_arrays(
    RNG.normal(size=(60, 2)), RNG.normal(size=(59, 1)), state_names=["a", "b"], input_names="u"
)
BLOCKS = {
    "plain": States() + Constant() + Inputs(),
    "monomials": States() + Monomials(degree=3, of="states and inputs"),
    "kernels": SquaredExponential(centers=3, coefficients=[0.5]),
    "standardised kernels": SquaredExponential(centers=3, standardize=True),
    "kernels of both": States() + SquaredExponential(centers=3, coefficients=[0.2], of="states and inputs"),
    "periodic": PeriodicSquaredExponential(centers=3, frequencies=[0.3]),
    "waves": Fourier(frequencies=[0.5]) + RandomFourier(features=3),
    "products": States() + Inputs() * SquaredExponential(centers=2, coefficients=[0.5]),
}


def evaluated(formula, values):
    """Return the value of a formula at a point, read as a person would."""
    plain = formula.replace("−", "-").replace("·", "*").replace("²", "**2").replace("³", "**3")
    names = {"sin": np.sin, "cos": np.cos, "exp": np.exp, **values}
    return eval(plain, {"__builtins__": {}}, names)


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_formula_gives_the_values(kind):
    phi = BLOCKS[kind].fit(DATA)
    texts = formulas(phi)
    assert list(texts) == list(phi.regressors)
    points = RNG.normal(size=(5, 3))
    for point, row in zip(points, phi.evaluate(points), strict=True):
        values = dict(zip(("a", "b", "u"), map(float, point), strict=True))
        found = [evaluated(text, values) for text in texts.values()]
        np.testing.assert_allclose(found, row, rtol=0.02, atol=0.02)  # formulas are written in three digits


def test_a_kernel_is_told_by_its_centre_and_not_by_a_number():
    phi = SquaredExponential(centers=[[0.31, -0.29]], coefficients=[0.5]).fit(DATA)
    assert next(iter(formulas(phi).values())) == "exp(−0.5·(a − 0.31)² − 0.5·(b + 0.29)²)"
