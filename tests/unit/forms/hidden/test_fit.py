"""From a linear start to a polynomial state space, and down the path of sizes, on a plant that is known."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve.data import Embedding
from koopsieve.forms.hidden.encoder import encoded, regressed_encoder
from koopsieve.forms.hidden.fit import FreeCoefficients, QuasiNewton, fitted
from koopsieve.forms.hidden.growth import Growth, HiddenStart
from koopsieve.forms.hidden.learning import plain_encoder
from koopsieve.forms.hidden.problem import HiddenProblem, boxed, in_state_units, problem_of, rescaled, with_linear
from koopsieve.forms.hidden.sieve import HiddenPoint, HiddenSieve, seen
from koopsieve.forms.hidden.start import Subspace
from koopsieve.sieve.simulation.levenberg_marquardt import LevenbergMarquardt
from koopsieve.sieve.simulation.windows import draw_windows

BURN = 10
EMBEDDING = Embedding(9, 9)


def plant(samples=3000, seed=0):
    """Return a filter whose output is bent, then filtered again: y = G₂(s + 0.4 s² - 0.1 s³), s = G₁ u."""
    rng = np.random.default_rng(seed)
    u = np.convolve(rng.normal(size=samples + 4), np.ones(5) / np.sqrt(5), "valid")
    y, s, f = np.zeros(samples + 1), 0.0, 0.0
    for k in range(samples):
        bent = s + 0.4 * s**2 - 0.1 * s**3
        f = 0.7 * f + 0.3 * bent
        y[k + 1] = f
        s = 0.6 * s + 0.4 * u[k]
    y, u = (y - y.mean()) / y.std(), (u - u.mean()) / u.std()
    return EMBEDDING.embed(y[:, None], u[:, None])


@pytest.fixture(scope="module")
def windows():
    return draw_windows([plant()], 1, 60, 50, np.random.default_rng(0))


@pytest.fixture(scope="module")
def rough():
    return Subspace.of([plant()], EMBEDDING, 1, 1).state_space(2)


@pytest.fixture(scope="module")
def space(windows, rough):
    return Growth().refined(rough, windows, BURN)


@pytest.fixture(scope="module")
def grown(windows, space):
    problem = problem_of(space, windows, BURN, 3)
    growth = replace(Growth(), higher=replace(Growth().higher, iterations=4))
    coef = growth.with_squares(problem, with_linear(problem.structure.terms, space.rows))
    return problem, growth.with_all(problem, coef)


def linear_loss(space, windows):
    problem = problem_of(space, windows, BURN, 1, bound=1e6)
    return problem.loss(with_linear(problem.structure.terms, space.rows))


def test_the_refined_linear_start_simulates_better_whatever_its_basis(windows, space, rough):
    assert linear_loss(space, windows) <= linear_loss(rough, windows)
    again = Growth().refined(rough.changed(np.array([[1.0, 0.4], [-0.7, 2.0]])), windows, BURN)
    assert linear_loss(again, windows) == pytest.approx(linear_loss(space, windows), rel=0.02)
    np.testing.assert_allclose(again.rows, space.rows, atol=0.05)  # up to where the fits settled


def every(fit):
    return np.ones(fit.coef.shape, dtype=bool)


def test_products_explain_what_the_linear_start_does_not(windows, space, grown):
    problem, fit = grown
    linear = problem.loss(with_linear(problem.structure.terms, space.rows))
    assert linear > 1e-2
    assert fit.loss < 1e-3 * linear
    assert list(fit.trace) == sorted(fit.trace, reverse=True)


def test_the_path_keeps_little_and_loses_little(grown):
    problem, fit = grown
    points = list(HiddenSieve(least=15).points(problem, fit, 0.8))
    sizes = [point.size for point in points]
    assert sizes[0] == fit.coef.size == 60
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 15
    for point in points:
        assert not point.fit.coef[~point.free].any()
        assert point.fit.loss < 10 * fit.loss


def test_rescaling_changes_nothing_but_the_units_of_the_states(grown):
    problem, fit = grown
    other, coef, unit = rescaled(problem, fit.coef)
    assert other.loss(coef) == pytest.approx(problem.loss(fit.coef), rel=1e-9)
    states = other.structure.run(coef, other.starts, other.inputs)[:, BURN:, :2]
    np.testing.assert_allclose(states.std(axis=(0, 1)), 1.0, rtol=1e-9)
    assert unit.shape == (2,)


def test_a_state_that_no_output_sees_loses_its_row(grown):
    problem, fit = grown
    powers = problem.structure.terms.powers
    free = every(fit)
    free[[0, 2]] = powers[:, 1] == 0  # neither the first state nor the output reads the second
    kept = seen(problem, free)
    assert not kept[1].any()
    np.testing.assert_array_equal(kept[[0, 2]], free[[0, 2]])


def test_coefficients_that_are_not_free_stay(grown):
    problem, fit = grown
    free = np.zeros(fit.coef.shape, dtype=bool)
    free[0, :3] = True
    moved = fitted(LevenbergMarquardt(1, polish=QuasiNewton(3)), problem, 1.01 * fit.coef, free, 10)
    np.testing.assert_array_equal(moved.coef[~free], 1.01 * fit.coef[~free])
    assert moved.loss < problem.loss(1.01 * fit.coef)


def test_no_round_begins_when_time_is_up(grown):
    problem, fit = grown
    same = fitted(LevenbergMarquardt(), problem, fit.coef, every(fit), 10, until=0.0)
    np.testing.assert_array_equal(same.coef, fit.coef)
    assert not same.settled
    assert len(list(HiddenSieve().points(problem, fit, until=0.0))) == 1


def test_outputs_weigh_the_same_in_units_of_what_is_left(windows, space):
    two = replace(windows, outputs=np.concatenate([windows.outputs, 100 * windows.outputs], axis=2))
    doubled = replace(space, C=np.vstack([space.C, 100 * space.C]), D=np.vstack([space.D, 100 * space.D]))
    problem = problem_of(doubled, two, BURN, 1)
    coef = with_linear(problem.structure.terms, doubled.rows)
    unit = problem.in_units_left(coef).aim.unit
    assert unit[1] == pytest.approx(100 * unit[0], rel=1e-9)
    assert problem.in_units_left(coef).loss(coef) == pytest.approx(1.0, rel=1e-9)


def test_the_path_ends_where_the_outputs_see_nothing(grown):
    problem, fit = grown
    free = np.zeros(fit.coef.shape, dtype=bool)
    free[0, 1] = free[2, 1] = True  # the output reads the first state, which reads itself
    fit = replace(fit, coef=np.where(free, [[0.5], [0.0], [1e-9]], 0.0))
    assert HiddenSieve().smaller(problem, HiddenPoint(free, fit), 1) is None


def test_polishing_lowers_the_loss_further_than_the_step_alone(grown):
    problem, fit = grown
    free, coef = every(fit), 1.02 * fit.coef
    plain, polished = (
        fitted(LevenbergMarquardt(1, polish=polish), problem, coef, free, 10) for polish in (None, QuasiNewton(20))
    )
    assert fit.loss < polished.loss < 0.5 * plain.loss < problem.loss(coef)


def test_states_are_held_where_simulations_come(grown):
    problem, fit = grown
    states = problem.structure.run(fit.coef, problem.starts, problem.inputs)[:, BURN:, :2]
    low, high = states.min(axis=(0, 1)), states.max(axis=(0, 1))
    held = boxed(problem, fit.coef, 0.25)
    room = 0.25 * (high - low)
    np.testing.assert_allclose(held.structure.limits, np.clip([low - room, high + room], -12.0, 12.0))
    assert held.loss(fit.coef) == pytest.approx(problem.loss(fit.coef), rel=0.5)
    astray = held.structure.run(fit.coef, problem.starts + np.array([0.0, 1e3]), problem.inputs)
    assert np.isfinite(astray[:, 1:]).all()


def test_limits_stay_as_they_are_where_a_state_is_beyond_them_all_the_time(grown):
    problem, fit = grown
    terms, coef = problem.structure.terms, fit.coef.copy()
    coef[:, terms.powers[:, 1] > 0] = 0.0  # nothing reads the second state, which is always 100
    coef[1] = np.where(terms.degrees == 0, 100.0, 0.0)
    np.testing.assert_array_equal(boxed(problem, coef).structure.limits, problem.structure.limits)


def test_shrinkage_is_of_products_and_does_not_depend_on_the_units_of_the_states(grown):
    problem, fit = grown
    unit = np.array([3.0, 0.2])
    units = in_state_units(problem, unit)
    other = replace(
        problem,
        structure=replace(problem.structure, limits=problem.structure.limits / unit),
        starts=problem.starts / unit,
    )
    free = every(fit)
    losses = []
    for one, coef, theta in ((problem, fit.coef, 1.1 * fit.coef), (other, units * fit.coef, 1.1 * units * fit.coef)):
        moving = FreeCoefficients(one, coef, free, shrinkage=10.0)
        losses.append(moving.loss(theta.ravel()))
        assert not moving.shrunk.reshape(coef.shape)[:, one.structure.terms.degrees < 2].any()
        assert losses[-1] > replace(moving, shrinkage=0.0).loss(theta.ravel())
    assert losses[1] == pytest.approx(losses[0], rel=1e-9)


def test_windows_start_where_simulations_come(windows, space, grown):
    problem, fit = grown
    lines, inputs = plant()
    whole = HiddenProblem(problem.structure, lines[:1] @ space.encoder.T, inputs[None], problem.aim)
    states = whole.structure.run(fit.coef, whole.starts, whole.inputs)[0, 100:, :2]
    encoder = regressed_encoder(problem.structure, fit.coef, plain_encoder(space), [plant()], BURN, 50)

    def gap(starts):
        return np.sqrt(np.mean((starts[101:] - states) ** 2, axis=0)) / states.std(axis=0)

    assert (gap(encoded(encoder, lines)) < 0.7 * gap(encoded(plain_encoder(space), lines))).all()


def test_more_shrinkage_leaves_smaller_products(grown, space):
    problem, fit = grown
    products = problem.structure.terms.degrees > 1
    sizes = [
        np.sum(HiddenSieve(shrinkage=shrinkage).longer(HiddenStart(space, problem, fit)).fit.coef[:, products] ** 2)
        for shrinkage in (1.0, 1e3)
    ]
    assert sizes[1] < 0.9 * sizes[0]
    with pytest.raises(KoopsieveError, match="shrinkage must be a finite number, 0 or more"):
        HiddenSieve(shrinkage=-1.0)


def test_shrinkage_grows_while_held_out_data_do_not_mind(grown, space, monkeypatch):
    problem, fit = grown
    start = HiddenStart(space, problem, fit)
    for errors, expected in (([1.0, 0.9, 0.94], 1e3), ([1.0, 0.9, 0.95], 1e2), ([1.0, 1.06, 0.9], 10.0)):
        left = iter(errors)
        monkeypatch.setattr("koopsieve.forms.hidden.sieve.held_out_error", lambda *of, left=left: next(left))
        assert HiddenSieve().strongest(start, None, None)[0].shrinkage == expected
    monkeypatch.setattr("koopsieve.forms.hidden.sieve.held_out_error", lambda *of: 1.0)
    assert HiddenSieve().strongest(start, None, None, until=0.0)[0].shrinkage == 10.0  # no time is left to fit on
    assert HiddenSieve(shrinkage=3.0).strongest(start, None, None)[0].shrinkage == 3.0


def test_polishing_ends_where_it_gains_nothing(grown, monkeypatch):
    problem, fit = grown
    free, calls, counts = every(fit), [], []
    settled = fitted(replace(Growth().higher, iterations=20, tolerance=0.0), problem, fit.coef, free, 10).coef
    slope = HiddenProblem.gradient
    monkeypatch.setattr(HiddenProblem, "gradient", lambda *of: calls.append(1) or slope(*of))
    for polish in (QuasiNewton(100), QuasiNewton(100, tolerance=-1.0)):
        calls.clear()
        fitted(LevenbergMarquardt(1, polish=polish), problem, settled, free, 10)
        counts.append(len(calls))
    assert counts[0] < 0.5 * counts[1]


def test_a_trial_that_goes_too_far_is_no_better_and_warns_of_nothing(grown):
    problem, fit = grown
    moving = FreeCoefficients(problem, fit.coef, every(fit), shrinkage=10.0)
    assert not moving.loss(np.full(fit.coef.size, 1e200)) < moving.loss(fit.coef.ravel())
