"""The worked cases of the gallery, in a short form: they run, show what their pages say, and draw their figures."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")


@pytest.fixture
def run(tmp_path, capsys):
    """Run an example with a figure; it must be drawn."""

    def running(name, **settings):
        figure = tmp_path / f"{name}.png"
        found = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"](**settings, figure=figure)
        assert figure.stat().st_size > 10_000
        assert capsys.readouterr().out
        return found

    return running


def gain(result, baseline="linear"):
    """Return how many times smaller the error at the longest horizon is than that of a baseline."""
    return result.baselines[baseline].errors.mean[-1] / result.errors.mean[-1]


def test_polynomial_plant(run):
    result = run("polynomial_plant", samples=500)
    assert gain(result) > 50
    assert {"surge yaw", "sway yaw", "surge sway"} <= set(result.retained_names)


def test_unknown_plant(run):
    assert gain(run("unknown_plant", samples=500, centers=8)) > 1.5


def test_partly_measured(run):
    found = run("partly_measured", samples=500, delays=(0, 1))
    assert found[0].errors.mean[-1] > 0.5
    assert found[1].errors.mean[-1] < 0.1


def test_angles(run):
    found = run("angles", samples=1000)
    assert found["waves"].errors.mean[-1] < 0.1 * found["products"].errors.mean[-1]
    assert any(name.startswith("sin(") for name in found["waves"].retained_names)


def test_many_vehicles(run):
    _, errors = run("many_vehicles", vehicles=6, samples=200)
    assert len(errors["sifted"]) == 3
    assert max(errors["sifted"]) < 0.3 * min(errors["linear"])


def test_days_of_logs(run):
    peaks, error = run("days_of_logs", days=(1, 4), samples=5000)
    few, many = peaks.values()
    assert many < 3 * few
    assert error["x"][1] < 0.01


def test_a_plant_that_changes(run):
    assert run("changing_plant")[-1] == ["x1", "x2", "x3", "x2 x3"]


def test_csv_to_controller(run, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")  # as if the script had been started
    runs, written = run("csv_to_controller", samples=1500, steps=120)
    assert runs["linear"].tracking_error > 1.5 * runs["sifted"].tracking_error
    assert "model.c" in written


def test_every_example_is_on_a_page():
    pages = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    scripts = [path.name for path in (ROOT / "examples").glob("*.py") if path.name != "closed_loop_figure.py"]
    assert len(scripts) > 8
    assert [name for name in scripts if f"examples/{name}" not in pages] == []
