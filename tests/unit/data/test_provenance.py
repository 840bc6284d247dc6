"""Where samples come from: counts, rows and times lead back to the source, however data are cut, embedded or joined."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from koopsieve.data import Trajectories, embed_delays
from koopsieve.data.provenance import SourceRows

T = 0.1 * np.arange(200)
sources = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=6)


def joined(parts):
    rows = SourceRows()
    for label, first, count in parts:
        rows = rows.then(SourceRows.of(label, first, count))
    return rows


@given(sources, st.data())
def test_every_row_keeps_its_name_however_rows_are_cut(parts, data):
    expected = [f"sample {first + i} (counted from 0) of {label}" for label, first, n in parts for i in range(n)]
    start = data.draw(st.integers(0, len(expected)))
    stop = data.draw(st.integers(start, len(expected)))
    for a, b in ((0, len(expected)), (start, stop)):
        cut = joined(parts).between(a, b)
        assert [cut.describe(i) for i in range(b - a)] == expected[a:b]


def test_rows_that_go_on_are_one_stretch():
    assert len(joined([("a", 0, 3), ("a", 3, 2), ("a", 9, 1), ("b", 10, 1)]).ranges) == 3


def test_nothing_done_is_told_too():
    data = Trajectories.from_arrays([np.arange(5.0), np.arange(4.0) + 1])
    assert data.provenance.describe() == "9 rows in 2 episodes were read."
    zero = dict.fromkeys(("rows_inserted", "values_filled", "samples_resampled", "rows_dropped"), 0)
    assert data.provenance.to_dict() == {"episodes_read": 2, "rows_read": 9, **zero, "notes": [], "episodes": 2}
    known = [(source.label, source.stamps) for source in data.provenance.sources]
    assert known == [("episode 0", None), ("episode 1", None)]
    fewer = replace(data, states=data.states[:1], inputs=data.inputs[:1])
    assert [source.label for source in fewer.provenance.sources] == ["episode 0"]


def test_rows_and_times_lead_back_to_the_file(tmp_path):
    stamps = pd.date_range("2024-05-01 12:00", periods=60, freq="250ms")
    frame = pd.DataFrame({"when": stamps, "run": ["a"] * 25 + ["b"] * 35, "y": np.sin(np.arange(60.0))})
    frame.loc[40, "y"] = np.nan
    frame.to_csv(tmp_path / "log.csv", index=False)
    data = Trajectories.from_file(tmp_path / "log.csv", "y", episode="run", time="when", gaps="split")
    assert [source.label for source in data.provenance.sources] == [
        f"{tmp_path / 'log.csv'}, episode {name!r}" for name in "abb"
    ]
    assert [source.first_row for source in data.provenance.sources] == [0, 25, 41]
    embedded = embed_delays(data, states=2)
    first, second = embedded.split(0.6)
    for part in (data, embedded, data.subset([2, 0]), first, second, Trajectories.join([second, first])):
        for source, x in zip(part.provenance.sources, part.states, strict=True):
            rows = frame.iloc[source.first_row :][: len(x)]
            np.testing.assert_array_equal(x[:, 0], rows["y"])
            np.testing.assert_array_equal(source.stamps, rows["when"])
        assert (part.provenance.total.rows_read, part.provenance.total.rows_dropped) == (60, 1)


@pytest.mark.parametrize(
    "times",
    [
        np.arange(30) * 7,
        1_700_000_000_000_000_123 + 1000 * np.arange(30),
        0.25 * np.arange(30),
        pd.to_timedelta(np.arange(30) * 20, unit="ms"),
        pd.date_range("2024-05-01", periods=30, freq="50ms"),
        pd.date_range("2024-05-01", periods=30, freq="1D"),
    ],
    ids=["counts", "nanoseconds", "floats", "durations", "dates", "days"],
)
def test_times_come_back_as_they_went_in(times):
    frame = pd.DataFrame({"t": times, "y": np.sin(np.arange(30.0))})
    source = Trajectories.from_frame(frame, "y", time="t").provenance.sources[0]
    np.testing.assert_array_equal(source.stamps, frame["t"].to_numpy())
    assert source.stamps.dtype.kind == frame["t"].dtype.kind


def test_dates_survive_resampling():
    frame = pd.DataFrame({"t": pd.date_range("2024-05-01", periods=30, freq="1s"), "y": np.sin(np.arange(30.0))})
    source = Trajectories.from_frame(frame, "y", time="t", resample=0.25).provenance.sources[0]
    np.testing.assert_array_equal(source.stamps, pd.date_range("2024-05-01", periods=117, freq="250ms"))


def test_joining_parts_counts_nothing_twice():
    data = Trajectories.from_arrays([np.sin(T), np.cos(T), np.sin(2 * T)])
    assert Trajectories.join(list(data)).provenance.total.rows_read == 600
    assert Trajectories.join([data, Trajectories.from_arrays(T)]).provenance.total.rows_read == 800
