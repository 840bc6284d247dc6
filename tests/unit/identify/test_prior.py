"""What a user can say before the data speak."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.identify import STLSQ, SpikeSlab, SpikeSlabPrior
from tests.problems import sparse_problem, statistics_of


def statistics(seed=0, **kind):
    design, targets, _ = sparse_problem(seed, regressors=10, targets=10, **kind)
    return statistics_of(design, targets)


def test_expecting_maps_a_size_to_prior_odds():
    prior = SpikeSlabPrior.expecting(4)
    e, f = prior.beta_shapes(40)
    assert np.isclose(e / (e + f), 0.1)
    usual = prior.log_odds(tuple("abcdefgh"), rows=0)
    np.testing.assert_allclose(usual, 0.0, atol=1e-12)


def test_expecting_more_includes_more():
    found = [SpikeSlab(SpikeSlabPrior.expecting(size)).identify(statistics(snr_db=0)) for size in (0.01, 1, 9)]
    sizes = [estimate.inclusion.sum() for estimate in found]
    assert sizes[0] <= sizes[1] <= sizes[2]
    assert sizes[0] < sizes[2]


def test_expecting_more_than_there_are_is_refused():
    with pytest.raises(KoopsieveError, match="only 10"):
        SpikeSlab(SpikeSlabPrior.expecting(12)).identify(statistics())


def test_odds_of_single_regressors_move_their_inclusion():
    data = statistics(seed=4, snr_db=-3)
    plain = SpikeSlab().identify(data)
    doubtful = int(np.argmin(plain.inclusion.max(axis=1)))
    name = data.regressors[doubtful]
    favoured = SpikeSlab(SpikeSlabPrior(odds={name: 1e12})).identify(data)
    refused = SpikeSlab(SpikeSlabPrior(odds={name: 1e-12})).identify(data)
    assert np.all(favoured.inclusion[doubtful] >= plain.inclusion[doubtful] - 1e-9)
    assert np.all(favoured.inclusion[doubtful] > 0.99)
    assert np.all(refused.inclusion[doubtful] < 0.01)


def test_known_always_observables_are_always_in():
    data = statistics(seed=4)
    found = SpikeSlab(SpikeSlabPrior(always=("o3", "o7"))).identify(data)
    np.testing.assert_array_equal(found.inclusion[[2, 6]], 1.0)
    assert np.all(np.isfinite(found.elbo))


def test_flat_is_the_papers_refit_prior():
    flat = SpikeSlabPrior(odds={"a": 3.0}).flat()
    np.testing.assert_array_equal(flat.log_odds(("a", "b"), rows=1e6), 0.0)


def test_worth_does_not_depend_on_the_number_of_rows():
    prior = SpikeSlabPrior(worth=0.1)
    assert np.isclose(np.diff([prior.log_odds(("a",), rows)[0] for rows in (1000, 3000)])[0], -0.05 * 2000)


def test_names_that_are_no_regressors_are_refused():
    with pytest.raises(KoopsieveError, match="'x9'"):
        SpikeSlab(SpikeSlabPrior(always=("x9",))).identify(statistics())
    reduced = SpikeSlabPrior(always=("x9", "o1"), odds={"x8": 2.0}).among(("o1", "o2"))
    assert reduced.always == ("o1",)
    assert reduced.odds == {}


@pytest.mark.parametrize("wrong", [{"a": 0}, {"b": -1.0}, {"f": np.nan}, {"worth": -0.1}, {"odds": {"a": 0.0}}])
def test_hyperparameters_must_be_positive(wrong):
    with pytest.raises(KoopsieveError):
        SpikeSlabPrior(**wrong)


def test_other_settings_are_checked():
    with pytest.raises(KoopsieveError, match="start"):
        SpikeSlab(starts=())
    with pytest.raises(KoopsieveError, match="relaxation"):
        SpikeSlab.published(relaxation=0.0)
    with pytest.raises(KoopsieveError, match="threshold"):
        STLSQ(threshold=-1.0)
    with pytest.raises(KoopsieveError, match="single"):
        SpikeSlab.published(SpikeSlabPrior(always=("a",)))
