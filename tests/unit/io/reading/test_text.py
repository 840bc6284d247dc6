"""Delimited text as loggers write it: separators, decimal commas, comments, units, encodings; found and noted."""

import warnings

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Trajectories
from koopsieve.io.reading import text as reading

ROWS = [(0.0, 1.5, -2.25, 3), (0.5, 2.5, 1e-3, 4), (1.0, -3.5, 7.0, 5), (1.5, 0.25, -1.0, 6)]
NAMES = ["t", "y", "z", "u"]


def text(separator=",", decimal=".", before=(), units=None, names=NAMES, end="\n", rows=ROWS):
    lines = [*before, separator.join(names)]
    lines += [separator.join(units)] if units else []
    lines += [separator.join(str(value).replace(".", decimal) for value in row) for row in rows]
    return end.join(lines) + end


def read(path):
    return Trajectories.from_file(path, ["y", "z"], "u", time="t")


def assert_read(trajectories):
    np.testing.assert_array_equal(trajectories.states[0], [row[1:3] for row in ROWS])
    np.testing.assert_array_equal(trajectories.inputs[0], [row[3:] for row in ROWS[:-1]])
    assert trajectories.dt == 0.5


DIALECTS = [
    ({}, ""),
    ({"separator": ";"}, "columns separated by semicolons"),
    ({"separator": ";", "decimal": ","}, "columns separated by semicolons, decimal commas"),
    ({"separator": "\t", "decimal": ","}, "columns separated by tabs, decimal commas"),
    ({"separator": "|"}, "columns separated by bars"),
    ({"names": [" t", "y ", " z ", "u"]}, ""),
    ({"end": "\r\n"}, ""),
    ({"end": "\r"}, ""),
    ({"before": ["# logger 7", "# serial, 12; x"]}, "2 lines before the names skipped"),
    ({"before": [""]}, "1 line before the names skipped"),
    (
        {"before": ["Logger;v1.2", "Serial;33", ""], "separator": ";"},
        "columns separated by semicolons, 3 lines before the names skipped",
    ),
    ({"units": ["s", "m", "m/s", "N"]}, "a row of units skipped"),
    ({"units": ["[s]", "[m]", "", "[N]"]}, "a row of units skipped"),
    (
        {"before": ["% a"], "units": ["s", "m", "m/s", "N"], "separator": ";", "decimal": ","},
        "columns separated by semicolons, decimal commas, 1 line before the names skipped, a row of units skipped",
    ),
]


@pytest.mark.parametrize("dialect, note", DIALECTS)
def test_dialects_are_noted_and_what_is_skipped_is_said(dialect, note, tmp_path):
    (tmp_path / "log.csv").write_bytes(text(**dialect).encode())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trajectories = read(tmp_path / "log.csv")
    assert_read(trajectories)
    assert trajectories.provenance.total.notes == ((f"log.csv: {note}.",) if note else ())
    assert [(str(one.message), one.filename) for one in caught] == (
        [(f"log.csv: {note}.", __file__)] if "skipped" in note else []
    )


CONTENTS = {
    "a comma in text is no decimal comma": ("y;note\n1.5;a,b\n2.5;1,5\n3.5;c\n", {}, [[1.5, 2.5, 3.5]]),
    "quoted fields": ('"y","u, really"\n1.5,2\n2.5,3\n3,1\n', {"inputs": "u, really"}, [[1.5, 2.5, 3]]),
    "missing values are no units": ("y,u\n,\n1,2\n2,3\n3,1\n", {"inputs": "u", "gaps": "split"}, [[1, 2, 3]]),
    "empty fields": ("y,u\n1,1\n2,2\n,3\nNA,5\n6,1\n7,2\n", {"gaps": "split"}, [[1, 2], [6, 7]]),
    "separators at the ends of lines": ("y;u;\n1,5;2;\n2,5;3;\n3;4;\n", {"inputs": "u"}, [[1.5, 2.5, 3]]),
    "a number beyond 64 bits": ("y\n36893488147419103232\n1\n", {}, [[2.0**65, 1]]),
    "flags": ("y,u\ntrue,1\nFALSE,2\nTrue,3\n", {}, [[1, 0, 1]]),
    "an episode called NA": ("run,y\nNA,1\nNA,2\n007,3\n007,4\n", {"episode": "run"}, [[1, 2], [3, 4]]),
}


@pytest.mark.parametrize("content, arguments, states", CONTENTS.values(), ids=CONTENTS)
def test_odd_contents(content, arguments, states, tmp_path):
    (tmp_path / "log.csv").write_text(content)
    data = Trajectories.from_file(tmp_path / "log.csv", "y", **arguments)
    assert [x.ravel().tolist() for x in data.states] == states


