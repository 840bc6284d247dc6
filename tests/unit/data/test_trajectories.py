"""Trajectories of arrays: what comes out, and what is refused with where the trouble is and what to do."""

import pickle
import re

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Signals, Trajectories

X = np.random.default_rng(0).normal(size=(20, 2))
U = np.random.default_rng(1).normal(size=(20, 1))
NAN, INF = float("nan"), float("inf")


@pytest.fixture
def three():
    return Trajectories.from_arrays([X[:5], X[:6], X[:7]], [U[:5], U[:6], U[:7]], dt=0.5)


def test_one_array_is_one_episode():
    found = Trajectories.from_arrays(X, U[:-1], dt=0.1)
    assert (found.n_states, found.n_inputs, found.n_outputs, found.n_episodes, len(found)) == (2, 1, 2, 1, 1)
    assert (found.n_samples, found.n_transitions, found.dt) == (20, 19, 0.1)
    assert (found.state_names, found.output_names, found.input_names) == (("x1", "x2"), ("x1", "x2"), ("u1",))
    assert [u.shape for u in Trajectories.from_arrays([X, X[:5]]).inputs] == [(19, 0), (4, 0)]


@pytest.mark.parametrize(
    "states, inputs",
    [
        (X[:, 0], U[:, 0]),
        (X[:, 0].tolist(), U[:, 0].tolist()),
        (X[:, :1], np.append(U[:-1], [[NAN]], axis=0)),  # the last input acts on nothing and may be missing
        ([X[:, 0]], [U[:, 0]]),
        ([X[:, :1]], U),
        (X[:, :1], [U[:-1]]),
        ([X[:, :1].tolist()], [U.tolist()]),
        (np.asfortranarray(X)[:, :1], U),
        (np.ma.masked_array(X[:, :1]), U),
    ],
)
def test_every_spelling_of_the_same_episode(states, inputs):
    found = Trajectories.from_arrays(states, inputs)
    assert len(found) == 1
    np.testing.assert_array_equal(found.states[0], X[:, :1])
    np.testing.assert_array_equal(found.inputs[0], U[:-1])


def test_nested_lists_may_hold_several_episodes():
    found = Trajectories.from_arrays([X.tolist(), X[:5].tolist()], [U[:, 0].tolist(), U[:4, 0].tolist()])
    assert [x.shape for x in found.states + found.inputs] == [(20, 2), (5, 2), (19, 1), (4, 1)]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8, bool])
def test_real_numbers_become_float64(dtype):
    states = np.tile(np.array([[0, 1], [1, 0]]), (5, 1)).astype(dtype)
    stored = Trajectories.from_arrays(states).states[0]
    assert stored.dtype == np.float64
    np.testing.assert_array_equal(stored, states.astype(float))


def test_arrays_are_read_only_contiguous_and_not_copied(tmp_path):
    mine = X.copy()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = Trajectories.from_arrays([mine, mapped, np.asfortranarray(X)], [U] * 3)
    assert np.shares_memory(found.states[0], mine)
    assert np.shares_memory(found.states[1], mapped)
    assert all(array.flags.c_contiguous and not array.flags.writeable for array in found.states + found.inputs)
    assert mine.flags.writeable


def test_constant_columns_are_kept_with_a_warning_that_points_here():
    states = np.column_stack([X[:, 0], np.ones(20)])
    with pytest.warns(KoopsieveWarning, match="columns that never change: ") as caught:
        assert Trajectories.from_arrays(states, np.zeros((20, 1))).n_states == 2
    assert [str(one.message)[:37] for one in caught] == [
        f"{kind} columns that never change: '{name}'" for kind, name in (("State", "x2"), ("Input", "u1"))
    ]
    assert caught[0].filename == __file__
    Trajectories.from_arrays([states, np.column_stack([X[:, 0], np.zeros(20)])])  # it changes between episodes
    with pytest.warns(KoopsieveWarning, match="20 state columns and only 2 samples. Rows are samples"):
        Trajectories.from_arrays(X.T)


