"""The bilinear form: simulation, gradient, and what its multi-step fit promises."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import Constant, KoopsieveError, Monomials, States, Trajectories, sift
from koopsieve.forms.bilinear import multi_step_fit as bilinear
from koopsieve.forms.bilinear.multi_step_fit import LiftedWindows, MultiStepBilinear
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation import draw_windows
from tests.regressors import Polynomial

OUTPUTS = np.array([1, 2])  # among the observables 1, x1, x2, x1², x1x2, x2²
VARYING = np.arange(1, 6)
LIFT = Polynomial.up_to(2, 2)


def plant(samples=800, noise=0.0, seed=0, inputs=1):
    """x1⁺ = 0.98 x1 + 0.2 u, x2⁺ = 0.7 x2 + 0.3 u x1 − 0.1 x1²: the input times a state."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-1, 1, size=(samples // 4, 1)), 4, axis=0) if inputs else np.zeros((samples, 0))
    x = np.zeros((samples, 2))
    x[0] = 1.0, -1.0
    for k in range(samples - 1):
        push = u[k].sum()
        x[k + 1] = 0.98 * x[k, 0] + 0.2 * push, 0.7 * x[k, 1] + 0.3 * push * x[k, 0] - 0.1 * x[k, 0] ** 2
    return x + noise * x.std(axis=0) * rng.normal(size=x.shape), u[: samples - 1]


def prepared(length=20, unit=1.0, **settings):
    """Return one-step statistics and windows, the observables in growing units."""
    x, u = plant(**settings)
    scale = unit ** np.arange(6)
    lifted = LIFT.evaluate(x) * scale
    design = bilinear.bilinear_design(lifted[:-1], u, VARYING)
    factor = TriangularFactor.empty(design.shape[1], 6).absorb(design, lifted[1:])
    windows = draw_windows([(x, u)], 2, length, 60, np.random.default_rng(0))
    starts, outputs = LIFT.evaluate(windows.starts) * scale, windows.outputs * scale[OUTPUTS]
    return factor, LiftedWindows(starts, windows.inputs, outputs, VARYING)


def test_a_step_is_the_bilinear_equation():
    rng = np.random.default_rng(0)
    L, inputs, varying = 3, 2, np.array([0, 2])
    A, B, N = rng.normal(size=(L, L)), rng.normal(size=(L, inputs)), rng.normal(size=(inputs, L, L))
    N[:, :, 1] = 0.0
    K = np.vstack([A.T, B.T, *(n.T[varying] for n in N)])
    start, u = rng.normal(size=(1, L)), rng.normal(size=(1, 4, inputs))
    states = bilinear.simulate_lifted(K, LiftedWindows(start, u, np.zeros((1, 4, 0)), varying))
    phi = start[0]
    for t in range(4):
        phi = A @ phi + B @ u[0, t] + sum(u[0, t, j] * N[j] @ phi for j in range(inputs))
        np.testing.assert_allclose(states[t + 1, 0], phi)


@pytest.mark.parametrize("inputs", [0, 1])
def test_the_loss_is_the_weighted_logarithm_of_relative_errors_and_has_its_gradient(inputs):
    factor, windows = prepared(length=6, noise=0.1, inputs=inputs)
    rng = np.random.default_rng(1)
    K = np.linalg.lstsq(factor.R, factor.S, rcond=1e-10)[0] + 1e-2 * rng.normal(size=factor.S.shape)
    weight = rng.random((6, 2))

    def loss(flat):
        return bilinear.log_error_and_gradient(flat.reshape(K.shape), windows, OUTPUTS, weight)[0]

    simulated = bilinear.simulate_lifted(K, windows)[1:, :, OUTPUTS].transpose(1, 0, 2)
    errors = np.mean((simulated - windows.outputs) ** 2, axis=0) / np.var(windows.outputs, axis=(0, 1))
    assert loss(K) == pytest.approx(np.sum(weight * np.log(errors)))
    gradient = bilinear.log_error_and_gradient(K, windows, OUTPUTS, weight)[1].ravel()
    differences = [(loss(K.ravel() + step) - loss(K.ravel() - step)) / 2e-6 for step in 1e-6 * np.eye(K.size)]
    np.testing.assert_allclose(gradient, differences, atol=1e-6, rtol=1e-6)


