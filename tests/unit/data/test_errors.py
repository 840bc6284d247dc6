"""What from_arrays refuses: every message says where the trouble is, what was expected and what to do."""

import re

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Trajectories

X = np.random.default_rng(0).normal(size=(201, 2))
U = np.random.default_rng(1).normal(size=(200, 2))


def with_value(array, row, column, value):
    changed = array.copy()
    changed[row, column] = value
    return changed


NAN, INF = float("nan"), float("inf")

REFUSED = {
    "inputs too short": (
        {"states": X, "inputs": U[:150]},
        "inputs must have one row fewer than states. Expected (200, 2), got (150, 2). This is episode 0",
    ),
    "inputs too long, second episode": (
        {"states": [X, X[:50]], "inputs": [U, U[:60]]},
        "Expected (49, 2), got (60, 2). This is episode 1, whose states have shape (50, 2).",
    ),
    "NaN in a state": (
        {"states": [X, with_value(X, 17, 1, NAN)]},
        "State 'x2' at sample 17 (counted from 0) of episode 1 is NaN (missing). Fill it in, or pass gaps=\"split\"",
    ),
    "several NaN, own names": (
        {"states": with_value(with_value(X, 3, 0, NAN), 5, 1, NAN), "state_names": ["depth", "speed"]},
        "State 'depth' at sample 3 (counted from 0) of episode 0 is NaN (missing), and 1 more like it.",
    ),
    "NaN in an input": (
        {"states": X, "inputs": with_value(U, 9, 1, NAN), "input_names": ["left", "right"]},
        "Input 'right' at sample 9 (counted from 0) of episode 0 is NaN (missing).",
    ),
    "infinite state": (
        {"states": with_value(X, 17, 1, INF)},
        "State 'x2' at sample 17 (counted from 0) of episode 0 is infinite. Remove or repair the sample",
    ),
    "infinite input even when splitting": (
        {"states": X, "inputs": with_value(U, 0, 0, -INF), "gaps": "split"},
        "Input 'u1' at sample 0 (counted from 0) of episode 0 is infinite.",
    ),
    "empty list": ({"states": []}, "There are no episodes. Expected at least one array of states, got an empty list."),
    "one sample": (
        {"states": [X, X[:1]]},
        "An episode needs at least two samples, one transition. Got states of shape (1, 2) in episode 1.",
    ),
    "no columns": ({"states": X[:, :0]}, "The states of episode 0 have no columns."),
    "object dtype": (
        {"states": X.astype(object)},
        "The states of episode 0 must be real numbers. Expected a float or integer dtype, got object.",
    ),
    "complex": ({"states": X + 1j}, "Expected a float or integer dtype, got complex128."),
    "text": ({"states": X, "inputs": U.astype(str)}, "The inputs of episode 0 must be real numbers."),
    "dates": ({"states": X.astype("datetime64[s]")}, "got datetime64[s]"),
    "None": ({"states": None}, "The states of episode 0 must be real numbers."),
    "a generator": ({"states": (x for x in X)}, "The states of episode 0 must be real numbers."),
    "ragged": ({"states": [[1.0, 2.0], [3.0]]}, "The states of episode 0 cannot be read as an array"),
    "three dimensions": (
        {"states": np.zeros((3, 10, 2))},
        "The states of episode 0 must have shape (samples, columns). Got (3, 10, 2). "
        "If the first axis counts episodes, pass list(array).",
    ),
    "a number": ({"states": 3.0}, "must have shape (samples, columns). Got ()."),
    "samples collected in a loop": (
        {"states": list(X)},
        "states is a list of 201 arrays of shape (2,): 201 samples, or as many episodes of one column? "
        "Pass np.stack(states) for one trajectory",
    ),
    "different state columns": (
        {"states": [X, X, X[:, :1]]},
        "All episodes must have the same state columns. Expected 2 as in episode 0, got 1 in episode 2.",
    ),
    "different input columns": (
        {"states": [X, X], "inputs": [U, U[:, :1]]},
        "All episodes must have the same input columns. Expected 2 as in episode 0, got 1 in episode 1.",
    ),
    "one input array for two episodes": (
        {"states": [X, X], "inputs": U},
        "inputs must be a list with one array per episode, as states are. Expected 2 arrays, got one ndarray.",
    ),
    "too few input arrays": ({"states": [X, X, X], "inputs": [U, U]}, "Expected 3 arrays, got a list of 2."),
    "inputs for some episodes only": (
        {"states": [X, X], "inputs": [U, None]},
        "All episodes must have the same input columns. Expected 2 as in episode 0, got 0 in episode 1.",
    ),
    "names of wrong length": (
        {"states": X, "state_names": ["a"]},
        "state_names must have one name per state column. Expected 2, got 1: ['a'].",
    ),
    "input names without inputs": (
        {"states": X, "input_names": ["u"]},
        "input_names must have one name per input column. Expected 0, got 1: ['u'].",
    ),
    "dt zero": ({"states": X, "dt": 0}, "dt, the sample time, must be a positive number. Got 0."),
    "dt None": ({"states": X, "dt": None}, "must be a positive number. Got None."),
    "nothing left after splitting": (
        {"states": np.array([1.0, NAN, 2.0, NAN]), "gaps": "split"},
        "Nothing is left after cutting at missing samples: none of the 2 complete samples (of 4) is followed by "
        "another.",
    ),
    "everything missing": ({"states": np.full((4, 1), NAN), "gaps": "split"}, "none of the 0 complete samples (of 4)"),
}


@pytest.mark.parametrize("arguments, message", REFUSED.values(), ids=REFUSED)
def test_refused_with_a_message_that_helps(arguments, message):
    with pytest.raises(KoopsieveError, match=re.escape(message)) as refused:
        Trajectories.from_arrays(**arguments)
    assert isinstance(refused.value, ValueError)


def test_arrays_on_their_side_give_a_warning():
    with pytest.warns(KoopsieveWarning, match="201 state columns and only 2 samples. Rows are samples"):
        Trajectories.from_arrays(X.T)
