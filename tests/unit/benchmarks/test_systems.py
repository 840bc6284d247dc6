"""Systems of the benchmarks, from the pendulum to a quadrotor, against an independent integrator and known facts."""

import numpy as np
import pytest

from benchmarks.systems import (
    PlanarQuadrotor,
    double_well,
    fitzhugh_nagumo,
    lorenz96,
    lotka_volterra,
    oregonator,
    pendulum,
    planar_quadrotor,
    rossler,
)
from koopsieve import KoopsieveError
from koopsieve.systems import duffing, random_drive
from tests.unit.systems.test_systems import by_scipy

DRIVE = random_drive(60, 10, 0.8, 0)
CURRENT = np.abs(random_drive(40, 10, 0.6, 0))
NONE = np.zeros((30, 0))


def prey(x, u):
    return [x[0] * (1 + u - x[0] / 8 - x[1]), x[1] * (x[0] - 1)]


def nerve(x, u):
    return [x[0] - x[0] ** 3 / 3 - x[1] + u, (x[0] + 0.7 - 0.8 * x[1]) / 12.5]


def reaction(x, u):
    held = (1.4 * x[1] + u) * (x[0] - 0.002) / (x[0] + 0.002)
    return [(x[0] - x[0] ** 2 - held) / 0.05, x[0] - x[1]]


def craft(x, *u):
    return PlanarQuadrotor().derivative(tuple(x), u)


def ring(x):
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8


@pytest.mark.parametrize(
    "simulate, field, drive, dt, initial, atol",
    [
        (pendulum, lambda x, u: [x[1], u - 0.3 * x[1] - 4 * np.sin(x[0])], DRIVE, 0.05, (1.0, 0.5), 1e-7),
        (lotka_volterra, prey, DRIVE, 0.1, (0.5, 2.0), 1e-7),
        (fitzhugh_nagumo, nerve, CURRENT, 0.5, (-1.2, -0.62), 1e-6),
        (oregonator, reaction, 0.1 * CURRENT, 0.05, (0.3, 0.05), 1e-6),
        (planar_quadrotor, craft, np.hstack([3 * DRIVE, DRIVE[::-1]]), 0.05, (0.1, 0.2, 0.3, -0.4, 0.5, -0.6), 1e-5),
        (rossler, lambda x: [-x[1] - x[2], x[0] + 0.2 * x[1], 0.2 + x[2] * (x[0] - 5.7)], NONE, 0.1, (1, 2, 0.5), 1e-6),
        (lambda *asked, initial: lorenz96(*asked, states=5, initial=initial), ring, NONE, 0.05, (1, 3, 8, 2, -1), 1e-4),
    ],
)
def test_they_follow_their_equations(simulate, field, drive, dt, initial, atol):
    given = (drive, dt) if drive.size else (len(drive) * dt, dt)
    found = simulate(*given, initial=initial)
    np.testing.assert_allclose(found, by_scipy(field, drive, dt, initial), atol=atol)


def test_rossler_starts_on_the_attractor():
    states = rossler(20.0, 0.1, seed=3)
    assert np.abs(states[:, :2]).max() < 13
    assert 0 < states[:, 2].min() < states[:, 2].max() < 25
    np.testing.assert_array_equal(states, rossler(20.0, 0.1, seed=3))
    assert not np.allclose(states[0], rossler(20.0, 0.1, seed=4)[0])


def test_populations_settle_where_growth_and_loss_are_equal():
    final = lotka_volterra(np.zeros((2000, 1)))[-1]
    np.testing.assert_allclose(final, [1.0, 1 - 1 / 8], atol=1e-3)


def test_a_nerve_rests_without_current_and_fires_with_it():
    assert np.ptp(fitzhugh_nagumo(np.zeros((400, 1)))[200:, 0]) < 1e-3
    firing = fitzhugh_nagumo(np.full((400, 1), 0.5))[200:, 0]
    assert np.ptp(firing) > 3
    assert np.sum(np.diff(np.sign(firing)) > 0) >= 2


def test_the_reaction_oscillates_in_the_dark_between_bounds():
    states = oregonator(np.zeros((800, 1)))
    assert 0.002 < states[:, 0].min() < 0.004
    assert 0.5 < states[:, 0].max() < 1.0


def test_a_particle_in_two_wells_has_the_velocities_of_boltzmann_and_changes_wells():
    states = double_well(20000, 0.1, noise=0.5, damping=0.5, seed=1)
    assert states[:, 1].var() == pytest.approx(0.25, rel=0.08)
    assert np.abs(states).max() < 4
    assert np.sum(np.diff(np.sign(states[::20, 0])) != 0) > 10
    np.testing.assert_array_equal(double_well(50, seed=3), double_well(50, seed=3))
    assert not np.allclose(double_well(50, seed=3), double_well(50, seed=4))
    quiet = double_well(60, 0.05, noise=0.0, initial=(0.2, 0.1))
    np.testing.assert_allclose(quiet, duffing(np.zeros((60, 1)), initial=(0.2, 0.1)), atol=1e-4)


def test_weather_on_a_ring_is_the_same_from_every_place():
    start = np.array([1.0, 3.0, 8.0, 2.0, -1.0])
    one, two = (lorenz96(2.0, 0.05, states=5, initial=np.roll(start, shift)) for shift in (0, 1))
    np.testing.assert_allclose(two, np.roll(one, 1, axis=1))
    states = lorenz96(50.0, 0.05, seed=2)
    assert states.shape == (1001, 6)
    assert np.abs(states).max() < 20
    np.testing.assert_array_equal(states, lorenz96(50.0, 0.05, seed=2))


def test_a_quadrotor_goes_where_it_is_told_and_obeys_newton():
    command = np.tile([2.0, -1.0], (400, 1))
    np.testing.assert_allclose(planar_quadrotor(command)[-1], [2.0, -1.0, 0, 0, 0, 0], atol=1e-3)
    *_, ax, az, _ = craft((0.1, 0.2, 0.3, -0.4, 0.5, -0.6), 0.0, 0.0)
    assert np.arctan2(-ax, az + 9.81) == pytest.approx(0.3)  # all force but the weight is along the craft's axis


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pendulum(np.zeros(10)), "one column"),
        (lambda: lotka_volterra(np.zeros((10, 2))), "one column"),
        (lambda: lotka_volterra(np.zeros((10, 1)), initial=(0.0, 1.0)), "positive"),
        (lambda: rossler(1.0, 0.1, initial=[1.0]), "three states"),
        (lambda: rossler(0.0), "positive"),
        (lambda: fitzhugh_nagumo(np.zeros(10)), "one column"),
        (lambda: oregonator(np.full((3, 1), -1.0)), "negative"),
        (lambda: oregonator(np.zeros((3, 1)), initial=(0.0, 1.0)), "positive"),
        (lambda: double_well(10, damping=0.0), "positive"),
        (lambda: lorenz96(1.0, states=3), "at least 4"),
        (lambda: lorenz96(1.0, initial=[1.0]), "6 states"),
        (lambda: planar_quadrotor(np.zeros((3, 1))), "columns x and z"),
    ],
)
def test_they_say_what_they_want(call, message):
    with pytest.raises(KoopsieveError, match=message):
        call()
