"""The simulators against an independent integrator and against physics."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from koopsieve import KoopsieveError
from koopsieve.systems import (
    HERON,
    HERON_QUADRATIC,
    lorenz,
    random_drive,
    random_thrust,
    surface_vehicle,
    wiener_hammerstein,
)


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


# u|u| has a kink where a speed changes sign; a fixed step across it costs the fourth order, not the sixth digit
@pytest.mark.parametrize("vehicle, atol", [(HERON, 1e-8), (HERON_QUADRATIC, 1e-6)])
def test_vehicle_agrees_with_a_tight_independent_integrator(vehicle, atol):
    thrust = random_thrust(30, 5, seed=0)
    states = surface_vehicle(thrust, 0.1, vehicle=vehicle)
    now = np.zeros(3)
    for k, held in enumerate(thrust):
        step = solve_ivp(
            lambda _, s, held=held: vehicle.derivative(tuple(s), tuple(held)), (0, 0.1), now, rtol=1e-12, atol=1e-13
        )
        now = step.y[:, -1]
        np.testing.assert_allclose(states[k + 1], now, atol=atol)


def test_vehicle_at_rest_stays_and_equal_thrust_goes_straight_to_the_drag_limit():
    assert np.all(surface_vehicle(np.zeros((10, 2))) == 0)
    straight = surface_vehicle(np.full((400, 2), 20.0))
    assert np.all(straight[:, 1:] == 0)
    assert straight[-1, 0] == pytest.approx(40 / 26.43, rel=1e-6)


def test_circuit_is_periodic_without_noise_and_not_with_process_noise():
    quiet = wiener_hammerstein(8192, seed=2, process_noise=0.0, measurement_noise=0.0)
    np.testing.assert_allclose(quiet.outputs[:4096], quiet.outputs[4096:], atol=1e-9)
    noisy = wiener_hammerstein(8192, seed=2)
    gap = noisy.outputs[:4096] - noisy.outputs[4096:]
    assert 0.3 < np.std(gap) / np.std(noisy.outputs) < 1.0  # two-thirds in the measured records


def test_circuit_is_not_linear():
    record = wiener_hammerstein(4096, seed=5, process_noise=0.0, measurement_noise=0.0)
    U, Y = np.fft.rfft(record.inputs), np.fft.rfft(record.outputs)
    excited = np.abs(U) > 1e-6 * np.abs(U).max()
    assert np.abs(Y[~excited]).max() > 1e-4 * np.abs(Y).max()


@pytest.mark.parametrize(
    "draw, columns, largest",
    [(lambda: random_drive(57, 10, 2.0, 4), 1, 2.0), (lambda: random_thrust(57, 10, 1), 2, 20.0)],
)
def test_random_levels_are_held_within_their_bounds_and_repeat_with_their_seed(draw, columns, largest):
    drive = draw()
    assert drive.shape == (57, columns)
    assert np.abs(drive).max() <= largest
    assert np.all(drive[:10] == drive[0])
    assert len(np.unique(drive[:, 0])) == 6
    np.testing.assert_array_equal(drive, draw())
