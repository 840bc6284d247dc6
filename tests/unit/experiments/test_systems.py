"""The simulators against an independent integrator and against physics."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from koopsieve._types import KoopsieveError
from koopsieve.experiments.systems import lorenz


def test_lorenz_agrees_with_a_tight_independent_integrator():
    states = lorenz(1.0, 0.01, initial=[-8.0, 7.0, 27.0])

    def derivative(_, s):
        x, y, z = s
        return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

    times = np.linspace(0, 1, 101)
    oracle = solve_ivp(derivative, (0, 1), [-8.0, 7.0, 27.0], method="DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(states, oracle.y.T, atol=1e-7)


def test_lorenz_starts_on_the_attractor_and_the_seed_decides_where():
    states = lorenz(2.0, 1e-3, seed=3)
    assert states.shape == (2001, 3)
    assert np.abs(states).max() < 60
    assert states[:, 2].min() > 0
    np.testing.assert_array_equal(states, lorenz(2.0, 1e-3, seed=3))
    assert not np.allclose(states[0], lorenz(2.0, 1e-3, seed=4)[0])


def test_lorenz_says_what_it_wants():
    with pytest.raises(KoopsieveError, match="three states"):
        lorenz(1.0, 0.1, initial=[1.0, 2.0])
    with pytest.raises(KoopsieveError, match="positive"):
        lorenz(-1.0, 0.1)
