"""Fields of delimited text as columns, judged by the CSV reader of Arrow, and block after block as at once."""

import numpy as np
import pytest
from pyarrow import csv

from koopsieve.data.reading.arrow import table_of
from koopsieve.data.reading.fields import join, parse

KINDS = {
    "whole": ["1", "-2", "007", "9007199254740993"],
    "numbers": ["1.5", "-2", "1e-3", ".5", "5.", "inf", "-inf"],
    "missing numbers": ["1.5", "", "NA", "nan", "null", "2"],
    "missing whole": ["1", "", "3"],
    "too large for 64 bits": ["1", "36893488147419103232"],
    "flags": ["true", "false", "true"],
    "days": ["2024-05-01", "2024-05-02"],
    "stamps": ["2024-05-01 12:00:00", "2024-05-01T12:00:01"],
    "stamps with fractions": ["2024-05-01 12:00:00.000000001", "2024-05-01 12:00:01.25"],
    "zones": ["2024-05-01T12:00:00Z", "2024-05-01T14:00:01+02:00"],
    "missing stamps": ["2024-05-01 12:00:00", ""],
    "times of day": ["23:59:58", "23:59:59"],
    "text": ["on", "off", "on"],
    "numbers and text": ["1", "2", "off"],
    "no such day": ["2024-02-30 12:00:00", "2024-02-28 12:00:00"],
    "a number that only Python reads": ["1_000", "2"],
    "digits of another script": ["١", "٢"],
}


def arrow(fields, tmp_path):
    """Return the column as Arrow reads it; a second column keeps empty fields from being empty lines."""
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{field},0\n" for field in fields))
    return table_of(csv.read_csv(tmp_path / "x.csv")).column("a")


def said(column):
    """Return what every row says, times in nanoseconds whatever their unit."""
    if column.values.dtype.kind in "Mm":
        return column.values.astype(f"{column.values.dtype.kind}8[ns]")
    return column.values if column.labels is None else np.array([column.labels[code] for code in column.values])


@pytest.mark.parametrize("fields", KINDS.values(), ids=KINDS)
def test_fields_are_what_arrow_reads(fields, tmp_path):
    mine, theirs = parse(fields), arrow(fields, tmp_path)
    assert mine.kind == theirs.kind
    assert mine.zoned == theirs.zoned
    np.testing.assert_array_equal(said(mine), said(theirs))


@pytest.mark.parametrize("fields", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("size", [1, 2])
def test_blocks_joined_are_the_whole(fields, size):
    whole = parse(fields)
    parts = [parse(fields[i : i + size]) for i in range(0, len(fields), size)]
    joined = join(parts)
    assert joined.kind == whole.kind
    np.testing.assert_array_equal(joined.missing, whole.missing)
    if whole.labels is None:
        np.testing.assert_array_equal(said(joined), said(whole))
    else:  # a block of dates alone is read as dates, and told as ISO writes them
        assert [str(one).replace("T", " ") for one in said(joined)] == list(said(whole))


DATES = {
    "dots": (["1.5.2024 9:05", "31.12.2024 10:06"], ["2024-05-01T09:05", "2024-12-31T10:06"]),
    "slashes": (["2024/5/1 09:05:07.25"], ["2024-05-01T09:05:07.25"]),
    "west": (["2024-05-01T22:00-0330"], ["2024-05-02T01:30"]),
    "before nanoseconds begin": (["1600-01-01 00:00:00"], ["1600-01-01"]),
}


@pytest.mark.parametrize("fields, dates", DATES.values(), ids=DATES)
def test_dates_in_other_forms(fields, dates):
    column = parse(fields)
    np.testing.assert_array_equal(column.values, np.array(dates, dtype="M8[ns]" if "." in dates[0] else "M8[s]"))


def test_times_of_day_with_fractions():
    assert parse(["23:59:58.5", "00:00:01"]).values.astype(int).tolist() == [86_398_500_000_000, 1_000_000_000]


def test_dates_that_nanoseconds_cannot_hold_stay_text():
    assert parse(["1600-01-01 00:00:00.5"]).kind == "text"


def test_decimal_commas_and_points_do_not_mix():
    assert parse(["1,5", "2"], ",").values.tolist() == [1.5, 2.0]
    assert parse(["1,5", "2.5"], ",").kind == "text"


def test_a_long_file_is_read_block_by_block(tmp_path, monkeypatch):
    """Whole, with fractions, missing, text: every kind may first show in a later block."""
    from koopsieve.data import Trajectories
    from koopsieve.data.reading import delimited

    monkeypatch.setattr(delimited, "_BLOCK_ROWS", 3)
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(7.0), rng.normal(size=9)])
    rows = "".join(f"{run},{value!r}\n" for run, value in zip(["1"] * 8 + ["b"] * 8, y.tolist(), strict=True))
    (tmp_path / "x.csv").write_text("run,y\n" + rows)
    data = Trajectories.from_file(tmp_path / "x.csv", "y", episode="run")
    np.testing.assert_array_equal(np.concatenate(data.states).ravel(), y)
    assert [len(x) for x in data.states] == [8, 8]
