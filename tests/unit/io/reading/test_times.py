"""Columns of times: text, dates and durations of every kind become the right steps, and come back as they went in."""

import datetime

import numpy as np
import pandas as pd
import pytest
from pyarrow import csv

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.io.reading.times import TimeBase, as_times

READ_AS_ARROW_DOES = {
    "whole": ["1", "-2", "007", "9007199254740993"],
    "numbers": ["1.5", "-2", "1e-3", ".5", "5.", "inf", "-inf"],
    "missing numbers": ["1.5", "", "2"],
    "days": ["2024-05-01", "2024-05-02"],
    "stamps": ["2024-05-01 12:00:00", "2024-05-01T12:00:01"],
    "stamps with fractions": ["2024-05-01 12:00:00.000000001", "2024-05-01 12:00:01.25"],
    "zones": ["2024-05-01T12:00:00Z", "2024-05-01T14:00:01+02:00"],
    "missing stamps": ["2024-05-01 12:00:00", ""],
    "times of day": ["23:59:58", "23:59:59"],
}
NO_TIMES = {
    "text": ["on", "off"],
    "numbers and text": ["1", "2", "off"],
    "no such day": ["2024-02-30 12:00:00", "2024-02-28 12:00:00"],
    "a number that only Python reads": ["1_000", "2"],
    "digits of another script": ["١", "٢"],
    "days that can be two": ["03/04/2024 10:00:00", "03/04/2024 10:00:01"],
    "some with a zone": ["2024-05-01T12:00:00Z", "2024-05-01 12:00:01"],
}
OTHER_DATES = [
    (["1.5.2024 9:05", "31.12.2024 10:06"], ["2024-05-01T09:05", "2024-12-31T10:06"]),
    (["04.03.2026 09:15:00,000", "04.03.2026 09:15:00,250"], ["2026-03-04T09:15:00.000", "2026-03-04T09:15:00.250"]),
    (["1.5.2024 9:05:01", "1.5.2024 9:05:02.5"], ["2024-05-01T09:05:01", "2024-05-01T09:05:02.5"]),
    (["2024/5/1 09:05:07.25"], ["2024-05-01T09:05:07.25"]),
    (["2024-05-01T22:00-0330"], ["2024-05-02T01:30"]),
    (["2024-05-01 10:00", "1.5.2024 10:01"], ["2024-05-01T10:00", "2024-05-01T10:01"]),
]


def column(fields):
    return pd.Series([field or None for field in fields], dtype="str")


def plain(times):
    """Return times as nanoseconds or numbers."""
    times = times.dt.tz_convert(None) if getattr(times.dtype, "tz", None) is not None else times
    return times.astype("M8[ns]" if times.dtype.kind == "M" else "m8[ns]") if times.dtype.kind in "Mm" else times


@pytest.mark.parametrize("fields", READ_AS_ARROW_DOES.values(), ids=READ_AS_ARROW_DOES)
def test_text_is_what_arrow_reads(fields, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{field},0\n" for field in fields))
    theirs = csv.read_csv(tmp_path / "x.csv").to_pandas(date_as_object=False)["a"]
    mine, theirs = plain(as_times(column(fields))), plain(as_times(theirs))
    assert mine.dtype == theirs.dtype
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("fields", NO_TIMES.values(), ids=NO_TIMES)
def test_text_that_is_no_time(fields, tmp_path):
    assert as_times(column(fields)) is None
    (tmp_path / "x.csv").write_text("t;y\n" + "".join(f"{field};{i}\n" for i, field in enumerate(fields)))
    with pytest.raises(KoopsieveError, match=r"'t' of .*x\.csv must hold times: .* at row \d\. .*with date_format="):
        Trajectories.from_file(tmp_path / "x.csv", "y", time="t")


@pytest.mark.parametrize("fields, dates", OTHER_DATES)
def test_dates_in_other_forms(fields, dates):
    np.testing.assert_array_equal(plain(as_times(column(fields))), plain(pd.Series(np.array(dates, dtype="M8[ms]"))))


def test_a_format_decides_what_can_be_two_days(tmp_path):
    rows = [f"03/04/2024 10:00:0{i},{i % 3}" for i in range(6)]
    (tmp_path / "x.csv").write_text("\n".join(["t,y", *rows]))
    for form, month in (("%d/%m/%Y %H:%M:%S", 4), ("%m/%d/%Y %H:%M:%S", 3)):
        data = Trajectories.from_file(tmp_path / "x.csv", "y", time="t", date_format=form)
        assert data.dt == 1.0
        assert data.provenance.sources[0].stamps[0] == np.datetime64(f"2024-0{month}-0{7 - month}T10:00:00")
        assert data.signals.reading.date_format == form
    with pytest.raises(KoopsieveError, match=r"at row 2\. Not all rows are written as date_format='%Y' says"):
        Trajectories.from_file(tmp_path / "x.csv", "y", time="t", date_format="%Y")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"date_format": "%Y"}, "Name the column of times with time="),
        ({"date_format": "d.m.y", "time": "t"}, 'date_format must be a format such as "%d.%m.%Y'),
        ({"date_format": 3, "time": "t"}, "date_format must be a format"),
        ({"missing": 3}, "missing must name text"),
        ({"missing": [""]}, "missing must be text that marks missing values"),
        ({"missing": "-", "path": "x.npz"}, r"missing= is about text, in \.csv or \.xlsx files\. Got x\.npz"),
    ],
)
def test_refused_options(arguments, message):
    with pytest.raises(KoopsieveError, match=message):  # before any file is looked for
        Trajectories.from_file(**{"path": "x.csv", "states": "y", **arguments})


