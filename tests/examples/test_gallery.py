"""The examples, in a short form: they run, show what their pages say, and draw their figures."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")


class Runner:
    """Runs examples with a figure, which must be drawn, and keeps what they print."""

    def __init__(self, folder, capsys):
        self._folder, self._capsys, self.printed = folder, capsys, ""

    def __call__(self, name, *, least=10_000, **settings):
        figure = self._folder / f"{name}.png"
        found = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"](**settings, figure=figure)
        assert figure.stat().st_size > least
        self.printed = self._capsys.readouterr().out
        assert self.printed
        return found


@pytest.fixture
def run(tmp_path, capsys):
    return Runner(tmp_path, capsys)


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


def test_what_is_kept_follows_the_plant(run):
    example = runpy.run_path(str(ROOT / "examples" / "changing_plant.py"))
    history = run("changing_plant")
    assert all(kept == ["x1", "x2", "x3", "1", "x2^2"] for kept in history[: example["CHANGE"]])
    assert history[-1] == ["x1", "x2", "x3", "x2 x3"]
    assert "kept x1, x2, x3, 1, x2^2" in run.printed
    assert "x2^2" in example["main"](1.0)[-1]  # without forgetting the old plant stays


def test_the_search_runs_through_the_pipeline(capsys):
    search = runpy.run_path(str(ROOT / "examples" / "scikit_learn.py"))["main"](samples=240)
    assert search.best_params_ == {"koopmansieve__dictionary__monomials__degree": 3}
    printed = capsys.readouterr().out
    assert "degree 2: NMSE" in printed
    assert "ten steps ahead" in printed


def test_a_model_that_is_kept_current_controls_better(run):
    (*_, fixed, _), (*_, current, predictor) = run("keep_current", steps=400, samples=800, least=20_000).values()
    assert current < 0.9 * fixed
    gains = dict(zip(predictor.model.dictionary.regressors, predictor.model.coef[:, 0], strict=True))
    assert gains["volt^2"] == pytest.approx(0.075, rel=0.1)


SHORT = {
    "vehicle": {"steps": 90, "samples": 1500},
    "tanks": {"samples": 1200, "degree": 3},  # the whole reference: the linear model is worst where levels are high
    "reactor": {"steps": 120, "samples": 1500},
}


@pytest.mark.parametrize("name", SHORT)
def test_lifting_pays(name, run, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")  # as if the script had been started
    runs = run(f"control_{name}", **SHORT[name], least=20_000)
    assert runs["linear"].tracking_error > 1.5 * runs["sifted"].tracking_error
    assert run.printed.startswith("kept: ")
    assert f"{runs['sifted'].tracking_error:.4f}" in run.printed
    low, high = runs["sifted"].task.input_limits
    assert (runs["sifted"].inputs >= low).all()
    assert (runs["sifted"].inputs <= high).all()
