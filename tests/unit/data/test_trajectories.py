"""Trajectories: what comes out for well-formed arrays."""

import pickle

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Signals, Trajectories

X = np.random.default_rng(0).normal(size=(20, 2))
U = np.random.default_rng(1).normal(size=(20, 1))


def test_one_array_is_one_episode():
    trajectories = Trajectories.from_arrays(X, U[:-1], dt=0.1)
    assert (trajectories.n_states, trajectories.n_inputs, trajectories.n_episodes) == (2, 1, 1)
    assert trajectories.n_transitions == 19
    assert trajectories.n_samples == 20
    assert len(trajectories) == 1
    assert trajectories.dt == 0.1
    assert trajectories.state_names == ("x1", "x2")
    assert trajectories.input_names == ("u1",)
    assert trajectories.n_outputs == 2
    assert trajectories.output_names == ("x1", "x2")
    np.testing.assert_array_equal(trajectories.states[0], X)
    np.testing.assert_array_equal(trajectories.inputs[0], U[:-1])


def test_the_dropped_last_input_may_be_missing():
    padded = U.copy()
    padded[-1] = np.nan
    np.testing.assert_array_equal(Trajectories.from_arrays(X, padded).inputs[0], U[:-1])


def test_without_inputs_there_are_zero_columns():
    trajectories = Trajectories.from_arrays([X, X[:5]])
    assert [u.shape for u in trajectories.inputs] == [(19, 0), (4, 0)]
    assert trajectories.input_names == ()


@pytest.mark.parametrize(
    "states, inputs",
    [
        (X[:, 0], U[:, 0]),
        (X[:, 0].tolist(), U[:, 0].tolist()),
        (X[:, :1], U[:-1]),
        ([X[:, 0]], [U[:, 0]]),
        ([X[:, :1]], U),
        (X[:, :1], [U]),
        (X[:, :1].tolist(), U.tolist()),
        ([X[:, :1].tolist()], [U.tolist()]),
        (np.asfortranarray(X)[:, :1], U),
        (np.ma.masked_array(X[:, :1]), U),
    ],
)
def test_every_spelling_of_the_same_episode(states, inputs):
    trajectories = Trajectories.from_arrays(states, inputs)
    assert len(trajectories) == 1
    np.testing.assert_array_equal(trajectories.states[0], X[:, :1])
    np.testing.assert_array_equal(trajectories.inputs[0], U[:-1])


def test_nested_lists_may_hold_several_episodes():
    trajectories = Trajectories.from_arrays([X.tolist(), X[:5].tolist()], [U[:, 0].tolist(), U[:4, 0].tolist()])
    assert [x.shape for x in trajectories.states] == [(20, 2), (5, 2)]
    assert [u.shape for u in trajectories.inputs] == [(19, 1), (4, 1)]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8, bool])
def test_real_numbers_become_float64(dtype):
    states = np.tile(np.array([[0, 1], [1, 0]]), (5, 1)).astype(dtype)
    stored = Trajectories.from_arrays(states).states[0]
    assert stored.dtype == np.float64
    np.testing.assert_array_equal(stored, states.astype(float))


def test_stored_arrays_are_read_only_contiguous_and_the_users_stays_writeable():
    mine = X.copy()
    trajectories = Trajectories.from_arrays([mine, np.asfortranarray(X)], [U, U])
    for array in (*trajectories.states, *trajectories.inputs):
        assert array.flags.c_contiguous
        assert not array.flags.writeable
    assert mine.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        trajectories.states[0][0] = 0


def test_arrays_and_memory_maps_are_not_copied(tmp_path):
    mine = X.copy()
    assert np.shares_memory(Trajectories.from_arrays(mine).states[0], mine)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(Trajectories.from_arrays(mapped).states[0], mapped)


def test_constant_columns_are_kept_with_a_warning_that_points_here():
    states = np.column_stack([X[:, 0], np.ones(20)])
    with pytest.warns(KoopsieveWarning, match="columns that never change: ") as caught:
        trajectories = Trajectories.from_arrays(states, np.zeros((20, 1)))
    assert trajectories.n_states == 2
    assert [str(warning.message)[:43] for warning in caught] == [
        "State columns that never change: 'x2'. They",
        "Input columns that never change: 'u1'. They",
    ]
    assert caught[0].filename == __file__


def test_a_column_constant_in_each_episode_but_not_over_all_is_no_constant():
    low, high = np.column_stack([X[:, 0], np.zeros(20)]), np.column_stack([X[:, 0], np.ones(20)])
    assert len(Trajectories.from_arrays([low, high])) == 2


def test_subset_keeps_order_and_takes_flags():
    trajectories = Trajectories.from_arrays([X[:5], X[:6], X[:7]], [U[:5], U[:6], U[:7]])
    assert [len(x) for x in trajectories.subset([2, 0]).states] == [7, 5]
    assert [len(u) for u in trajectories.subset([2, 0]).inputs] == [6, 4]
    assert [len(x) for x in trajectories.subset(np.array([False, True, True])).states] == [6, 7]
    assert [len(x) for x in trajectories.subset(x for x in (1, 1)).states] == [6, 6]
    assert [len(x) for x in trajectories.subset(-1).states] == [7]


