"""Missing samples cut out: where the cuts fall, and what is said about losses."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveWarning
from koopsieve.data import Trajectories

NAN = float("nan")


def test_a_missing_state_cuts_around_its_sample():
    states = np.array([0.0, 1, 2, NAN, 4, 5])
    inputs = np.array([10.0, 11, 12, 13, 14])
    trajectories = Trajectories.from_arrays(states, inputs, gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[0, 1, 2], [4, 5]]
    assert [u.ravel().tolist() for u in trajectories.inputs] == [[10, 11], [14]]


def test_a_missing_input_cuts_between_two_samples():
    states = np.arange(6.0)
    inputs = np.array([10.0, 11, NAN, 13, 14])
    trajectories = Trajectories.from_arrays(states, inputs, gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[0, 1, 2], [3, 4, 5]]
    assert [u.ravel().tolist() for u in trajectories.inputs] == [[10, 11], [13, 14]]


def test_missing_at_the_ends_is_trimmed():
    trajectories = Trajectories.from_arrays([[NAN], [1.0], [2.0], [NAN]], gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[1, 2]]


def test_masked_samples_are_missing():
    states = np.ma.masked_array(np.arange(7), mask=[0, 0, 0, 1, 0, 0, 0])
    trajectories = Trajectories.from_arrays(states, gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[0, 1, 2], [4, 5, 6]]


def test_lonely_samples_are_lost_with_a_warning():
    states = [np.array([0.0, NAN, 2.0, NAN, 4.0, 5.0]), np.array([0.0, NAN])]
    with pytest.warns(KoopsieveWarning, match=r"lost 3 complete samples of 8.*2 samples in 1 episodes are left"):
        trajectories = Trajectories.from_arrays(states, gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[4, 5]]


def test_complete_data_are_left_whole():
    states = np.arange(6.0)
    trajectories = Trajectories.from_arrays([states, states + 1], gaps="split")
    np.testing.assert_array_equal(trajectories.states[1].ravel(), states + 1)
    assert len(trajectories) == 2


def test_pieces_are_read_only_and_contiguous():
    states = np.random.default_rng(0).normal(size=(9, 2))
    states[4, 1] = NAN
    for x in Trajectories.from_arrays(states, gaps="split").states:
        assert x.flags.c_contiguous
        assert not x.flags.writeable
