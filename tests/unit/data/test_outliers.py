"""Single samples far outside are named with their rows, and kept, dropped or refused; events are left alone."""

import warnings
from itertools import pairwise

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from koopsieve import GraphSieve, KoopsieveError, KoopsieveWarning, States, Trajectories, sift
from koopsieve.data import Stream, embed_delays
from koopsieve.data.episodes import episodes_from_arrays
from koopsieve.data.outliers import bounds, find_outliers
from koopsieve.execution import Serial, Threads
from koopsieve.regression import compress

RNG = np.random.default_rng(0)
Y, U = RNG.normal(size=(300, 2)), RNG.normal(size=(300, 1))


def with_values(at, value, samples=Y, column=0):
    changed = samples.copy()
    changed[at, column] = value
    return changed


def count(samples):
    return find_outliers(episodes_from_arrays(samples)).count


@pytest.mark.parametrize("at, value", [(50, 1e6), ([50, 51, 200], 40.0), (1, 1e300), ([7, 100], [1e9, -1e9])])
def test_single_samples_far_outside_are_found(at, value):
    far = with_values(at, value)
    assert count(far) == np.size(at)
    assert count([Y, far]) == np.size(at)
    assert count(1e-200 * far) == np.size(at)


@pytest.mark.parametrize(
    "samples",
    [
        Y,
        with_values(50, 9.0),  # a large one, but of the size of the others
        with_values(slice(50, 54), 1e6),  # four in a row: an event
        with_values(slice(0, 3), [1e6, 1e5, 1e4]),  # the decay from a start
        with_values(299, 1e6),
        with_values([50, 90], 1.0, np.zeros((300, 1))),  # an impulse at rest
        np.repeat([[0.0], [1e6]], 150, axis=0),  # a step
        RNG.standard_t(3, size=(3000, 1)),
        np.exp(RNG.normal(size=(300, 1))),
        np.cumsum(RNG.normal(size=(3000, 1)), axis=0),
        with_values(9, 1e6, RNG.normal(size=(19, 1))),  # too few to know
    ],
    ids=range(11),
)
def test_events_and_heavy_tails_are_none(samples):
    assert count(samples) == 0


def test_they_are_kept_with_a_warning_that_names_their_rows(tmp_path):
    path = tmp_path / "log.csv"
    np.savetxt(path, with_values(50, 1e6), delimiter=",", header="a,b", comments="")
    with pytest.warns(KoopsieveWarning, match=r"1 value far outside the others: 'a' is 1e\+06 at row 52 .*log\.csv"):
        data = Trajectories.from_file(path, ["a", "b"])
    assert data.n_samples == 300
    assert "Kept: 1 value far outside the others: 'a' is 1e+06 at row 52" in data.provenance.describe()
    with pytest.warns(KoopsieveWarning, match=r"7 values far .* at sample 90 .* of episode 0, and 2 more"):
        Trajectories.from_arrays(with_values([10, 30, 50, 70, 90, 110, 130], 1e6, Y[:, :1].repeat(3, axis=0)))


def test_they_are_dropped_and_counted():
    y, u = with_values([50, 200], 1e6), with_values(120, -1e7, U)
    data = Trajectories.from_arrays(y, u, outliers="drop")
    assert [len(x) for x in data.states] == [50, 70, 79, 99]  # cut at both samples, and after the input
    assert data.provenance.total.rows_dropped == 2
    assert "Dropped: 3 values far outside the others: 'x1' is 1e+06 at sample 50" in data.provenance.describe()
    filled = Trajectories.from_arrays(y, u, outliers="drop", gaps="interpolate", max_gap=1)
    assert filled.n_episodes == 1
    assert filled.states[0][50, 0] == pytest.approx((Y[49, 0] + Y[51, 0]) / 2)


def test_they_are_refused_and_missing_samples_too():
    for y, what, message in (
        (Y, "refuse", r"'u1' is 1e\+06 at sample 50 .*Repair the data, or pass outliers="),
        (with_values(80, np.nan), "drop", r"sample 80 .* is NaN"),
        (Y, "ignore", r'outliers must be "keep", "drop" or "refuse"'),
    ):
        with pytest.raises(KoopsieveError, match=message):
            Trajectories.from_arrays(y, with_values(50, 1e6, U), outliers=what)


FAULTY_Y, FAULTY_U = with_values([50, 51, 200], [1e6, -1e7, 2e6]), with_values(120, -1e7, U)


def streams(tmp_path, states, inputs, **options):
    """Return the same samples as streams of every origin, cut so that blocks end inside and beside the faults."""
    columns = {"x1": states[:, 0], "x2": states[:, 1], "u1": inputs[:, 0], "e": np.zeros(len(states))}
    parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=51)
    frame = dask.dataframe.from_pandas(pd.DataFrame(columns), npartitions=4)
    cuts = [(a, b) for a, b in pairwise([0, 1, 49, 51, 52, 120, 121, 200, 299, 300])]
    names = (["x1", "x2"], ["u1"])
    return {
        "arrays": Stream.from_arrays(states, inputs, **options),
        "chunks": Stream.from_chunks([("a", states[a:b], inputs[a:b]) for a, b in cuts], **options),
        "parquet": Stream.from_parquet(tmp_path / "log.parquet", *names, **options),
        "dask": Stream.from_dask(frame, *names, episode="e", **options),
    }


