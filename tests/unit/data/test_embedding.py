"""The embedding as a value: names, columns by hand, and what is refused."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding

Y = np.arange(12.0).reshape(6, 2)
U = 100 + np.arange(6.0)[:, None]


def test_names_say_which_sample_a_column_holds():
    embedding = Embedding(1, 2)
    assert embedding.names(("y", "z"), ("u", "v")) == (
        *("y", "z", "y[k-1]", "z[k-1]"),
        *("u[k-1]", "v[k-1]", "u[k-2]", "v[k-2]"),
    )
    assert embedding.acting(("u", "v")) == ("u", "v")
    late = Embedding(np.int64(0), np.uint8(2), "k+1")
    assert (late.names(("y",), ("u",)), late.acting(("u",))) == (("y", "u[k]", "u[k-1]"), ("u[k+1]",))


@pytest.mark.parametrize("inputs", [U[:-1], U], ids=["as many as transitions", "a row too many"])
def test_columns_by_hand(inputs):
    states, acting = Embedding(1, 2).embed(Y, inputs)
    np.testing.assert_array_equal(states, np.column_stack([Y[2:], Y[1:5], U[1:5], U[0:4]]))
    np.testing.assert_array_equal(acting, U[2:5])
    assert not states.flags.writeable
    states, acting = Embedding(1, 2, "k+1").embed(Y, inputs)  # the state holds u[k] and u[k-1]; u[k+1] acts
    np.testing.assert_array_equal(states, np.column_stack([Y[2:5], Y[1:4], U[2:5], U[1:4]]))
    np.testing.assert_array_equal(acting, U[3:5])


@pytest.mark.parametrize(
    "embedding, lost, ahead, history",
    [
        (Embedding(), 0, 0, 1),
        (Embedding(3, 1), 3, 0, 4),
        (Embedding(1, 3), 3, 0, 4),
        (Embedding(inputs_at="k+1"), 0, 1, 1),
        (Embedding(0, 2, "k+1"), 2, 1, 3),
        (Embedding(1, 5, dead_time=4), 5, 0, 6),
    ],
)
def test_what_is_lost_and_needed(embedding, lost, ahead, history):
    assert (embedding.lost, embedding.ahead, embedding.history) == (lost, ahead, history)
    assert embedding.trivial == (embedding == Embedding())
    assert Embedding(**embedding.to_dict()) == embedding


def test_every_column_knows_where_it_is_copied_from():
    """Columns y, z, y[k-1], z[k-1], u[k-1], u[k-2]; the acting input counts as column 6."""
    assert Embedding(1, 2).shift_sources(2, 1).tolist() == [-1, -1, 0, 1, 6, 4]
    assert Embedding().shift_sources(2, 3).tolist() == [-1, -1]
    assert Embedding(2, 0).shift_sources(1, 1).tolist() == [-1, 0, 1]


def test_one_shift_by_hand():
    states = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    moved = Embedding(1, 2).shift(states, np.array([[7.0, 8.0]]), np.array([[9.0]]))
    assert moved.tolist() == [[7, 8, 1, 2, 9, 5]]


@pytest.mark.parametrize("delay", [-1, 1.5, "2", None, True, np.bool_(True), float("nan")])
@pytest.mark.parametrize("name", ["state_delays", "input_delays"])
def test_delays_that_are_no_number_of_samples(name, delay):
    with pytest.raises(KoopsieveError, match=f"{name}, the number of delays, must be a whole number, 0 or more"):
        Embedding(**{name: delay})


@pytest.mark.parametrize("timing", ["k-1", "", None, 1])
def test_timings_that_do_not_exist(timing):
    with pytest.raises(KoopsieveError, match=r'inputs_at must be "k" or "k\+1"'):
        Embedding(inputs_at=timing)


def test_a_dead_time_needs_inputs_beyond_it():
    with pytest.raises(KoopsieveError, match="dead time of 3 samples needs as many input_delays"):
        Embedding(1, 2, dead_time=3)
