"""One bar for a whole job: its share never falls, loops stay within their parts, and the time left is said."""

import io
import sys

import numpy as np
import pytest

from koopsieve import States, Trajectories, sift
from koopsieve.execution import silent
from koopsieve.execution.executors import WholeJob, _Lines, part, whole_job


def test_the_share_rises_through_loops_in_loops_and_parts():
    shares = []
    job = WholeJob(lambda share, _: shares.append(share))
    with part(job, 0.4):
        for _ in job(range(4), "outer", 4):
            for _ in job(range(3), "inner", None):
                pass
    assert shares[-1] == pytest.approx(0.4)
    assert np.all(np.diff(shares) >= 0)
    assert max(shares[:-1]) <= 0.4
    list(job(range(10), "rest", 10))
    assert 0.4 < shares[-1] < 1.0


def test_a_progress_that_knows_no_parts_is_left_alone():
    with part(silent, 0.5):
        pass
    with whole_job(silent) as given:
        assert given is silent
    with whole_job(False) as given:
        assert given is False


def test_a_line_now_and_then(monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    monkeypatch.setattr("koopsieve.execution.executors.time.monotonic", lambda: next(clock))
    written = []
    lines = _Lines(written.append, every=5.0)
    for share, doing in ((0.05, "a"), (0.1, "b"), (0.2, "c"), (0.5, "")):
        lines(share, doing)
    assert written == ["10 %, b, about 54 s left", "50 %, about 12 s left"]


def test_a_job_in_a_pipe_writes_lines_and_in_a_terminal_a_bar(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.zeros(300)
    for k in range(299):
        x[k + 1] = 0.9 * x[k] + 0.1 * rng.normal()
    data = Trajectories.from_arrays(x)
    monkeypatch.setattr(sys, "stderr", piped := io.StringIO())
    sift(data, States(), form="linear", horizons=[1, 5], progress=True)
    assert piped.getvalue() == ""  # over before the first line
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := io.StringIO())
    sift(data, States(), form="linear", horizons=[1, 5], progress=True)
    assert "Starting" in terminal.getvalue()
    assert "%" in terminal.getvalue()