def test_a_fit_over_many_steps_predicts_better_under_noise():
    factor, windows = prepared(noise=0.2, samples=2000)
    fit = MultiStepBilinear().fit(factor, windows, OUTPUTS)
    assert fit.loss < 0.6 * fit.start
    test = draw_windows([plant(seed=5)], 2, 20, 100, np.random.default_rng(0))
    started = LiftedWindows(LIFT.evaluate(test.starts), test.inputs, test.outputs, VARYING)
    one_step = MultiStepBilinear(iterations=0).fit(factor, windows, OUTPUTS)
    ends = (bilinear.simulate_lifted(K, started)[-1][:, OUTPUTS] for K in (fit.K, one_step.K))
    error, of_one_step = (np.mean((end - test.outputs[:, -1]) ** 2) for end in ends)
    assert error < 0.5 * of_one_step


def test_what_is_exact_stays_and_a_strong_tie_stays_close():
    factor, windows = prepared(noise=0.1)
    one_step = MultiStepBilinear(iterations=0).fit(factor, windows, OUTPUTS).K
    fit = MultiStepBilinear().fit(factor, windows, OUTPUTS, np.arange(6) < 2)
    np.testing.assert_array_equal(fit.K[:, :2], one_step[:, :2])
    assert np.abs(fit.K[:, 2:] - one_step[:, 2:]).max() > 1e-3
    tied = MultiStepBilinear(tie=1e6).fit(factor, windows, OUTPUTS)
    np.testing.assert_allclose(tied.K, one_step, atol=1e-3)


@pytest.mark.parametrize("wrong", [{"tie": -1.0}, {"tie": np.inf}, {"iterations": -1}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(KoopsieveError, match=r"must be a (finite|whole) number, 0 or more"):
        MultiStepBilinear(**wrong)


def test_coefficients_move_in_units_of_what_one_step_leaves_but_never_of_nothing():
    factor, _ = prepared(noise=0.1)
    frame = bilinear._Frame.of(factor, np.zeros(6, dtype=bool))
    squares = np.sum((factor.S - factor.R @ frame.K) ** 2, axis=0), np.sum(factor.S**2, axis=0)
    rest, power = (np.sqrt((one + factor.leftover) / factor.rows) for one in squares)
    np.testing.assert_allclose(frame.unit, np.maximum(rest, bilinear._LEAST_UNIT * power), rtol=1e-9)
    assert (bilinear._LEAST_UNIT * power > rest).tolist() == [True] + [False] * 5  # nothing is left of the constant


def test_units_of_the_observables_do_not_matter():
    fits = (MultiStepBilinear(iterations=20).fit(*prepared(noise=0.1, unit=unit), OUTPUTS) for unit in (1.0, 10.0))
    plain, scaled = (fit.loss for fit in fits)
    assert scaled == pytest.approx(plain, rel=0.02)


def test_a_start_that_overflows_is_left_and_never_returned_worse():
    factor, windows = prepared(length=400, samples=1200, noise=0.1)
    fit = MultiStepBilinear(tie=0.0).fit(replace(factor, S=8.0 * factor.S), windows, OUTPUTS)
    assert not np.isfinite(fit.start)
    assert fit.loss <= fit.start


def test_inputs_and_products_are_counted_as_terms():
    data = Trajectories.from_arrays(*plant(samples=300, noise=0.01))
    result = sift(data, States() + Constant() + Monomials(2), form="bilinear", horizons=[1, 5], path_length=4)
    assert result.n_terms == len(result.model.step_dictionary.regressors) > len(result.retained)
