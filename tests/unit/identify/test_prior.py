"""The prior: what its numbers do to the inclusion."""

from dataclasses import replace

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
    forty = prior.on(tuple(f"o{i}" for i in range(40)), rows=0)
    assert np.isclose(forty.e / (forty.e + forty.f), 0.1)
    np.testing.assert_allclose(prior.on(tuple("abcdefgh"), rows=0).log_odds, 0.0, atol=1e-12)


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
    for stated in (
        {"odds": {"a": 3.0}},
        {"worth": 0.1},
        {"expected_size": 0.2},
        {"e": 2.0},
        {"f": {"a": 5.0, "b": 1.0}},
    ):
        before, flat = SpikeSlabPrior(**stated), SpikeSlabPrior(**stated).flat()
        assert np.any(before.on(("a", "b"), rows=1e6).log_odds != 0)
        np.testing.assert_array_equal(flat.on(("a", "b"), rows=1e6).log_odds, 0.0)
    kept = SpikeSlabPrior(a=0.2, b=0.3, c=0.4, d=0.5, always=("a",)).flat()
    assert (kept.a, kept.b, kept.c, kept.d, kept.always) == (0.2, 0.3, 0.4, 0.5, ("a",))


def test_worth_does_not_depend_on_the_number_of_rows():
    prior = SpikeSlabPrior(worth=0.1)
    assert np.isclose(np.diff([prior.on(("a",), rows).log_odds[0] for rows in (1000, 3000)])[0], -0.05 * 2000)


def test_names_that_are_no_regressors_are_refused():
    with pytest.raises(KoopsieveError, match="'x9'"):
        SpikeSlab(SpikeSlabPrior(always=("x9",))).identify(statistics())
    reduced = SpikeSlabPrior(always=("x9", "o1"), odds={"x8": 2.0}).among(("o1", "o2"))
    assert reduced.always == ("o1",)
    assert reduced.odds == {}


@pytest.mark.parametrize(
    "wrong", [{"a": 0}, {"b": -1.0}, {"f": np.nan}, {"c": {"a": 0}}, {"worth": -0.1}, {"odds": {"a": 0}}]
)
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


@pytest.mark.parametrize("stated", [{"always": ("a",)}, {"odds": {"a": 2.0}}, {"worth": 0.1}])
def test_the_published_updates_refuse_what_they_have_no_place_for(stated):
    with pytest.raises(KoopsieveError, match="SpikeSlab"):
        SpikeSlab.published(SpikeSlabPrior(**stated))


def named(value, **single):
    """Return the same hyperparameter for every regressor of `statistics()`, but for single ones."""
    return {f"o{i + 1}": single.get(f"o{i + 1}", value) for i in range(10)}


@pytest.mark.filterwarnings("ignore:Algorithm 1 settled:koopsieve.KoopsieveWarning")
@pytest.mark.parametrize("identifier", [SpikeSlab, SpikeSlab.published])
def test_equal_hyperparameters_by_name_are_the_scalar_ones(identifier):
    data, scalar = statistics(seed=1), SpikeSlabPrior(c=0.1, d=1e-3, e=0.5, f=5.0)
    by_name = SpikeSlabPrior(c=named(0.1), d=named(1e-3), e=named(0.5), f=named(5.0))
    one, other = identifier(scalar).identify(data), identifier(by_name).identify(data)
    np.testing.assert_allclose(other.inclusion, one.inclusion, rtol=1e-10)
    np.testing.assert_allclose(other.elbo, one.elbo, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Algorithm 1 settled:koopsieve.KoopsieveWarning")
@pytest.mark.parametrize("identifier", [SpikeSlab, SpikeSlab.published])
def test_a_regressor_with_its_own_shapes_is_judged_by_them(identifier):
    data = statistics(seed=4, snr_db=-3)
    usual = identifier(SpikeSlabPrior.strict()).identify(data).inclusion
    doubtful = int(np.argmin(usual.max(axis=1)))
    name = data.regressors[doubtful]
    prior = replace(SpikeSlabPrior.strict(), e=named(0.5, **{name: 1e12}))
    favoured = identifier(prior).identify(data).inclusion
    assert np.all(favoured[doubtful] > 0.99)
    assert np.all(usual[doubtful] < 0.9)


def test_a_slab_of_its_own_changes_what_a_weight_costs():
    data = statistics(seed=4, snr_db=-3)
    usual = SpikeSlab().identify(data).inclusion
    wide = SpikeSlab(SpikeSlabPrior(c=named(0.5, o1=1e-6))).identify(data).inclusion
    assert np.any(usual[0] > 1e-3)
    assert np.all(wide[0] < usual[0])


def test_hyperparameters_by_name_follow_a_selection():
    data = statistics(seed=1)
    prior = SpikeSlabPrior(f=named(20.0, o3=1.0))
    smaller = data.select([0, 2])
    with pytest.raises(KoopsieveError, match="o2"):
        SpikeSlab(prior).identify(smaller)
    cut = prior.among(smaller.regressors)
    assert cut.f == {"o1": 20.0, "o3": 1.0}
    assert SpikeSlab(cut).identify(smaller).regressors == ("o1", "o3")
    with pytest.raises(KoopsieveError, match=r"not for .*o2"):
        SpikeSlab(cut).identify(data.select([0, 1, 2]))
