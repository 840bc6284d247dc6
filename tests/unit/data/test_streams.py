"""What streams are given: masks mean missing, complex numbers and short inputs are refused, places are right."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from koopsieve import GraphSieve, nmse, sift
from koopsieve._types import KoopsieveError
from koopsieve.data import Stream, Trajectories, embed_delays
from koopsieve.data.splitting import hold_out
from koopsieve.dictionary import SquaredExponential, States
from koopsieve.execution import Serial, Threads
from koopsieve.regression import compress

X = np.random.default_rng(0).normal(size=(40, 2))
U = np.random.default_rng(1).normal(size=(40, 1))
MASKED = np.ma.masked_array(X, mask=[[False, row == 13] for row in range(40)])


def read(stream):
    return [block for piece in stream.pieces(7) for block in piece]


REFUSED_SAMPLES = [
    (lambda: Stream.from_arrays(MASKED), r"'x2' is missing or infinite \(nan\) at sample 13 \(counted from 0\) of"),
    (lambda: Stream.from_chunks([("a", MASKED[:10]), ("a", MASKED[10:])]), r"'x2' is missing .* at sample 13 "),
    (lambda: Stream.from_chunks([("a", list(MASKED))]), r"'x2' is missing .* at sample 13 "),
    (
        lambda: Stream.from_arrays(X, np.ma.masked_array(U, mask=np.arange(40)[:, None] == 20)),
        r"'u1' is missing .* at sample 20 \(counted from 0\) of episode 0",
    ),
    (lambda: Stream.from_chunks([("a", X), ("a", X + 1j)]), "A chunk of episode 'a' must be real numbers"),
]
REFUSED_AT_ONCE = [
    *(lambda x=x: Stream.from_arrays(x) for x in (X + 0j, [X, X * 1j], X.astype(object), [[["a", "b"], ["c", "d"]]])),
    lambda: Stream.from_arrays(X, U + 0j),
    lambda: Stream.from_chunks([("a", X + 1j)]),
    lambda: Stream.from_chunks([("a", X, U + 1j)]),
]


@pytest.mark.parametrize("make, message", REFUSED_SAMPLES)
def test_samples_are_checked_while_they_are_read(make, message):
    stream = make()
    with pytest.raises(KoopsieveError, match=message):
        read(stream)


@pytest.mark.parametrize("make", REFUSED_AT_ONCE)
def test_what_is_no_real_number_is_refused_at_the_border(make):
    with pytest.raises(KoopsieveError, match="must be real numbers"):
        make()
    assert Stream.from_arrays([X.tolist()], [U.tolist()]).n_samples == 40  # lists of numbers are arrays


@pytest.mark.parametrize("size", [1, 10, 39])
def test_inputs_a_row_short_in_the_middle_are_refused(size):
    """The last chunk may have one input fewer; any other would shift all that follow."""
    whole = [("a", X[:size], U[:size]), ("a", X[size:], U[size:-1])]
    assert sum(len(block.states) for block in read(Stream.from_chunks(whole))) == 40
    short = [("a", X[:size], U[: size - 1]), ("a", X[size:], U[size:])]
    message = rf"inputs are a row short before sample {size} \(counted from 0\) of episode 'a', in the middle of"
    with pytest.raises(KoopsieveError, match=message):
        read(Stream.from_chunks(short))
    assert len(read(Stream.from_chunks([("a", X[:20], U[:19]), ("b", X[20:], U[20:])])))


@pytest.mark.parametrize("name", [None, float("nan"), np.array([1, 2]), [1], {"a": 1}])
def test_episodes_that_cannot_be_told_apart(name):
    with pytest.raises(KoopsieveError, match="must be a number or a text"):
        Stream.from_chunks([(name, X)])


@pytest.mark.parametrize("dt", [0, -1.0, True, "1"])
def test_sample_times_that_are_none(dt, tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"t": 0.1 * np.arange(40), "x": X[:, 0]}), path)
    for make, *data in (
        (Stream.from_arrays, X),
        (Stream.from_chunks, [("a", X)]),
        (Stream.from_parquet, path, "x"),
        (lambda *asked, **dt: Stream.from_parquet(*asked, time="t", **dt), path, "x"),
    ):
        with pytest.raises(KoopsieveError, match="dt, the sample time, must be a positive number"):
            make(*data, dt=dt)


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("kind", ["plain", "dictionary"])
@pytest.mark.parametrize("group", [3, 10, 100])
def test_rows_without_an_episode_are_refused_however_they_are_read(missing, kind, group, tmp_path):
    runs = pa.array([1.0] * 15 + [missing] * 5 + [2.0] * 20)
    runs = runs.dictionary_encode() if kind == "dictionary" else runs
    parquet.write_table(pa.table({"run": runs, "x": X[:, 0]}), tmp_path / "x.parquet", row_group_size=group)
    with pytest.raises(KoopsieveError, match=r"'run' of .*x\.parquet must say for every row .* missing at row 17"):
        Stream.from_parquet(tmp_path, "x", episode="run")


@pytest.mark.parametrize("executor", [Serial(), Threads(2), Threads(5)])
@pytest.mark.parametrize("rows", [1, 7, 100])
def test_rows_are_right_in_every_part_of_arrays_and_files(executor, rows, tmp_path):
    x = [X.copy(), X.copy(), X.copy()]
    x[2][29, 0] = np.inf
    for delays in ((0, 0, "k"), (3, 2, "k+1")):
        phi = States().fit(embed_delays(Trajectories.from_arrays(X, U), *delays))
        stream = embed_delays(Stream.from_arrays(x, [U] * 3), *delays)
        with pytest.raises(KoopsieveError, match=r"'x1' is missing or infinite \(inf\) at sample 29 .* of episode 2"):
            compress(stream, phi, chunk_rows=rows, executor=executor)
    for number, runs in enumerate((["a"] * 40, ["a"] * 10 + ["b"] * 30)):
        column = np.where(np.arange(40) == 33, np.nan if number else 1.0, X[:, 0])
        parquet.write_table(pa.table({"run": runs, "x": column}), tmp_path / f"{number}.parquet", row_group_size=9)
    phi = States().fit(Trajectories.from_arrays(X[:, 0], state_names="x"))
    with pytest.raises(KoopsieveError, match=r"at row 35 \(as in a spreadsheet\) of .*1\.parquet, episode 'b'"):
        compress(Stream.from_parquet(tmp_path, "x", episode="run"), phi, chunk_rows=rows, executor=executor)


def test_masks_mean_missing_everywhere_else():
    with pytest.raises(KoopsieveError, match=r"'x2' at sample 13 \(counted from 0\) of episode 0 is NaN"):
        Trajectories.from_arrays([MASKED])
    with pytest.raises(KoopsieveError, match=r"true must be finite\. Got 1 samples"):
        nmse(MASKED, X)
    assert nmse(X, MASKED).tolist() == [0.0, np.inf]
    phi = States().fit(Trajectories.from_arrays(X))
    assert np.isnan(phi(MASKED)[13, 1])
    for refused in (lambda: nmse(X + 0j, X), lambda: phi(X + 0j)):
        with pytest.raises(KoopsieveError, match="must be real numbers"):
            refused()


def test_arrays_of_zarr_without_inputs(tmp_path):
    zarr = pytest.importorskip("zarr")
    stored = zarr.open(str(tmp_path / "x.zarr"), mode="w", shape=X.shape, dtype=float, chunks=(10, 2))
    stored[:] = X
    np.testing.assert_array_equal(np.concatenate([block.states for block in read(Stream.from_arrays(stored))]), X)


@pytest.mark.parametrize(
    "reader",
    [
        lambda path: Trajectories.from_file(path, "position"),
        lambda path: read(Stream.from_parquet(path, "position")),
    ],
)
def test_damage_and_too_little_memory_are_told_apart(reader, tmp_path, monkeypatch):
    table, whole = tmp_path / "log.parquet", tmp_path / "whole.parquet"
    parquet.write_table(pa.table({"position": X[:, 0], "speed": X[:, 1]}), whole)
    table.write_bytes(whole.read_bytes().replace(b"speed", b"sp\xff\xfed"))
    with pytest.raises(KoopsieveError, match=r"log\.parquet could not be read as \.parquet: .*Check that it is whole"):
        reader(table)

    def full(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 123 failed")

    monkeypatch.setattr(parquet.ParquetFile, "read", full)
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", full)
    with pytest.raises(KoopsieveError, match=r"whole\.parquet does not fit into the memory.*stream"):
        reader(whole)


def test_a_stream_of_unknown_length_is_counted():
    """Whatever is held out of chunks, every sample is in one of the parts, but for those that delays and ends cost."""
    chunks = [("one record", X, U)] * 20
    result = sift(Stream.from_chunks(chunks), States(), sieve=GraphSieve(), horizons=[1, 2], test=0.2)
    assert min(result.samples["validation"], result.samples["judged"]) > 100
    assert 700 < sum(result.samples.values()) <= 800
    assert "0 rows were read" not in result.provenance.describe().replace("00 rows", "")


@pytest.mark.parametrize("rows", [7, 30, 45, 1000])
def test_a_stream_is_cut_at_the_same_samples_however_it_is_read(rows):
    """What is learned from and what is chosen on never share a sample, whatever the size of the blocks."""
    stream = Stream.from_chunks([("one record", np.arange(a, a + 40.0)) for a in range(0, 800, 40)])
    sides = [[block.states for piece in side.pieces(rows) for block in piece] for side in hold_out(stream, 0.25, 2)]
    learn, held = (sorted(np.concatenate(side)[:, 0].tolist()) for side in sides)
    assert held == [k for k in range(800) if k // 30 % 4 == 3]
    assert learn == [k for k in range(800) if k // 30 % 4 != 3]


def test_a_stream_that_delays_leave_nothing_of_is_refused_in_words():
    empty = embed_delays(Stream.from_arrays(np.zeros((1, 1))), 1)
    with pytest.raises(KoopsieveError, match="found 0"):
        (States() + SquaredExponential(centers=2, standardize=True)).fit(empty)


@pytest.mark.parametrize(
    "make", [lambda x: Stream.from_arrays(x), lambda x: Stream.from_chunks([(0, x)])], ids=["arrays", "chunks"]
)
def test_states_without_columns_are_refused(make):
    with pytest.raises(KoopsieveError, match=r"The states have no columns\. Expected \(samples, columns\)"):
        make(np.zeros((5, 0)))
