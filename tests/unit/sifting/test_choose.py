"""The one rule for "as good as the best"."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, stdtrit

from koopsieve.sifting.choose import Evidence, choose, clearly_worse, horizon_weights, scores


def chosen(errors, runs=None, in_range=None, complexity=None, bounded=None, weights=()):
    """Return what is chosen of candidates (candidates, horizons, blocks), by default the simplest first."""
    count = len(errors)
    errors = np.asarray(errors)
    runs = errors.mean(axis=1) if runs is None else runs
    order = list(range(count)) if complexity is None else complexity
    stays, bounded = ([True] * count if one is None else one for one in (in_range, bounded))
    return choose(Evidence(errors, runs, order, stays, bounded, weights))


def blocks_of(levels, spread=0.0, count=9):
    """Return blocks whose logarithms have these means (points, horizons); differences have the same standard error.

    Point i carries a pattern of its own, and all share one that nearly cancels in every difference.
    """
    levels = np.asarray(levels)
    patterns = np.linalg.qr(np.column_stack([np.ones(count), np.random.default_rng(0).normal(size=(count, 6))]))[0][
        :, 1:
    ]
    patterns = patterns[:, : len(levels)].T * np.sqrt(count - 1) * spread * np.sqrt(count) / np.sqrt(2)
    shared = 0.5 * np.sin(np.arange(count))
    return 0.01 * np.exp(levels[:, :, None] + patterns[:, None, :] + shared)


def test_it_takes_the_smallest_within_one_standard_error_of_the_best():
    levels = [[3.0, 3.0], [0.05, 0.05], [0.0, 0.0]]
    assert chosen(blocks_of(levels, 0.1)) == 1
    assert chosen(blocks_of([[3.0, 3.0], [0.1, 0.1], [0.0, 0.0]], 0.02)) == 2
    assert chosen(blocks_of([[3.0, 3.0], [0.1, 0.1], [0.0, 0.0]])[:, :, :1]) == 2  # one block: no standard error


@pytest.mark.parametrize(("spread", "worse"), [(0.02, [True, False, False]), (0.9, [False] * 3)])
def test_clearly_worse_is_threefold_and_beyond_the_standard_error(spread, worse):
    blocks, yes = blocks_of([[1.4, 1.4], [0.9, 0.9], [0.0, 0.0]], spread), [True] * 3
    evidence = Evidence(blocks, blocks.mean(axis=1), [1, 2, 3], yes, yes)
    assert clearly_worse(evidence).tolist() == worse


def test_of_one_free_run_nobody_knows_how_uncertain_it_is():
    blocks, yes = blocks_of([[0.2, 0.2], [0.0, 0.0]], 0.6), [True] * 2
    one = Evidence(blocks, np.array([[0.03], [0.01]]), [1, 2], yes, yes)
    four = replace(one, runs=np.array([[0.03] * 4, [0.01] * 4]))
    assert clearly_worse(four, 0.2).tolist() == [True, False]
    assert clearly_worse(one, 0.2).tolist() == [False, False]


def test_horizons_and_free_runs_count_together():
    levels = np.array([[-0.3, 0.3], [0.0, 0.0], [-0.6, 0.2]])
    assert chosen(blocks_of(levels[:2], 0.02), runs=np.ones((2, 4))) == 0  # what is lost at one is won at the other
    assert chosen(blocks_of(levels, 0.02), runs=np.ones((3, 4))) == 2
    runs = np.array([[1.0] * 4, [0.4] * 4])
    assert chosen(np.ones((2, 1, 9)), runs) == 1
    assert chosen(np.ones((2, 1, 9)) * np.array([1.0, 1.6])[:, None, None], runs) == 1


def test_along_a_path_a_smaller_set_is_as_good_at_each_horizon():
    levels = [[0.3, 0.0], [0.04, 0.02], [0.0, 0.0]]  # the first loses at the next step, which counts little
    blocks, free_runs, yes = blocks_of(levels, 0.01), np.ones((3, 4)), [True] * 3
    evidence = Evidence(blocks, free_runs, [1, 2, 3], yes, yes, weights=(0.25, 1.0))
    assert choose(evidence) == 0
    assert choose(replace(evidence, each_horizon=True)) == 1
    levels[0][0] = 0.08
    assert choose(replace(evidence, errors=blocks_of(levels, 0.01), each_horizon=True)) == 1
    assert choose(replace(evidence, errors=blocks_of(levels, 0.1), each_horizon=True)) == 0  # within its uncertainty


def test_horizons_have_weights():
    blocks = blocks_of([[0.0, 1.0], [1.0, 0.0]], 0.01)
    assert chosen(blocks, runs=np.ones((2, 4)), weights=(0.25, 1.0)) == 1
    assert chosen(blocks, runs=np.ones((2, 4)), weights=(1.0, 0.25)) == 0
    assert horizon_weights([1]) == (1.0,)
    assert horizon_weights([1, 10]) == (0.25, 1.0)


@pytest.mark.parametrize(("quiet", "busy", "better", "worse"), [(40, 10, 5, 3), (49, 1, 50, 50)])
def test_it_is_not_decided_by_blocks_in_which_little_happens(quiet, busy, better, worse):
    level = 0.01 if busy > 1 else 1e-6
    small = np.repeat([level / better, worse], [quiet, busy])
    large = np.repeat([level, 1.0], [quiet, busy])
    assert np.log(small).mean() < np.log(large).mean()
    assert chosen(np.stack([small, large])[:, None, :]) == 1


def test_an_excursion_counts_no_more_than_a_useless_prediction():
    blocks = np.full((2, 1, 30), 0.01)
    blocks[0, 0, 4] = 1e9
    scored = scores(Evidence(blocks, blocks[:, 0], [0, 1], [True, True], [True, True]))
    assert scored[0] - scored[1] == pytest.approx(np.log((29 * 0.01 + 10) / 0.3))


def test_a_chaotic_plant_is_not_decided_by_runs_that_nobody_can_predict():
    errors = np.stack([np.full((1, 8), 0.5), np.full((1, 8), 0.1)])
    runs = np.stack([np.full(8, 1.0), np.full(8, 1.9)])  # the mean of the outputs, and another record of the plant
    assert chosen(errors, runs) == 1
    assert chosen(errors, 5 * runs) == 0  # but one that runs away is worse than the mean


def test_the_rule_by_hand():
    rng = np.random.default_rng(3)
    base = rng.uniform(0.05, 0.5, size=(1, 2, 9))
    errors = base * np.array([1.3, 1.08, 1.0])[:, None, None] * rng.uniform(0.9, 1.1, size=(3, 2, 9))
    runs = errors.mean(axis=1)
    shares, factor = np.array([1, 1, 3]) / 5, stdtrit(8, ndtr(1))
    tests = [errors[:, 0], errors[:, 1], runs]
    score = sum(w * np.log(e.mean(axis=1)) for w, e in zip(shares, tests, strict=True))
    best, tolerance = score.argmin(), np.zeros(3)
    for w, e in zip(shares, tests, strict=True):
        ratio = e / e.mean(axis=1, keepdims=True)
        own = factor * ratio[best].std(ddof=1) / 3
        tolerance += w * np.minimum(factor * (ratio - ratio[best]).std(axis=1, ddof=1) / 3, own)
    good = np.flatnonzero(score - score[best] <= np.clip(tolerance, 0.05, 0.5))
    assert chosen(errors, runs) == good[0]


def test_it_sees_a_small_difference_under_a_large_common_one():
    common = 0.01 * np.exp(3 * np.sin(np.arange(40)))
    assert chosen(np.stack([1.1 * common, common])[:, None, :]) == 1  # unpaired, 10 % would drown in the spread
    assert chosen(np.stack([1.04 * common, common])[:, None, :]) == 0  # but 4 % are not worth a larger model


def test_it_never_prefers_what_diverges_nor_minds_rounding():
    assert chosen(np.array([[[np.inf, 1.0]], [[2.0, 2.0]]])) == 1
    assert chosen(np.array([[[np.inf, np.inf]], [[np.nan, np.inf]]])) == 0
    assert chosen(np.array([[[1e-20, 1e-19]], [[1e-28, 1e-27]]])) == 0


def test_complexity_decides_and_not_the_order():
    base = np.full((1, 9), 0.5)
    assert chosen(np.stack([base, base]), complexity=[(1, 3), (0, 40)]) == 1
    assert chosen(np.stack([base * 1.01, base]), complexity=[5, 5]) == 1  # of equally complex ones the better


@pytest.mark.parametrize(
    ("levels", "marks", "taken"),
    [
        ((1.0, 0.13, 0.1), {}, 2),
        ((1.0, 0.13, 0.1), {"in_range": [True, True, False]}, 1),  # though its error is a little larger
        ((1.0, 0.3, 0.1), {"in_range": [True, True, False]}, 2),  # but not if it is much larger
        ((1.0, 0.3, 0.1), {"in_range": [False] * 3}, 2),
        ((1.0, 0.3, 0.1), {"bounded": [True, True, False]}, 1),
        ((1.0, 0.3, 0.1), {"bounded": [False] * 3}, 2),  # only if none can be simulated
    ],
)
def test_a_model_that_stays_in_range_and_can_be_simulated_is_preferred(levels, marks, taken):
    assert chosen(np.array([np.full((2, 8), level) for level in levels]), **marks) == taken


def test_rounding_decides_nothing():
    rng = np.random.default_rng(1)
    blocks = rng.uniform(0.1, 1.0, size=(6, 2, 12))
    blocks[3] = blocks[1]  # a tie
    first = chosen(blocks, complexity=[4] * 6)
    for _ in range(20):
        moved = blocks * (1 + 1e-10 * rng.normal(size=blocks.shape))
        assert chosen(moved, complexity=[4] * 6) == first
