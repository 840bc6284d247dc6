"""The demonstration: the sifted model wins, is the one that is saved, and does not depend on BLAS threads."""

import json
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

from koopsieve import Model
from koopsieve.cli.app import app
from koopsieve.cli.demo import draw_demo, record
from koopsieve.cli.demo import sift_demo as demo
from koopsieve.io.run import write_run


@pytest.fixture(scope="module")
def short():
    """One delay and one form; the whole demonstration takes twenty seconds."""
    return demo(samples=1200, form="reprojected", delays=1, noise=0.002)


def test_the_sifted_model_is_small_and_best(short, tmp_path):
    errors = {name: one.errors.simulation_rmse["position"] for name, one in short.baselines.items()}
    mine = short.errors.simulation_rmse["position"]
    assert mine < 0.5 * min(errors.values())
    assert len(short.retained) < 0.4 * short.path.candidates
    assert {"position", "position[k-1]"} <= set(short.retained_names)
    write_run(short, tmp_path)
    saved, test = Model.load(tmp_path / "model.npz"), record(2000, 1, 0.002)
    run = saved.simulate(test.states[0][: saved.history], test.inputs[0])
    measured = test.states[0][saved.history : saved.history + len(run)]
    assert np.sqrt(np.mean((run - measured) ** 2)) == pytest.approx(mine, rel=1e-3)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["test"]["simulation_rmse"]["position"] == pytest.approx(mine)


def test_without_matplotlib_everything_but_the_figures_is_written(short, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("koopsieve.cli.demo.sift_demo", lambda **_: short)
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert "The figures were not drawn. Drawing figures needs matplotlib" in done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("report.html", "model.npz", "summary.json", "inclusion.csv")
    }


def test_the_figure_says_what_it_shows(short):
    figure = draw_demo(short)
    record_axes, bars = figure.axes
    assert {"measured", "sifted", "linear", "everything"} <= {
        t.get_text() for t in record_axes.get_legend().get_texts()
    }
    assert f"{len(short.retained)} are kept" in figure.get_suptitle()
    widths = [patch.get_width() for patch in bars.patches]
    assert widths[0] == short.errors.simulation_rmse["position"] == min(widths)


def test_the_number_of_blas_threads_does_not_matter():
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(demo(samples=500, delays=1))
    one, two = found
    assert one.retained_names == two.retained_names
    assert one.form == two.form
    for name, values in one.model.arrays().items():
        np.testing.assert_array_equal(values, two.model.arrays()[name])
