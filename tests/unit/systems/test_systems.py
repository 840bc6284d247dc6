"""The simulators against an independent integrator and against physics."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from koopsieve import KoopsieveError
from koopsieve.systems import (
    HERON,
    HERON_QUADRATIC,
    duffing,
    lorenz,
    random_drive,
    random_thrust,
    surface_vehicle,
    van_der_pol,
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


def test_random_thrust_holds_and_stays_within_what_the_thrusters_give():
    thrust = random_thrust(57, 10, seed=1)
    assert thrust.shape == (57, 2)
    assert np.abs(thrust).max() <= 20
    assert np.all(thrust[:10] == thrust[0])
    assert len(np.unique(thrust[:, 0])) == 6


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


def by_scipy(field, drive, dt, initial):
    states = [np.asarray(initial, dtype=float)]
    for u in drive[:, 0]:
        end = solve_ivp(lambda _, x, u=u: field(x, u), (0, dt), states[-1], rtol=1e-10, atol=1e-12)
        states.append(end.y[:, -1])
    return np.array(states)


@pytest.mark.parametrize(
    ("simulate", "field"),
    [
        (duffing, lambda x, u: [x[1], -0.3 * x[1] + x[0] - x[0] ** 3 + u]),
        (van_der_pol, lambda x, u: [x[1], (1 - x[0] ** 2) * x[1] - x[0] + u]),
    ],
)
def test_they_follow_their_equations(simulate, field):
    drive = random_drive(60, 10, 1.0, 0)
    np.testing.assert_allclose(simulate(drive, 0.05), by_scipy(field, drive, 0.05, (1.0, 0.0)), atol=1e-7)


def test_a_drive_holds_its_levels_within_its_bounds_and_repeats_with_its_seed():
    drive = random_drive(25, 10, 2.0, 4)
    assert drive.shape == (25, 1)
    assert np.all(np.abs(drive) <= 2.0)
    assert len(np.unique(drive)) == 3
    np.testing.assert_array_equal(drive, random_drive(25, 10, 2.0, 4))


def test_a_drive_of_another_shape_is_refused():
    with pytest.raises(KoopsieveError, match="one column"):
        duffing(np.zeros(10))