def test_episodes_are_chosen_in_order_by_position_or_flag_and_joined_again(three):
    for chosen, lengths in (([2, 0], [7, 5]), ([False, True, True], [6, 7]), ((x for x in (1, 1)), [6, 6]), (-1, [7])):
        part = three.subset(np.array(chosen) if isinstance(chosen, list) else chosen)
        assert [len(x) for x in part.states] == lengths
        assert [len(u) for u in part.inputs] == [length - 1 for length in lengths]
    assert [part.n_samples for part in three] == [5, 6, 7]
    assert (three[1].states[0] is three.states[1], three[np.int64(-1)].n_samples) == (True, 7)
    joined = Trajectories.join(list(three))
    assert all(a is b for a, b in zip(joined.states + joined.inputs, three.states + three.inputs, strict=True))
    assert joined.dt == 0.5


@pytest.mark.parametrize("chosen", [[3], [-4], [True, False], [0.0], ["a"], [[0, 1]]])
def test_what_is_no_position_is_refused(chosen, three):
    with pytest.raises(KoopsieveError, match="by position, 0 to 2"):
        three.subset(chosen)
    with pytest.raises(KoopsieveError, match="No episodes were chosen"):
        three.subset([])
    with pytest.raises(TypeError):
        three[1.5]


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


def test_split_sends_whole_episodes_to_one_side_and_cuts_a_single_one_in_time():
    five = Trajectories.from_arrays([X[:11]] * 5)
    first, second = five.split(0.8)
    assert (len(first), len(second), second.states[0] is five.states[4]) == (4, 1, True)
    first, second = Trajectories.from_arrays(X, U).split(0.75)
    for found, expected in zip(
        (*first.states, *first.inputs, *second.states, *second.inputs), (X[:15], U[:14], X[15:], U[15:19]), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    for data in (Trajectories.from_arrays([X, X]), Trajectories.from_arrays(X, U)):
        assert all(part.n_transitions >= 1 for fraction in (0.001, 0.999) for part in data.split(fraction))


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5, NAN])
def test_split_refuses_fractions_that_leave_nothing(fraction):
    with pytest.raises(KoopsieveError, match="fraction must lie between 0 and 1"):
        Trajectories.from_arrays(X).split(fraction)
    with pytest.raises(KoopsieveError, match=r"3 samples is too short .* at least 4"):
        Trajectories.from_arrays(X[:3]).split(0.5)


def test_they_show_themselves_in_a_line_or_a_table_and_travel():
    data = Trajectories.from_arrays(X, U, dt=0.5, state_names=["<b>", "x"])
    assert repr(data) == "Trajectories(episodes 1, samples 20, states <b>, x, inputs u1, dt 0.5)"
    assert "x1, x2, x3, x4, x5, … (9 in all)" in repr(Trajectories.from_arrays(np.hstack([X] * 5)[:, :9]))
    assert "<tr><th>samples</th><td>20</td></tr>" in data._repr_html_()
    assert "<td>&lt;b&gt;, x</td>" in data._repr_html_()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data)).states[0], X)


@pytest.mark.parametrize("arrays", [((X,), (np.zeros((5, 0)),)), ((X,), ()), ((), ())])
def test_the_constructor_checks_the_form(arrays):
    with pytest.raises(KoopsieveError, match=r"Use Trajectories\.from_arrays"):
        Trajectories(*arrays, Signals(("a", "b")))


def with_value(array, row, column, value):
    changed = array.copy()
    changed[row, column] = value
    return changed


