"""Signals: names, sample time and delays as one value, and what two data sets must share."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals

SIGNALS = Signals(("y", "z"), ("u",), 0.1, Embedding(1, 1, "k+1"))


def test_names_follow_from_the_embedding():
    assert SIGNALS.state_names == ("y", "z", "y[k-1]", "z[k-1]", "u[k]")
    assert SIGNALS.acting == ("u[k+1]",)
    assert SIGNALS.embedded(Embedding()).state_names == ("y", "z")
    assert Signals.from_dict(SIGNALS.to_dict()) == SIGNALS
    SIGNALS.require_same(Signals(("y", "z"), ("u",), 0.10004, SIGNALS.embedding), "Both")  # as clocks differ


@pytest.mark.parametrize(
    "change, message",
    [
        ({"outputs": ("y", "x")}, r"Both must have the same outputs\. Expected y, z, got y, x\."),
        ({"inputs": ()}, r"Both must have the same inputs\. Expected u, got none\."),
        (
            {"embedding": Embedding(1, 1)},
            r"same delays\. Expected state_delays 1, input_delays 1, inputs_at k\+1, got .*inputs_at k\.",
        ),
        ({"dt": 0.2}, r"same sample time\. Expected 0\.1, got 0\.2\. Resample one of the two\."),
    ],
)
def test_what_differs_is_named(change, message):
    other = Signals(**{"outputs": ("y", "z"), "inputs": ("u",), "dt": 0.1, "embedding": SIGNALS.embedding, **change})
    with pytest.raises(KoopsieveError, match=message):
        SIGNALS.require_same(other, "Both")


@pytest.mark.parametrize("dt", [0, -1.0, np.nan, np.inf, True, "1", None, 1j])
def test_sample_times_that_are_none(dt):
    with pytest.raises(KoopsieveError, match="dt, the sample time, must be a positive number"):
        Signals(("y",), dt=dt)


@pytest.mark.parametrize(
    "names, message",
    [
        ({"outputs": ("y", "y")}, "'y' occurs twice"),
        ({"outputs": ("y",), "inputs": ("y",)}, "'y' occurs twice"),
        ({"outputs": ("y", "")}, "text and not empty"),
        ({"outputs": ("y", 3)}, "text and not empty"),
        ({"outputs": ("y", "y[k-1]"), "embedding": Embedding(1)}, r"'y\[k-1\]' occurs twice"),
        ({"outputs": ("y", "u[k]"), "inputs": ("u",), "embedding": Embedding(0, 1, "k+1")}, r"'u\[k\]' occurs twice"),
    ],
)
def test_names_that_clash(names, message):
    with pytest.raises(KoopsieveError, match=message):
        Signals(**names)