@pytest.fixture
def _dask_works_here():
    """A test of the command line leaves a client of a cluster behind that Dask would go on using."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.usefixtures("_dask_works_here")
@pytest.mark.parametrize("origin", ["arrays", "chunks", "parquet", "dask"])
def test_streams_name_drop_and_refuse_the_same_values_as_arrays(tmp_path, origin):
    kept = streams(tmp_path, FAULTY_Y, FAULTY_U)[origin]
    with pytest.warns(KoopsieveWarning, match=r"^4 values far outside the others: 'x1' is 1e\+06 at .*Kept; one such"):
        (note,) = kept.with_outliers("keep").notes
    assert note.count(" at ") == 4
    assert "'u1' is -1e+07 at" in note
    with pytest.raises(KoopsieveError, match=r"4 values far outside .* Repair the data, or pass outliers="):
        streams(tmp_path, FAULTY_Y, FAULTY_U, outliers="refuse")
    dropped = streams(tmp_path, FAULTY_Y, FAULTY_U, outliers="drop")[origin]
    expected = Trajectories.from_arrays(FAULTY_Y, FAULTY_U, outliers="drop")
    assert dropped.notes[0].startswith("Dropped: 4 values far outside the others: 'x1' is 1e+06 at")
    assert dropped.n_samples in (None, expected.n_samples)
    here, there = embed_delays(expected, 1, 1), embed_delays(dropped, 1, 1)
    phi = States().fit(here)
    known = compress(here, phi, horizons=[1, 3])
    for executor, rows in ((Serial(), 7), (Threads(2), 1), (Threads(2), 40)):
        found = compress(there, phi, horizons=[1, 3], executor=executor, chunk_rows=rows)
        assert found.rows == known.rows
        np.testing.assert_allclose(found.R.T @ found.R, known.R.T @ known.R, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 300])
def test_a_stream_finds_what_arrays_do_wherever_blocks_end(rows):
    """Runs that are short enough, or not; inputs end one sample before the outputs."""
    places = [(start, run) for run in (1, 3, 4) for start in (0, 20, 21, 22, 300 - run)]
    cases = [(with_values(slice(a, a + run), 1e6), U) for a, run in places]
    cases += [(Y, with_values(at, 1e6, U)) for at in (0, 150, 297, 298, 299)]
    found = []
    for y, u in cases:
        stream = Stream.from_chunks([("a", y[a : a + rows], u[a : a + rows]) for a in range(0, 300, rows)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KoopsieveWarning)
            (note,) = stream.with_outliers("keep").notes or ("Kept: 0",)
        found.append(find_outliers(episodes_from_arrays(y, u)).count)
        assert note.startswith(f"Kept: {found[-1]}")
    assert found == [0, 1, 1, 1, 0, 0, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]


def test_a_long_stream_is_looked_through_in_bounded_memory(monkeypatch):
    monkeypatch.setattr("koopsieve.data.streaming.stream_outliers.MAX_SAMPLED_ROWS", 500)
    rng, held = np.random.default_rng(2), []

    def bounds_of(samples, low, high):
        held.append(len(samples))
        return bounds(samples, low, high)

    monkeypatch.setattr("koopsieve.data.streaming.stream_outliers.bounds", bounds_of)
    samples = rng.normal(size=(40_000, 1))
    assert Stream.from_arrays(samples).with_outliers("refuse").notes == ()
    samples[31_234] = 1e3
    with pytest.raises(KoopsieveError, match=r"^1 value far outside the others: 'x1' is 1000 at sample 31234"):
        Stream.from_arrays(samples, outliers="refuse")
    assert held == [500, 500]


def test_too_many_are_not_dropped_from_a_stream(monkeypatch):
    monkeypatch.setattr("koopsieve.data.streaming.stream_outliers.MAX_DROPPED", 2)
    with pytest.raises(KoopsieveError, match=r"4 values lie far outside .* the first: 'x1' is 1e\+06 at sample 50 "):
        Stream.from_arrays(FAULTY_Y, FAULTY_U, outliers="drop")
    with pytest.raises(KoopsieveError, match=r'outliers must be "keep", "drop" or "refuse"'):
        Stream.from_arrays(Y, outliers="ignore")


@pytest.mark.parametrize("in_memory", [True, False])
def test_sift_names_the_oddities_of_a_stream_before_it_learns(monkeypatch, in_memory):
    monkeypatch.setattr("koopsieve.sifting.split.MAX_NUMBERS_IN_MEMORY", 10**7 * in_memory)
    x = np.cumsum(0.1 * RNG.normal(size=(600, 1)), axis=0) * 0.5
    x[300] = 1e4
    settings = {"form": "linear", "sieve": GraphSieve(), "horizons": [1, 2]}
    with pytest.warns(KoopsieveWarning, match=r"1 value far outside the others: 'x1' is 10000 at sample 300"):
        result = sift(Stream.from_arrays(x), States(), **settings)
    assert "Kept: 1 value far outside the others: 'x1' is 10000 at sample 300" in result.provenance.describe()
    result = sift(Stream.from_arrays(x, outliers="drop"), States(), **settings)
    assert "Dropped: 1 value far outside" in result.provenance.describe()
    assert result.provenance.total.rows_read == 599
    x = np.column_stack([RNG.normal(size=600), np.full(600, 2.5)])
    with pytest.raises(KoopsieveError, match=r"Output 'x2' never changes: it is 2\.5 in all \d+ samples to learn from"):
        sift(Stream.from_arrays(x), States(), **settings)
    with pytest.warns(KoopsieveWarning, match=r"Input columns that never change: 'u1'\. They are kept"):
        sift(Stream.from_arrays(x[:, :1], np.ones((600, 1))), States(), **settings)