ONE, W = [1.0, NAN, 2.0, NAN], np.hstack([U, U])[:-1]
REFUSED = [
    ({"states": X, "inputs": W[:15]}, "one row fewer than states. Expected (19, 2), got (15, 2). This is episode 0"),
    ({"states": [X, X[:9]], "inputs": [W, W[:15]]}, "got (15, 2). This is episode 1, whose states have shape (9, 2)."),
    (
        {"states": [X, with_value(X, 17, 1, NAN)]},
        "State 'x2' at sample 17 (counted from 0) of episode 1 is NaN (missing). Fill it in, or pass gaps=\"split\"",
    ),
    (
        {"states": with_value(with_value(X, 3, 0, NAN), 5, 1, NAN), "state_names": ["depth", "speed"]},
        "State 'depth' at sample 3 (counted from 0) of episode 0 is NaN (missing), and 1 more like it.",
    ),
    (
        {"states": X, "inputs": with_value(W, 9, 1, NAN), "input_names": ["left", "right"]},
        "Input 'right' at sample 9 (counted from 0) of episode 0 is NaN (missing).",
    ),
    ({"states": with_value(X, 17, 1, INF)}, "'x2' at sample 17 (counted from 0) of episode 0 is infinite. Remove or"),
    ({"states": X, "inputs": with_value(W, 0, 0, -INF), "gaps": "split"}, "Input 'u1' at sample 0 (counted from 0) of"),
    ({"states": []}, "There are no episodes. Expected at least one array of states, got an empty list."),
    ({"states": [X, X[:1]]}, "at least two samples, one transition. Got states of shape (1, 2) in episode 1."),
    ({"states": X[:, :0]}, "The states of episode 0 have no columns."),
    ({"states": X.astype(object)}, "of episode 0 must be real numbers. Expected a float or integer dtype, got object."),
    ({"states": X + 1j}, "Expected a float or integer dtype, got complex128."),
    ({"states": X, "inputs": U.astype(str)}, "The inputs of episode 0 must be real numbers."),
    ({"states": X.astype("datetime64[s]")}, "got datetime64[s]"),
    ({"states": None}, "The states of episode 0 must be real numbers."),
    ({"states": (x for x in X)}, "The states of episode 0 must be real numbers."),
    ({"states": [[1.0, 2.0], [3.0]]}, "The states of episode 0 cannot be read as an array"),
    (
        {"states": np.zeros((3, 10, 2))},
        "must have shape (samples, columns). Got (3, 10, 2). If the first axis counts episodes, pass list(array).",
    ),
    ({"states": 3.0}, "must have shape (samples, columns). Got ()."),
    ({"states": list(X)}, "20 arrays of shape (2,): 20 samples, or as many episodes of one column? Pass np.stack"),
    ({"states": [X, X, X[:, :1]]}, "the same state columns. Expected 2 as in episode 0, got 1 in episode 2."),
    ({"states": [X, X], "inputs": [W, W[:, :1]]}, "same input columns. Expected 2 as in episode 0, got 1 in episode 1"),
    ({"states": [X, X], "inputs": [U, None]}, "same input columns. Expected 1 as in episode 0, got 0 in episode 1."),
    ({"states": [X, X], "inputs": U}, "one array per episode, as states are. Expected 2 arrays, got one ndarray."),
    ({"states": [X, X, X], "inputs": [U, U]}, "Expected 3 arrays, got a list of 2."),
    ({"states": X, "state_names": ["a"]}, "must have one name per state column. Expected 2, got 1: ['a']."),
    ({"states": X, "input_names": ["u"]}, "must have one name per input column. Expected 0, got 1: ['u']."),
    ({"states": X, "dt": 0}, "dt, the sample time, must be a positive number. Got 0."),
    ({"states": np.array(ONE), "gaps": "split"}, "none of the 2 complete samples (of 4) is followed by another."),
    ({"states": np.full((4, 1), NAN), "gaps": "split"}, "none of the 0 complete samples (of 4)"),
]


@pytest.mark.parametrize("arguments, message", REFUSED)
def test_refused_with_a_message_that_helps(arguments, message):
    with pytest.raises(KoopsieveError, match=re.escape(message)) as refused:
        Trajectories.from_arrays(**arguments)
    assert isinstance(refused.value, ValueError)
