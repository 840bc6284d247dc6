"""Frames of pandas and polars, mappings and Arrow tables become the same trajectories."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
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
    np.testing.assert_array_equal(trajectories.states[0], np.column_stack([TABLE["y"][:4], TABLE["z"][:4]]))
    np.testing.assert_array_equal(trajectories.states[1], np.column_stack([TABLE["y"][4:], TABLE["z"][4:]]))
    np.testing.assert_array_equal(trajectories.inputs[0].ravel(), TABLE["u"][:3])
    np.testing.assert_array_equal(trajectories.inputs[1].ravel(), TABLE["u"][4:6])
    assert not trajectories.states[0].flags.writeable
    assert trajectories.states[1].flags.c_contiguous


@every_frame
def test_without_episodes_all_rows_are_one(make):
    trajectories = Trajectories.from_frame(make(TABLE), "y")
    assert [x.shape for x in trajectories.states] == [(7, 1)]
    assert trajectories.n_inputs == 0
    assert trajectories.dt == 1.0


def test_a_record_batch_is_a_frame():
    batch = pa.table(TABLE).to_batches()[0]
    assert Trajectories.from_frame(batch, "y", episode="run").n_transitions == 5


def test_a_sample_time_that_contradicts_the_times_is_refused():
    frame = pd.DataFrame(TABLE)
    assert Trajectories.from_frame(frame, "y", episode="run", time="t", dt=0.5001).dt == 0.5001
    with pytest.raises(KoopsieveError, match=r"dt=0\.001 contradicts the times, whose median step is 0\.5"):
        Trajectories.from_frame(frame, "y", episode="run", time="t", dt=0.001)


@pytest.mark.parametrize(
    "ids",
    [
        [3, 3, 3, 3, -1, -1, -1],
        pd.Categorical(["b"] * 4 + ["a"] * 3, categories=["a", "b", "c"]),
        pd.array([1, 1, 1, 1, 2, 2, 2], dtype="Int64"),
        [True] * 4 + [False] * 3,
        pd.to_datetime(["2024-05-01"] * 4 + ["2024-05-02"] * 3),
        [2.5] * 4 + [1.5] * 3,
    ],
    ids=["int", "categorical", "nullable int", "bool", "dates", "float"],
)
def test_anything_may_tell_episodes_apart(ids):
    trajectories = Trajectories.from_frame(pd.DataFrame(changed(run=ids)), "y", episode="run")
    assert [x.ravel().tolist() for x in trajectories.states] == [TABLE["y"][:4], TABLE["y"][4:]]


def test_polars_categories_and_chunks():
    frame = pl.DataFrame(TABLE, schema_overrides={"run": pl.Categorical})
    chunks = pl.concat([frame[:2], frame[2:5], frame[5:]], rechunk=False)
    trajectories = Trajectories.from_frame(chunks, "y", episode="run")
    assert [x.ravel().tolist() for x in trajectories.states] == [TABLE["y"][:4], TABLE["y"][4:]]


def test_dictionaries_that_differ_between_chunks_are_unified():
    chunks = [pa.array(part).dictionary_encode() for part in (["q", "q", "p"], ["p", "p", "r", "r"])]
    table = pa.table({"run": pa.chunked_array(chunks), "y": TABLE["y"]})
    trajectories = Trajectories.from_frame(table, "y", episode="run")
    assert [len(x) for x in trajectories.states] == [2, 3, 2]


def test_an_episode_that_is_missing_in_its_dictionary_is_missing():
    runs = pa.array(["a", "a", None, None, "b", "b", "b"]).dictionary_encode(null_encoding="encode")
    with pytest.raises(KoopsieveError, match="It is missing at row 4"):
        Trajectories.from_frame(pa.table({"run": runs, "y": TABLE["y"]}), "y", episode="run")


def test_lists_do_not_tell_episodes_apart():
    with pytest.raises(KoopsieveError, match="must hold numbers, text or dates"):
        Trajectories.from_frame(pa.table({"run": [[1]] * 7, "y": TABLE["y"]}), "y", episode="run")


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, 2, None, 4, 5, 6, 7], dtype="Int64"),
        pd.array([1.0, 2, None, 4, 5, 6, 7], dtype="Float64"),
        pd.Series([1, 2, None, 4, 5, 6, 7], dtype=object),
        pd.Series([1, 2, np.nan, 4, 5, 6, 7], dtype="float32"),
    ],
    ids=["Int64", "Float64", "object", "float32"],
)
def test_missing_values_of_every_kind_are_gaps(values):
    frame = pd.DataFrame({"y": values})
    with pytest.raises(KoopsieveError, match=r"State 'y' at row 4 \(as in a spreadsheet\) of the frame is NaN"):
        Trajectories.from_frame(frame, "y")
    trajectories = Trajectories.from_frame(frame, "y", gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[1, 2], [4, 5, 6, 7]]


def test_polars_null_and_nan_are_both_missing():
    frame = pl.DataFrame({"y": [1.0, 2.0, None, 4.0, 5.0, float("nan"), 7.0, 8.0]})
    trajectories = Trajectories.from_frame(frame, "y", gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[1, 2], [4, 5], [7, 8]]


def test_a_missing_last_input_does_not_matter():
    frame = pd.DataFrame(changed(u=[1.0, 2, 3, np.nan, 4, 5, np.nan]))
    assert Trajectories.from_frame(frame, "y", "u", episode="run").inputs[0].ravel().tolist() == [1, 2, 3]


def test_a_column_not_asked_for_need_not_be_convertible():
    frame = pd.DataFrame({"y": TABLE["y"], "mess": [object()] * 7})
    assert Trajectories.from_frame(frame, "y").n_samples == 7


def test_a_named_index_is_a_column():
    frame = pd.DataFrame({"y": TABLE["y"][:4]}, index=pd.Index(TABLE["t"][:4], name="t"))
    assert Trajectories.from_frame(frame, "y", time="t").dt == 0.5


def test_decimals_and_flags_are_numbers():
    frame = pl.DataFrame({"y": pl.Series(["1.5", "2.5", "4.5"]).cast(pl.Decimal(10, 2)), "on": [True, False, True]})
    trajectories = Trajectories.from_frame(frame, "y", "on")
    assert trajectories.states[0].ravel().tolist() == [1.5, 2.5, 4.5]
    assert trajectories.inputs[0].ravel().tolist() == [1, 0]


STAMPS = pd.date_range("2024-05-01", periods=7, freq="250ms")


@pytest.mark.parametrize(
    "times, dt",
    [
        (STAMPS, 0.25),
        (STAMPS.tz_localize("Europe/Stockholm"), 0.25),
        (pd.to_timedelta(np.arange(7) * 20, unit="ms"), 0.02),
        (pd.date_range("2024-05-01", periods=7).date, 86400.0),
        (pd.date_range("2024-05-01 12:00", periods=7, freq="2s").time, 2.0),
        (1_700_000_000_000_000_000 + 1000 * np.arange(7), 1000.0),
        (np.arange(7, dtype="uint8") * 3, 3.0),
        (1.7e9 + 1e-4 * np.arange(7), 1e-4),
    ],
    ids=["stamps", "zone", "durations", "days", "time of day", "int ns", "unsigned", "coarse floats"],
)
def test_times_of_every_kind(times, dt):
    frame = pd.DataFrame({"t": times, "y": TABLE["y"]})
    assert Trajectories.from_frame(frame, "y", time="t").dt == pytest.approx(dt, rel=5e-3)


def test_time_of_day_in_arrow_seconds():
    table = pa.table({"t": pa.array(range(0, 14, 2), type=pa.time32("s")), "y": TABLE["y"]})
    assert Trajectories.from_frame(table, "y", time="t").dt == 2.0


def test_a_jump_in_time_is_a_gap():
    frame = pd.DataFrame({"t": [0.0, 0.1, 0.2, 0.7, 0.8, 0.9, 1.0], "y": TABLE["y"], "u": TABLE["u"]})
    with pytest.raises(KoopsieveError, match=r"steps of 0\.1.* got 0\.5 after row 4 .* of the frame\. .*split"):
        Trajectories.from_frame(frame, "y", "u", time="t")
    trajectories = Trajectories.from_frame(frame, "y", "u", time="t", gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [TABLE["y"][:3], TABLE["y"][3:]]
    assert [u.ravel().tolist() for u in trajectories.inputs] == [TABLE["u"][:2], TABLE["u"][3:6]]
    assert trajectories.dt == pytest.approx(0.1)


REFUSED = {
    "unknown column": (
        {"states": ["y", "speed"], "inputs": "force"},
        "Not in the frame: 'speed', 'force'. The columns there are: 'run', 't', 'y', 'z', 'u', 'note'.",
    ),
    "unknown episode column": ({"states": "y", "episode": "trial"}, "Not in the frame: 'trial'."),
    "unknown time column": ({"states": "y", "time": "clock"}, "Not in the frame: 'clock'."),
    "no states": ({"states": []}, "states must name at least one column. Got none."),
    "named twice": ({"states": ["y", "y"]}, "The name 'y' occurs twice."),
    "state and input": ({"states": "y", "inputs": "y"}, "The name 'y' occurs twice."),
    "names that are numbers": ({"states": [0]}, "Names of states and inputs must be text"),
    "text": (
        {"states": ["y", "note"]},
        "Column 'note' of the frame must hold numbers. Got ",
    ),
    "text as time": (
        {"states": "y", "time": "note"},
        "Column 'note' of the frame must hold times: numbers, dates or durations. Got text, '",
    ),
    "time goes back": (
        {"states": "y", "time": "t"},
        "Time does not increase after row 5 (as in a spreadsheet) of the frame: 1.5, then 0.0. "
        "If a new episode starts there, name the column that tells episodes apart (episode=…)",
    ),
    "dt": ({"states": "y", "dt": -1}, "dt, the sample time, must be a positive number. Got -1."),
    "gaps": ({"states": "y", "gaps": "drop"}, 'gaps must be "raise", "split" or "interpolate".'),
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("arguments, message", REFUSED.values(), ids=REFUSED)
def test_refused_arguments(make, arguments, message):
    with pytest.raises(KoopsieveError, match=re.escape(message)):
        Trajectories.from_frame(make(TABLE), **arguments)


REFUSED_TABLES = {
    "episodes torn apart": (
        changed(run=["a", "a", "b", "b", "b", "a", "a"]),
        "The rows of episode 'a' are not together: they end at row 3 of the frame and go on at row 7. Sort by 'run'",
    ),
    "episode missing": (
        changed(run=["a", "a", None, "b", "b", "b", "b"]),
        "Column 'run' of the frame must say for every row which episode it is in. It is missing at row 4.",
    ),
    "episode of one row": (
        changed(run=["a"] * 6 + ["b"]),
        "An episode needs at least two samples, one transition. Got states of shape (1, 1) in the frame, episode 'b'.",
    ),
    "missing sample": (
        changed(y=[1.0, 2, 3, 4, 5, None, 7]),
        "State 'y' at row 7 (as in a spreadsheet) of the frame, episode 'a' is NaN (missing).",
    ),
    "infinite sample": (
        changed(u=[1.0, 2, float("inf"), 4, 5, 6, 7]),
        "Input 'u' at row 4 (as in a spreadsheet) of the frame, episode 'b' is infinite.",
    ),
    "uneven time": (
        changed(t=[0.0, 0.5, 1.0, 1.55, 0.0, 0.5, 1.0]),
        "Samples must be evenly spaced in time. Expected steps of 0.5, the median, got 0.55 after row 4 (as in "
        "a spreadsheet) of the frame, episode 'b'. Pass resample=0.5 to put them on an even time grid, or leave time= "
        "out and pass dt= if only the times are coarse.",
    ),
    "time stands still": (
        changed(t=[0.0, 0.5, 1.0, 1.5, 0.0, 0.0, 0.5]),
        "Time does not increase after row 6 (as in a spreadsheet) of the frame, episode 'a'",
    ),
    "time missing": (
        changed(t=[0.0, 0.5, None, 1.5, 0.0, 0.5, 1.0]),
        "Time 't' is missing or infinite at row 4 of the frame. Every row needs one.",
    ),
    "time infinite": (changed(t=[0.0, 0.5, 1.0, float("inf"), 0.0, 0.5, 1.0]), "missing or infinite at row 5"),
    "whole times missing": (changed(t=[0, 1, None, 3, 0, 1, 2]), "Time 't' is missing or infinite at row 4"),
    "text among numbers": (
        changed(y=["1", "2", "three", "4", "5", "6", "7"]),
        ", 'three' at row 4. Convert it first.",
    ),
    "no rows": ({name: values[:0] for name, values in TABLE.items()}, "There are no rows in the frame."),
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("columns, message", REFUSED_TABLES.values(), ids=REFUSED_TABLES)
def test_refused_tables(make, columns, message):
    with pytest.raises(KoopsieveError, match=re.escape(message)):
        Trajectories.from_frame(make(columns), "y", "u", episode="run", time="t")


def test_an_uneven_clock_is_no_gap():
    frame = pd.DataFrame({"t": [0.0, 0.1, 0.2, 0.32, 0.42], "y": TABLE["y"][:5]})
    with pytest.raises(KoopsieveError, match=r"got 0\.12 after row 4 "):
        Trajectories.from_frame(frame, "y", time="t", gaps="split")


@pytest.mark.parametrize(
    "frame", [np.ones((3, 2)), "runs.csv", pl.DataFrame(TABLE).lazy(), None, 3], ids=lambda f: type(f).__name__
)
def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(KoopsieveError, match="A frame must be a pandas or polars DataFrame"):
        Trajectories.from_frame(frame, "y")


def test_pandas_columns_of_the_same_name_are_refused():
    frame = pd.DataFrame(np.ones((3, 2)), columns=["y", "y"])
    with pytest.raises(KoopsieveError, match="the frame has several columns named 'y'"):
        Trajectories.from_frame(frame, "y")


def test_arrow_columns_of_the_same_name_are_refused():
    table = pa.table([[1.0, 2.0], [1.0, 2.0]], names=["y", "y"])
    with pytest.raises(KoopsieveError, match="the frame has several columns named 'y'"):
        Trajectories.from_frame(table, "y")


@pytest.mark.parametrize(
    "values, got",
    [([1j, 2j], "complex numbers, 1j at row 2"), ([1, "x"], "values of several kinds, 'x' at row 3")],
    ids=["complex", "mixed"],
)
def test_columns_that_are_no_numbers_are_refused(values, got):
    with pytest.raises(KoopsieveError, match=rf"Column 'y' of the frame must hold numbers\. Got {got}"):
        Trajectories.from_frame(pd.DataFrame({"y": values}), "y")


def test_constant_columns_are_named():
    with pytest.warns(KoopsieveWarning, match="Input columns that never change: 'valve'"):
        Trajectories.from_frame(pd.DataFrame({"y": TABLE["y"], "valve": [1] * 7}), "y", "valve")


T = 0.1 * np.arange(200)
WAVE = pd.DataFrame({"t": T, "y": np.sin(T), "z": np.cos(2 * T), "u": np.sign(np.sin(3 * T))})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_list_of_frames_is_a_list_of_episodes(make):
    columns = {name: WAVE[name].to_numpy() for name in WAVE}
    halves = [
        make({name: v[:90] for name, v in columns.items()}),
        make({name: v[90:] for name, v in columns.items()}),
    ]
    data = Trajectories.from_frame(halves, ["y", "z"], "u", time="t")
    assert [len(x) for x in data.states] == [90, 110]
    assert [source.label for source in data.provenance.sources] == ["frame 0", "frame 1"]
    np.testing.assert_array_equal(np.concatenate(data.states), WAVE[["y", "z"]])


def test_episodes_in_several_frames():
    frames = [WAVE.assign(run=name) for name in "ab"]
    data = Trajectories.from_frame(frames, "y", episode="run")
    assert [source.label for source in data.provenance.sources] == [
        "frame 0, episode 'a'",
        "frame 1, episode 'b'",
    ]
    with pytest.raises(KoopsieveError, match="Episode 'a' is in two files, frame 0 and frame 1"):
        Trajectories.from_frame([frames[0], frames[0]], "y", episode="run")


def test_what_is_wrong_in_one_of_them_is_said_of_it():
    with pytest.raises(KoopsieveError, match="Not in frame 1: 'y'"):
        Trajectories.from_frame([WAVE, WAVE.drop(columns="y")], "y")
    with pytest.raises(KoopsieveError, match="There are no frames"):
        Trajectories.from_frame([], "y")


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


def test_a_column_of_times_goes_before_the_index():
    frame = WAVE.set_index(pd.date_range("2024-05-01", periods=200, freq="20ms"))
    assert Trajectories.from_frame(frame, "y", time="t").dt == pytest.approx(0.1)


def test_an_index_of_numbers_is_no_time():
    assert Trajectories.from_frame(WAVE.set_index(np.arange(200) ** 2), "y").dt == 1.0
