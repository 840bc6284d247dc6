"""Windows are drawn whole, evenly, and in one pass."""

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve.sieve.simulation import draw_windows


def episode(first, samples):
    """A record whose values say where they are from."""
    steps = first + np.arange(samples, dtype=float)
    return np.column_stack([steps, -steps]), steps[:-1, None] + 0.5


def test_a_window_is_a_stretch_of_one_episode_and_can_be_ended_early():
    windows = draw_windows([episode(0, 30), episode(1000, 25)], 1, 10, 12, np.random.default_rng(0))
    assert windows.count == 12
    assert windows.length == 10
    first = windows.starts[:, 0]
    np.testing.assert_array_equal(windows.starts[:, 1], -first)
    np.testing.assert_array_equal(windows.outputs[:, :, 0], first[:, None] + np.arange(1, 11))
    np.testing.assert_array_equal(windows.inputs[:, :, 0], first[:, None] + np.arange(10) + 0.5)
    assert np.all((first + 10 <= 29) | ((first >= 1000) & (first + 10 <= 1024)))
    short = windows.shortened(3)
    np.testing.assert_array_equal(short.outputs, windows.outputs[:, :3])
    np.testing.assert_array_equal(short.inputs, windows.inputs[:, :3])


def test_every_start_is_taken_once_where_there_are_few():
    windows = draw_windows([episode(0, 12), episode(1000, 5)], 1, 4, 100, np.random.default_rng(0))
    np.testing.assert_array_equal(windows.starts[:, 0], [*range(8), 1000])


@pytest.mark.parametrize("seed", range(5))
def test_starts_are_spread_evenly_whether_in_one_piece_or_many(seed):
    whole = draw_windows([episode(0, 5000)], 1, 1, 100, np.random.default_rng(seed))
    gaps = np.diff(np.concatenate([[0], whole.starts[:, 0], [4999]]))
    assert gaps.max() < 150  # evenly spaced would be 50; independent draws have gaps of 250 and more
    pieces = [episode(first, 501) for first in range(0, 5000, 500)]
    parts = draw_windows(iter(pieces), 1, 1, 100, np.random.default_rng(seed))
    counts = np.histogram(parts.starts[:, 0], bins=np.arange(0, 5001, 500))[0]
    assert counts.min() >= 7
    assert counts.max() <= 13


def test_windows_longer_than_every_episode_are_refused():
    with pytest.raises(KoopsieveError, match="A window of 40 steps fits into no episode: the longest has 29 steps"):
        draw_windows([episode(0, 30), episode(50, 10)], 1, 40, 5, np.random.default_rng(0))
