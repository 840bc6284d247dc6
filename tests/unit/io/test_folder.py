import os

import pytest

from koopsieve import KoopsieveError
from koopsieve.io import check_writable, whole_folder


def listing(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_files_appear_together_and_foreign_ones_stay(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "summary.json").write_text("old")
    with whole_folder(out) as folder:
        (folder / "summary.json").write_text("new")
        (folder / "report.html").write_text("page")
        assert (out / "summary.json").read_text() == "old"
    assert listing(tmp_path) == ["out", "out/notes.txt", "out/report.html", "out/summary.json"]
    assert (out / "summary.json").read_text() == "new"
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_failure_leaves_no_trace(tmp_path, failure):
    out = tmp_path / "a" / "b" / "out"

    def write():
        with whole_folder(out) as folder:
            (folder / "summary.json").write_text("half")
            raise failure

    with pytest.raises(failure):
        write()
    assert listing(tmp_path) == []


def test_a_failure_leaves_an_existing_folder_as_it_was(tmp_path):
    (tmp_path / "summary.json").write_text("old")

    def write():
        with whole_folder(tmp_path) as folder:
            (folder / "summary.json").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert listing(tmp_path) == ["summary.json"]
    assert (tmp_path / "summary.json").read_text() == "old"


def test_a_folder_is_readable_by_those_the_umask_lets(tmp_path):
    with whole_folder(tmp_path / "out"):
        pass
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~umask


def test_a_file_in_the_way_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(KoopsieveError, match=r"is a file\. Name another with --out"):
            check_writable(place)
    check_writable(tmp_path / "new" / "folder")
