"""Holding data out: nothing lies on both sides, in memory or streamed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from koopsieve import KoopsieveError, Stream, Trajectories, embed_delays
from koopsieve.data.splitting import hold_out, in_memory, sample, spread_choice


def counted(samples, start=0):
    """A record whose state is the number of the sample, and whose input is the same plus a half."""
    t = start + np.arange(float(samples))
    return t[:, None], t[:-1, None] + 0.5


def lively(samples, start=0):
    """The same, and beside it noise: a signal that remembers nothing, so that a short stretch tells enough."""
    x, u = counted(samples, start)
    return np.hstack([x, np.random.default_rng(0).normal(size=x.shape)]), u


def numbers(data):
    return np.concatenate([x[:, 0] for x in data.states])


@given(samples=st.integers(60, 3000), share=st.sampled_from([0.1, 0.25, 0.5]), longest=st.integers(1, 20))
def test_a_record_is_cut_into_stretches_that_share_nothing(samples, share, longest):
    x, u = counted(samples)
    learn, held = hold_out(Trajectories.from_arrays(x, u), share, longest)
    assert not set(numbers(learn)) & set(numbers(held))
    assert numbers(learn).size + numbers(held).size == samples
    assert numbers(held).size == pytest.approx(share * samples, abs=3 * len(held))
    for part in (learn, held):
        for states, inputs in zip(part.states, part.inputs, strict=True):
            np.testing.assert_array_equal(np.diff(states[:, 0]), 1.0)
            np.testing.assert_array_equal(inputs[:, 0], states[:-1, 0] + 0.5)


def test_how_many_stretches_are_held_out_and_where():
    long, short = (hold_out(Trajectories.from_arrays(*lively(n)), 0.25, 10) for n in (10_000, 300))
    assert [len(part) for part in (*long, *short)] == [4, 4, 1, 1]
    slow = hold_out(Trajectories.from_arrays(*counted(10_000)), 0.25, 10)  # short stretches would tell little of a ramp
    assert [len(part) for part in slow] == [1, 1]
    assert numbers(short[1])[0] == 225
    data = Trajectories.from_arrays([counted(900)[0], counted(1100, 5000)[0], counted(3, 9000)[0]])
    learn, held = hold_out(data, 0.25, 5)
    assert numbers(held).size == pytest.approx(500, abs=10)
    assert numbers(held).min() < 900 < 5000 < numbers(held).max() < 9000
    assert not set(numbers(learn)) & set(numbers(held))


def test_delays_do_not_reach_over_a_cut():
    data = embed_delays(Trajectories.from_arrays(*lively(4000)), states=3, inputs=2)
    learn, held = hold_out(data, 0.25, 5)
    touched = [set(np.concatenate([x[:, :8:2].ravel() for x in part.states])) for part in (learn, held)]
    assert len(held) > 1
    assert not touched[0] & touched[1]


@pytest.mark.parametrize(
    ("lengths", "share", "held"),
    [([10] * 8, 0.25, [1, 5]), ([10, 10], 0.5, [0]), ([10, 10], 0.9, [1]), ([10] * 20, 0.1, [4, 14])],
)
def test_whole_episodes_are_held_out_evenly_spread(lengths, share, held):
    assert spread_choice(lengths, share) == held


def test_what_cannot_be_split_is_refused():
    for share, message in ((0.25, "too short to be split"), (1.0, "between 0 and 1")):
        with pytest.raises(KoopsieveError, match=message):
            hold_out(Trajectories.from_arrays(*counted(3)), share, 1)


def streams():
    x, u = counted(9000)

    def chunks():
        for a in range(0, 9000, 700):
            yield "record", x[a : a + 700], np.append(u, [[0.0]], axis=0)[a : a + 700]

    return {"arrays": Stream.from_arrays(x, u), "chunks": Stream.from_chunks(chunks)}


@pytest.mark.parametrize("kind", ["arrays", "chunks"])
def test_a_stream_is_divided_without_reading_it_into_memory(kind):
    learn, held = hold_out(streams()[kind], 0.25, 5)
    seen = [np.concatenate(list(part.state_blocks()))[:, 0] for part in (learn, held)]
    assert sorted([*seen[0], *seen[1]]) == list(range(9000))
    assert seen[1].size == pytest.approx(2250, rel=0.3)
    parts = held.parts(3, 0)
    again = np.concatenate([block.states for part in parts for piece in part.pieces(100) for block in piece])
    np.testing.assert_array_equal(np.sort(again[:, 0]), np.sort(seen[1]))


def test_a_sample_of_a_stream_is_whole_stretches_spread_over_it():
    found = sample(streams()["arrays"], rows=1000, stretch=100)
    assert found.n_samples == pytest.approx(1000, abs=100)
    for x, u in zip(found.states, found.inputs, strict=True):
        np.testing.assert_array_equal(np.diff(x[:, 0]), 1.0)
        np.testing.assert_array_equal(u[:, 0], x[:-1, 0] + 0.5)
    assert numbers(found).min() < 3000 < 6000 < numbers(found).max()
    assert sample(streams()["arrays"], rows=10**6, stretch=100).n_samples == 9000


def test_a_small_stream_is_read_whole_and_a_large_one_is_not():
    data = streams()
    whole = in_memory(data["arrays"], 10**6)
    assert isinstance(whole, Trajectories)
    np.testing.assert_array_equal(whole.states[0], counted(9000)[0])
    assert in_memory(data["arrays"], 1000) is data["arrays"]
    assert in_memory(data["chunks"], 10**6) is data["chunks"]  # nobody knows its length
