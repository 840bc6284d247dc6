"""Targets divided among threads give what all targets together give."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from koopsieve.data import Trajectories
from koopsieve.dictionary import Monomials, States
from koopsieve.identify import SparseBayes, SpikeSlab, settle
from koopsieve.regression import compress


@pytest.fixture(scope="module")
def statistics():
    rng = np.random.default_rng(0)
    x = np.zeros((400, 3))
    for k in range(399):
        x[k + 1] = np.array([[0.9, 0.1, 0], [0, 0.8, 0], [0.2, 0, 0.7]]) @ x[k] + 0.1 * rng.normal(size=3)
    data = Trajectories.from_arrays(x, rng.normal(size=(399, 1)))
    return compress(data, (States() + Monomials()).fit(data))


# What iterates stops when it moves by less than its tolerance; rounding, which differs with the size of the stacks, may
# decide whether that takes one sweep more.
STOPPING = 1e-6


@pytest.fixture
def three_threads(monkeypatch):
    monkeypatch.setattr(settle, "MIN_WEIGHTS_PER_THREAD", 10)
    return lambda: threadpool_limits(3, user_api="blas")


@pytest.mark.parametrize("identifier", [SparseBayes(), SpikeSlab()])
def test_threads_give_what_one_gives(statistics, identifier, three_threads):
    with threadpool_limits(1, user_api="blas"):
        whole = identifier.identify(statistics)
    with three_threads():
        divided = identifier.identify(statistics)
    for name in ("coef", "inclusion", "noise_precision", "elbo", "coef_variance"):
        mine, theirs = getattr(divided, name), getattr(whole, name)
        np.testing.assert_allclose(mine, theirs, rtol=STOPPING, atol=STOPPING / 10 * np.nanmax(np.abs(theirs)))
    assert (divided.targets, divided.regressors, divided.status) == (whole.targets, whole.regressors, whole.status)


def test_a_warm_start_goes_with_its_targets(statistics, three_threads):
    earlier, later = SpikeSlab().identify(statistics), statistics.discount(0.9)
    with threadpool_limits(1, user_api="blas"):
        whole = SpikeSlab().identify(later, start=earlier)
    with three_threads():
        np.testing.assert_allclose(SpikeSlab().identify(later, start=earlier).coef, whole.coef, atol=1e-10)
