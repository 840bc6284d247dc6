"""Properties of trajectories and delays: nothing crosses an episode, nothing is invented, nothing straddles."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Embedding, Signals, Stream, Trajectories, embed_delays, embedded

lengths = st.lists(st.integers(2, 12), min_size=1, max_size=5)
widths = st.integers(1, 3)
delays = st.integers(0, 4)
embeddings = st.builds(Embedding, delays, delays, st.sampled_from(["k", "k+1"]))


def tagged(lengths, n_states, n_inputs, missing=0.0, seed=0):
    """Arrays in which every number tells where it stands: episode, row, column, and whether it is an input."""
    rng = np.random.default_rng(seed)
    states = [1e4 * e + 10.0 * np.arange(T)[:, None] + np.arange(n_states) for e, T in enumerate(lengths)]
    inputs = [-(1e4 * (e + 1) + 10.0 * np.arange(T - 1)[:, None] + np.arange(n_inputs)) for e, T in enumerate(lengths)]
    for array in (*states, *inputs):
        array[rng.random(array.shape) < missing] = np.nan
    return states, inputs


def build(*arguments, **options):
    """Build while constants and lost samples, which do not matter here, go unmentioned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KoopsieveWarning)
        return Trajectories.from_arrays(*arguments, **options)


@given(lengths, widths, st.integers(0, 2))
def test_the_number_of_transitions_is_that_within_episodes(lengths, n, width):
    states, inputs = tagged(lengths, n, width)
    trajectories = build(states, inputs)
    assert trajectories.n_transitions == sum(lengths) - len(lengths)
    assert trajectories.n_transitions == sum(len(u) for u in trajectories.inputs)
    for x, y in zip(states, trajectories.states, strict=True):
        np.testing.assert_array_equal(x, y)


@given(lengths, widths, st.integers(1, 2), delays, delays)
def test_embedded_columns_are_the_shifted_ones_of_the_same_episode_and_are_named_so(lengths, n, width, a, b):
    lost = max(a, b)
    states, inputs = tagged([T + lost for T in lengths], n, width)
    trajectories = build(states, inputs)
    found = embed_delays(trajectories, states=a, inputs=b)
    assert found.n_outputs == n
    assert found.n_transitions == trajectories.n_transitions - lost * len(lengths)
    for x, u, outputs, acting in zip(found.states, found.inputs, states, inputs, strict=True):
        for k, sample in enumerate(x, lost):
            expected = [outputs[k - d] for d in range(a + 1)] + [acting[k - d] for d in range(1, b + 1)]
            np.testing.assert_array_equal(sample, np.concatenate(expected))
        np.testing.assert_array_equal(u, acting[lost:])
    for column, name in zip(found.states[0].T, found.state_names, strict=True):
        source, _, delay = name.rstrip("]").partition("[k-")
        past = (states if source.startswith("x") else inputs)[0][:, int(source[1:]) - 1]
        np.testing.assert_array_equal(column, past[lost - int(delay or 0) :][: len(column)])


@given(embeddings, st.integers(2, 12), st.integers(1, 3), st.integers(1, 2))
def test_every_state_is_the_one_before_shifted_and_sources_say_so(embedding, length, n, width):
    (outputs,), (inputs,) = tagged([length + embedding.lost + embedding.input_lead], n, width)
    states, acting = embedding.embed(outputs, inputs)
    signals = Signals(tuple("abc"[:n]), tuple("uv"[:width]), embedding=embedding)
    assert states.shape == (length, len(signals.state_names))
    assert acting.shape == (length - 1, len(signals.acting))
    following = outputs[embedding.lost + 1 :][: length - 1]
    np.testing.assert_array_equal(embedding.shift(states[:-1], following, acting), states[1:])
    sources = embedding.shift_sources(n, width)
    assert (sources[:n] == -1).all()
    np.testing.assert_array_equal(np.hstack([states[:-1], acting])[:, sources[n:]], states[1:, n:])


blocks = st.integers(1, 20)


@given(embeddings, st.lists(st.integers(2, 15), min_size=1, max_size=3), blocks, blocks, st.booleans())
def test_a_stream_embeds_what_trajectories_do(embedding, lengths, chunk, rows, short):
    """Whatever the chunks that arrive, the blocks that are read, and whether the last input is there."""
    states, inputs = tagged([length + embedding.lost + embedding.input_lead + 1 for length in lengths], 2, 1)
    states = [x[:-1] for x in states]  # an input for every sample
    data = Trajectories(tuple(states), tuple(u[:-1] for u in inputs), Signals(("x1", "x2"), ("u1",)))

    def chunks():
        for episode, (x, u) in enumerate(zip(states, inputs, strict=True)):
            for a in range(0, len(x), chunk):
                yield episode, x[a : a + chunk], u[: len(u) - short][a : a + chunk]

    expected, stream = embedded(data, embedding), embedded(Stream.from_chunks(chunks), embedding)
    assert stream.signals == expected.signals
    for piece, x, u in zip(stream.pieces(rows), expected.states, expected.inputs, strict=True):
        found = list(piece)
        np.testing.assert_array_equal(np.concatenate([block.states for block in found]), x)
        np.testing.assert_array_equal(np.concatenate([block.inputs for block in found])[: len(u)], u)


