"""The multi-step problem and the path: the loss as defined, plants recovered, units without effect."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve.data import Embedding
from koopsieve.forms.reprojected.structure import ReprojectedStructure, bounds_around, one_step_factor
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation import FittedSet, LevenbergMarquardt, SimulationSieve
from koopsieve.sieve.simulation.far_terms import FarTerms
from koopsieve.sieve.simulation.path_search import Front, candidate_columns, sizes_up_to
from koopsieve.sieve.simulation.simulation_problem import SimulationProblem, one_step_theta
from koopsieve.sieve.simulation.subsets import forward_order
from tests.regressors import Polynomial, embedded

SIEVE = SimulationSieve(length=20, rows=4000, largest=12)
SIZES = 10  # on a path


def oscillator(samples=1500, noise=0.0, seed=0, unit=1.0):
    """y[k+1] = 1.5 y[k] − 0.8 y[k-1] + 0.5 u[k] − 0.05 y[k]³, measured with noise; embedded with one delay."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=(samples // 4 + 1, 1)), 4, axis=0)[:samples]
    y = np.zeros((samples, 1))
    for k in range(1, samples - 1):
        y[k + 1] = 1.5 * y[k] - 0.8 * y[k - 1] + 0.5 * u[k] - 0.05 * y[k] ** 3
    return embedded(unit * (y + noise * y.std() * rng.normal(size=y.shape)), u, 1, 0)


def structure(episode, delays, degree=3):
    x, u = episode
    n = x.shape[1] // (1 + delays.state_delays)
    return ReprojectedStructure(Polynomial.up_to(degree, x.shape[1] + u.shape[1]), n, delays, bounds_around(x[:, :n]))


DELAYS = Embedding(1, 0)  # columns of z: y[k], y[k-1], u[k]
TRUE = [(0,), (1,), (2,), (0, 0, 0)]


def products(model):
    """Return the columns whose product each regressor is."""
    columns = model.regressors.columns
    return [tuple(int(c) for c in row if c < columns) for row in model.regressors.factors]


def terms(model, point):
    """Return the products that a point keeps."""
    return {products(model)[i] for i in point.retained}


def vehicle(samples=600, seed=0):
    """Two outputs that drive each other, one input; the second row needs what the first does not."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=(samples // 4 + 1, 1)), 4, axis=0)[:samples]
    y = np.zeros((samples, 2))
    for k in range(samples - 1):
        y[k + 1, 0] = 0.9 * y[k, 0] + 0.2 * u[k, 0]
        y[k + 1, 1] = 0.8 * y[k, 1] + 0.3 * y[k, 0] ** 2
    return embedded(y + 0.02 * y.std(axis=0) * rng.normal(size=y.shape), u, 0, 0)


def problem_of(episode, delays=DELAYS, sieve=SIEVE, degree=3):
    model = structure(episode, delays, degree)
    one_step = one_step_factor(model.regressors, [episode], model.outputs)
    return sieve.problem(model, one_step, [episode], np.random.default_rng(0))


def at_most(path, terms):
    """Return the best set with at most so many terms."""
    return min((one for one in path if len(one.retained) <= terms), key=lambda one: one.loss)


@pytest.fixture(scope="module")
def noisy():
    """A problem with noise, and its path."""
    problem = problem_of(oscillator(noise=0.1))
    return problem, SIEVE.path(problem, SIZES)


def test_the_loss_is_the_geometric_mean_of_relative_squared_errors(noisy):
    problem, _ = noisy
    coef = np.zeros((problem.structure.regressors.size, 1))
    coef[1:4, 0] = 1.4, -0.7, 0.4
    simulated = problem.structure.simulate(coef, problem.windows.starts, problem.windows.inputs)
    errors = np.mean((simulated - problem.windows.outputs) ** 2, axis=0) / np.var(problem.windows.outputs)
    assert problem.loss(coef != 0, coef[1:4, 0]) == pytest.approx(np.exp(np.mean(np.log(errors))))


def test_a_path_linearises_no_set_twice_and_repeats_no_fit(noisy, monkeypatch):
    problem, path = noisy
    linearised, refitted = SimulationProblem.linearised, SimulationProblem.refitted
    asked, fits = [], []

    def count_linearised(self, columns, fitted):
        asked.append(fitted)
        return linearised(self, columns, fitted)

    def count_refitted(self, columns, source, factor, kept, optimiser):
        fits.append((source, kept.tobytes()))
        return refitted(self, columns, source, factor, kept, optimiser)

    monkeypatch.setattr(SimulationProblem, "linearised", count_linearised)
    monkeypatch.setattr(SimulationProblem, "refitted", count_refitted)
    again = SIEVE.path(problem, SIZES)
    assert len(asked) == len(set(asked)) > 3
    assert len(fits) == len(set(fits)) > 3
    assert [one.loss for one in again] == [one.loss for one in path]


def test_a_fit_lowers_the_loss_and_recovers_exact_coefficients():
    problem = problem_of(oscillator())
    free = np.array([[term in TRUE] for term in products(problem.structure)])
    start = one_step_theta(problem.one_step, free) * 1.05
    point = problem.fitted(free, start, LevenbergMarquardt(iterations=30, tolerance=1e-9), rounds=3)
    assert point.trace[0] > 1e-2
    assert point.loss < 1e-12
    np.testing.assert_allclose(np.sort(point.theta), [-0.8, -0.05, 0.5, 1.5], rtol=1e-6)


def tank(seed, samples=400, noise=0.02):
    """The lower of two tanks in series, in standard units: slow, and its one-step fit barely simulates."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(0, 2, size=(samples // 10, 1)), 10, axis=0)
    h = np.ones((samples, 2))
    for k in range(samples - 1):
        h[k + 1, 0] = h[k, 0] + 0.05 * (u[k, 0] - np.sqrt(h[k, 0]))
        h[k + 1, 1] = h[k, 1] + 0.05 * (np.sqrt(h[k, 0]) - np.sqrt(h[k, 1]))
    y = (h[:, 1:] - h[:, 1].mean()) / h[:, 1].std()
    return embedded(y + noise * rng.normal(size=y.shape), u - 1, 4, 0)


