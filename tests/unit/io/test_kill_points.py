"""Whatever moment a command is interrupted or killed at, nothing of the user's is lost and no two runs are mixed."""

import json
import subprocess
import sys

import pytest

COMMANDS = ("sift", "export", "compare", "predict", "example")


def tried(place, points, *commands):
    arguments = [sys.executable, "-m", "tests.unit.io.kill_points", place, points, *commands]
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["findings"] == []
    return outcome["tried"]


def test_some_moments_of_every_command(tmp_path):
    counts = tried(tmp_path, 4)
    assert tuple(counts) == COMMANDS
    assert min(counts.values()) >= 24  # three signals, into old files and into a new place, four moments at least


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_moment(command, tmp_path):
    assert tried(tmp_path, 1_000_000, command)[command] >= 48
