"""Parquet folders give the statistics of the same data in memory, and say what is wrong with a file."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from koopsieve._types import KoopsieveError
from koopsieve.data import Stream, Trajectories, embed_delays
from koopsieve.dictionary import Monomials, States
from koopsieve.execution import Serial, Threads
from koopsieve.regression import compress
from tests.problems import assert_same_statistics


def record(length, episode, seed, start=0.0):
    rng = np.random.default_rng(seed)
    table = {"run": [episode] * length, "t": start + 0.1 * np.arange(length)}
    return table | {name: rng.normal(size=length) for name in ("p", "q", "u")}


def joined(*records):
    return {name: np.concatenate([np.asarray(r[name]) for r in records]) for name in records[0]}


def cut(record, a, b):
    return {name: column[a:b] for name, column in record.items()}


def write(path, columns, **options):
    parquet.write_table(pa.table(columns), path, **options)


def in_memory(*records):
    return Trajectories.from_arrays(
        [np.column_stack([r["p"], r["q"]]) for r in records],
        [np.asarray(r["u"])[:-1, None] for r in records],
        dt=0.1,
        state_names=["p", "q"],
        input_names="u",
    )


def open_folder(path, **options):
    options = {"episode": "run", "time": "t"} | options
    return Stream.from_parquet(path, ["p", "q"], "u", **options)


@pytest.mark.parametrize("executor", [Serial(), Threads(2), Threads(5)])
def test_a_folder_with_episodes_that_go_on_in_the_next_file(tmp_path, executor):
    long, short, last = record(230, 1, 0), record(12, 2, 1), record(90, 3, 2)
    write(tmp_path / "part-1.parquet", cut(long, 0, 100), row_group_size=30)
    write(tmp_path / "part-2.parquet", cut(long, 100, 103))
    write(tmp_path / "part-9.parquet", cut(long, 103, 210), row_group_size=50)
    write(tmp_path / "part-10.parquet", joined(cut(long, 210, 230), short, cut(last, 0, 40)), row_group_size=17)
    write(tmp_path / "part-11.parquet", cut(last, 40, 90))
    expected = embed_delays(in_memory(long, short, last), 2, 3)
    phi = (States() + Monomials()).fit(expected)
    wanted = compress(expected, phi, horizons=[1, 5])
    for source in (tmp_path, sorted(tmp_path.iterdir(), key=lambda p: int(p.stem[5:])), str(tmp_path)):
        stream = open_folder(source)
        assert stream.n_samples == 332
        assert stream.dt == pytest.approx(0.1)
        came = compress(embed_delays(stream, 2, 3), phi, horizons=[1, 5], chunk_rows=7, executor=executor)
        assert_same_statistics(came, wanted)


def test_one_episode_per_file_without_a_column(tmp_path):
    records = [record(40, 1, seed) for seed in range(3)]
    for i, r in enumerate(records):
        write(tmp_path / f"{i}.parquet", r, row_group_size=15)
    data = in_memory(*records)
    phi = States().fit(data)
    stream = open_folder(dataset.dataset(tmp_path), episode=None)
    assert_same_statistics(compress(stream, phi, horizons=[2], chunk_rows=4), compress(data, phi, horizons=[2]))
    plain = open_folder(tmp_path, episode=None, time=None, dt=0.1)
    assert_same_statistics(compress(plain, phi, horizons=[2]), compress(data, phi, horizons=[2]))


@pytest.mark.parametrize("kind", ["timestamp[ns]", "timestamp[us]", "int64", "duration[ms]"])
def test_times_of_every_kind_keep_their_digits(tmp_path, kind):
    """Milliseconds since 1970: as float64 nanoseconds they would lose the last digits."""
    r = record(50, "a", 0)
    unit = {"timestamp[ns]": 10**6, "timestamp[us]": 10**3, "int64": 10**6, "duration[ms]": 1}[kind]
    ticks = pa.array((1_700_000_000_000 + np.arange(50)) * unit, pa.int64())
    columns = {
        "timestamp[ns]": pa.timestamp("ns"),
        "timestamp[us]": pa.timestamp("us"),
        "duration[ms]": pa.duration("ms"),
    }
    r["t"] = ticks.cast(columns[kind]) if kind in columns else ticks
    write(tmp_path / "a.parquet", r, row_group_size=20)
    assert open_folder(tmp_path).dt == pytest.approx(1e6 if kind == "int64" else 1e-3, rel=1e-12)


R = record(30, 1, 0)
TEXT = {"q": ["text"] * 10}
BACK = [cut(record(30, "x", 0), 0, 15), record(10, "y", 1), cut(record(30, "x", 0), 15, 30)]
REFUSED = {
    "a missing column": (
        [record(10, 1, 0), {name: column for name, column in record(10, 2, 1).items() if name != "q"}],
        r"Not in .*1\.parquet: 'q'\. The columns there are: 'run', 't', 'p', 'u'",
    ),
    "a schema that differs": (
        [record(10, 1, 0), record(10, 2, 1) | TEXT],
        r"'q' has another type in .*1\.parquet.*double as in .*0\.parquet, got string",
    ),
    "an episode split over files out of order": (
        [cut(R, 15, 30), cut(R, 0, 15)],
        r"Expected time 3 after row 16 .* of .*0\.parquet, episode 1, got 0 at row 2 .* of .*1\.parquet",
    ),
    "an episode that comes back": (BACK, "Episode 'x' comes back after another"),
    "samples missing in time": (
        [joined(cut(R, 0, 10), cut(R, 12, 30))],
        r"Expected time 1 after row 11 .*, got 1\.2 at row 12 .*0\.parquet",
    ),
    "an episode that nobody names": ([record(4, 1, 0) | {"run": [1, 1, None, 2]}], "must say for every row"),
    "no files": ([], "There are no Parquet files in"),
    "no rows": ([cut(record(3, 1, 0), 0, 0)], "There are no rows"),
}


@pytest.mark.parametrize("files, message", REFUSED.values(), ids=REFUSED)
def test_folders_that_are_refused(files, message, tmp_path):
    for number, columns in enumerate(files):
        write(tmp_path / f"{number}.parquet", columns)
    with pytest.raises(KoopsieveError, match=message):
        open_folder(tmp_path)
    if files is BACK:
        with pytest.raises(KoopsieveError, match="Episode 'x' comes back"):
            open_folder(tmp_path, time=None)


def test_what_is_no_parquet_file(tmp_path):
    with pytest.raises(KoopsieveError, match="There is no file"):
        open_folder(tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(KoopsieveError, match=r"bad\.parquet could not be read as \.parquet"):
        open_folder(tmp_path)


def test_files_are_checked_while_they_are_read(tmp_path):
    path = tmp_path / "a.parquet"
    write(path, record(10, 1, 0) | TEXT)
    with pytest.raises(KoopsieveError, match=r"'q' of .* must hold numbers"):
        next(open_folder(tmp_path).state_blocks())
    write(path, record(5000, 1, 0), row_group_size=500)
    stream = open_folder(tmp_path, time=None, episode=None)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(KoopsieveError, match="could not be read"):
        list(stream.state_blocks())
