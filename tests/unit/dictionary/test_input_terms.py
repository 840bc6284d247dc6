"""Drives ψ(x, u): names, values, cutting, files, and the dictionaries of the linear and the bilinear form."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Stream, Trajectories, embed_delays
from koopsieve.dictionary import (
    Constant,
    Fourier,
    Function,
    Inputs,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
)

RNG = np.random.default_rng(0)
X, U = RNG.normal(size=(50, 2)), RNG.normal(size=(49, 2))
DATA = Trajectories.from_arrays(X, U, state_names=["a", "b"], input_names=["p", "q"], dt=0.1)
POINTS = np.concatenate([X[:-1], U], axis=1)
BOTH = "states and inputs"
ALL = (
    States()
    + Constant()
    + Monomials(degree=2, of=BOTH)
    + Inputs()
    + SquaredExponential(centers=3, coefficients=[0.5], of=BOTH)
    + PeriodicSquaredExponential(centers=2, of=BOTH)
    + Fourier(of=BOTH)
    + RandomFourier(features=3, of=BOTH)
    + Inputs() * SquaredExponential(centers=2, label="y")
)


def test_the_inputs_that_act_are_named_and_without_a_block_that_sees_them_the_input_terms():
    phi = States().fit(DATA)
    assert phi.input_term_names == ("p", "q")
    assert phi.linear_in_inputs
    assert States().fit(Trajectories.from_arrays(X)).input_term_names == ()
    phi = (States() + Inputs() * States()).fit(embed_delays(DATA, 0, 1, "k+1"))
    assert phi.names == ("a", "b", "p[k]", "q[k]")
    assert phi.input_term_names[:5] == ("p[k+1] a", "p[k+1] b", "p[k+1] p[k]", "p[k+1] q[k]", "q[k+1] a")
    assert not phi.linear_in_inputs


def test_names_and_values_of_products():
    phi = (States() + Inputs() + Inputs() * (States() + Constant())).fit(DATA)
    assert phi.input_term_names == ("p", "q", "p a", "p b", "q a", "q b", "p 1", "q 1")
    p, q, a, b = U[:, 0], U[:, 1], X[:-1, 0], X[:-1, 1]
    expected = np.column_stack([a, b, p, q, p * a, p * b, q * a, q * b, p, q])
    np.testing.assert_array_equal(phi.evaluate(POINTS), expected)
    phi = (States() * States()).fit(DATA)  # products of observables are observables
    assert phi.names == ("a a", "a b", "b a", "b b")
    np.testing.assert_array_equal(phi(X), np.column_stack([X[:, i] * X[:, j] for i in (0, 1) for j in (0, 1)]))


def test_monomials_with_an_input_in_them_are_drives():
    phi = Monomials(degree=3, of=BOTH).fit(DATA)
    assert phi.names == ("a^2", "a b", "b^2", "a^3", "a^2 b", "a b^2", "b^3")
    assert phi.input_term_names[:4] == ("a p", "a q", "b p", "b q")
    assert "p^2 q" in phi.input_term_names
    assert len(phi.input_term_names) == 30 - 7  # of 30 products of four coordinates, 7 hold no input
    together = Monomials(degree=3).fit(Trajectories.from_arrays(POINTS, state_names=["a", "b", "p", "q"]))
    assert set(phi.regressors) == set(together.names)
    order = [together.names.index(name) for name in phi.regressors]
    np.testing.assert_allclose(phi.evaluate(POINTS), together(POINTS)[:, order], rtol=1e-12)


@pytest.mark.parametrize(
    "block",
    [
        SquaredExponential(centers=3, coefficients=[0.5, 1.0], of=BOTH),
        PeriodicSquaredExponential(centers=3, of=BOTH),
        Fourier(of=BOTH),
        RandomFourier(features=4, of=BOTH),
        Function(lambda p: p[:, 0] * p[:, 3], names=["aq"], of=BOTH),
    ],
)
def test_blocks_of_both_are_those_of_states_with_the_inputs_among_them(block):
    """The last sample has no input: the same block of states alone sees the other samples."""
    beside = Trajectories.from_arrays(POINTS, state_names=["a", "b", "p", "q"])
    phi, judge = (States() + block).fit(DATA, seed=4), replace(block, of="states").fit(beside, seed=4)
    assert len(phi.input_term_names) == judge.size
    np.testing.assert_allclose(phi.evaluate(POINTS)[:, 2:], judge(POINTS), rtol=1e-9, atol=1e-12)


def test_a_stream_gives_the_same_and_both_halves_are_those_of_evaluate():
    stream = Stream.from_arrays(
        X, np.vstack([U, [[np.nan, np.nan]]]), state_names=["a", "b"], input_names=["p", "q"], dt=0.1
    )
    mine, theirs = ALL.fit(stream, seed=1), ALL.fit(DATA, seed=1)
    assert mine.regressors == theirs.regressors
    np.testing.assert_allclose(mine.evaluate(POINTS), theirs.evaluate(POINTS), rtol=1e-9, atol=1e-12)
    squares = Function(lambda point: point[:, 2:] ** 2, names=["p", "q"], of=BOTH)  # called like inputs, but none
    for phi in (theirs, States().fit(DATA), (States() + squares).fit(DATA)):
        lifted, driven = np.empty((49, phi.size), order="F"), np.empty((49, len(phi.input_term_names)), order="F")
        phi.lift(X[:-1], lifted)
        phi.evaluate_input_terms(X[:-1], U, driven)
        np.testing.assert_array_equal(np.hstack([lifted, driven]), phi.evaluate(POINTS))
    np.testing.assert_array_equal(driven, U**2)
    assert not phi.linear_in_inputs


@pytest.mark.parametrize("wrong", [[1, 0], [0, 0], [-1], [99], [0.0, 1.0], [True, False], [[0]], ["p"]])
def test_cutting_takes_increasing_indices(wrong):
    phi = (States() + Inputs()).fit(DATA)
    with pytest.raises(KoopsieveError, match="retained must be increasing indices below 2"):
        phi.select(wrong)
    with pytest.raises(KoopsieveError, match="input_terms must be increasing indices below 2"):
        phi.select([0], wrong)


def test_the_bilinear_dictionary():
    """The constant times an input is the input, which is there already."""
    phi = (States() + Constant() + Monomials(degree=2)).fit(DATA)
    both = phi.bilinear()
    assert both.names == phi.names
    assert both.input_term_names == (
        *("p", "q", "p a", "p b", "p a^2", "p a b", "p b^2"),
        *("q a", "q b", "q a^2", "q a b", "q b^2"),
    )
    lifted = phi(X[:-1])[:, phi.varying]
    products = [U, U[:, :1] * lifted, U[:, 1:] * lifted]
    np.testing.assert_allclose(both.evaluate(POINTS)[:, phi.size :], np.hstack(products), rtol=1e-13)
    assert np.linalg.matrix_rank(both.evaluate(POINTS)) == len(both.regressors)
    assert both.linear().regressors == phi.regressors
    assert phi.varying.tolist() == [0, 1, 3, 4, 5]
    without = States().fit(Trajectories.from_arrays(X))
    assert without.bilinear() is without
    assert without.linear() is without


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: Inputs().fit(Trajectories.from_arrays(X)), "needs data with inputs"),
        (lambda: Fourier(of=BOTH).fit(Trajectories.from_arrays(X)), "needs data with inputs"),
        (lambda: Fourier(of="inputs").fit(DATA), 'of must be "states" or "states and inputs"'),
        (lambda: (Monomials(of=BOTH) * States()).fit(DATA), "A factor of a product must be functions of the state, or"),
        (lambda: (States() + Inputs() + Inputs()).fit(DATA), "p, q came more than once"),
        (lambda: (States() * States() + States() * States()).fit(DATA), "came more than once"),
    ],
)
def test_errors_say_what_to_do(ask, message):
    with pytest.raises(KoopsieveError, match=message):
        ask()


@pytest.mark.parametrize("ask", [lambda: States() * 3, lambda: States() + "kernels"])
def test_something_else_is_no_block(ask):
    with pytest.raises(TypeError):
        ask()


def test_products_read_as_they_were_written():
    assert repr(States() + Constant() + Monomials(degree=3)) == "States() + Constant() + Monomials(degree=3)"
    assert repr(States() + Inputs() * Monomials(degree=3)) == "States() + Inputs() * Monomials(degree=3)"
    assert repr(SquaredExponential(centers=5, of=BOTH)) == "SquaredExponential(centers=5, of='states and inputs')"