@pytest.mark.parametrize("seed", range(3))
def test_growing_windows_are_taken_where_they_lead_further(seed):
    problem = problem_of(tank(seed), Embedding(4, 0), replace(SIEVE, length=64), degree=2)
    free = np.zeros((problem.structure.regressors.size, 1), dtype=bool)
    free[forward_order(problem.one_step, 0, 24)] = True
    optimiser = LevenbergMarquardt(iterations=4, tolerance=1e-2)
    direct = problem.fitted(free, one_step_theta(problem.one_step, free), optimiser, rounds=2)
    grown = problem.grown(free, optimiser)
    assert grown.loss <= direct.loss
    if seed == 2:
        assert grown.loss < 0.97 * direct.loss


def test_the_path_holds_the_true_terms_despite_noise(noisy):
    problem, path = noisy
    model, point = problem.structure, at_most(path, 4)
    assert terms(model, point) == set(TRUE)
    np.testing.assert_allclose(np.sort(point.theta), [-0.8, -0.05, 0.5, 1.5], atol=0.02)
    x, u = oscillator(noise=0.1)
    one_step = np.linalg.lstsq(model.regressors.evaluate(np.hstack([x[:-1], u])), x[1:, :1], rcond=None)[0]
    found = [one_step[products(model).index(term), 0] for term in TRUE]
    assert np.abs(np.array(found) - (1.5, -0.8, 0.5, -0.05)).max() > 0.07  # what one step makes of the same data


def test_losses_fall_along_the_path_it_is_the_same_again_and_units_do_not_matter():
    first, second = (SIEVE.path(problem_of(oscillator(noise=0.05)), SIZES) for _ in range(2))
    losses = [point.loss for point in first]
    assert losses == sorted(losses, reverse=True)
    assert [point.size for point in first] == sorted({point.size for point in first})
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.coef, other.coef)
    scaled = problem_of(oscillator(noise=0.05, unit=1e3))
    for one, other in zip(first[:6], SIEVE.path(scaled, SIZES)[:6], strict=True):
        assert terms(scaled.structure, one) == terms(scaled.structure, other)
        assert one.loss == pytest.approx(other.loss, rel=1e-3)


