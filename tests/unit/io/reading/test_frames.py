"""Frames of pandas and polars, mappings and Arrow tables become the same trajectories."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories

RNG = np.random.default_rng(0)
TABLE = {
    "run": ["b", "b", "b", "b", "a", "a", "a"],
    "t": [0.0, 0.5, 1.0, 1.5, 0.0, 0.5, 1.0],
    "y": RNG.normal(size=7).tolist(),
    "z": RNG.integers(-5, 5, size=7).tolist(),
    "u": RNG.normal(size=7).tolist(),
    "note": ["", "x", "", "", "", "", ""],
}
T = 0.1 * np.arange(200)
WAVE = pd.DataFrame({"t": T, "y": np.sin(T), "z": np.cos(2 * T), "u": np.sign(np.sin(3 * T))})
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table, "mapping": dict}
every_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


def changed(**columns):
    return {**TABLE, **columns}


@every_frame
def test_episodes_in_order_of_appearance(make):
    trajectories = Trajectories.from_frame(make(TABLE), ["y", "z"], ["u"], episode="run", time="t")
    assert trajectories.state_names == ("y", "z")
    assert trajectories.input_names == ("u",)
    assert trajectories.dt == 0.5
    for x, u, rows in zip(trajectories.states, trajectories.inputs, (slice(4), slice(4, 7)), strict=True):
        np.testing.assert_array_equal(x, np.column_stack([TABLE["y"][rows], TABLE["z"][rows]]))
        np.testing.assert_array_equal(u.ravel(), TABLE["u"][rows][:-1])
        assert x.flags.c_contiguous
        assert not x.flags.writeable
    whole = Trajectories.from_frame(make(TABLE), "y")
    assert ([x.shape for x in whole.states], whole.n_inputs, whole.dt) == ([(7, 1)], 0, 1.0)


def test_a_sample_time_that_contradicts_the_times_is_refused():
    frame = pd.DataFrame(TABLE)
    assert Trajectories.from_frame(frame, "y", episode="run", time="t", dt=0.5001).dt == 0.5001
    with pytest.raises(KoopsieveError, match=r"dt=0\.001 contradicts the times, whose median step is 0\.5"):
        Trajectories.from_frame(frame, "y", episode="run", time="t", dt=0.001)


CATEGORIES = pl.DataFrame(TABLE, schema_overrides={"run": pl.Categorical})
ENCODED = [pa.array(part).dictionary_encode() for part in (["b"] * 3, ["b", "a", "a", "a"])]
TOLD_APART = {
    "int": changed(run=[3, 3, 3, 3, -1, -1, -1]),
    "categorical": changed(run=pd.Categorical(["b"] * 4 + ["a"] * 3, categories=["a", "b", "c"])),
    "nullable int": changed(run=pd.array([1, 1, 1, 1, 2, 2, 2], dtype="Int64")),
    "bool": changed(run=[True] * 4 + [False] * 3),
    "dates": changed(run=pd.to_datetime(["2024-05-01"] * 4 + ["2024-05-02"] * 3)),
    "float": changed(run=[2.5] * 4 + [1.5] * 3),
    "polars categories in chunks": pl.concat([CATEGORIES[:2], CATEGORIES[2:5], CATEGORIES[5:]], rechunk=False),
    "dictionaries that differ": pa.table({"run": pa.chunked_array(ENCODED), "y": TABLE["y"]}),
    "a record batch": pa.table(TABLE).to_batches()[0],
    "beside what cannot be converted": changed(mess=[object()] * 7),
}


@pytest.mark.parametrize("frame", TOLD_APART.values(), ids=TOLD_APART)
def test_anything_may_tell_episodes_apart(frame):
    frame = pd.DataFrame(frame) if isinstance(frame, dict) else frame
    trajectories = Trajectories.from_frame(frame, "y", episode="run")
    assert [x.ravel().tolist() for x in trajectories.states] == [TABLE["y"][:4], TABLE["y"][4:]]


MISSING = {
    "Int64": pd.DataFrame({"y": pd.array([1, 2, None, 4, 5, 6, 7], dtype="Int64")}),
    "Float64": pd.DataFrame({"y": pd.array([1.0, 2, None, 4, 5, 6, 7], dtype="Float64")}),
    "object": pd.DataFrame({"y": pd.Series([1, 2, None, 4, 5, 6, 7], dtype=object)}),
    "float32": pd.DataFrame({"y": pd.Series([1, 2, np.nan, 4, 5, 6, 7], dtype="float32")}),
    "polars null": pl.DataFrame({"y": [1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0]}),
    "polars NaN": pl.DataFrame({"y": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0, 7.0]}),
}


@pytest.mark.parametrize("frame", MISSING.values(), ids=MISSING)
def test_missing_values_of_every_kind_are_gaps(frame):
    with pytest.raises(KoopsieveError, match=r"State 'y' at row 4 \(as in a spreadsheet\) of the frame is NaN"):
        Trajectories.from_frame(frame, "y")
    trajectories = Trajectories.from_frame(frame, "y", gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[1, 2], [4, 5, 6, 7]]


def test_decimals_and_flags_are_numbers_and_the_last_input_may_be_missing():
    decimals = pl.Series(["1.5", "2.5", "4.5"]).cast(pl.Decimal(10, 2))
    trajectories = Trajectories.from_frame(pl.DataFrame({"y": decimals, "on": [True, False, None]}), "y", "on")
    assert trajectories.states[0].ravel().tolist() == [1.5, 2.5, 4.5]
    assert trajectories.inputs[0].ravel().tolist() == [1, 0]


STAMPS = pd.date_range("2024-05-01", periods=7, freq="250ms")


TIMES = {
    "stamps": (STAMPS, 0.25),
    "zone": (STAMPS.tz_localize("Europe/Stockholm"), 0.25),
    "durations": (pd.to_timedelta(np.arange(7) * 20, unit="ms"), 0.02),
    "days": (pd.date_range("2024-05-01", periods=7).date, 86400.0),
    "time of day": (pd.date_range("2024-05-01 12:00", periods=7, freq="2s").time, 2.0),
    "arrow time": (pa.array(range(0, 14, 2), type=pa.time32("s")), 2.0),
    "int ns": (1_700_000_000_000_000_000 + 1000 * np.arange(7), 1000.0),
    "unsigned": (np.arange(7, dtype="uint8") * 3, 3.0),
    "coarse floats": (1.7e9 + 1e-4 * np.arange(7), 1e-4),
}


@pytest.mark.parametrize("times, dt", TIMES.values(), ids=TIMES)
def test_times_of_every_kind(times, dt):
    make = pa.table if isinstance(times, pa.Array) else pd.DataFrame
    assert Trajectories.from_frame(make({"t": times, "y": TABLE["y"]}), "y", time="t").dt == pytest.approx(dt, rel=5e-3)


def test_a_jump_in_time_is_a_gap():
    frame = pd.DataFrame({"t": [0.0, 0.1, 0.2, 0.7, 0.8, 0.9, 1.0], "y": TABLE["y"], "u": TABLE["u"]})
    with pytest.raises(KoopsieveError, match=r"steps of 0\.1.* got 0\.5 after row 4 .* of the frame\. .*split"):
        Trajectories.from_frame(frame, "y", "u", time="t")
    trajectories = Trajectories.from_frame(frame, "y", "u", time="t", gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [TABLE["y"][:3], TABLE["y"][3:]]
    assert [u.ravel().tolist() for u in trajectories.inputs] == [TABLE["u"][:2], TABLE["u"][3:6]]
    assert trajectories.dt == pytest.approx(0.1)
    frame = pd.DataFrame({"t": [0.0, 0.1, 0.2, 0.32, 0.42], "y": TABLE["y"][:5]})
    with pytest.raises(KoopsieveError, match=r"got 0\.12 after row 4 "):  # an uneven clock is no gap
        Trajectories.from_frame(frame, "y", time="t", gaps="split")


COLUMNS = "The columns there are: 'run', 't', 'y', 'z', 'u', 'note'."
REFUSED = [
    ({"states": ["y", "speed"], "inputs": "force"}, f"Not in the frame: 'speed', 'force'. {COLUMNS}"),
    ({"states": "y", "episode": "trial"}, "Not in the frame: 'trial'."),
    ({"states": "y", "time": "clock"}, "Not in the frame: 'clock'."),
    ({"states": []}, "states must name at least one column. Got none."),
    ({"states": ["y", "y"]}, "The name 'y' occurs twice."),
    ({"states": "y", "inputs": "y"}, "The name 'y' occurs twice."),
    ({"states": [0]}, "Names of states and inputs must be text"),
    ({"states": ["y", "note"]}, "Column 'note' of the frame must hold numbers. Got "),
    ({"states": "y", "time": "note"}, "Column 'note' of the frame must hold times: numbers, dates or durations. Got t"),
    (
        {"states": "y", "time": "t"},
        "Time does not increase after row 5 (as in a spreadsheet) of the frame: 1.5, then 0.0. "
        "If a new episode starts there, name the column that tells episodes apart (episode=…)",
    ),
    ({"states": "y", "dt": -1}, "dt, the sample time, must be a positive number. Got -1."),
    ({"states": "y", "gaps": "drop"}, 'gaps must be "raise", "split" or "interpolate".'),
]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("arguments, message", REFUSED)
def test_refused_arguments(make, arguments, message):
    with pytest.raises(KoopsieveError, match=re.escape(message)):
        Trajectories.from_frame(make(TABLE), **arguments)


REFUSED_TABLES = [
    (
        {"run": ["a", "a", "b", "b", "b", "a", "a"]},
        "The rows of episode 'a' are not together: they end at row 3 of the frame and go on at row 7. Sort by 'run'",
    ),
    ({"run": ["a", "a", None, "b", "b", "b", "b"]}, "say for every row which episode it is in. It is missing at row 4"),
    ({"run": ["a"] * 6 + ["b"]}, "Got states of shape (1, 1) in the frame, episode 'b'."),
    (
        {"y": [1.0, 2, 3, 4, 5, None, 7]},
        "'y' at row 7 (as in a spreadsheet) of the frame, episode 'a' is NaN (missing).",
    ),
    (
        {"u": [1.0, 2, float("inf"), 4, 5, 6, 7]},
        "'u' at row 4 (as in a spreadsheet) of the frame, episode 'b' is infin",
    ),
    (
        {"t": [0.0, 0.5, 1.0, 1.55, 0.0, 0.5, 1.0]},
        "Samples must be evenly spaced in time. Expected steps of 0.5, the median, got 0.55 after row 4 (as in "
        "a spreadsheet) of the frame, episode 'b'. Pass resample=0.5 to put them on an even time grid, or leave time= "
        "out and pass dt= if only the times are coarse.",
    ),
    (
        {"t": [0.0, 0.5, 1.0, 1.5, 0.0, 0.0, 0.5]},
        "does not increase after row 6 (as in a spreadsheet) of the frame, epi",
    ),
    (
        {"t": [0.0, 0.5, None, 1.5, 0.0, 0.5, 1.0]},
        "'t' is missing or infinite at row 4 of the frame. Every row needs o",
    ),
    ({"t": [0.0, 0.5, 1.0, float("inf"), 0.0, 0.5, 1.0]}, "missing or infinite at row 5"),
    ({"t": [0, 1, None, 3, 0, 1, 2]}, "Time 't' is missing or infinite at row 4"),
    ({"y": ["1", "2", "three", "4", "5", "6", "7"]}, ", 'three' at row 4. Convert it first."),
    ({name: values[:0] for name, values in TABLE.items()}, "There are no rows in the frame."),
]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("columns, message", REFUSED_TABLES)
def test_refused_tables(make, columns, message):
    with pytest.raises(KoopsieveError, match=re.escape(message)):
        Trajectories.from_frame(make(changed(**columns)), "y", "u", episode="run", time="t")


NO_FRAME = "A frame must be a pandas or polars DataFrame"
SOME_RUNS = pa.array(["a", "a", None, None, "b", "b", "b"]).dictionary_encode(null_encoding="encode")
REFUSED_FRAMES = [
    *((frame, NO_FRAME) for frame in (np.ones((3, 2)), "runs.csv", pl.DataFrame(TABLE).lazy(), None, 3)),
    (pd.DataFrame(np.ones((3, 3)), columns=["y", "y", "run"]), "the frame has several columns named 'y'"),
    (pa.table([[1.0, 2.0]] * 3, names=["y", "y", "run"]), "the frame has several columns named 'y'"),
    (
        pd.DataFrame({"run": 1, "y": [1j, 2j]}),
        "Column 'y' of the frame must hold numbers. Got complex numbers, 1j at row 2",
    ),
    (pd.DataFrame({"run": 1, "y": [1, "x"]}), "Got values of several kinds, 'x' at row 3"),
    (pa.table({"run": SOME_RUNS, "y": TABLE["y"]}), "It is missing at row 4"),
    (pa.table({"run": [[1]] * 7, "y": TABLE["y"]}), "must hold numbers, text or dates"),
    ([WAVE.assign(run=1), WAVE.drop(columns="y").assign(run=2)], "Not in frame 1: 'y'"),
    ([], "There are no frames"),
    ([WAVE.assign(run="a")] * 2, "Episode 'a' is in two files, frame 0 and frame 1"),
]


@pytest.mark.parametrize("frame, message", REFUSED_FRAMES)
def test_refused_frames(frame, message):
    with pytest.raises(KoopsieveError, match=re.escape(message)):
        Trajectories.from_frame(frame, "y", episode="run")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_list_of_frames_is_a_list_of_episodes(make):
    columns = {name: WAVE[name].to_numpy() for name in WAVE}
    halves = [make({name: v[part] for name, v in columns.items()}) for part in (slice(90), slice(90, 200))]
    data = Trajectories.from_frame(halves, ["y", "z"], "u", time="t")
    assert [len(x) for x in data.states] == [90, 110]
    assert [source.label for source in data.provenance.sources] == ["frame 0", "frame 1"]
    np.testing.assert_array_equal(np.concatenate(data.states), WAVE[["y", "z"]])
    data = Trajectories.from_frame([WAVE.assign(run=name) for name in "ab"], "y", episode="run")
    assert [one.label for one in data.provenance.sources] == ["frame 0, episode 'a'", "frame 1, episode 'b'"]


@pytest.mark.parametrize("name", [None, "when"])
def test_an_index_of_dates_is_the_time(name):
    stamps = pd.date_range("2024-05-01", periods=200, freq="20ms")
    frame = WAVE.set_index(stamps.rename(name))
    data = Trajectories.from_frame(frame, "y", "u")
    assert data.dt == pytest.approx(0.02)
    np.testing.assert_array_equal(data.provenance.sources[0].stamps, stamps)
    holes = frame.drop(frame.index[50:60])
    with pytest.raises(KoopsieveError, match="evenly spaced in time"):
        Trajectories.from_frame(holes, "y", "u")
    assert len(Trajectories.from_frame(holes, "y", "u", gaps="split")) == 2
    assert Trajectories.from_frame(frame, "y", time="t").dt == pytest.approx(0.1)  # a column goes before the index
    numbers = WAVE.set_index(pd.Index(0.5 * np.arange(200), name=name))
    assert Trajectories.from_frame(numbers, "y", time=name).dt == (0.5 if name else 1.0)  # numbers only where named


WHOLE = pd.DataFrame({"y": [1.0, 2.0, 4.0, 7.0], "u": [5, 6, 7, 8]})


def test_masked_values_of_a_mapping_are_missing():
    masked = {"y": np.ma.array([1.0, 2.0, 4.0, 7.0], mask=[1, 0, 0, 0]), "u": np.ma.array([5, 6, 7, 8])}
    data = Trajectories.from_frame(masked, "y", "u", gaps="split")
    assert [x.ravel().tolist() for x in data.states] == [[2, 4, 7]]


@pytest.mark.parametrize("column", [None, 3.0, "abc"])
def test_a_column_that_is_no_series_of_values_is_refused(column):
    with pytest.raises(KoopsieveError, match=f"A column must have one value per row. Got '{column}'"):
        Trajectories.from_frame({"y": column}, "y")


def test_durations_of_arrow_in_a_pandas_frame():
    times = pd.array(pd.to_timedelta(range(4), unit="s"), "duration[ms][pyarrow]")
    assert Trajectories.from_frame(WHOLE.assign(t=times), "y", "u", time="t").dt == 1.0


def test_numbers_of_128_bits_of_polars():
    frame = pl.DataFrame({"y": pl.Series([1, 2, 2**100], dtype=pl.Int128)})
    assert Trajectories.from_frame(frame, "y").states[0].ravel().tolist() == [1, 2, 2**100]


def test_numbers_beyond_float64_are_infinite_and_refused():
    if np.finfo(np.longdouble).max == np.finfo(float).max:
        pytest.skip("long doubles are doubles here")
    huge = np.array([np.longdouble("1e4000"), 1, 2])
    for read in (lambda: Trajectories.from_arrays(huge), lambda: Trajectories.from_frame({"y": huge}, "y")):
        with pytest.raises(KoopsieveError, match="is infinite"):
            read()


INDEXES = {
    "periods": (pd.period_range("2024-01-01", periods=4, freq="h"), 3600.0),
    "days": (pd.Index([datetime.date(2024, 1, day) for day in range(1, 5)]), 86400.0),
    "called like a column": (pd.date_range("2024-01-01", periods=4, freq="min", name="y"), 60.0),
}


@pytest.mark.parametrize("index, dt", INDEXES.values(), ids=INDEXES)
def test_every_index_of_dates_is_the_time(index, dt):
    data = Trajectories.from_frame(WHOLE.set_index(index), "y", "u")
    assert (data.dt, data.states[0].ravel().tolist()) == (dt, [1, 2, 4, 7])
    assert data.provenance.sources[0].stamps[0] == np.datetime64("2024-01-01")