@pytest.mark.parametrize("unit, seconds", [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)])
def test_steps_of_every_unit_are_in_seconds(unit, seconds):
    for kind in ("M8", "m8"):
        times = as_times(pd.Series((1_700_000 + 25 * np.arange(4)).astype(f"{kind}[{unit}]")))
        base = TimeBase.of(times)
        assert base.unit == unit
        np.testing.assert_allclose(base.elapsed(times), 25 * seconds * np.arange(4), rtol=1e-12)
        np.testing.assert_array_equal(base.stamps(base.elapsed(times)), times)


def test_batches_of_another_unit_or_kind_count_from_the_same_origin():
    seconds = as_times(pd.Series(["2024-05-01 12:00:00"], dtype="str"))
    base = TimeBase.of(seconds)
    for text, elapsed in (("2024-05-01 12:00:01.25", 1.25), ("2024-05-01 12:00:02", 2.0)):
        assert base.elapsed(as_times(pd.Series([text], dtype="str"))).tolist() == [elapsed]
    fine = TimeBase.of(as_times(pd.Series(["2024-05-01 12:00:00.25"], dtype="str")))
    assert fine.elapsed(seconds).tolist() == [-0.25]
    counts = TimeBase.of(pd.Series([10**18, 10**18 + 5]))
    assert counts.elapsed(pd.Series([10.0**18 + 1024])).tolist() == [1024.0]


def test_times_of_day_with_fractions():
    mine = as_times(column(["23:59:58.5", "00:00:01", "9:05"]))
    assert mine.astype("m8[ms]").astype(int).tolist() == [86_398_500, 1000, 32_700_000]
    clock = [datetime.time(12, 0, 1), datetime.time(12, 0, 1, 500)]
    assert as_times(pd.Series(clock, dtype=object)).dt.total_seconds().tolist() == [43201.0, 43201.0005]


def test_python_objects():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    noon = datetime.datetime(2024, 5, 1, 12)
    stamps = [noon.replace(tzinfo=zone), None, noon.replace(second=1, tzinfo=zone)]
    times = as_times(pd.Series(stamps, dtype=object))
    assert TimeBase.of(times).zoned
    assert TimeBase.of(times).text(0.0) in ("2024-05-01T10:00:00.000000Z", "2024-05-01T10:00:00.000000000Z")
    assert as_times(pd.Series([*stamps, noon], dtype=object)) is None


def test_the_text_of_dates_has_no_more_digits_than_needed(tmp_path):
    for fraction, text in (("", "2024-05-01T12:00:01"), (".500", "2024-05-01T12:00:01.500")):
        (tmp_path / "x.csv").write_text("t,y\n" + "".join(f"1.5.2024 12:00:0{i}{fraction},{i % 2}\n" for i in range(4)))
        source = Trajectories.from_file(tmp_path / "x.csv", "y", time="t").provenance.sources[0]
        assert source.time_base.text(source.times[1]) == text


@pytest.mark.parametrize("times", [[-(2**63), 0, 2**63 - 1], [2**63, 2**63 + 2**20, 2**63 + 2**21]])
def test_whole_numbers_too_far_apart_or_too_large_for_64_bits_keep_sign_and_order(times, tmp_path):
    frame = pd.DataFrame({"t": times, "y": [1.0, 2.0, 4.0]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    for data in (
        Trajectories.from_file(tmp_path / "x.csv", "y", time="t"),
        Trajectories.from_frame(frame, "y", time="t"),
    ):
        assert data.dt == pytest.approx(times[1] - times[0], rel=0.01)
        np.testing.assert_array_equal(data.provenance.sources[0].stamps, np.array(times, dtype=float))
