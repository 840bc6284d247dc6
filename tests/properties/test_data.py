"""Properties of trajectories: nothing crosses an episode, nothing is invented, nothing straddles."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Trajectories, embed_delays

lengths = st.lists(st.integers(2, 12), min_size=1, max_size=5)
widths = st.integers(1, 3)
delays = st.integers(0, 4)


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
def test_embedded_columns_are_the_shifted_ones_of_the_same_episode(lengths, n, width, a, b):
    lost = max(a, b)
    states, inputs = tagged([T + lost for T in lengths], n, width)
    trajectories = build(states, inputs)
    embedded = embed_delays(trajectories, states=a, inputs=b)
    assert embedded.n_outputs == n
    assert embedded.n_transitions == trajectories.n_transitions - lost * len(lengths)
    for e, x in enumerate(embedded.states):
        for row, sample in enumerate(x):
            k = row + lost
            expected = [states[e][k - d] for d in range(a + 1)] + [inputs[e][k - d] for d in range(1, b + 1)]
            np.testing.assert_array_equal(sample, np.concatenate(expected))
        np.testing.assert_array_equal(embedded.inputs[e], inputs[e][lost:])


@given(lengths, widths, st.integers(1, 2), delays, delays)
def test_names_say_where_a_column_comes_from(lengths, n, width, a, b):
    states, inputs = tagged([T + max(a, b) for T in lengths], n, width)
    embedded = embed_delays(build(states, inputs), states=a, inputs=b)
    for column, name in zip(embedded.states[0].T, embedded.state_names, strict=True):
        source, _, delay = name.rstrip("]").partition("[k-")
        array = states[0] if source.startswith("x") else inputs[0]
        past = array[:, int(source[1:]) - 1]
        start = max(a, b) - int(delay or 0)
        np.testing.assert_array_equal(column, past[start : start + len(column)])


@given(lengths, widths, delays)
def test_an_episode_too_short_for_its_delays_is_left_out_with_a_word(lengths, n, a):
    trajectories = build(tagged(lengths, n, 0)[0])
    enough = [i for i, length in enumerate(lengths) if length >= a + 2]
    if len(enough) == len(lengths):
        assert embed_delays(trajectories, states=a).n_episodes == len(lengths)
    elif enough:
        with pytest.warns(KoopsieveWarning, match="an episode needs at least"):
            embedded = embed_delays(trajectories, states=a)
        assert [int(x[0, 0] // 1e4) for x in embedded.states] == enough
    else:
        with pytest.raises(KoopsieveError, match="an episode needs at least"):
            embed_delays(trajectories, states=a)


@given(lengths, widths, st.integers(0, 2), st.floats(0, 0.5), st.integers(0, 1000))
def test_splitting_at_gaps_keeps_exactly_the_known_transitions(lengths, n, width, missing, seed):
    states, inputs = tagged(lengths, n, width, missing, seed)
    known = [
        (*x[k], *u[k], *x[k + 1])
        for x, u in zip(states, inputs, strict=True)
        for k in range(len(u))
        if not np.isnan([*x[k], *u[k], *x[k + 1]]).any()
    ]
    assume(known)
    trajectories = build(states, inputs, gaps="split")
    kept = [
        (*x[k], *u[k], *x[k + 1])
        for x, u in zip(trajectories.states, trajectories.inputs, strict=True)
        for k in range(len(u))
    ]
    assert kept == known
    assert all(len(x) >= 2 for x in trajectories.states)


@given(lengths, widths, st.floats(0, 0.5), st.integers(0, 1000))
def test_missing_samples_are_never_passed_over_in_silence(lengths, n, missing, seed):
    states, inputs = tagged(lengths, n, 1, missing, seed)
    holes = sum(int(np.isnan(array).sum()) for array in (*states, *inputs))
    if holes:
        with pytest.raises(KoopsieveError, match=r'gaps="split"'):
            build(states, inputs)
    else:
        assert build(states, inputs).n_episodes == len(lengths)


@given(st.lists(st.integers(6, 20), min_size=1, max_size=4), st.floats(0.01, 0.99), delays)
def test_split_shares_no_sample_and_keeps_order(lengths, fraction, a):
    trajectories = build([x + 10_000 for x in tagged([T + a for T in lengths], 1, 0)[0]])
    embedded = embed_delays(trajectories, states=a)
    assume(len(lengths) > 1 or lengths[0] >= a + 4)
    first, second = embedded.split(fraction)
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
    frame = pd.DataFrame(
        {
            "x": np.vstack(states)[:, 0],
            "run": np.repeat(np.arange(len(lengths)), lengths),
            "t": np.concatenate([0.1 * np.arange(T) for T in lengths]),
        }
    )
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame))))
    whole = frame.assign(x=frame["x"].where(kept))
    cut = frame[kept]
    sizes = cut.groupby("run").size()
    assume(len(sizes) and (sizes >= 2).all())
    steps = cut.groupby("run")["t"].diff().dropna()
    assume(np.isclose(steps.median(), 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KoopsieveWarning)
        from_holes = Trajectories.from_frame(cut, "x", episode="run", time="t", gaps="split")
        from_nan = Trajectories.from_frame(whole, "x", episode="run", time="t", gaps="split")
    assert [x.ravel().tolist() for x in from_holes.states] == [x.ravel().tolist() for x in from_nan.states]
