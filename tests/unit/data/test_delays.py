"""Delay embedding: columns, names, outputs, and what is refused."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Trajectories, embed_delays

Y = np.random.default_rng(0).normal(size=(12, 2))
U = np.random.default_rng(1).normal(size=(12, 1))
MEASURED = Trajectories.from_arrays([Y, Y[:7]], [U, U[:7]], dt=0.2, state_names=["y", "z"], input_names=["u"])


def test_columns_and_names_by_hand():
    embedded = embed_delays(MEASURED, states=2, inputs=3)
    assert embedded.state_names == (
        *("y", "z", "y[k-1]", "z[k-1]", "y[k-2]", "z[k-2]"),
        *("u[k-1]", "u[k-2]", "u[k-3]"),
    )
    expected = np.column_stack([Y[3:], Y[2:11], Y[1:10], U[2:11], U[1:10], U[0:9]])
    np.testing.assert_array_equal(embedded.states[0], expected)
    np.testing.assert_array_equal(embedded.inputs[0], U[3:11])
    assert embedded.output_names == ("y", "z")
    assert embedded.input_names == ("u",)
    assert embedded.dt == 0.2
    assert [len(x) for x in embedded.states] == [9, 4]
    assert "outputs y, z" in repr(embedded)
    assert all(array.flags.c_contiguous and not array.flags.writeable for array in embedded.states)
    assert embed_delays(MEASURED) is MEASURED


def test_delays_of_inputs_alone():
    embedded = embed_delays(MEASURED, inputs=1)
    assert embedded.state_names == ("y", "z", "u[k-1]")
    np.testing.assert_array_equal(embedded.states[1], np.column_stack([Y[1:7], U[:6]]))


def test_an_episode_that_is_too_short_is_left_out_with_a_word():
    message = (
        r"With 6 delays an episode needs at least 8 samples\. Left out, 7 samples of 19: episode 1 \(7 samples\)\."
    )
    with pytest.warns(KoopsieveWarning, match=message):
        embedded = embed_delays(MEASURED, states=6)
    assert len(embedded) == 1
    np.testing.assert_array_equal(embedded.states[0], embed_delays(MEASURED.subset(0), states=6).states[0])
    assert embedded.provenance.total.rows_dropped == 7
    assert [source.label for source in embedded.provenance.sources] == ["episode 0"]
    assert embedded.provenance.sources[0].first_row == 6


@pytest.mark.parametrize(
    "data, delays, message",
    [
        (embed_delays(MEASURED, states=1), (1,), r"already hold delays: only \['y', 'z'\] of their 4 states"),
        (Trajectories.from_arrays(Y), (0, 2), "inputs=2 delays were asked for, but these trajectories have no inputs"),
        (Trajectories.from_arrays(Y, state_names=["y", "y[k-1]"]), (1,), r"'y\[k-1\]' occurs twice"),
        (
            *(MEASURED.subset([1] * 8), (10,)),
            r"needs at least 12 samples, and none has them: .*episode 4 \(7 samples\) and 3 more\. Use fewer delays",
        ),
    ],
)
def test_what_is_refused(data, delays, message):
    with pytest.raises(KoopsieveError, match=message):
        embed_delays(data, *delays)


def test_split_of_embedded_data_shares_no_sample():
    tagged = Trajectories.from_arrays(np.arange(30.0), np.arange(100.0, 130.0))
    first, second = embed_delays(tagged, states=1, inputs=3).split(0.5)
    assert not set(first.states[0].ravel()) & set(second.states[0].ravel())
    with pytest.raises(KoopsieveError, match="Expected at least 7 samples"):
        embed_delays(Trajectories.from_arrays(np.arange(9.0), np.arange(9.0)), inputs=3).split(0.5)
