"""Files of a folder appear together or not at all; nothing else in it is touched, whatever fails."""

import os
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from koopsieve import KoopsieveError
from koopsieve import _exchange as exchange
from koopsieve._exchange import check_folder, whole_folder


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

    with pytest.raises(KoopsieveError if failure is OSError else failure):
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
        with pytest.raises(KoopsieveError, match=r"is a file\. Choose another folder"):
            check_folder(place)
    check_folder(tmp_path / "new" / "folder")


def exchanged(out, **files):
    with whole_folder(out) as place:
        for name, text in files.items():
            (place / name).write_text(text)


def test_readers_never_see_some_of_each(tmp_path):
    """A reader who finds the summary before and after the other file has read one set."""
    out = tmp_path / "out"
    exchanged(out, **{"summary.json": "0", "model": "0"})
    seen, done = set(), threading.Event()

    def read():
        while not done.is_set():
            with suppress(FileNotFoundError):
                seen.add(tuple((out / name).read_text() for name in ("summary.json", "model", "summary.json")))
            time.sleep(1e-4)  # lets the writer work

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        for run in range(1, 40):
            exchanged(out, **{"summary.json": str(run), "model": str(run)})
            time.sleep(1e-3)
    finally:
        done.set()
    reader.join(timeout=10)
    assert all(model == before for before, model, after in seen if before == after)
    assert len(seen) > 1


def test_everything_else_in_the_folder_stays(tmp_path):
    out = tmp_path / "out"
    (out / "below").mkdir(parents=True)
    (out / "below" / "deep").write_text("deep")
    (out / "mine").write_text("mine")
    (out / "link").symlink_to("nowhere")
    (out / "a").write_text("old")
    (out / "a").chmod(0o600)
    out.chmod(0o750)
    exchanged(out, a="new")
    assert sorted(p.name for p in out.iterdir()) == ["a", "below", "link", "mine"]
    assert (out / "a").read_text() == "new"
    assert (out / "below" / "deep").read_text() == "deep"
    assert stat.S_IMODE((out / "a").stat().st_mode) == 0o600
    assert stat.S_IMODE(out.stat().st_mode) == 0o750
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_the_folder_one_works_in_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exchanged(".", a="new")
    assert os.listdir() == ["a"]  # noqa: PTH208


def test_a_linked_folder_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    exchanged(tmp_path / "link", a="new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "new"


def test_a_folder_where_nothing_can_be_made_is_refused_before_the_work(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exchange, "_probe", full)
    with pytest.raises(KoopsieveError, match=r"No space left on device.*Choose another folder"):
        check_folder(tmp_path)


def test_earlier_files_are_replaced_only_if_that_is_allowed(tmp_path):
    exchanged(tmp_path, a="old", b="old")
    check_folder(tmp_path, ["c"], overwrite=False)
    with pytest.raises(KoopsieveError, match=r"Already there: .*a, .*b\. Replace with --overwrite"):
        check_folder(tmp_path, ["a", "b"], overwrite=False)

    def write():
        with whole_folder(tmp_path, overwrite=False) as place:
            (place / "b").write_text("new")
            (place / "c").write_text("new")

    with pytest.raises(KoopsieveError, match="Already there"):
        write()
    assert listing(tmp_path) == ["a", "b"]
    assert (tmp_path / "b").read_text() == "old"


def test_a_folder_in_the_place_of_a_file_is_refused_before_the_work(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "mine").write_text("mine")
    with pytest.raises(KoopsieveError, match="is a folder"):
        check_folder(tmp_path, ["a"])
    with pytest.raises(KoopsieveError, match="is a folder"):
        exchanged(tmp_path, a="new", b="new")
    assert listing(tmp_path) == ["a", "a/mine"]


@pytest.mark.parametrize("fails_at", range(4))
def test_a_move_that_fails_is_undone(fails_at, tmp_path, monkeypatch):
    """Two files are moved away and two in; any of these moves fails, those that undo it do not."""
    exchanged(tmp_path, a="old", b="old")
    real, moves = Path.rename, []

    def rename(path, target):
        moves.append(target)
        if len(moves) - 1 == fails_at:
            raise OSError(16, "Device or resource busy")
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(KoopsieveError, match="busy"):
        exchanged(tmp_path, a="new", b="new")
    assert listing(tmp_path) == ["a", "b"]
    assert [(tmp_path / name).read_text() for name in "ab"] == ["old", "old"]


def test_old_files_that_cannot_be_put_back_are_kept_and_named(tmp_path, monkeypatch):
    exchanged(tmp_path, a="old", b="old")
    real, moves = Path.rename, []

    def rename(path, target):
        moves.append(target)
        if len(moves) > 1:
            raise OSError(5, "Input/output error")
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(KoopsieveError, match=r"The files from before are in (\S+previous), new ones in"):
        exchanged(tmp_path, a="new", b="new")
    monkeypatch.undo()
    (kept,) = tmp_path.glob(".koopsieve-*/previous/a")
    assert kept.read_text() == "old"
    assert (tmp_path / "b").read_text() == "old"


def test_a_folder_whose_exchange_was_cut_off_is_not_written_to(tmp_path):
    """As a process leaves it that was killed between two moves."""
    for place in ("previous", "new"):
        (tmp_path / ".koopsieve-0" / place).mkdir(parents=True)
        (tmp_path / ".koopsieve-0" / place / "a").write_text(place)
    with pytest.raises(KoopsieveError, match=r"was ended while it replaced files.*\.koopsieve-0/previous"):
        check_folder(tmp_path, ["b"])
    (tmp_path / ".koopsieve-0" / "new" / "a").unlink()  # all new files had been moved: nothing is missing
    exchanged(tmp_path, b="new")
    assert (tmp_path / ".koopsieve-0" / "previous" / "a").read_text() == "previous"


def test_folders_that_others_made_or_fill_are_not_removed(tmp_path):
    out = tmp_path / "a" / "b"

    def write():
        with whole_folder(out):
            (tmp_path / "a" / "mine").write_text("mine")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert listing(tmp_path) == ["a", "a/mine"]


def test_a_file_that_appears_at_the_last_moment_is_not_replaced(tmp_path, monkeypatch):
    real = exchange._move

    def late(file, place):
        if place.name == "a" and not (tmp_path / "late").exists():
            (tmp_path / "late").write_text("")
            place.write_text("somebody else's")
        real(file, place)

    monkeypatch.setattr(exchange, "_move", late)
    with pytest.raises(KoopsieveError, match="has appeared while files were written"):
        exchanged(tmp_path, a="new", b="new")
    assert (tmp_path / "a").read_text() == "somebody else's"
    assert listing(tmp_path) == ["a", "late"]
