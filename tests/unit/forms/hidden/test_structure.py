"""Simulation, sensitivities and adjoints of a polynomial state space, against the literal one."""

import numpy as np
import pytest

from koopsieve.forms.hidden.encoder import EncoderProblem
from koopsieve.forms.hidden.power_table import PowerTable
from koopsieve.forms.hidden.problem import HiddenProblem
from koopsieve.forms.hidden.sieve import _terms_left
from koopsieve.forms.hidden.structure import Aim, HiddenStructure
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.windows import Windows
from tests.reference import literal_hidden

SHAPES = [(2, 1, 1, 3), (3, 0, 2, 2), (1, 2, 1, 4), (2, 2, 3, 2)]  # states, inputs, outputs, degree


def case(states, inputs, outputs, degree, bound=12.0, size=0.1):
    rng = np.random.default_rng(states + 10 * inputs + 100 * outputs)
    structure = HiddenStructure.within(bound, PowerTable.up_to(degree, states, inputs), outputs)
    coef = size * rng.normal(size=(states + outputs, structure.terms.size))
    windows = rng.normal(size=(5, states)), rng.normal(size=(5, 7, inputs)), rng.normal(size=(5, 7, outputs))
    free = rng.random(coef.shape) < 0.6
    return structure, coef, free, windows


def literal(structure, coef, starts, inputs):
    powers = structure.terms.powers
    runs = [
        literal_hidden.simulate(powers, coef, x, u, structure.states, structure.limits[1, 0])
        for x, u in zip(starts, inputs, strict=True)
    ]
    return np.array(runs).real


every_shape = pytest.mark.parametrize("shape", SHAPES)
every_bound = pytest.mark.parametrize("bound", [12.0, 0.4])


def test_the_terms_are_all_products_up_to_the_degree():
    terms = PowerTable.up_to(3, 2, 1)
    assert terms.size == len({tuple(row) for row in terms.powers.tolist()}) == 20
    assert terms.degrees.max() == 3


@every_shape
def test_values_are_the_products(shape):
    states, inputs, _, degree = shape
    terms = PowerTable.up_to(degree, states, inputs).select(np.array([0, 2, -1]))
    points = np.random.default_rng(0).normal(size=(states + inputs, 6))
    expected = [[literal_hidden.term(row, point, []) for point in points.T] for row in terms.powers]
    np.testing.assert_allclose(terms.values(points)[terms.columns], expected, rtol=1e-14)


@every_bound
@every_shape
def test_simulation_is_the_literal_one_and_slopes_by_the_start_are_finite_differences(shape, bound):
    structure, coef, _, (starts, inputs, _) = case(*shape, bound)
    simulated = structure.simulate(coef, starts, inputs)
    np.testing.assert_allclose(simulated, literal(structure, coef, starts, inputs), rtol=1e-12)
    found, slopes = structure.start_sensitivities(coef, starts, inputs)
    np.testing.assert_allclose(found, simulated, rtol=1e-12)
    for i, moved in enumerate(1e-6 * np.eye(structure.states)):
        ahead, behind = (literal(structure, coef, starts + sign * moved, inputs) for sign in (1, -1))
        np.testing.assert_allclose(slopes[..., i], (ahead - behind) / 2e-6, atol=1e-7)


