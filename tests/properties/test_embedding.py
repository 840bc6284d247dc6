"""Properties of delays: what is embedded is what the delay line shifts to, in memory and in streams, cut anywhere."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from koopsieve.data import Embedding, Signals, Stream, Trajectories
from koopsieve.data.delays import embedded

embeddings = st.builds(Embedding, st.integers(0, 4), st.integers(0, 4), st.sampled_from(["k", "k+1"]))


def tagged(length, n, width):
    """A record in which every number tells where it stands."""
    return 10.0 * np.arange(length)[:, None] + np.arange(n), -(10.0 * np.arange(length)[:, None] + np.arange(width) + 1)


@given(embeddings, st.integers(2, 12), st.integers(1, 3), st.integers(1, 2))
def test_every_state_is_the_one_before_shifted(embedding, length, n, width):
    outputs, inputs = tagged(length + embedding.lost + embedding.ahead, n, width)
    states, acting = embedding.embed(outputs, inputs[:-1])
    assert len(states) == length
    assert len(acting) == length - 1
    moved = embedding.shift(states[:-1], outputs[embedding.lost + 1 :][: length - 1], acting)
    np.testing.assert_array_equal(moved, states[1:])


@given(embeddings, st.integers(1, 12), st.integers(1, 3), st.integers(1, 2))
def test_repeated_shifts_from_the_first_state_give_the_longer_record(embedding, steps, n, width):
    outputs, inputs = tagged(steps + 1 + embedding.lost + embedding.ahead, n, width)
    states, acting = embedding.embed(outputs, inputs[:-1])
    line = states[:1]
    for k in range(steps):
        line = embedding.shift(line, outputs[embedding.lost + 1 + k][None], acting[k][None])
        np.testing.assert_array_equal(line[0], states[k + 1])


@given(embeddings, st.integers(1, 3), st.integers(1, 2))
def test_sources_say_what_shift_does(embedding, n, width):
    sources = embedding.shift_sources(n, width)
    rng = np.random.default_rng(0)
    line, outputs, acting = rng.normal(size=(1, len(sources))), rng.normal(size=(1, n)), rng.normal(size=(1, width))
    moved = embedding.shift(line, outputs, acting)[0]
    everything = np.concatenate([line[0], acting[0]])
    assert (sources[:n] == -1).all()
    np.testing.assert_array_equal(moved[:n], outputs[0])
    np.testing.assert_array_equal(moved[n:], everything[sources[n:]])


@given(embeddings, st.integers(1, 3), st.integers(1, 2))
def test_there_is_a_name_per_column(embedding, n, width):
    signals = Signals(tuple("abc"[:n]), tuple("uv"[:width]), embedding=embedding)
    states, acting = embedding.embed(*(array[:9] for array in tagged(9, n, width)))
    assert states.shape[1] == len(signals.state_names)
    assert acting.shape[1] == len(signals.acting)


@given(
    embeddings,
    st.lists(st.integers(2, 15), min_size=1, max_size=3),
    st.integers(1, 16),
    st.integers(1, 20),
    st.booleans(),
)
def test_a_stream_embeds_what_trajectories_do(embedding, lengths, chunk, rows, short):
    """Whatever the chunks that arrive, the blocks that are read, and whether the last input is there."""
    lost = embedding.lost + embedding.ahead
    records = [tagged(length + lost, 2, 1) for length in lengths]
    data = Trajectories(
        tuple(x + 1000 * i for i, (x, _) in enumerate(records)),
        tuple(u[:-1] for _, u in records),
        Signals(("x1", "x2"), ("u1",)),
    )
    given_rows = [len(u) - short for _, u in records]

    def chunks():
        for episode, (x, (_, u)) in enumerate(zip(data.states, records, strict=True)):
            for a in range(0, len(x), chunk):
                yield episode, x[a : a + chunk], u[: given_rows[episode]][a : a + chunk]

    expected, stream = embedded(data, embedding), embedded(Stream.from_chunks(chunks), embedding)
    assert stream.signals == expected.signals
    for piece, x, u in zip(stream.pieces(rows), expected.states, expected.inputs, strict=True):
        blocks = list(piece)
        np.testing.assert_array_equal(np.concatenate([block.states for block in blocks]), x)
        np.testing.assert_array_equal(np.concatenate([block.inputs for block in blocks])[: len(u)], u)
