"""Targets in batches give what all targets together give, for every identifier."""

from dataclasses import fields

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from koopsieve.data import Trajectories
from koopsieve.dictionary import Monomials, States
from koopsieve.execution import Serial, Threads
from koopsieve.identify import STLSQ, LeastSquares, SparseBayes, SpikeSlab, identify_in_batches, in_batches
from koopsieve.regression import compress


@pytest.fixture(scope="module")
def statistics():
    rng = np.random.default_rng(0)
    x = np.zeros((400, 3))
    for k in range(399):
        x[k + 1] = np.array([[0.9, 0.1, 0], [0, 0.8, 0], [0.2, 0, 0.7]]) @ x[k] + 0.1 * rng.normal(size=3)
    data = Trajectories.from_arrays(x, rng.normal(size=(399, 1)))
    return compress(data, (States() + Monomials()).fit(data))


# A direct solve answers to rounding. What iterates stops when it moves by less than its tolerance; rounding, which
# differs with the size of the stacks, may decide whether that takes one sweep more.
ROUNDING, STOPPING = 1e-10, 1e-6
IDENTIFIERS = [
    (LeastSquares(), ROUNDING),
    (STLSQ(), ROUNDING),
    (SparseBayes(), STOPPING),
    (SpikeSlab(), STOPPING),
    (SpikeSlab.published(), STOPPING),
]


@pytest.mark.parametrize(("identifier", "tolerance"), IDENTIFIERS)
@pytest.mark.parametrize("executor", [Serial(), Threads(4), Threads(50)])
def test_batches_equal_the_whole(statistics, identifier, tolerance, executor):
    whole, parts = identifier.identify(statistics), identify_in_batches(identifier, statistics, executor)
    for name in (field.name for field in fields(whole)):
        mine, theirs = getattr(parts, name), getattr(whole, name)
        if isinstance(theirs, np.ndarray) and theirs.dtype.kind == "f":
            np.testing.assert_allclose(
                mine, theirs, rtol=tolerance, atol=tolerance / 10 * np.nanmax(np.abs(theirs), initial=0)
            )
        elif name not in ("sweeps", "agreement"):  # how long it took may differ by rounding
            assert tuple(mine) == tuple(theirs)


def test_a_warm_start_goes_with_its_targets(statistics):
    earlier = SpikeSlab().identify(statistics)
    found = identify_in_batches(SpikeSlab(), statistics.discount(0.9), Threads(3), start=earlier)
    np.testing.assert_allclose(
        found.coef, SpikeSlab().identify(statistics.discount(0.9), start=earlier).coef, atol=1e-10
    )


@pytest.mark.parametrize("identifier", [SparseBayes(), SpikeSlab()])
def test_spreading_targets_over_cores_changes_nothing(statistics, identifier, monkeypatch):
    whole = identifier.identify(statistics)
    monkeypatch.setattr(in_batches, "MIN_WEIGHTS_PER_THREAD", 10)
    with threadpool_limits(3, user_api="blas"):
        spread = identifier.identify(statistics)
    np.testing.assert_allclose(spread.inclusion, whole.inclusion, atol=STOPPING)
    np.testing.assert_allclose(spread.coef, whole.coef, atol=STOPPING)
    assert spread.targets == whole.targets
