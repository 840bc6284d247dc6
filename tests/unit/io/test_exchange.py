"""Files of a folder appear together or not at all; nothing else in it is touched, whatever fails."""

import os
import stat
from pathlib import Path

import pytest

from koopsieve import KoopsieveError
from koopsieve import _exchange as exchange
from koopsieve._exchange import check_folder, whole_folder


def listing(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def contents(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def exchanged(out, failure=None, overwrite=True, **files):
    with whole_folder(out, overwrite) as place:
        for name, text in files.items():
            (place / name).write_text(text)
        if failure is not None:
            raise failure


def test_files_appear_together_and_everything_else_stays(tmp_path):
    out = tmp_path / "out"
    (out / "below").mkdir(parents=True)
    for name in ("below/deep", "mine", "a"):
        (out / name).write_text("old")
    (out / "link").symlink_to("nowhere")
    (out / "a").chmod(0o600)
    out.chmod(0o750)
    with whole_folder(out) as place:
        (place / "a").write_text("new")
        (place / "b").write_text("new")
        assert (out / "a").read_text() == "old"
    assert listing(tmp_path) == ["out", *(f"out/{name}" for name in ("a", "b", "below", "below/deep", "link", "mine"))]
    assert contents(out) == {"a": "new", "b": "new", "below/deep": "old", "mine": "old"}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (out / "a", out)] == [0o600, 0o750]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("there", [False, True])
def test_a_failure_leaves_no_trace(tmp_path, failure, there):
    out = tmp_path / "a" / "b" / "out"
    if there:
        exchanged(out, **{"summary.json": "old"})
    before = listing(tmp_path)
    with pytest.raises(KoopsieveError if failure is OSError else failure):
        exchanged(out, failure, **{"summary.json": "half"})
    assert listing(tmp_path) == before
    assert set(contents(tmp_path).values()) == ({"old"} if there else set())


@pytest.mark.parametrize("place", ["x" * 300, f"{'x' * 300}/y"])
def test_a_name_that_the_file_system_does_not_take_is_refused_before_any_work(place, tmp_path):
    with pytest.raises(KoopsieveError, match=r"cannot be written to \(File name too long\)"):
        check_folder(tmp_path / place)


def test_folders_that_others_made_or_fill_are_not_removed(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "a" / "b"):  # noqa: PT012
        (tmp_path / "a" / "mine").write_text("mine")
        raise KeyboardInterrupt
    assert listing(tmp_path) == ["a", "a/mine"]


def test_a_new_folder_a_linked_one_and_the_one_to_work_in(tmp_path, monkeypatch):
    exchanged(tmp_path / "out")
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~umask
    (tmp_path / "link").symlink_to("out")
    exchanged(tmp_path / "link", a="new")
    assert ((tmp_path / "link").is_symlink(), contents(tmp_path / "out")) == (True, {"a": "new"})
    monkeypatch.chdir(tmp_path / "out")
    exchanged(".", a="newer")
    assert contents(tmp_path / "out") == {"a": "newer"}


def test_what_cannot_be_written_to_is_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(KoopsieveError, match=r"is a file\. Choose another folder"):
            check_folder(place)
    check_folder(tmp_path / "new" / "folder")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "mine").write_text("mine")
    for refused in (lambda: check_folder(tmp_path, ["a"]), lambda: exchanged(tmp_path, a="new", b="new")):
        with pytest.raises(KoopsieveError, match="is a folder"):
            refused()
    assert listing(tmp_path) == ["a", "a/mine", "file"]

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
    with pytest.raises(KoopsieveError, match="Already there"):
        exchanged(tmp_path, overwrite=False, b="new", c="new")
    assert contents(tmp_path) == {"a": "old", "b": "old"}


def failing(monkeypatch, fails):
    """Let the moves of files fail whose number, from 0, is one that fails."""
    real, moves = Path.rename, []

    def rename(path, target):
        moves.append(target)
        if fails(len(moves) - 1):
            raise OSError(16, "Device or resource busy")
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)


@pytest.mark.parametrize("fails_at", range(4))
def test_a_move_that_fails_is_undone(fails_at, tmp_path, monkeypatch):
    """Two files are moved away and two in; any of these moves fails, those that undo it do not."""
    exchanged(tmp_path, a="old", b="old")
    failing(monkeypatch, lambda move: move == fails_at)
    with pytest.raises(KoopsieveError, match="busy"):
        exchanged(tmp_path, a="new", b="new")
    assert contents(tmp_path) == {"a": "old", "b": "old"}
    assert listing(tmp_path) == ["a", "b"]


def test_old_files_that_cannot_be_put_back_are_kept_and_named(tmp_path, monkeypatch):
    exchanged(tmp_path, a="old", b="old")
    failing(monkeypatch, lambda move: move > 0)
    with pytest.raises(KoopsieveError, match=r"The files from before are in (\S+previous), new ones in"):
        exchanged(tmp_path, a="new", b="new")
    monkeypatch.undo()
    (kept,) = tmp_path.glob(".koopsieve-*/previous/a")
    assert (kept.read_text(), (tmp_path / "b").read_text()) == ("old", "old")


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
    assert contents(tmp_path) == {"a": "somebody else's", "late": ""}
    assert listing(tmp_path) == ["a", "late"]
