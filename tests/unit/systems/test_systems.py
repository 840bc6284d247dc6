"""The simulators against an independent integrator and against physics."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.systems import stirred_tank
from koopsieve import KoopsieveError
from koopsieve.systems import (
    HERON,
    HERON_QUADRATIC,
    duffing,
    lorenz,
    random_drive,
    random_thrust,
    surface_vehicle,
    two_tanks,
    van_der_pol,
    wiener_hammerstein,
)

DRIVE = random_drive(60, 10, 1.0, 0)
PUMP = np.array([[3.0, 0.0], [9.0, 5e-5], [9.0, 0.0], [9.0, 5e-5], [2.0, 1e-5]])  # and a leak; the tank overflows
FLOW = np.array([[0.5, 0.0], [2.0, -0.5], [0.2, 0.4]])  # and a richer feed


def tanks(x, pump, leak=0.0):
    over = 0.04 * max(x[0] - 0.5, 0.0) ** 1.5
    through, out = 1.2e-3 * np.sqrt(x[0]), 1.2e-3 * np.sqrt(x[1])
    return np.array([2e-4 * pump - through - over, through + 0.3 * over - out - leak]) / 0.05


def reactor(x, flow, richer=0.0):
    reactions = 5 / 6 * x[0], 5 / 3 * x[1], x[0] ** 2 / 6
    feed = 10.0 + richer - x[0]
    return np.array([flow * feed - reactions[0] - reactions[2], reactions[0] - reactions[1] - flow * x[1]])


def by_scipy(field, drive, dt, initial):
    states = [np.array(initial)]
    for u in drive:
        end = solve_ivp(lambda _, x, u=u: field(x, *u), (0, dt), states[-1], method="DOP853", rtol=1e-11, atol=1e-13)
        states.append(end.y[:, -1])
    return np.array(states)


@pytest.mark.parametrize(
    "simulate, field, drive, dt, initial, atol",
    [
        (duffing, lambda x, u: [x[1], -0.3 * x[1] + x[0] - x[0] ** 3 + u], DRIVE, 0.05, (1, 0), 1e-7),
        (van_der_pol, lambda x, u: [x[1], (1 - x[0] ** 2) * x[1] - x[0] + u], DRIVE, 0.05, (1, 0), 1e-7),
        (two_tanks, tanks, PUMP[:, :1], 20.0, (0.4, 0.3), 3e-5),
        (two_tanks, tanks, PUMP, 20.0, (0.4, 0.3), 3e-5),
        (stirred_tank, reactor, FLOW[:, :1], 0.3, (3.0, 1.117), 1e-7),
        (stirred_tank, reactor, FLOW, 0.3, (3.0, 1.117), 1e-7),
    ],
)
def test_plants_and_oscillators_follow_their_equations(simulate, field, drive, dt, initial, atol):
    found = simulate(drive, dt, initial=initial)
    np.testing.assert_allclose(found, by_scipy(field, drive, dt, initial), rtol=0, atol=atol)
    with pytest.raises(KoopsieveError, match=r"drive must have .*Got shape \(5,\)"):
        simulate(np.zeros(5))


def test_the_gain_of_the_reactor_changes_its_sign():
    at_rest = [stirred_tank(np.full((400, 1), flow))[-1, 1] for flow in (0.6, 1.3, 3.0)]
    assert at_rest[1] > max(at_rest[0], at_rest[2]) + 0.05


def test_lorenz_follows_its_equations_and_starts_on_the_attractor_where_the_seed_says():
    start = [-8.0, 7.0, 27.0]
    expected = by_scipy(
        lambda s: [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]],
        np.empty((100, 0)), 0.01, start,
    )  # fmt: skip
    np.testing.assert_allclose(lorenz(1.0, 0.01, initial=start), expected, atol=1e-7)
    states = lorenz(2.0, 1e-3, seed=3)
    assert states.shape == (2001, 3)
    assert np.abs(states).max() < 60
    assert states[:, 2].min() > 0
    np.testing.assert_array_equal(states, lorenz(2.0, 1e-3, seed=3))
    assert not np.allclose(states[0], lorenz(2.0, 1e-3, seed=4)[0])
    with pytest.raises(KoopsieveError, match="three states"):
        lorenz(1.0, 0.1, initial=[1.0, 2.0])
    with pytest.raises(KoopsieveError, match="positive"):
        lorenz(-1.0, 0.1)


# u|u| has a kink where a speed changes sign; a fixed step across it costs the fourth order, not the sixth digit
@pytest.mark.parametrize("vehicle, atol", [(HERON, 1e-8), (HERON_QUADRATIC, 1e-6)])
def test_the_vehicle_agrees_with_another_integrator_and_wind_pushes_it(vehicle, atol):
    thrust = np.hstack([random_thrust(30, 5, seed=0), np.repeat([[0.0], [-4.0]], 15, axis=0)])
    states, still = (surface_vehicle(rows, 0.1, vehicle=vehicle) for rows in (thrust, thrust[:, :2]))
    expected = by_scipy(lambda s, *held: vehicle.derivative(tuple(s), held), thrust, 0.1, np.zeros(3))
    np.testing.assert_allclose(states, expected, atol=atol)
    np.testing.assert_array_equal(still[:16], states[:16])
    assert (states[16:, 0] < still[16:, 0]).all()
    with pytest.raises(KoopsieveError, match="drive must have the columns left, right and, if wanted, push"):
        surface_vehicle(np.zeros((3, 4)))


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