@every_bound
@every_shape
def test_sensitivities_are_the_complex_steps_and_the_gradient_by_adjoints_is_theirs(shape, bound):
    structure, coef, free, (starts, inputs, outputs) = case(*shape, bound)
    some, counted = np.where(free, coef, 0.0), np.array([1, 4, 6])
    simulated, slopes = structure.sensitivities(some, free, starts, inputs, counted)
    powers, states = structure.terms.powers, structure.states
    expected = [
        literal_hidden.jacobian(powers, some, free, x, u, states, bound) for x, u in zip(starts, inputs, strict=True)
    ]
    np.testing.assert_allclose(slopes, np.array(expected)[:, counted], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(simulated, structure.simulate(some, starts, inputs)[:, counted], rtol=1e-13)
    unit, every = 0.5 + np.arange(outputs.shape[2]), np.ones(coef.shape, dtype=bool)
    loss, slope = structure.gradient(coef, starts, inputs, Aim(outputs, unit, burn=2))
    simulated, J = structure.sensitivities(coef, every, starts, inputs, np.arange(2, 7))
    gap = (simulated - outputs[:, 2:]) / unit
    assert loss == pytest.approx(np.sum(gap**2), rel=1e-12)
    expected = 2 * np.einsum("wto,wtop->p", gap / unit, J)
    np.testing.assert_allclose(slope.ravel(), expected, rtol=1e-9, atol=1e-10)


def test_the_gradient_does_not_depend_on_the_chunks(monkeypatch):
    structure, coef, _, (starts, inputs, outputs) = case(2, 1, 1, 3)
    aim = Aim(outputs, np.ones(1), 0)
    loss, slope = structure.gradient(coef, starts, inputs, aim)
    monkeypatch.setattr("koopsieve.forms.hidden.structure._CHUNK", 1)
    pieces = structure.gradient(coef, starts, inputs, aim)
    assert pieces[0] == pytest.approx(loss, rel=1e-13)
    np.testing.assert_allclose(pieces[1], slope, rtol=1e-10, atol=1e-13)


def test_the_factor_is_that_of_the_whole_jacobian(monkeypatch):
    structure, coef, free, (starts, inputs, outputs) = case(2, 1, 2, 2)
    monkeypatch.setattr("koopsieve.forms.hidden.problem._CHUNK", 1)
    unit = np.array([1.0, 3.0])
    problem = HiddenProblem(structure, starts, inputs, Aim(outputs, unit, burn=1))
    factor = problem.factor(coef, free)
    simulated, J = structure.sensitivities(coef, free, starts, inputs, np.arange(1, 7))
    J = (J / unit[:, None]).reshape(-1, free.sum())
    np.testing.assert_allclose(factor.R.T @ factor.R, J.T @ J, rtol=1e-10, atol=1e-12)
    target = ((outputs[:, 1:] - simulated) / unit).ravel() + J @ coef[free]
    np.testing.assert_allclose(factor.R.T @ factor.S[:, 0], J.T @ target, rtol=1e-10, atol=1e-12)
    assert factor.rows == problem.rows == len(J)


def test_fewer_rows_come_from_every_window():
    structure, coef, free, (starts, inputs, outputs) = case(2, 1, 1, 2)
    problem = HiddenProblem(structure, starts, inputs, Aim(outputs, np.ones(1), burn=1))
    assert problem.factor(coef, free, rows=10).rows == 10
    assert problem.factor(coef, free, rows=1).rows == 5  # one step of each of five windows


def test_a_start_that_overflows_has_an_infinite_loss():
    structure, coef, _, (starts, inputs, outputs) = case(2, 1, 1, 3, bound=1e300, size=1e10)
    problem = HiddenProblem(structure, starts, inputs, Aim(outputs, np.ones(1), burn=0))
    assert problem.loss(coef) == np.inf


def test_the_encoder_is_fitted_with_the_slopes_of_its_loss():
    structure, coef, _, (_, inputs, outputs) = case(2, 1, 1, 3)
    rng = np.random.default_rng(0)
    lines, theta = rng.normal(size=(5, 4)), 0.1 * rng.normal(size=8)
    problem = EncoderProblem(structure, coef, lines, Windows(lines, inputs, outputs))
    normal, step = problem.normal(theta), 1e-6
    slope = [(problem.loss(theta + step * e) - problem.loss(theta - step * e)) / (2 * step) for e in np.eye(8)]
    np.testing.assert_allclose(-2 * normal.score / outputs.size, slope, atol=1e-7)


def test_whole_terms_go_in_the_order_of_brute_force():
    rng = np.random.default_rng(2)
    free = rng.random((3, 6)) < 0.8
    term, J = np.nonzero(free)[1], rng.normal(size=(60, int(free.sum())))
    target = J @ rng.normal(size=J.shape[1])
    factor = TriangularFactor.empty(J.shape[1], 1).absorb(J, target[:, None])

    def error(kept):
        columns = J[:, np.isin(term, kept)]
        return np.sum((target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]) ** 2)

    kept = list(np.unique(term))
    while np.isin(term, kept).sum() > 7:
        cost = {t: (error([k for k in kept if k != t]) - error(kept)) / np.sum(term == t) for t in kept}
        kept.remove(min(cost, key=cost.get))
    found = _terms_left(factor, free, 7)
    assert sorted(np.flatnonzero(found.any(axis=0))) == sorted(kept)