def test_each_output_has_its_own_terms():
    problem = problem_of(vehicle(), Embedding(), degree=2)
    keys = products(problem.structure)
    point = next(p for p in SIEVE.path(problem, SIZES) if p.size == 4)
    kept = {(keys[i], int(c)) for i, c in np.argwhere(point.free)}
    assert kept == {((0,), 0), ((2,), 0), ((1,), 1), ((0, 0), 1)}
    np.testing.assert_array_equal(point.retained, sorted(keys.index(k) for k in [(0,), (1,), (2,), (0, 0)]))


def test_more_data_change_a_point_but_not_its_terms(noisy):
    point = at_most(noisy[1], 4)
    more = problem_of(oscillator(samples=6000, noise=0.1, seed=1))
    again = SIEVE.refit(more, point)
    np.testing.assert_array_equal(again.free, point.free)
    assert more.loss(again.free, again.theta) < more.loss(point.free, point.theta)


def test_sizes_that_are_hopeless_beside_larger_ones_are_not_searched():
    problem = problem_of(oscillator(noise=0.05))
    asked = []

    def few_terms(sets, larger):
        asked.extend(one.size for one in sets if larger)
        assert all(one.size > sets[0].size for one in larger)
        return bool(larger) and sets[0].size < 4

    whole, cut = SIEVE.path(problem, SIZES), SIEVE.path(problem, SIZES, hopeless=few_terms)
    assert min(one.size for one in whole) == 1
    assert 1 < min(one.size for one in cut) < 4
    assert terms(problem.structure, at_most(cut, 4)) == set(TRUE)
    assert min(asked) == min(one.size for one in cut)


def test_nothing_is_filled_up_where_all_is_hopeless():
    problem = problem_of(oscillator(noise=0.05))
    whole = SIEVE.path(problem, SIZES)
    swept = SIEVE.path(problem, SIZES, hopeless=lambda sets, larger: not larger)
    assert len(swept) < len(whole)


def test_a_set_fitted_from_a_smaller_one_is_no_worse_than_it():
    problem = problem_of(oscillator(noise=0.05))
    found = SIEVE.rough_path(problem)
    assert len(found) > 1
    for smaller, larger in pairwise(found):
        assert (larger.free | ~smaller.free).all()
        assert larger.loss <= (1 + 1e-6) * smaller.loss


def test_a_plant_without_inputs_is_sifted_as_well():
    rng = np.random.default_rng(0)
    y = np.zeros((800, 1))
    y[:2] = 1.0
    for k in range(1, 799):
        y[k + 1] = 1.8 * y[k] - y[k - 1] - 0.05 * y[k] ** 3 + 0.01 * rng.normal()
    episode = embedded(y, np.zeros((800, 0)), 1, 0)
    problem = problem_of(episode, Embedding(1))
    assert {(0,), (1,)} <= terms(problem.structure, at_most(SIEVE.path(problem, SIZES), 3))


def test_candidates_are_those_that_one_step_selection_takes_first_and_no_combinations_of_others():
    x, u = oscillator(noise=0.01)
    factor = one_step_factor(structure((x, u), DELAYS).regressors, [(x, u)], 1)
    assert candidate_columns(factor, 1000).all()
    assert candidate_columns(factor, 6).sum() == 6
    assert factor.rows == len(u)
    u = np.random.default_rng(0).choice([-1.0, 1.0], size=u.shape)  # so u² is the constant, and y·u² is y
    factor = one_step_factor(structure((x, u), DELAYS).regressors, [(x, u)], 1)
    columns = candidate_columns(factor, 10_000)
    rank = np.linalg.matrix_rank(factor.R / np.linalg.norm(factor.R, axis=0), tol=1e-9)
    assert 0 < columns.sum() == rank * columns.shape[1] < columns.size


def test_the_front_keeps_the_best_of_each_size_forgets_what_is_dominated_and_knows_its_sets():
    def point(size, loss):
        return FittedSet(np.arange(5)[:, None] < size, np.zeros(size), loss, None, ())

    front = Front()
    for size, loss in [(3, 0.1), (3, 0.2), (1, 0.5), (4, 0.15), (5, 0.05), (2, 1.2)]:  # the last is useless
        front = front.with_set(point(size, loss))
    assert [(p.size, p.loss) for p in front.undominated()] == [(1, 0.5), (3, 0.1), (5, 0.05)]
    assert front.above(3).size == 5
    assert front.below(3).size == 1
    assert front.below(1) is None
    columns = np.array([[True], [False], [True], [False], [False]])
    known = [front.knows(columns, np.array(kept)) for kept in ([True, False], [False, True], [True, True])]
    assert known == [True, False, False]


