"""Signals, their delays as a value, and data with delays: columns by hand, names, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Embedding, Signals, Trajectories, embed_delays

Y = np.random.default_rng(0).normal(size=(12, 2))
U = np.random.default_rng(1).normal(size=(12, 1))
MEASURED = Trajectories.from_arrays([Y, Y[:7]], [U, U[:7]], dt=0.2, state_names=["y", "z"], input_names=["u"])
SIGNALS = Signals(("y", "z"), ("u",), 0.1, Embedding(1, 1, "k+1"))


def test_names_follow_from_the_embedding():
    assert Embedding(1, 2).names(("y",), ("u", "v")) == ("y", "y[k-1]", "u[k-1]", "v[k-1]", "u[k-2]", "v[k-2]")
    assert Embedding(1, 2).acting(("u", "v")) == ("u", "v")
    assert Embedding(np.int64(0), np.uint8(2), "k+1").names(("y",), ("u",)) == ("y", "u[k]", "u[k-1]")
    assert (SIGNALS.state_names, SIGNALS.acting) == (("y", "z", "y[k-1]", "z[k-1]", "u[k]"), ("u[k+1]",))
    assert replace(SIGNALS, embedding=Embedding()).state_names == ("y", "z")
    assert Signals.from_dict(SIGNALS.to_dict()) == SIGNALS
    SIGNALS.require_same(Signals(("y", "z"), ("u",), 0.10004, SIGNALS.embedding), "Both")  # as clocks differ


@pytest.mark.parametrize(
    "change, message",
    [
        ({"outputs": ("y", "x")}, r"Both must have the same outputs\. Expected y, z, got y, x\."),
        ({"inputs": ()}, r"Both must have the same inputs\. Expected u, got none\."),
        (
            {"embedding": Embedding(1, 1)},
            r"Expected state_delays 1, input_delays 1, inputs_at k\+1, got .*inputs_at k\.",
        ),
        ({"dt": 0.2}, r"same sample time\. Expected 0\.1, got 0\.2\. Resample one of the two\."),
    ],
)
def test_what_differs_is_named(change, message):
    other = Signals(**{"outputs": ("y", "z"), "inputs": ("u",), "dt": 0.1, "embedding": SIGNALS.embedding, **change})
    with pytest.raises(KoopsieveError, match=message):
        SIGNALS.require_same(other, "Both")


@pytest.mark.parametrize(
    "arguments, message",
    [
        *(
            ({"outputs": ("y",), "dt": dt}, "must be a positive")
            for dt in (0, -1.0, np.nan, np.inf, True, "1", None, 1j)
        ),
        ({"outputs": ("y", "y")}, "'y' occurs twice"),
        ({"outputs": ("y",), "inputs": ("y",)}, "'y' occurs twice"),
        ({"outputs": ("y", "")}, "text and not empty"),
        ({"outputs": ("y", 3)}, "text and not empty"),
        ({"outputs": ("y", "y[k-1]"), "embedding": Embedding(1)}, r"'y\[k-1\]' occurs twice"),
        ({"outputs": ("y", "u[k]"), "inputs": ("u",), "embedding": Embedding(0, 1, "k+1")}, r"'u\[k\]' occurs twice"),
    ],
)
def test_signals_that_cannot_be(arguments, message):
    with pytest.raises(KoopsieveError, match=message):
        Signals(**arguments)


@pytest.mark.parametrize(
    "arguments, message",
    [
        *(
            ({name: delay}, f"{name}, the number of delays, must be a whole number, 0 or more")
            for name in ("state_delays", "input_delays")
            for delay in (-1, 1.5, "2", None, True, np.bool_(True), float("nan"))
        ),
        *(({"inputs_at": timing}, r'inputs_at must be "k" or "k\+1"') for timing in ("k-1", "", None, 1)),
        ({"input_delays": 2, "dead_time": 3}, "dead time of 3 samples needs as many input_delays"),
    ],
)
def test_embeddings_that_cannot_be(arguments, message):
    with pytest.raises(KoopsieveError, match=message):
        Embedding(**arguments)


@pytest.mark.parametrize(
    "embedding, lost, ahead, history",
    [
        (Embedding(), 0, 0, 1),
        (Embedding(3, 1), 3, 0, 4),
        (Embedding(1, 3), 3, 0, 4),
        (Embedding(0, 2, "k+1"), 2, 1, 3),
        (Embedding(1, 5, dead_time=4), 5, 0, 6),
    ],
)
def test_what_is_lost_and_needed(embedding, lost, ahead, history):
    assert (embedding.lost, embedding.input_lead, embedding.history) == (lost, ahead, history)
    assert embedding.trivial == (embedding == Embedding())
    assert Embedding(**embedding.to_dict()) == embedding


def test_one_shift_by_hand():
    """Columns y, z, y[k-1], z[k-1], u[k-1], u[k-2]; the acting input counts as column 6."""
    states = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    assert Embedding(1, 2).shift(states, np.array([[7.0, 8.0]]), np.array([[9.0]])).tolist() == [[7, 8, 1, 2, 9, 5]]
    assert Embedding(1, 2).shift_sources(2, 1).tolist() == [-1, -1, 0, 1, 6, 4]


@pytest.mark.parametrize(
    "timing, expected, acting",
    [
        ("k", [Y[3:], Y[2:11], Y[1:10], U[2:11], U[1:10], U[0:9]], U[3:11]),
        ("k+1", [Y[3:11], Y[2:10], Y[1:9], U[3:11], U[2:10], U[1:9]], U[4:11]),
    ],
)
def test_columns_by_hand(timing, expected, acting):
    embedded = embed_delays(MEASURED, states=2, inputs=3, inputs_at=timing)
    np.testing.assert_array_equal(embedded.states[0], np.column_stack(expected))
    np.testing.assert_array_equal(embedded.inputs[0], acting)
    for mine, theirs in zip(embedded.embedding.embed(Y, U), (embedded.states[0], acting), strict=True):
        np.testing.assert_array_equal(mine, theirs)  # an input too many is not used
    assert [len(x) for x in embedded.states] == ([9, 4] if timing == "k" else [8, 3])
    assert (embedded.output_names, embedded.input_names, embedded.dt) == (("y", "z"), ("u",), 0.2)
    assert "outputs y, z" in repr(embedded)
    assert all(array.flags.c_contiguous and not array.flags.writeable for array in embedded.states)
    assert embed_delays(MEASURED) is MEASURED


def test_an_episode_that_is_too_short_is_left_out_with_a_word():
    message = (
        r"With 6 delays an episode needs at least 8 samples\. Left out, 7 samples of 19: episode 1 \(7 samples\)\."
    )
    with pytest.warns(KoopsieveWarning, match=message):
        embedded = embed_delays(MEASURED, states=6)
    np.testing.assert_array_equal(embedded.states[0], embed_delays(MEASURED.subset(0), states=6).states[0])
    assert embedded.provenance.total.rows_dropped == 7
    assert [(source.label, source.first_row) for source in embedded.provenance.sources] == [("episode 0", 6)]


@pytest.mark.parametrize(
    "data, delays, message",
    [
        (embed_delays(MEASURED, states=1), (1,), r"already hold delays: only \['y', 'z'\] of their 4 states"),
        (Trajectories.from_arrays(Y), (0, 2), "inputs=2 delays were asked for, but these trajectories have no inputs"),
        (Trajectories.from_arrays(Y, state_names=["y", "y[k-1]"]), (1,), r"'y\[k-1\]' occurs twice"),
        (
            MEASURED.subset([1] * 8),
            (10,),
            r"at least 12 samples, and none has them: .*episode 4 \(7 samples\) and 3 more",
        ),
    ],
)
def test_what_is_refused(data, delays, message):
    with pytest.raises(KoopsieveError, match=message):
        embed_delays(data, *delays)
    with pytest.raises(KoopsieveError, match="Expected at least 7 samples"):
        embed_delays(Trajectories.from_arrays(np.arange(9.0), np.arange(9.0)), inputs=3).split(0.5)
