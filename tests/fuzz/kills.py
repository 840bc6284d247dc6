"""Commands that are interrupted or killed at any change on the disk: nothing of the user's is lost or mixed."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.fuzz.values import pick
from tests.unit.io.kill_points import COMMANDS, SIGNALS, Trial, given_result, provide


def case(rng, folder):
    trial = _trial(pick(rng, tuple(COMMANDS)), bool(rng.integers(2)))
    with given_result(_given()[1]):
        assert trial.tried(pick(rng, tuple(SIGNALS)), int(rng.integers(trial.count))) == []


@cache
def _trial(command, fresh):
    place, result = _given()
    with given_result(result):
        trial = Trial(place, command, fresh)
    assert trial.findings == []
    return trial


@cache
def _given():
    place = Path(tempfile.mkdtemp()).resolve()
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place / "case", provide(place / "case")