@pytest.mark.parametrize("separator, mark", [(",", "# "), (";", "%")])
def test_names_behind_a_comment_mark(separator, mark, tmp_path):
    """As numpy.savetxt writes them."""
    np.savetxt(tmp_path / "log.csv", np.array(ROWS), delimiter=separator, header=separator.join(NAMES), comments=mark)
    assert_read(read(tmp_path / "log.csv"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding, tmp_path):
    (tmp_path / "log.csv").write_bytes(text(names=["t", "y", "Höhe", "u"]).encode(encoding))
    assert_read(Trajectories.from_file(tmp_path / "log.csv", ["y", "Höhe"], "u", time="t"))


def test_several_files_give_one_warning(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text(text(units=["s", "m", "m", "N"]))
    with pytest.warns(KoopsieveWarning, match=r"0\.csv: a row of units skipped\. 2 more files") as caught:
        trajectories = read([tmp_path / f"{i}.csv" for i in range(3)])
    assert len(caught) == 1
    assert len(trajectories.provenance.total.notes) == 3


def test_marks_of_missing_values(tmp_path):
    (tmp_path / "log.csv").write_text("t,y,u\n0,1.5,1\n1, - ,2\n2,ERR,NaN\n3,4.5,n/a\n4,None,3\n5,5.5,4\n-,6,6\n")
    arguments = {"states": "y", "inputs": "u", "gaps": "interpolate", "max_gap": 2}
    data = Trajectories.from_file(tmp_path / "log.csv", missing=["-", "ERR"], **arguments)
    assert data.states[0].ravel().tolist() == [1.5, 2.5, 3.5, 4.5, 5, 5.5, 6]
    assert data.inputs[0].ravel().tolist() == [1, 2, 2, 2, 3, 4]
    assert data.provenance.total.values_filled == 5
    assert data.signals.reading.missing == ("-", "ERR")
    with pytest.raises(KoopsieveError, match=r"Got text, 'ERR' at row 4\. .* pass missing='ERR'; otherwise repair"):
        Trajectories.from_file(tmp_path / "log.csv", missing="-", **arguments)
    with pytest.raises(KoopsieveError, match="Time 't' is missing or infinite at row 8"):
        Trajectories.from_file(tmp_path / "log.csv", time="t", missing=["-", "ERR"], **arguments)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_are_counted_as_a_spreadsheet_shows_them(end, tmp_path):
    """Lines before the names, units, empty lines and lines inside quotes count as they do there."""
    lines = ["logger 3", "", "y,note", "bar,", "", "1,a", "", "2,b", '3,"two\nlines"', "nan,c", "4,", "5,d", ""]
    (tmp_path / "log.csv").write_bytes(end.join(lines).encode())
    with pytest.warns(KoopsieveWarning), pytest.raises(KoopsieveError, match=r"State 'y' at row 10 \(as in a spread"):
        Trajectories.from_file(tmp_path / "log.csv", "y")
    with pytest.warns(KoopsieveWarning, match="2 lines before the names skipped, a row of units skipped"):
        data = Trajectories.from_file(tmp_path / "log.csv", "y", gaps="split")
    assert [x.ravel().tolist() for x in data.states] == [[1, 2, 3], [4, 5]]
    assert [source.first_row for source in data.provenance.sources] == [0, 4]
    assert [source.describe(1).split(" (")[0] for source in data.provenance.sources] == ["row 8", "row 12"]
    (tmp_path / "log.csv").write_bytes(end.join([*lines, "6,e,f"]).encode())
    with pytest.raises(KoopsieveError, match="row 14 has 3 fields, but there are 2 names of columns"):
        Trajectories.from_file(tmp_path / "log.csv", "y", gaps="split")
    (tmp_path / "log.csv").write_bytes(end.join([*lines, '6,"e', "7,f"]).encode())
    with pytest.raises(KoopsieveError, match="the quotation marks in row 14 do not match"):
        Trajectories.from_file(tmp_path / "log.csv", "y", gaps="split")


@pytest.mark.parametrize("row", ["9", "9,8,7", "9,8,7,6", "9,8,,6"])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_rows_with_more_or_fewer_fields_are_refused(row, place, tmp_path):
    rows = [f"{i},{i}" for i in range(5)]
    (tmp_path / "log.csv").write_text("\n".join(["y,u", *rows[:place], row, *rows[place:]]))
    fields = len(row.split(","))
    with pytest.raises(KoopsieveError, match=f"row {place + 2} has {fields} fields, but there are 2 names"):
        Trajectories.from_file(tmp_path / "log.csv", "y", gaps="split")


@pytest.mark.filterwarnings("ignore:.*far outside the others")
def test_every_digit_is_read(tmp_path):
    numbers = 10 ** np.random.default_rng(0).uniform(-300, 300, 2000)
    (tmp_path / "log.csv").write_text("\n".join(["y", *map(repr, numbers.tolist())]))
    np.testing.assert_array_equal(Trajectories.from_file(tmp_path / "log.csv", "y").states[0].ravel(), numbers)


def test_decimal_commas_and_points_do_not_mix(tmp_path):
    start = "".join(f"{i},5;{i}\n" for i in range(60_000))
    (tmp_path / "log.csv").write_text(f"y;t\n{start}1.5;60000\n")
    with pytest.raises(KoopsieveError, match=r"Got text, '1\.5' at row 60002"):
        Trajectories.from_file(tmp_path / "log.csv", "y", time="t")


def test_a_long_file_is_read_block_by_block(tmp_path, monkeypatch):
    """Whole, with fractions, missing, text: every kind may first show in a later block."""
    monkeypatch.setattr(reading, "_BLOCK_CELLS", 9)
    y = np.concatenate([np.arange(7.0), np.random.default_rng(0).normal(size=9)])
    times = [f"1.5.2024 12:00:{i:02d}{'.5' if i > 9 else ''}" for i in range(16)]
    rows = [f"{'1' if i < 8 else 'b'},{y[i].item()!r},{time}" for i, time in enumerate(times)]
    rows[3] += "\n"
    (tmp_path / "x.csv").write_text("\n".join(["run,y,t", *rows]))
    with pytest.warns(KoopsieveWarning, match="1 empty line between samples skipped"):
        data = Trajectories.from_file(tmp_path / "x.csv", "y", episode="run")
    np.testing.assert_array_equal(np.concatenate(data.states).ravel(), y)
    assert [len(x) for x in data.states] == [8, 8]
    with pytest.warns(KoopsieveWarning), pytest.raises(KoopsieveError, match=r"got 1\.5 after row 12 "):
        Trajectories.from_file(tmp_path / "x.csv", "y", time="t")


def test_a_file_without_names_is_told_from_one_with_other_names(tmp_path):
    for content, numbers in (("1.5,2\n3,4\n", True), ("-1,2e-3\n3,4\n", True), ("a,2\n3,4\n", False)):
        (tmp_path / "log.csv").write_text(content)
        with pytest.raises(KoopsieveError, match="Not in") as raised:
            Trajectories.from_file(tmp_path / "log.csv", "y")
        assert str(raised.value).endswith("put a line with the names of the columns above them.") is numbers


@pytest.mark.parametrize(
    "content, listed",
    [("a;b\n1;2\n3;4\n", "'a', 'b'"), ("# c\na|b\n1|2\n", "'a', 'b'"), ("a\tb\tc,d\n1\t2\t3\n", "'a', 'b', 'c,d'")],
)
def test_columns_that_are_not_there_are_listed_as_they_are_separated(content, listed, tmp_path):
    (tmp_path / "log.csv").write_text(content)
    with pytest.raises(KoopsieveError, match=rf"Not in .*log\.csv: 'y'\. The columns there are: {listed}"):
        Trajectories.from_file(tmp_path / "log.csv", "y")


def test_a_comment_that_lists_the_names_in_another_order_does_not_swap_columns(tmp_path):
    (tmp_path / "log.csv").write_text("# u,y\ny,u\nbar,rpm\n1,5\n2,6\n4,7\n")
    with pytest.raises(KoopsieveError, match="Got text, 'u' at row 2"):
        Trajectories.from_file(tmp_path / "log.csv", "y", "u")
    (tmp_path / "log.csv").write_text("# u,y\ny,u\n1,5\n2,6\n4,7\n")
    with pytest.warns(KoopsieveWarning, match=r"log\.csv: 1 line before the names skipped\.$"):
        data = Trajectories.from_file(tmp_path / "log.csv", "y", "u")
    assert (data.states[0].ravel().tolist(), data.inputs[0].ravel().tolist()) == ([1, 2, 4], [5, 6])


def test_empty_lines_between_samples_are_mentioned(tmp_path):
    """They may part one run from the next; those before and after all samples part nothing."""
    (tmp_path / "log.csv").write_text("y,u\n\n1,5\n2,6\n\n\n4,7\n5,8\n\n")
    with pytest.warns(KoopsieveWarning, match=r"log\.csv: 2 empty lines between samples skipped\."):
        data = Trajectories.from_file(tmp_path / "log.csv", "y", "u")
    assert data.states[0].ravel().tolist() == [1, 2, 4, 5]


def test_spaces_before_quotation_marks_are_no_part_of_a_field(tmp_path):
    """Else the separator in a quoted name is one more column, and every later name moves by one."""
    rows = '1, "a, b", 2, 3,\n4, "", "5", 6,\n7, "c", 9, 8,\n'
    (tmp_path / "log.csv").write_text(f't, "x, y", y, "u"\n{rows}')
    data = Trajectories.from_file(tmp_path / "log.csv", "y", "u", time="t")
    assert (data.states[0].ravel().tolist(), data.inputs[0].ravel().tolist()) == ([2, 5, 9], [3, 6])
