"""One file: what is no plain file is not replaced, permissions stay, nothing is replaced unasked; and JSON."""

import json
import os
import stat
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koopsieve import KoopsieveError
from koopsieve._written import check_file, json_number, plain, read_json, write_json, written_whole


def write(path, failure=None, overwrite=True):
    with written_whole(path, overwrite) as stream:
        stream.write(b"new")
        if failure is not None:
            raise failure


def test_a_link_is_followed_and_permissions_stay(tmp_path):
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link")  # which leads nowhere yet
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    write(tmp_path / "link")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "real").read_text()) == (True, "new")
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "real"]


def test_pipes_and_devices_get_the_bytes_and_stay(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write(tmp_path / "pipe")
    reader.join(timeout=10)
    assert (found, (tmp_path / "pipe").is_fifo()) == ([b"new"], True)
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116
    for place in (tmp_path / "pipe", "/dev/null"):
        check_file(place, overwrite=False)
    with pytest.raises(KoopsieveError, match="is a folder, and a file of that name was to be written"):
        write(tmp_path)


@pytest.mark.parametrize("place", ["missing/x.csv", "file/x.csv", f"{'x' * 300}.csv"])
def test_a_file_that_cannot_be_written_is_named_in_words_and_leaves_nothing(place, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(KoopsieveError, match=rf"{place} could not be written: .*\. Check the folder and the space"):
        write(tmp_path / place)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "mine")]


def test_what_is_there_stays_unless_it_may_be_replaced(tmp_path):
    out = tmp_path / "out.csv"
    check_file(out, overwrite=False)
    with pytest.raises(KeyboardInterrupt):
        write(out, KeyboardInterrupt)
    assert list(tmp_path.iterdir()) == []
    out.write_text("old")
    check_file(out, overwrite=True)
    for refused in (check_file, lambda path, overwrite: write(path, overwrite=overwrite)):
        with pytest.raises(KoopsieveError, match=r"Already there: .*out\.csv\. Replace with --overwrite, or name anot"):
            refused(out, overwrite=False)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out.csv", "old")]
    within, absent = out / "x.csv", tmp_path / "gone" / "x.csv"
    for place, why in ((tmp_path, "is a folder"), (absent, "there is no folder"), (within, r"out\.csv is a file")):
        with pytest.raises(KoopsieveError, match=why):
            check_file(place)


def test_what_is_read_is_not_replaced(tmp_path):
    (tmp_path / "record.csv").write_text("mine")
    (tmp_path / "link.csv").symlink_to("record.csv")
    for read in ("record.csv", "link.csv"):
        with pytest.raises(KoopsieveError, match=r"record\.csv is read here, so it is not replaced"):
            check_file(tmp_path / "record.csv", overwrite=True, read=(tmp_path / "gone", tmp_path / read))
    check_file(tmp_path / "other.csv", overwrite=True, read=(tmp_path / "record.csv",))


def test_what_json_does_not_know_becomes_plain():
    value = {"a": np.array([[1.0, np.inf], [np.nan, -np.inf]]), 2: (np.int64(3), np.float64(0.5), None, True, "x")}
    assert plain(value) == {"a": [[1.0, "inf"], ["nan", "-inf"]], "2": [3, 0.5, None, True, "x"]}
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == plain(value)


@settings(max_examples=25)  # every example is a file, synced to disk
@given(st.dictionaries(st.text(max_size=4), st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=4)))
def test_numbers_survive_the_file_bit_for_bit(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("json") / "x.json"
    write_json(path, value)
    back = read_json(path)
    assert back == plain(value)
    for key, numbers in value.items():
        np.testing.assert_array_equal([json_number(x) for x in back[key]], numbers)
