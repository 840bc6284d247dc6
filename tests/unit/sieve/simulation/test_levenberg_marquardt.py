"""Levenberg–Marquardt on normal equations: it finds minima, its loss never rises, and units do not matter."""

from dataclasses import dataclass

import numpy as np
import pytest

from koopsieve.sieve.simulation import FitStatus, LevenbergMarquardt
from koopsieve.sieve.simulation.levenberg_marquardt import NormalEquations

START = np.array([-1.2, 1.0])


@dataclass(frozen=True)
class Residuals:
    """Least squares given as a function and its Jacobian."""

    residual: object
    jacobian: object
    unit: np.ndarray

    def loss(self, theta):
        return float(np.mean(self.residual(theta * self.unit) ** 2))

    def normal(self, theta):
        J = -self.jacobian(theta * self.unit) * self.unit  # of the prediction: the residual is target less prediction
        return NormalEquations(J.T @ J, J.T @ self.residual(theta * self.unit))


def rosenbrock(unit=(1.0, 1.0)):
    return Residuals(
        lambda t: np.array([10 * (t[1] - t[0] ** 2), 1 - t[0], 0.0]),
        lambda t: np.array([[-20 * t[0], 10.0], [-1.0, 0.0], [0.0, 0.0]]),
        np.array(unit),
    )


def test_it_finds_the_minimum_its_loss_never_rises_and_it_says_how_it_ended():
    fit = LevenbergMarquardt(iterations=100, tolerance=1e-12).fit(rosenbrock(), START)
    np.testing.assert_allclose(fit.theta, [1.0, 1.0], atol=1e-6)
    assert np.all(np.diff(fit.trace) <= 0)
    assert fit.trace[-1] == fit.loss
    assert fit.status in (FitStatus.SETTLED, FitStatus.STUCK)
    assert LevenbergMarquardt(iterations=2).fit(rosenbrock(), START).status is FitStatus.MAX_ITERATIONS
    there = LevenbergMarquardt().fit(rosenbrock(), np.array([1.0, 1.0]))
    assert (there.status, there.trace) == (FitStatus.STUCK, (0.0,))  # nothing is lower


def test_units_of_the_coefficients_do_not_matter():
    method = LevenbergMarquardt(iterations=6, tolerance=0)
    scaled = method.fit(rosenbrock((1e4, 1e-3)), START / [1e4, 1e-3])
    np.testing.assert_allclose(scaled.trace, method.fit(rosenbrock(), START).trace, rtol=1e-6)


def test_a_trial_that_is_not_finite_is_passed_over():
    """The first full step overshoots to where the loss overflows."""
    problem = Residuals(
        lambda t: np.array([np.exp(np.exp(t[0])) - np.exp(1.0), 0.0]),
        lambda t: np.array([[np.exp(t[0]) * np.exp(np.exp(t[0]))], [0.0]]),
        np.ones(1),
    )
    with np.errstate(over="ignore"):
        fit = LevenbergMarquardt(iterations=50, tolerance=1e-12, damping=1e-6).fit(problem, np.array([-4.0]))
    assert fit.theta[0] == pytest.approx(0.0, abs=1e-6)


def test_a_coefficient_without_effect_stays_where_it_is():
    slopes = np.array([[1.0, 0], [0, 0], [0, 0]])
    problem = Residuals(lambda t: np.array([t[0] - 3, 0.0, 0.0]), lambda t: slopes, np.ones(2))
    fit = LevenbergMarquardt().fit(problem, np.array([0.0, 7.0]))
    np.testing.assert_allclose(fit.theta, [3.0, 7.0], atol=1e-3)
