"""Mounts and folders of the user's within --out stay as they are, and so does --out where it is itself a mount."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
UNSHARE = ["unshare", "--mount"] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["unshare", "-r", "--mount"]
NOBODY = 65534
WRITE = """
import os, sys
from koopsieve._exchange import check_folder, whole_folder
if "AS_USER" in os.environ:  # now that everything is imported, which that user may not be allowed to read
    os.setgroups([]); os.setgid(int(os.environ["AS_USER"])); os.setuid(int(os.environ["AS_USER"]))
check_folder("out", sys.argv[1:])
with whole_folder("out") as place:
    for name in sys.argv[1:]:
        (place / name).write_text("new\\n")
"""


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}


def with_mounts(script, place):
    """Run a shell script in a mount namespace of its own; WRITE stands for a run that writes a and summary.json."""
    if (
        shutil.which("unshare") is None
        or subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("No mount namespace can be made here (unshare is missing or not allowed).")
    (place / "write.py").write_text(WRITE)
    whole = f'write() {{ "{sys.executable}" write.py "$@"; }}\nset -e\n{script}'
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", whole], cwd=place, env=environment(), capture_output=True, text=True, check=False
    )
    if "mount:" in done.stderr:
        pytest.skip(f"Nothing can be mounted here: {done.stderr.strip()}")
    return done


def test_a_folder_that_is_a_mount_is_written_to(tmp_path):
    done = with_mounts(
        """
        mkdir out; mount -t tmpfs none out; echo mine > out/mine; echo old > out/a
        write a summary.json
        cat out/mine out/a; ls -A out
        """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["mine", "new", "a", "mine", "summary.json"]


def test_a_file_that_is_a_mount_is_refused_before_anything_is_written(tmp_path):
    done = with_mounts(
        """
        mkdir out disk; mount -t tmpfs none disk; echo mine > disk/file; echo old > out/a; touch out/summary.json
        mount --bind disk/file out/summary.json
        write a summary.json 2> said || true
        tail -n 1 said; cat out/summary.json out/a; ls -A out
        """,
        tmp_path,
    )
    message, *rest = done.stdout.splitlines()
    assert "out/summary.json may not be replaced" in message
    assert rest == ["mine", "old", "a", "summary.json"]


@pytest.fixture
def ordinary():
    """A folder of a user who is not root, and how to run shell commands and WRITE as that user."""
    place, is_root = Path(tempfile.mkdtemp()), os.geteuid() == 0
    options = {"cwd": place, "capture_output": True, "text": True, "check": False}
    if is_root:
        os.chown(place, NOBODY, NOBODY)

    def shell(script):
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if is_root else {}
        assert subprocess.run(["sh", "-ec", script], **user, **options).returncode == 0

    def write(*names):
        user = {"AS_USER": str(NOBODY)} if is_root else {}
        return subprocess.run([sys.executable, "-c", WRITE, *names], env=environment() | user, **options)

    yield place, shell, write
    shell("chmod -R u+rwx .")
    shutil.rmtree(place)


def test_closed_folders_within_stay(ordinary):
    place, shell, write = ordinary
    shell(
        """
        mkdir -p out; echo old > out/summary.json
        for name in 1 2 3 4 5 6; do mkdir out/$name; echo mine > out/$name/file; done
        chmod 555 out/3; chmod 000 out/5
        """
    )
    done = write("a", "summary.json")
    assert (done.returncode, done.stderr) == (0, "")
    shell("chmod 700 out/5")
    assert sorted(p.name for p in (place / "out").iterdir()) == ["1", "2", "3", "4", "5", "6", "a", "summary.json"]
    assert all((place / "out" / name / "file").read_text() == "mine\n" for name in "123456")
    assert (place / "out" / "summary.json").read_text() == "new\n"


def test_a_closed_folder_or_file_is_refused_in_words(ordinary):
    place, shell, write = ordinary
    shell("mkdir out; echo mine > out/a; chmod 444 out/a")
    assert "out/a may not be replaced. Change its permissions" in write("a").stderr
    shell("chmod 555 out")
    assert "you have no write permission in" in write("b").stderr
    assert [(p.name, p.read_text()) for p in (place / "out").iterdir()] == [("a", "mine\n")]


def test_a_parent_that_is_closed_does_not_matter(ordinary):
    place, shell, write = ordinary
    shell("mkdir out; chmod 555 .")
    done = write("a")
    assert (done.returncode, done.stderr) == (0, "")
    assert [p.name for p in (place / "out").iterdir()] == ["a"]
