"""One file: what is no plain file is not replaced, permissions stay, nothing is replaced unasked; and JSON."""

import json
import os
import stat
import threading

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve._written import check_file, json_number, plain, read_json, write_json, written_whole


def write(path, text=b"new"):
    with written_whole(path) as stream:
        stream.write(text)


def test_a_link_is_followed_and_permissions_stay(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "real"]


def test_a_link_to_nothing_makes_the_file(tmp_path):
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link")
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_gets_the_bytes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write(tmp_path / "pipe")
    reader.join(timeout=10)
    assert found == [b"new"]
    assert (tmp_path / "pipe").is_fifo()


def test_a_device_is_not_replaced():
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116


def test_a_folder_in_the_way(tmp_path):
    with pytest.raises(IsADirectoryError):
        write(tmp_path)


def test_what_is_there_stays_unless_it_may_be_replaced(tmp_path):
    out = tmp_path / "out.csv"
    check_file(out, overwrite=False)
    out.write_text("old")
    with pytest.raises(KoopsieveError, match=r"Already there: .*out\.csv\. Replace with --overwrite, or name another"):
        check_file(out, overwrite=False)
    check_file(out, overwrite=True)
    with pytest.raises(KoopsieveError, match="Already there"), written_whole(out, overwrite=False) as stream:
        stream.write(b"new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out.csv", "old")]


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "folder").mkdir()
    for place, why in ((tmp_path / "folder", "is a folder"), (tmp_path / "gone" / "x.csv", "there is no folder")):
        with pytest.raises(KoopsieveError, match=why):
            check_file(place)
    os.mkfifo(tmp_path / "pipe")
    check_file(tmp_path / "pipe", overwrite=False)
    check_file("/dev/null", overwrite=False)


def test_an_interruption_leaves_no_temporary_file(tmp_path):
    def interrupted():
        with written_whole(tmp_path / "out") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_what_json_does_not_know_becomes_plain():
    value = {"a": np.array([[1.0, np.inf], [np.nan, -np.inf]]), 2: (np.int64(3), np.float64(0.5), None, True, "x")}
    assert plain(value) == {"a": [[1.0, "inf"], ["nan", "-inf"]], "2": [3, 0.5, None, True, "x"]}
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == plain(value)


def test_a_file_gives_the_numbers_back(tmp_path):
    write_json(tmp_path / "x.json", {"errors": [0.1, np.inf, np.nan]})
    found = [json_number(value) for value in read_json(tmp_path / "x.json")["errors"]]
    np.testing.assert_array_equal(found, [0.1, np.inf, np.nan])
