"""The one rule for "as good as the best"."""

import numpy as np

from koopsieve.sifting.choose import Evidence, choose


def chosen(errors, runs=None, in_range=None, complexity=None):
    """Return what is chosen of candidates (candidates, horizons, blocks), by default the simplest first."""
    count = len(errors)
    runs = np.ones((count, 4)) if runs is None else runs
    order = list(range(count)) if complexity is None else complexity
    return choose(Evidence(np.asarray(errors), runs, order, [True] * count if in_range is None else in_range))


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
    return np.exp(levels[:, :, None] + patterns[:, None, :] + shared)


def test_it_takes_the_smallest_within_one_standard_error_of_the_best():
    levels = [[3.0, 3.0], [0.05, 0.05], [0.0, 0.0]]
    assert chosen(blocks_of(levels, 0.1)) == 1
    assert chosen(blocks_of([[3.0, 3.0], [0.1, 0.1], [0.0, 0.0]], 0.02)) == 2
    assert chosen(blocks_of([[0.2, 0.2], [0.05, 0.05], [0.0, 0.0]], 0.5)) == 0
    assert chosen(blocks_of([[3.0, 3.0], [0.1, 0.1], [0.0, 0.0]])[:, :, :1]) == 2  # one block: no standard error


def test_it_does_not_let_one_horizon_pay_for_another():
    pooled_alike = [[-0.3, 0.3], [0.0, 0.0], [0.1, 0.1], [0.2, 0.2]]
    assert chosen(blocks_of([[-0.02, 0.02], *pooled_alike[1:]], 0.02)) == 0
    assert chosen(blocks_of([[-0.15, 0.15], [-0.07, 0.0], [0.1, 0.1]], 0.02)) == 1


def test_it_takes_the_least_miss_where_horizons_disagree_and_the_smallest_of_nearly_equal_ones():
    levels = [[0.0, 2.0], [0.8, 1.2], [2.0, 0.0], [1.1, 1.1]]
    assert chosen(blocks_of(levels, 0.01)[1:]) == 0
    nearly = [[0.3, 0.0], [0.15, 0.14], [0.14, 0.15], [0.0, 0.3]]  # pooled all alike, no one best at both horizons
    assert chosen(blocks_of(nearly, 0.01)) == 1


def test_it_gives_everything_no_advantage():
    nearly = [[0.15, 0.13], [0.0, 0.3], [0.3, 0.0], [0.13, 0.15]]
    assert chosen(blocks_of(nearly, 0.01)) == 0


def test_it_is_not_decided_by_blocks_in_which_little_happens():
    quiet, busy = np.full(40, 0.01), np.full(10, 1.0)
    small = np.concatenate([quiet / 5, 3 * busy])
    large = np.concatenate([quiet, busy])
    assert np.log(small).mean() < np.log(large).mean()
    assert chosen(np.stack([small, large])[:, None, :]) == 1


def test_it_is_not_decided_by_one_excursion():
    blocks = np.exp(np.array([0.5, 0.0, 0.4])[:, None, None] + np.zeros((1, 1, 30)))
    blocks[1, 0, 4] *= 25  # the mean over the blocks is now the worst of the three
    assert blocks.mean(axis=2).argmax() == 1
    assert chosen(blocks) == 1


def test_it_sees_a_small_difference_under_a_large_common_one():
    common = np.exp(3 * np.sin(np.arange(40)))
    assert chosen(np.stack([1.1 * common, common])[:, None, :]) == 1  # unpaired, 10 % would drown in the spread
    assert chosen(np.stack([1.04 * common, common])[:, None, :]) == 0  # but 4 % are not worth a larger model


def test_it_never_prefers_what_diverges_nor_minds_rounding():
    assert chosen(np.array([[[np.inf, 1.0]], [[2.0, 2.0]]])) == 1
    assert chosen(np.array([[[np.inf, np.inf]], [[np.nan, np.inf]]])) == 0
    assert chosen(np.array([[[1e-20, 1e-19]], [[1e-28, 1e-27]]])) == 0


def test_the_simplest_must_be_as_good_at_every_horizon_and_in_free_runs():
    base = np.exp(np.random.default_rng(0).normal(size=(2, 20)) * 0.01)
    runs = np.full(10, 0.05)
    assert chosen(np.stack([base * np.array([[1.0], [2.0]]), base])) == 1
    assert chosen(np.stack([base * 1.01, base])) == 0
    assert chosen(np.stack([base, base]), np.stack([runs * 2, runs])) == 1
    assert chosen(np.stack([base, base]), np.stack([runs * 2, runs]) * 10) == 0  # neither can be simulated


def test_complexity_decides_and_not_the_order():
    base = np.full((1, 9), 0.5)
    assert chosen(np.stack([base, base]), complexity=[(1, 3), (0, 40)]) == 1
    assert chosen(np.stack([base * 1.01, base]), complexity=[5, 5]) == 1  # of equally complex ones the better


def test_a_model_that_is_far_worse_is_not_taken_where_little_happens_in_most_blocks():
    quiet, busy = np.full(49, 1e-6), np.full(1, 1.0)
    bad = np.concatenate([quiet / 50, 50 * busy])
    assert chosen(np.stack([bad, np.concatenate([quiet, busy])])[:, None, :]) == 1


def errors_of(*levels):
    return np.array([np.full((2, 8), level) for level in levels])


def test_a_model_that_stays_in_range_is_taken_though_its_error_is_larger():
    blocks = errors_of(1.0, 0.2, 0.1)
    assert chosen(blocks) == 2
    assert chosen(blocks, in_range=[True, True, False]) == 1


def test_staying_in_range_does_not_make_up_for_a_large_error():
    blocks = errors_of(1.0, 0.3, 0.1)
    assert chosen(blocks, in_range=[True, True, False]) == 2
    assert chosen(blocks, in_range=[False, False, False]) == 2
