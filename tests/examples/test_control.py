"""The examples of control, in a short form: they run, the sifted model tracks better, and the figure is drawn."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SHORT = {
    "vehicle": {"steps": 90, "samples": 1500},
    "tanks": {"steps": 200, "samples": 1200, "degree": 3},
    "reactor": {"steps": 120, "samples": 1500},
}


@pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")
def test_a_model_that_is_kept_current_controls_better(tmp_path):
    figure = tmp_path / "current.png"
    runs = runpy.run_path(str(FOLDER / "keep_current.py"))["main"](steps=400, samples=800, figure=figure)
    (*_, fixed, _), (*_, current, predictor) = runs.values()
    assert current < 0.9 * fixed
    gains = dict(zip(predictor.model.dictionary.regressors, predictor.model.coef[:, 0], strict=True))
    assert gains["volt^2"] == pytest.approx(0.075, rel=0.1)
    assert figure.stat().st_size > 20_000


@pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")
@pytest.mark.parametrize("name", SHORT)
def test_lifting_pays(name, capsys, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)  # as if the script had been started
    figure = tmp_path / f"{name}.png"
    example = runpy.run_path(str(FOLDER / f"control_{name}.py"))
    runs = example["main"](**SHORT[name], figure=figure)
    assert runs["linear"].tracking_error > 1.5 * runs["sifted"].tracking_error
    printed = capsys.readouterr().out
    assert printed.startswith("kept: ")
    assert f"{runs['sifted'].tracking_error:.4f}" in printed
    low, high = runs["sifted"].task.input_limits
    assert (runs["sifted"].inputs >= low).all()
    assert (runs["sifted"].inputs <= high).all()
    assert figure.stat().st_size > 20_000
