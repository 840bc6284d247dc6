"""Every kind of stream gives the statistics of the same data in memory, whatever blocks, parts, delays and horizons."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Stream, Trajectories, embed_delays
from koopsieve.data.streaming.origins import ArraySegment, SegmentOrigin
from koopsieve.dictionary import Monomials, SquaredExponential, States
from koopsieve.execution import Serial, Threads
from koopsieve.regression import TriangularFactor, compress
from tests.problems import assert_same_statistics


def make(lengths=(30, 7, 3, 18), n=2, inputs=1, seed=0):
    rng = np.random.default_rng(seed)
    x = [rng.normal(size=(T, n)) for T in lengths]
    return Trajectories.from_arrays(x, [rng.normal(size=(T - 1, inputs)) for T in lengths], dt=0.1)


def padded(data):
    """Inputs with as many rows as states, the last of them not a number: nothing follows it."""
    return [np.vstack([u, np.full((1, u.shape[1]), np.nan)]) for u in data.inputs]


def chunks(data, size):
    for episode, (x, u) in enumerate(zip(data.states, padded(data), strict=True)):
        for a in range(0, len(x), size):
            yield episode, x[a : a + size], u[a : a + size]


def by_hand(data, phi, longest):
    """The regressions written out row by row, straight from the definition."""
    episodes = list(zip(data.states, data.inputs, strict=True))
    rows = [(x, u, k) for x, u in episodes for k in range(len(x) - longest)]
    design = np.array([np.concatenate([phi(x[k]), u[k : k + longest].ravel()]) for x, u, k in rows])
    return TriangularFactor.empty(design.shape[1], 2).absorb(design, np.array([x[k + longest, :2] for x, u, k in rows]))


@pytest.mark.parametrize("size", [1, 4, 7, 100])
@pytest.mark.parametrize("delays", [(0, 0), (2, 1), (1, 3)])
def test_chunks_with_delays_and_horizons(size, delays):
    data = make(lengths=(30, 9, 12, 18))
    stream = Stream.from_chunks(lambda: chunks(data, size), dt=0.1)
    expected, came = embed_delays(data, *delays), embed_delays(stream, *delays)
    assert came.signals == expected.signals
    phi = (States() + Monomials()).fit(expected)
    wanted = compress(expected, phi, horizons=[1, 4])
    mine = compress(came, phi, horizons=[1, 4], chunk_rows=5)
    assert_same_statistics(mine, wanted)
    literal = by_hand(expected, phi, 4)
    np.testing.assert_allclose(mine.multistep.at(4).R, literal.R, atol=1e-12 * np.abs(literal.R).max())
    np.testing.assert_allclose(mine.multistep.at(4).S, literal.S, atol=1e-12 * np.abs(literal.R).max())


@given(
    lengths=st.lists(st.integers(2, 25), min_size=1, max_size=4),
    count=st.integers(1, 9),
    delays=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    timing=st.sampled_from(["k", "k+1"]),
    horizon=st.integers(1, 4),
    rows=st.integers(1, 12),
)
def test_parts_answer_for_every_transition_once(lengths, count, delays, timing, horizon, rows):
    """Cut anywhere, in the middle of episodes and of delays: the transitions of all parts are those of the whole."""
    from koopsieve.data.streaming.blocks import cut

    x = [np.column_stack([np.full(T, i), np.arange(T)]).astype(float) for i, T in enumerate(lengths)]
    stream = Stream.from_arrays(x, [a[:, 1:] ** 2 for a in x]).embedded(Embedding(*delays, timing))
    lost, ahead = max(delays), int(timing == "k+1")
    expected = [(i, k) for i, T in enumerate(lengths) for k in range(lost, T - 1 - ahead)]
    seen = []
    for part in stream.parts(count, reach=horizon):
        for chunk in cut(part.pieces(rows), rows, horizon):
            assert chunk.rows <= rows
            for k in range(chunk.rows):
                episode, sample = chunk.states[k, :2]
                seen.append((int(episode), int(sample)))
                np.testing.assert_array_equal(chunk.inputs[k], [(sample + ahead) ** 2])
                left = min(horizon, lengths[int(episode)] - 1 - ahead - int(sample))
                np.testing.assert_array_equal(chunk.states[k : k + left + 1, 1], sample + np.arange(left + 1))
                for delay in range(1, delays[0] + 1):
                    assert chunk.states[k, 2 * delay + 1] == sample - delay
                for delay in range(1, delays[1] + 1):
                    assert chunk.states[k, 1 + 2 * delays[0] + delay] == (sample - delay + ahead) ** 2
    assert sorted(seen) == expected


@pytest.mark.parametrize("executor", [Serial(), Threads(2), Threads(3)])
def test_memory_maps_and_zarr(tmp_path, executor):
    zarr = pytest.importorskip("zarr")
    data = make(lengths=(300, 170))
    phi = (States() + Monomials()).fit(data)
    wanted = compress(data, phi, horizons=[3], executor=Serial())
    maps, arrays = [], []
    for i, x in enumerate(data.states):
        np.save(tmp_path / f"{i}.npy", x)
        maps.append(np.load(tmp_path / f"{i}.npy", mmap_mode="r"))
        stored = zarr.create_array(str(tmp_path / f"{i}.zarr"), shape=x.shape, chunks=(50, 2), dtype="f8")
        stored[:] = x
        arrays.append(stored)
    for states in (maps, arrays):
        stream = Stream.from_arrays(states, padded(data), dt=0.1)
        assert stream.n_samples == 470
        assert_same_statistics(compress(stream, phi, horizons=[3], chunk_rows=16, executor=executor), wanted)


def test_memory_does_not_grow_with_samples():
    """What is alive at any time while a stream is compressed is a few chunks, not the stream."""
    import tracemalloc

    def blocks(count):
        def read():
            rng = np.random.default_rng(0)
            for _ in range(count):
                yield "all", rng.normal(size=(1000, 2))

        return read

    def peak(count):
        stream = Stream.from_chunks(blocks(count))
        phi = (States() + SquaredExponential(centers=np.zeros((1, 2)) + np.arange(20)[:, None])).fit(stream)
        tracemalloc.start()
        compress(stream, phi, max_bytes=1_000_000)
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return high

    small, large = peak(10), peak(100)
    assert large < 1.2 * small
    assert large < 2_000_000


def test_fitting_a_dictionary_to_a_stream_is_fitting_it_to_the_data():
    data = make(lengths=(400, 300))
    blocks = SquaredExponential(centers=5, standardize=True)
    wanted = (States() + blocks).fit(data, seed=3)
    phi = (States() + blocks).fit(Stream.from_chunks(lambda: chunks(data, 37)), seed=3)
    assert phi.names == wanted.names
    np.testing.assert_allclose(phi(data.states[0]), wanted(data.states[0]), rtol=1e-9)


@pytest.mark.parametrize("size", [1, 37, 1000])
@pytest.mark.parametrize("timing", ["k", "k+1"])
def test_points_of_states_and_inputs_are_those_of_the_data(size, timing):
    """The input after the last sample acts on nothing: it is missing here, and must not be looked at."""
    data = make(lengths=(40, 30))
    stream = embed_delays(Stream.from_chunks(lambda: chunks(data, size), dt=0.1), 2, 1, timing)
    expected = embed_delays(data, 2, 1, timing)
    for mine, theirs in ((stream.acted_blocks(), expected.acted_blocks()), (stream.state_blocks(), expected.states)):
        np.testing.assert_array_equal(np.concatenate(list(mine)), np.concatenate(list(theirs)))


def test_centres_of_a_long_stream_by_mini_batches():
    """Three clouds, visited one after the other: a centre ends up in the middle of each."""
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])

    def record():
        rng = np.random.default_rng(0)
        for middle in middles:
            for _ in range(10):
                yield "all", middle + rng.normal(size=(1000, 2))

    phi = SquaredExponential(centers=3, coefficients=[1.0]).fit(Stream.from_chunks(record), seed=0)
    found = phi.families[0].centers
    distance = np.linalg.norm(found[:, None] - middles, axis=2).min(axis=0)
    assert distance.max() < 0.1


def test_streaming_moments_survive_a_large_offset():
    from koopsieve.dictionary.centers import coordinate_scale
    from koopsieve.dictionary.recipes import Domain

    rng = np.random.default_rng(0)
    x = 1e8 + rng.normal(size=(3000, 2))
    stream = Stream.from_chunks([("a", part) for part in np.array_split(x, 7)])
    np.testing.assert_allclose(coordinate_scale(Domain(stream), True), (x - 1e8).std(axis=0), rtol=1e-6)


def test_progress_is_shown_with_and_without_a_known_length():
    data = make(lengths=(100,))
    phi = States().fit(data)
    seen = []

    def watch(items, description, total):
        items = list(items)
        seen.append((len(items), total))
        return items

    compress(Stream.of(data), phi, chunk_rows=10, progress=watch, executor=Serial())
    compress(Stream.from_chunks(lambda: chunks(data, 30), dt=0.1), phi, chunk_rows=10, progress=watch)
    compress(Stream.of(data), phi, chunk_rows=1, progress=watch, executor=Threads(2))
    assert seen == [(10, 10), (10, None), (10, 10)]


def test_parts_hold_only_the_arrays_they_need():
    arrays = [np.zeros((10, 1)), np.ones((10, 1)), np.ones((10, 1))]
    parts = SegmentOrigin.of(ArraySegment.whole(arrays, [np.zeros((10, 0))] * 3)).parts(3, reach=1)
    assert [len(part.segments) for part in parts] == [1, 1, 1]


ROWS = np.random.default_rng(0).normal(size=(9, 2))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Stream.from_chunks(iter([("a", ROWS)])), "used up after one pass"),
        (lambda: Stream.from_chunks([]), "There are no chunks"),
        (lambda: Stream.from_chunks([ROWS]), "must be .episode, states. or"),
        (lambda: Stream.from_chunks([("a", ROWS[:3], np.zeros((5, 1)))]), r"Got \(3, 2\) and \(5, 1\)"),
        (lambda: Stream.from_chunks([("a", [["x", "y"]])]), "must be real numbers"),
        (lambda: Stream.from_arrays(ROWS, np.zeros((7, 1))), "T or T-1 rows"),
        (lambda: Stream.from_arrays([ROWS, ROWS[:, :1]]), "same columns"),
        (lambda: Stream.from_arrays(ROWS[:, 0]), r"shape .samples, columns."),
        (lambda: embed_delays(embed_delays(Stream.from_arrays(ROWS), 1), 1), "already hold delays"),
        (lambda: embed_delays(Stream.from_arrays(ROWS), 0, 1), "no inputs"),
    ],
)
def test_streams_that_are_refused(make, message):
    with pytest.raises(KoopsieveError, match=message):
        make()


@pytest.mark.parametrize(
    "stream, options, message",
    [
        (Stream.from_chunks([("a", ROWS), ("b", ROWS), ("a", ROWS)]), {}, "Episode 'a' comes back"),
        (
            *(Stream.from_chunks([("a", ROWS), ("a", ROWS[:, :1])]), {}),
            r"Expected 2 \(x1, x2\), got shape \(9, 1\) from sample 9 .* of episode 'a'",
        ),
        (Stream.from_arrays(ROWS[:1]), {}, "no transitions"),
        (Stream.from_arrays(ROWS[:4]), {"horizons": [4]}, "No episode is long enough for the horizon 4"),
    ],
)
def test_what_is_found_while_a_stream_is_read(stream, options, message):
    with pytest.raises(KoopsieveError, match=message):
        compress(stream, States().fit(Trajectories.from_arrays(ROWS)), **options)


def test_a_missing_input_is_named_unless_nothing_follows_it():
    x = ROWS[:, :1]
    u = x.copy()
    u[-1] = np.nan
    phi = States().fit(Trajectories.from_arrays(x, u))
    assert compress(Stream.from_chunks([("a", x[:4], u[:4]), ("a", x[4:], u[4:])]), phi).rows == 8
    u[3] = np.nan
    with pytest.raises(KoopsieveError, match=r"'u1' is missing .* at sample 3"):
        compress(Stream.from_chunks([("a", x[:4], u[:4]), ("a", x[4:], u[4:])]), phi)
