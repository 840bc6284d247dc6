"""Single samples far outside are named with their rows, and kept, dropped or refused; events are left alone."""

import numpy as np
import pytest

from koopsieve import KoopsieveError, KoopsieveWarning, Trajectories
from koopsieve.data.episodes import episodes_from_arrays
from koopsieve.data.outliers import find_outliers

RNG = np.random.default_rng(0)
Y, U = RNG.normal(size=(300, 2)), RNG.normal(size=(300, 1))


def with_values(at, value, samples=Y, column=0):
    changed = samples.copy()
    changed[at, column] = value
    return changed


def count(samples):
    return find_outliers(episodes_from_arrays(samples)).count


@pytest.mark.parametrize("at, value", [(50, 1e6), ([50, 51, 200], 40.0), (1, 1e300), ([7, 100], [1e9, -1e9])])
def test_single_samples_far_outside_are_found(at, value):
    far = with_values(at, value)
    assert count(far) == np.size(at)
    assert count([Y, far]) == np.size(at)
    assert count(1e-200 * far) == np.size(at)


@pytest.mark.parametrize(
    "samples",
    [
        Y,
        with_values(50, 9.0),  # a large one, but of the size of the others
        with_values(slice(50, 54), 1e6),  # four in a row: an event
        with_values(slice(0, 3), [1e6, 1e5, 1e4]),  # the decay from a start
        with_values(299, 1e6),
        with_values([50, 90], 1.0, np.zeros((300, 1))),  # an impulse at rest
        np.repeat([[0.0], [1e6]], 150, axis=0),  # a step
        RNG.standard_t(3, size=(3000, 1)),
        np.exp(RNG.normal(size=(300, 1))),
        np.cumsum(RNG.normal(size=(3000, 1)), axis=0),
        with_values(9, 1e6, RNG.normal(size=(19, 1))),  # too few to know
    ],
    ids=range(11),
)
def test_events_and_heavy_tails_are_none(samples):
    assert count(samples) == 0


def test_they_are_kept_with_a_warning_that_names_their_rows(tmp_path):
    path = tmp_path / "log.csv"
    np.savetxt(path, with_values(50, 1e6), delimiter=",", header="a,b", comments="")
    with pytest.warns(KoopsieveWarning, match=r"1 value far outside the others: 'a' is 1e\+06 at row 52 .*log\.csv"):
        data = Trajectories.from_file(path, ["a", "b"])
    assert data.n_samples == 300
    assert "Kept: 1 value far outside the others: 'a' is 1e+06 at row 52" in data.provenance.describe()


def test_they_are_dropped_and_counted():
    y, u = with_values([50, 200], 1e6), with_values(120, -1e7, U)
    data = Trajectories.from_arrays(y, u, outliers="drop")
    assert [len(x) for x in data.states] == [50, 70, 79, 99]  # cut at both samples, and after the input
    assert data.provenance.total.rows_dropped == 2
    assert "Dropped: 3 values far outside the others: 'x1' is 1e+06 at sample 50" in data.provenance.describe()
    filled = Trajectories.from_arrays(y, u, outliers="drop", gaps="interpolate", max_gap=1)
    assert filled.n_episodes == 1
    assert filled.states[0][50, 0] == pytest.approx((Y[49, 0] + Y[51, 0]) / 2)


def test_they_are_refused_and_missing_samples_too():
    with pytest.raises(KoopsieveError, match=r"'u1' is 1e\+06 at sample 50 .*Repair the data, or pass outliers="):
        Trajectories.from_arrays(Y, with_values(50, 1e6, U), outliers="refuse")
    with pytest.raises(KoopsieveError, match=r"sample 80 .* is NaN"):
        Trajectories.from_arrays(with_values(80, np.nan, with_values(50, 1e6)), outliers="drop")
    with pytest.raises(KoopsieveError, match=r'outliers must be "keep", "drop" or "refuse"'):
        Trajectories.from_arrays(Y, outliers="ignore")


def test_many_are_counted_and_the_first_listed():
    with pytest.warns(KoopsieveWarning, match=r"7 values far .* at sample 90 .* of episode 0, and 2 more"):
        Trajectories.from_arrays(with_values([10, 30, 50, 70, 90, 110, 130], 1e6, Y[:, :1].repeat(3, axis=0)))
