"""Groups, warm starts and statuses of the default spike and slab."""

from itertools import pairwise

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.identify import SpikeSlab, SpikeSlabPrior, Start, interchangeable_groups
from tests.problems import lorenz_lifted, sparse_problem, statistics_of


def with_copies(noise):
    rng = np.random.default_rng(0)
    design, targets, weights = sparse_problem(seed=2, rows=500, regressors=8, targets=8, correlation=0.1)
    design = np.column_stack([design, design[:, 0] + noise * rng.normal(size=500), -design[:, 0]])
    targets = np.column_stack([targets, targets[:, :2]])
    return statistics_of(design, targets), weights


def test_interchangeable_observables_are_returned_by_name():
    statistics, weights = with_copies(noise=0.02)
    assert np.any(weights[0])
    groups = interchangeable_groups(statistics, SpikeSlab().identify(statistics))
    assert [set(group) for group in groups] == [{"o1", "o9", "o10"}]


def test_different_observables_form_no_group():
    statistics, _ = with_copies(noise=0.5)
    groups = interchangeable_groups(statistics, SpikeSlab().identify(statistics))
    assert [set(group) for group in groups] == [{"o1", "o10"}]
    assert interchangeable_groups(statistics, SpikeSlab().identify(statistics), threshold=1.1) == ()
    with pytest.raises(KoopsieveError, match="correlation"):
        interchangeable_groups(statistics, SpikeSlab().identify(statistics), correlation=0.0)


def test_of_two_copies_one_is_enough():
    statistics, weights = with_copies(noise=0.02)
    found = SpikeSlab().identify(statistics)
    for j in np.flatnonzero(weights[0]):
        assert np.isclose(found.inclusion[[0, 8, 9], j].sum(), 1.0, atol=0.1)


def test_a_warm_start_never_lowers_the_bound():
    statistics = statistics_of(*lorenz_lifted(samples=1500, snr_db=30))
    loose = SpikeSlab(SpikeSlabPrior(worth=0.0)).identify(statistics)
    cold = SpikeSlab().identify(statistics)
    warm = SpikeSlab().identify(statistics, start=loose)
    assert np.all(warm.elbo >= cold.elbo - 1e-6)


def test_resuming_an_answer_stays_there():
    statistics = statistics_of(*lorenz_lifted(samples=1500, snr_db=30))
    first = SpikeSlab(averaged=False).identify(statistics)  # an average is no answer to stay at
    again = SpikeSlab(starts=(Start.ZERO,)).identify(statistics, start=first)
    assert np.all(again.elbo >= first.elbo - 1e-3)


def test_more_sweeps_never_lower_the_bound():
    statistics = statistics_of(*lorenz_lifted(samples=1500, snr_db=40))
    bounds = [SpikeSlab(max_sweeps=count).identify(statistics).elbo for count in (1, 2, 3, 5, 50)]
    for fewer, more in pairwise(bounds):
        assert np.all(more >= fewer - 10 * SpikeSlab().tolerance)  # within which endings count as equal


@pytest.mark.parametrize("snr_db", [20, 30, 40])
@pytest.mark.parametrize("coefficient", [1e-5, 1e-3])
def test_overlapping_kernels_are_sifted(snr_db, coefficient):
    """Few of the 23 observables of the paper's Lorenz study explain a tenth of the noise; everything else falls."""
    design, targets = lorenz_lifted(samples=6000, snr_db=snr_db, coefficient=coefficient)
    found = SpikeSlab(SpikeSlabPrior(worth=0.1)).identify(statistics_of(design, targets))
    reached, waiting = set(range(3)), [0, 1, 2]
    while waiting:
        j = waiting.pop()
        new = set(np.flatnonzero(found.inclusion[:, j] >= 0.01)) - reached
        reached |= new
        waiting += new
    assert len(reached) <= 12
    assert found.settled
