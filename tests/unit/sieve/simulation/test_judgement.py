"""Errors on validation data, and the choice that is made with them."""

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve.sieve.simulation import DelayLine, Judgement, Matters, Reprojected, box_around, choose_paired, judge
from tests.regressors import Polynomial

LINE = DelayLine(1, 1)


def record(samples, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(samples - 1, 1))
    y = np.zeros((samples, 1))
    for k in range(samples - 1):
        y[k + 1] = 0.9 * y[k] + u[k]
    return y, u


def model(episodes):
    return Reprojected(Polynomial.up_to(1, 2), LINE, box_around(np.vstack([y for y, _ in episodes])))


def coefs(*values):
    """Candidates y[k+1] = a·y[k] + b·u[k]."""
    return [np.array([[0.0], [a], [b]]) for a, b in values]


def test_errors_are_those_of_predictions_at_the_horizons_and_of_whole_stretches():
    held = [record(50, seed) for seed in range(4)]
    found = judge(model(held), coefs((0.9, 1.0), (0.8, 1.0)), held, [1, 4], np.random.default_rng(0))
    assert found.horizons == (1, 4)
    assert found.stretch == 49
    np.testing.assert_allclose(found.error[0], 0.0, atol=1e-20)
    variance = np.var(np.vstack([y for y, _ in held]))
    one_step = [(0.8 * y[:-1] + u - y[1:]) ** 2 for y, u in held]
    expected = np.mean(np.concatenate([e[:46] for e in one_step])) / variance  # starts with four steps ahead
    assert found.blocks[0][1].mean() == pytest.approx(expected, rel=0.05)
    whole = []
    for y, u in held:
        simulated = [y[0]]
        for k in range(49):
            simulated.append(0.8 * simulated[-1] + u[k])
        whole.append(np.mean((np.array(simulated[1:]) - y[1:]) ** 2) / variance)
    np.testing.assert_allclose(np.sort(found.blocks[2][1]), np.sort(whole))


def test_horizons_longer_than_what_is_held_out_are_refused():
    held = [record(30)]
    for horizons in ([], [0, 5], [1, 40]):
        with pytest.raises(KoopsieveError, match="between 1 and 29"):
            judge(model(held), coefs((0.9, 1.0)), held, horizons, np.random.default_rng(0))


def judgement(*rows, measures=2):
    """Errors as a measure would give them, one row per candidate, repeated for every measure."""
    blocks = np.exp(np.array(rows, dtype=float))
    return Judgement((1,) * (measures - 1), (blocks,) * measures, 100)


def test_the_first_that_cannot_be_told_from_the_best_is_chosen():
    worse, noisy, best = [3.0, 3, 3, 3], [0.4, -0.5, 0.6, -0.3], [0.0, 0, 0, 0]
    assert choose_paired(judgement(worse, noisy, best), tolerance=0.0) == 1


def test_a_small_but_certain_loss_is_told_in_pairs_unless_it_is_tolerated():
    """The blocks differ far more among each other than the candidates do."""
    level = np.array([0.0, 2.0, -3.0, 1.0])
    both = judgement(level + np.array([0.05, 0.06, 0.05, 0.04]), level)
    assert choose_paired(both, tolerance=0.0) == 1
    assert choose_paired(both, tolerance=0.1) == 0


def test_a_gain_in_one_measure_is_not_paid_for_in_another():
    near, far = np.array([[0.0, 0.1], [1.0, 1.1], [0.0, 0.1]]), np.array([[1.0, 1.1], [0.0, 0.1], [0.02, 0.12]])
    both = Judgement((1,), (np.exp(near), np.exp(far)), 100)
    assert choose_paired(both) == 2
    assert choose_paired(both, Matters.HORIZONS) == 0
    assert choose_paired(both, Matters.SIMULATION) == 1


def test_divergence_loses_and_one_block_is_enough():
    assert choose_paired(Judgement((1,), (np.array([[np.nan], [1.0]]), np.array([[np.inf], [1.0]])), 10)) == 1


def test_judgements_join_over_folds_and_stack_over_candidates():
    first, second = judgement([0.0, 1.0], [2.0, 3.0]), judgement([4.0], [5.0])
    joined = first.joined(second)
    np.testing.assert_allclose(np.log(joined.blocks[0]), [[0.0, 1.0, 4.0], [2.0, 3.0, 5.0]])
    stacked = joined.taken([1]).stacked(joined.taken([0]))
    np.testing.assert_allclose(np.log(stacked.blocks[1]), [[2.0, 3.0, 5.0], [0.0, 1.0, 4.0]])