@given(lengths, widths, delays)
def test_an_episode_too_short_for_its_delays_is_left_out_with_a_word(lengths, n, a):
    trajectories = build(tagged(lengths, n, 0)[0])
    enough = [i for i, length in enumerate(lengths) if length >= a + 2]
    if len(enough) == len(lengths):
        assert embed_delays(trajectories, states=a).n_episodes == len(lengths)
    elif enough:
        with pytest.warns(KoopsieveWarning, match="an episode needs at least"):
            found = embed_delays(trajectories, states=a)
        assert [int(x[0, 0] // 1e4) for x in found.states] == enough
    else:
        with pytest.raises(KoopsieveError, match="an episode needs at least"):
            embed_delays(trajectories, states=a)


def transitions(states, inputs):
    pairs = zip(states, inputs, strict=True)
    return [(*x[k], *u[k], *x[k + 1]) for x, u in pairs for k in range(len(u))]


@given(lengths, widths, st.integers(0, 2), st.floats(0, 0.5), st.integers(0, 1000))
def test_splitting_at_gaps_keeps_exactly_the_known_transitions_and_gaps_are_never_passed_over(
    lengths, n, width, missing, seed
):
    states, inputs = tagged(lengths, n, width, missing, seed)
    known = [one for one in transitions(states, inputs) if not np.isnan(one).any()]
    if any(np.isnan(array).any() for array in (*states, *inputs)):
        with pytest.raises(KoopsieveError, match=r'gaps="split"'):
            build(states, inputs)
    else:
        assert build(states, inputs).n_episodes == len(lengths)
    assume(known)
    trajectories = build(states, inputs, gaps="split")
    assert transitions(trajectories.states, trajectories.inputs) == known
    assert all(len(x) >= 2 for x in trajectories.states)


@given(st.lists(st.integers(6, 20), min_size=1, max_size=4), st.floats(0.01, 0.99), delays)
def test_split_shares_no_sample_and_keeps_order(lengths, fraction, a):
    trajectories = build([x + 10_000 for x in tagged([T + a for T in lengths], 1, 0)[0]])
    assume(len(lengths) > 1 or lengths[0] >= a + 4)
    first, second = embed_delays(trajectories, states=a).split(fraction)
    seen = [np.concatenate([x.ravel() for x in part.states]) for part in (first, second)]
    assert seen[0].max() < seen[1].min()
    assert first.n_transitions >= 1
    assert second.n_transitions >= 1


@given(lengths, widths, st.integers(0, 2), st.sampled_from([pd.DataFrame, pl.DataFrame]))
def test_a_frame_says_the_same_as_arrays(lengths, n, width, make):
    states, inputs = tagged(lengths, n, width)
    padded = np.vstack([np.vstack([u, np.full((1, width), np.nan)]) for u in inputs])
    columns = {f"x{j + 1}": np.vstack(states)[:, j] for j in range(n)}
    columns |= {f"u{j + 1}": padded[:, j] for j in range(width)}
    columns["run"] = np.repeat(np.arange(len(lengths))[::-1], lengths)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KoopsieveWarning)
        trajectories = Trajectories.from_frame(
            make(columns), [f"x{j + 1}" for j in range(n)], [f"u{j + 1}" for j in range(width)], episode="run"
        )
    expected = build(states, inputs)
    assert trajectories.state_names == expected.state_names
    assert trajectories.input_names == expected.input_names
    for mine, theirs in zip(trajectories.states + trajectories.inputs, expected.states + expected.inputs, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@given(lengths, st.data())
def test_rows_missing_from_a_clocked_frame_are_gaps(lengths, data):
    states, _ = tagged(lengths, 1, 0)
    frame = pd.DataFrame({"x": np.vstack(states)[:, 0], "run": np.repeat(np.arange(len(lengths)), lengths)})
    frame["t"] = np.concatenate([0.1 * np.arange(T) for T in lengths])
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame))))
    whole = frame.assign(x=frame["x"].where(kept))
    cut = frame[kept]
    sizes = cut.groupby("run").size()
    assume(len(sizes) and (sizes >= 2).all())
    steps = cut.groupby("run")["t"].diff().dropna()
    assume(np.isclose(steps.median(), 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KoopsieveWarning)
        both = (Trajectories.from_frame(one, "x", episode="run", time="t", gaps="split") for one in (cut, whole))
        from_holes, from_nan = ([x.ravel().tolist() for x in one.states] for one in both)
    assert from_holes == from_nan
