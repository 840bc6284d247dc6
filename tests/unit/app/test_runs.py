"""A run is a process of its own: it ends well, is stopped, or crashes, and the app goes on."""

import numpy as np
import pytest

from koopsieve import Trajectories, sift  # noqa: F401  what the lines of Python import
from koopsieve.app.runs import Runs, RunState, RunStatus, table_rows
from koopsieve.app.server import exported
from koopsieve.cli.command_settings import Settings, to_python
from koopsieve.cli.options import updated
from koopsieve.systems import bench_record


@pytest.fixture
def settings(tmp_path):
    u, y = bench_record(400, seed=0)
    np.savetxt(tmp_path / "bench.csv", np.column_stack([u, y]), delimiter=",", header="u,y", comments="")
    columns = {"files": (str(tmp_path / "bench.csv"),), "states": ("y",), "inputs": ("u",), "dt": 0.05}
    return Settings(**columns, delays=1, polynomials=2, form="linear", horizons=(1, 5), path_length=3)


def ended(run):
    run.wait(300)
    for thread in run.threads:
        thread.join(20)
    return run.status


def test_a_run_leaves_its_files_and_is_found_again(settings, tmp_path):
    runs = Runs(tmp_path / "runs")
    run = runs.begin(settings)
    status = ended(run)
    assert (status.state, status.error) == (RunState.FINISHED, "")
    assert "linear form" in status.best
    assert run.summary()["form"] == "linear"
    again = Runs(tmp_path / "runs")
    (row,) = table_rows(again.finished())
    assert list(row)[:5] == ["run", "form", "kept", "NMSE, 1 step", "NMSE, 5 steps"]
    assert (row["run"], row["form"], row["beats the linear model"] in ("yes", "no")) == ("run-1", "linear", True)
    assert [one.name for one in again.finished()] == ["run-1"]
    assert again.every["run-1"].settings == run.settings
    assert exported(run.result / "model.npz", "model_c.zip").startswith(b"PK")
    assert exported(run.result / "model.npz", "model.m").startswith(b"function")
    scope = {}
    exec(to_python(settings), scope)  # the lines that the app shows repeat the run
    assert scope["result"].retained_names == tuple(run.summary()["observables"]["retained"])


def test_what_the_user_got_wrong_is_said(settings, tmp_path):
    status = ended(Runs(tmp_path / "runs").begin(updated(settings, {"states": ["z"]}, "test")))
    assert status.state is RunState.FAILED
    assert "Not in" in status.error


def test_a_crash_ends_the_run_and_nothing_else(settings, tmp_path):
    runs = Runs(tmp_path / "runs")
    run = runs.begin(settings)
    run.process.kill()
    status = ended(run)
    assert status.state is RunState.FAILED
    assert "ended with code" in status.error
    stopped = runs.begin(settings)
    stopped.stop()
    assert ended(stopped).state is RunState.STOPPED
    assert stopped.name == "run-2"
    assert not stopped.result.exists()


def test_the_best_model_so_far_is_the_one_with_the_least_error():
    status = RunStatus()
    for form, error in (("linear", 0.5), ("reprojected", 0.1), ("bilinear", 0.3)):
        status = status.after({"found": form, "kept": 3, "candidates": 9, "error": error})
        assert (status.state, status.error) == (
            RunState.RUNNING,
            "",
        )  # a search that found nothing better is no failure
    assert status.best == "reprojected form, 3 of 9 terms, NMSE 0.1"
    status = status.after({"doing": "Searching", "share": 0.25, "left": "about 9 s left"})
    assert (status.doing, status.share) == ("Searching", 0.25)
    assert status.after({"doing": "", "share": 0.5, "left": ""}).doing == "Searching"