@pytest.mark.parametrize(("most", "steps"), [(60, 20), (5, 20), (1, 4), (200, 10)])
def test_sizes_go_up_to_the_largest(most, steps):
    sizes = sizes_up_to(most, steps)
    assert sizes[0] == 1
    assert sizes[-1] == most
    assert len(sizes) <= steps + 1


def test_windows_that_do_not_fit_and_settings_that_make_no_sense_are_refused():
    episode = oscillator(samples=15)
    with pytest.raises(KoopsieveError, match="window of 20 steps fits into no episode"):
        problem_of(episode)
    with pytest.raises(KoopsieveError, match="must be a whole number, 1 or more"):
        SimulationSieve(length=0)


def test_a_constant_on_the_outputs_changes_no_fit():
    """Of kelvin, and of outputs a million deviations from zero, as much is learned as of those around zero."""
    x, u = oscillator(noise=0.05)
    losses, turned = {}, {}
    for offset in (0.0, 300.0, 1e6):
        model = structure((x + offset * x.std(), u), DELAYS, degree=1)
        one_step = one_step_factor(model.regressors, [(x + offset * x.std(), u)], 1)
        free = np.ones((model.regressors.size, 1), dtype=bool)
        for found, constant in ((losses, None), (turned, products(model).index(()))):
            rng, episodes = np.random.default_rng(0), [(x + offset * x.std(), u)]
            problem = SIEVE.problem(model, one_step, episodes, rng, constant)
            assert (problem.far is None) == (constant is None or offset == 0)
            found[offset] = problem.grown(free, LevenbergMarquardt()).loss
    assert turned[300.0] == pytest.approx(turned[0.0], rel=1e-3)
    assert turned[1e6] == pytest.approx(turned[0.0], rel=1e-3)
    assert losses[1e6] > 1.05 * losses[0.0]


def test_the_regression_at_a_set_is_that_of_terms_about_their_means():
    x, u = oscillator(noise=0.05)
    model = structure((x + 1e3 * x.std(), u), DELAYS, degree=1)
    episodes = [(x + 1e3 * x.std(), u)]
    one_step = one_step_factor(model.regressors, episodes, 1)
    problem = SIEVE.problem(model, one_step, episodes, np.random.default_rng(0), products(model).index(()))
    free = np.ones((model.regressors.size, 1), dtype=bool)
    found = problem.grown(free, LevenbergMarquardt())
    about, plain = problem.linearised(free, found), replace(problem, far=None).linearised(free, found)
    assert about.rows == plain.rows
    turn = problem.far.turn(free)
    turned = (plain.R @ turn).T @ (plain.R @ turn)
    np.testing.assert_allclose(about.R.T @ about.R, turned, atol=1e-4 * np.diagonal(turned).max())
    assert np.linalg.cond(about.R / np.linalg.norm(about.R, axis=0)) < 100
    assert np.linalg.cond(plain.R / np.linalg.norm(plain.R, axis=0)) > 1000
    np.testing.assert_allclose(turn @ (2 * np.eye(len(turn)) - turn), np.eye(len(turn)), atol=1e-9)


def test_a_term_that_is_constant_but_for_rounding_is_not_far_from_zero():
    rng = np.random.default_rng(0)
    level = rng.choice([-0.7, 0.7], 300)
    columns = np.column_stack([np.ones(300), rng.normal(size=300), level**2 * (1 + 1e-15 * rng.normal(size=300))])
    factor = TriangularFactor.empty(3, 1).absorb(columns, rng.normal(size=(300, 1)))
    assert FarTerms.of(factor, 0) is None
    far = FarTerms.of(TriangularFactor.empty(3, 1).absorb(columns + np.array([0, 1e3, 0]), np.ones((300, 1))), 0)
    assert far is not None
    assert np.flatnonzero(far.mean).tolist() == [1]
