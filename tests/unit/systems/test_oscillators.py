"""The driven oscillators against an independent integrator."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from koopsieve import KoopsieveError
from koopsieve.systems import duffing, random_drive, van_der_pol


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
