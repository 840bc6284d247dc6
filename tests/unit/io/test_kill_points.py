"""Whatever moment a command is interrupted or killed at, nothing of the user's is lost and no two runs are mixed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

COMMANDS = ("sift", "export", "compare", "predict", "example")
HERE = Path(__file__).parents[3]
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NAMESPACE = ["unshare", "--mount"] if ROOT else ["unshare", "-r", "--mount"]


def can_mount():
    probe = [*NAMESPACE, "sh", "-c", "d=$(mktemp -d) && mount -t tmpfs none $d && umount $d; rmdir $d"]
    return shutil.which("unshare") is not None and subprocess.run(probe, capture_output=True, check=False).stderr == b""


def tried(place, points, hindrance, *commands):
    before = NAMESPACE if hindrance == "mount" else []
    arguments = [*before, sys.executable, "-m", "tests.unit.io.kill_points", place, points, hindrance, *commands]
    own = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE / "src"), str(HERE)])}
    done = subprocess.run(list(map(str, arguments)), env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["findings"] == []
    return outcome["tried"]


@pytest.fixture
def hindered(request):
    """A workplace that an ordinary user reaches; skipped where the hindrance cannot be made."""
    if request.param == "mount" and not can_mount():
        pytest.skip("No mount namespace can be made here (unshare is missing or not allowed).")
    if request.param == "closed" and not ROOT:
        pytest.skip("Only root can become another user; as an ordinary one see test_foreign_folders.")
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place, request.param
    shutil.rmtree(place)


def test_some_moments_of_every_command(tmp_path):
    counts = tried(tmp_path, 4, "none")
    assert tuple(counts) == COMMANDS
    assert min(counts.values()) >= 24  # three signals, into old files and into a new place, four moments at least


@pytest.mark.parametrize("hindered", ["mount", "closed"], indirect=True)
def test_a_moment_of_every_command_beside_what_cannot_be_moved(hindered):
    place, hindrance = hindered
    assert min(tried(place, 1, hindrance).values()) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_moment(command, tmp_path):
    assert tried(tmp_path, 1_000_000, "none", command)[command] >= 48


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("hindered", ["mount", "closed"], indirect=True)
def test_every_moment_beside_what_cannot_be_moved(command, hindered):
    place, hindrance = hindered
    assert tried(place, 1_000_000, hindrance, command)[command] >= 24
