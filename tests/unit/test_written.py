"""Files and folders: what is no plain file is not replaced, permissions stay, readers never see some of each."""

import os
import stat
import threading
import time

import pytest

from koopsieve import KoopsieveError
from koopsieve._written import written_whole
from koopsieve.io import check_writable, folder, whole_folder


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


def exchanged(out, **files):
    with whole_folder(out) as place:
        for name, text in files.items():
            (place / name).write_text(text)


def test_readers_never_see_some_of_each(tmp_path):
    """Both files are opened through one handle on the folder: they are always of the same run."""
    out = tmp_path / "out"
    exchanged(out, a="0", b="0")
    seen, done = set(), threading.Event()

    def read():
        while not done.is_set():
            there = os.open(out, os.O_RDONLY)
            try:
                texts = []
                for name in "ab":
                    with open(os.open(name, os.O_RDONLY, dir_fd=there)) as stream:  # noqa: PTH123
                        texts.append(stream.read())
                seen.add(tuple(texts))
            except FileNotFoundError:
                pass  # the old folder was removed after it was opened
            finally:
                os.close(there)
            time.sleep(1e-3)  # lets the writer work

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        for run in range(1, 20):
            exchanged(out, a=str(run), b=str(run))
            time.sleep(1e-3)
    finally:
        done.set()
    reader.join(timeout=10)
    assert all(a == b for a, b in seen)
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


@pytest.mark.parametrize("without", ["exchange", "rename into it", "a parent that may be changed"])
def test_where_folders_cannot_be_exchanged_the_files_are(without, tmp_path, monkeypatch):
    out = tmp_path / "out"
    exchanged(out, a="old")
    (out / "mine").write_text("mine")
    if without == "exchange":
        monkeypatch.setattr(folder, "_rename_exchange", lambda *_: False)
    else:  # as on a mount point
        monkeypatch.setattr(folder, "_home", lambda target: target)
    exchanged(out, a="new")
    assert (out / "a").read_text() == "new"
    assert sorted(p.name for p in out.iterdir()) == ["a", "mine"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_mount_point_is_written_from_inside():
    if not os.path.ismount("/dev/shm"):
        pytest.skip("/dev/shm is no mount point here")
    from pathlib import Path

    assert folder._home(Path("/dev/shm")) == Path("/dev/shm")


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

    monkeypatch.setattr(folder, "_probe", full)
    with pytest.raises(KoopsieveError, match=r"No space left on device. Name another folder"):
        check_writable(tmp_path)
