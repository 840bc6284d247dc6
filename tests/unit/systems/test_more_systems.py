"""Pendulum, predators and prey, and Rössler's attractor against an independent integrator and against what is known."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from koopsieve import KoopsieveError
from koopsieve.systems import lotka_volterra, pendulum, random_drive, rossler


def by_scipy(field, inputs, dt, initial):
    states = [np.asarray(initial, dtype=float)]
    for u in inputs:
        end = solve_ivp(lambda _, x, u=u: field(x, u), (0, dt), states[-1], rtol=1e-10, atol=1e-12)
        states.append(end.y[:, -1])
    return np.array(states)


@pytest.mark.parametrize(
    ("simulate", "field", "dt", "initial"),
    [
        (pendulum, lambda x, u: [x[1], u[0] - 0.3 * x[1] - 4 * np.sin(x[0])], 0.05, (1.0, 0.5)),
        (lotka_volterra, lambda x, u: [x[0] * (1 + u[0] - x[0] / 8 - x[1]), x[1] * (x[0] - 1)], 0.1, (0.5, 2.0)),
    ],
)
def test_driven_systems_follow_their_equations(simulate, field, dt, initial):
    drive = random_drive(60, 10, 0.8, 0)
    np.testing.assert_allclose(simulate(drive, dt, initial=initial), by_scipy(field, drive, dt, initial), atol=1e-7)


def test_rossler_follows_its_equations_and_starts_on_the_attractor():
    found = rossler(3.0, 0.1, initial=[1.0, 2.0, 0.5])
    expected = by_scipy(
        lambda x, _: [-x[1] - x[2], x[0] + 0.2 * x[1], 0.2 + x[2] * (x[0] - 5.7)],
        np.zeros((30, 0)),
        0.1,
        (1.0, 2.0, 0.5),
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    states = rossler(20.0, 0.1, seed=3)
    assert np.abs(states[:, :2]).max() < 13
    assert 0 < states[:, 2].min() < states[:, 2].max() < 25
    np.testing.assert_array_equal(states, rossler(20.0, 0.1, seed=3))
    assert not np.allclose(states[0], rossler(20.0, 0.1, seed=4)[0])


def test_populations_settle_where_growth_and_loss_are_equal():
    final = lotka_volterra(np.zeros((2000, 1)))[-1]
    np.testing.assert_allclose(final, [1.0, 1 - 1 / 8], atol=1e-3)


def test_they_say_what_they_want():
    with pytest.raises(KoopsieveError, match="one column"):
        pendulum(np.zeros(10))
    with pytest.raises(KoopsieveError, match="one column"):
        lotka_volterra(np.zeros((10, 2)))
    with pytest.raises(KoopsieveError, match="positive"):
        lotka_volterra(np.zeros((10, 1)), initial=(0.0, 1.0))
    with pytest.raises(KoopsieveError, match="three states"):
        rossler(1.0, 0.1, initial=[1.0])
    with pytest.raises(KoopsieveError, match="positive"):
        rossler(0.0)
