"""What `predict` takes: histories and inputs in every shape, against states by hand; and what it refuses."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals
from koopsieve.forms.prediction import starts
from tests.reference.literal_prediction import acting, delay_line

Y = np.random.default_rng(0).normal(size=(30, 2))
U = np.random.default_rng(1).normal(size=(30, 1))
MASKED = np.ma.masked_array(Y[:2], mask=[[0, 0], [0, 1]])
EMBEDDINGS = [Embedding(a, b, timing) for a in (0, 2) for b in (0, 1, 3) for timing in ("k", "k+1")]


def signals(embedding, outputs=("y", "z"), inputs=("u",)):
    return Signals(outputs, inputs, 0.1, embedding)


def judge(embedding, at, horizon):
    """The states at some samples and the inputs that act from there on, written out."""
    states = [delay_line(embedding, Y, U, k) for k in at]
    return np.array(states), np.array([[acting(embedding, U, k + h) for h in range(horizon)] for k in at])


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("more", [0, 4])
def test_histories_with_all_inputs_from_their_oldest_row_on(embedding, more):
    """Rows older than needed change nothing; one history alone, or many, with inputs of their own or shared."""
    horizon, at = 5, [8, 15, 22]
    states, inputs = judge(embedding, at, horizon)
    first = [k - embedding.lost - more for k in at]
    histories = np.stack([Y[a : k + 1] for a, k in zip(first, at, strict=True)])
    along = np.stack([U[a : k + horizon + embedding.input_lead] for a, k in zip(first, at, strict=True)])
    many = starts(signals(embedding), histories, along, horizon)
    np.testing.assert_array_equal(many.states, states)
    np.testing.assert_array_equal(many.acting, inputs)
    alone = starts(signals(embedding), histories[0], along[0], horizon)
    np.testing.assert_array_equal(alone.states, states[:1])
    np.testing.assert_array_equal(alone.acting, inputs[:1])
    assert (many.alone, alone.alone) == (False, True)
    shared = starts(signals(embedding), histories, along[1], horizon)
    np.testing.assert_array_equal(shared.acting, np.stack([inputs[1]] * 3))


@pytest.mark.parametrize("embedding", [e for e in EMBEDDINGS if not e.input_delays], ids=str)
def test_without_past_inputs_those_that_act_are_enough(embedding):
    states, inputs = judge(embedding, [12], 5)
    given = starts(signals(embedding), Y[12 - embedding.lost : 13], inputs[0], 5)
    np.testing.assert_array_equal(given.states, states)
    np.testing.assert_array_equal(given.acting, inputs)


def test_one_row_one_column_plain_lists_whole_numbers_and_flags():
    plain, single = signals(Embedding()), signals(Embedding(2, 0), outputs=("y",))
    assert starts(plain, [1.0, 2.0], [[3.0]], 1).states.tolist() == [[1, 2]]
    assert starts(plain, [1.0, 2.0], [3.0, 4.0], 2).acting.tolist() == [[[3], [4]]]
    assert starts(single, [1.0, 2.0, 3.0], [[3.0]], 1).states.tolist() == [[3, 2, 1]]
    two = signals(Embedding(), inputs=("u", "v"))
    assert starts(two, [1.0, 2.0], [3.0, 4.0], 1).acting.tolist() == [[[3, 4]]]
    given = starts(plain, np.array([1, 2]), np.array([[True], [False]]), 2)
    assert given.states.dtype == given.acting.dtype == float
    none = signals(Embedding(1), inputs=())
    for inputs in (None, np.zeros((7, 0))):
        assert starts(none, Y[:2], inputs, 7).acting.shape == (1, 7, 0)


@pytest.mark.parametrize(
    "embedding, history, inputs, message",
    [
        (Embedding(2), Y[:2], U[:3], r"last 3 or more rows of the outputs \(y, z\).*got \(2, 2\)"),
        (Embedding(2), Y[0], U[:3], r"Expected \(rows, 2\) or \(starts, rows, 2\), got \(2,\)"),
        (Embedding(), Y[:, :1], U[:3], r"Expected \(2,\), \(rows, 2\) or \(starts, rows, 2\), got \(30, 1\)"),
        (Embedding(), Y[None, None], U[:3], r"got \(1, 1, 30, 2\)"),
        (Embedding(), 3.0, U[:3], r"got \(\)"),
        (Embedding(), Y[:2], None, r"has inputs \(u\).* Expected inputs of shape \(4, 1\), got none"),
        (Embedding(), Y[:2], U[:5], r"Expected \(3, 1\) or \(1, 3, 1\) or \(4, 1\) or \(1, 4, 1\), got \(5, 1\)"),
        (Embedding(1, 1), Y[:2], U[:3], r"all from the oldest row.* to u\[k\+horizon-1\]\. Expected \(4, 1\)"),
        (Embedding(1, 1, "k+1"), Y[:2], U[:4], r"to u\[k\+horizon\]\. Expected \(5, 1\) or \(1, 5, 1\), got \(4, 1\)"),
        (Embedding(), Y[:4, None], U[:3][None], r"Expected \(3, 1\) or \(4, 3, 1\).* got \(1, 3, 1\)"),
        (Embedding(), Y[:1], np.full((3, 1), np.nan), r"inputs must be finite\. Got nan at index \(0, 0\)"),
        (Embedding(), [[1.0, np.inf]], U[:3], r"history must be finite\. Got inf at index \(0, 1\)"),
        (Embedding(), MASKED, U[:3], r"history must be finite\. Got nan at index \(1, 1\)"),
        (Embedding(), Y[:1] + 1j, U[:3], "history must be real numbers"),
        (Embedding(), [["a", "b"]], U[:3], "history must be real numbers"),
        (Embedding(), [[1.0, 2.0], [1.0]], U[:3], "history cannot be read as an array"),
    ],
)  # fmt: skip
def test_what_is_refused(embedding, history, inputs, message):
    with pytest.raises(KoopsieveError, match=message):
        starts(signals(embedding), history, inputs, 3)


def test_inputs_of_a_model_without_inputs_are_refused():
    with pytest.raises(KoopsieveError, match=r"a column per input \(none\).* got \(7, 1\)"):
        starts(signals(Embedding(1), inputs=()), Y[:2], U[:7], 7)