def test_episodes_one_at_a_time_are_trajectories_too():
    trajectories = Trajectories.from_arrays([X[:5], X[:6], X[:7]], [U[:5], U[:6], U[:7]])
    assert [part.n_samples for part in trajectories] == [5, 6, 7]
    assert trajectories[1].states[0] is trajectories.states[1]
    assert trajectories[np.int64(-1)].n_samples == 7
    with pytest.raises(KoopsieveError, match="by position, 0 to 2"):
        trajectories[3]
    with pytest.raises(TypeError):
        trajectories[1.5]


def test_joining_the_episodes_gives_the_whole():
    trajectories = Trajectories.from_arrays([X[:5], X[:6], X[:7]], [U[:5], U[:6], U[:7]], dt=0.5)
    joined = Trajectories.join(list(trajectories))
    assert all(mine is theirs for mine, theirs in zip(joined.states, trajectories.states, strict=True))
    assert all(mine is theirs for mine, theirs in zip(joined.inputs, trajectories.inputs, strict=True))
    assert joined.dt == 0.5


@pytest.mark.parametrize(
    "parts, message",
    [
        ([{}, {"state_names": ["a", "b"]}], "must have the same outputs"),
        ([{}, {"inputs": U}], "must have the same inputs"),
        ([{}, {"dt": 0.1}], "must have the same sample time"),
        ([], "nothing to join"),
    ],
)
def test_joining_what_differs_is_refused(parts, message):
    with pytest.raises(KoopsieveError, match=message):
        Trajectories.join([Trajectories.from_arrays(X, **one) for one in parts])


@pytest.mark.parametrize("chosen", [[3], [-4], [True, False], [0.0], ["a"], [[0, 1]]])
def test_subset_refuses_what_is_no_position(chosen):
    with pytest.raises(KoopsieveError, match="by position, 0 to 2"):
        Trajectories.from_arrays([X, X, X]).subset(chosen)
    with pytest.raises(KoopsieveError, match="No episodes were chosen"):
        Trajectories.from_arrays(X).subset([])


def test_split_sends_whole_episodes_to_one_side():
    trajectories = Trajectories.from_arrays([X[:11], X[:11], X[:11], X[:11], X[:11]])
    first, second = trajectories.split(0.8)
    assert (len(first), len(second)) == (4, 1)
    assert first.states[3] is trajectories.states[3]
    assert second.states[0] is trajectories.states[4]


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_split_leaves_no_side_empty(fraction):
    for trajectories in (Trajectories.from_arrays([X, X]), Trajectories.from_arrays(X, U)):
        assert all(part.n_transitions >= 1 for part in trajectories.split(fraction))


def test_split_cuts_one_episode_in_time():
    first, second = Trajectories.from_arrays(X, U).split(0.75)
    np.testing.assert_array_equal(first.states[0], X[:15])
    np.testing.assert_array_equal(first.inputs[0], U[:14])
    np.testing.assert_array_equal(second.states[0], X[15:])
    np.testing.assert_array_equal(second.inputs[0], U[15:19])


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5, float("nan")])
def test_split_refuses_fractions_that_leave_nothing(fraction):
    with pytest.raises(KoopsieveError, match="fraction must lie between 0 and 1"):
        Trajectories.from_arrays(X).split(fraction)
    with pytest.raises(KoopsieveError, match=r"3 samples is too short .* at least 4"):
        Trajectories.from_arrays(X[:3]).split(0.5)


def test_repr_is_one_line():
    assert (
        repr(Trajectories.from_arrays(X, dt=0.5))
        == "Trajectories(episodes 1, samples 20, states x1, x2, inputs none, dt 0.5)"
    )
    wide = Trajectories.from_arrays(np.random.default_rng(2).normal(size=(10, 9)))
    assert "x1, x2, x3, x4, x5, … (9 in all)" in repr(wide)


def test_a_notebook_shows_a_table_safe_from_markup():
    shown = Trajectories.from_arrays(X, state_names=["<b>", "x"])._repr_html_()
    assert "<tr><th>samples</th><td>20</td></tr>" in shown
    assert "<td>&lt;b&gt;, x</td>" in shown


def test_copies_survive_a_trip_to_another_process():
    there = pickle.loads(pickle.dumps(Trajectories.from_arrays(X, U)))
    np.testing.assert_array_equal(there.states[0], X)


@pytest.mark.parametrize("arrays", [((X,), (np.zeros((5, 0)),)), ((X,), ()), ((), ())])
def test_the_constructor_checks_the_form(arrays):
    with pytest.raises(KoopsieveError, match=r"Use Trajectories\.from_arrays"):
        Trajectories(*arrays, Signals(("a", "b")))
