"""The whole method in one call, what it says about its models, and what it leaves behind."""

import json
import math

import numpy as np
import pytest

from koopsieve import LeastSquares, LiftedModel, Monomials, SparseBayes, States, Trajectories, reduce_and_refit
from koopsieve.evaluate import Diagnostics
from koopsieve.io import write_json, write_run
from koopsieve.regression import DesignDiagnostics


def manifold(seed, steps=60, noise=1e-3):
    """x1+ = 0.9 x1, x2+ = 0.5 x2 + 0.3 x1² + u: linear in (x1, x2, x1²)."""
    rng = np.random.default_rng(seed)
    episodes, inputs = [], []
    for _ in range(8):
        u = rng.normal(size=(steps, 1))
        x = np.zeros((steps + 1, 2))
        x[0] = rng.normal(size=2)
        for k in range(steps):
            x[k + 1] = 0.9 * x[k, 0], 0.5 * x[k, 1] + 0.3 * x[k, 0] ** 2 + u[k, 0]
        episodes.append(x + noise * rng.normal(size=x.shape))
        inputs.append(u)
    return Trajectories.from_arrays(episodes, inputs, dt=0.5, state_names=["a", "b"], input_names=["force"])


@pytest.fixture(scope="module")
def result():
    methods = {"I": LeastSquares(), "III": SparseBayes()}
    return reduce_and_refit(
        manifold(0), States() + Monomials(degree=3), test=manifold(1), methods=methods, horizons=[1, 5], seed=3
    )


def test_it_keeps_what_the_outputs_need(result):
    assert {"a", "b", "a^2"} <= set(result.retained_names)
    assert len(result.retained_names) < result.dictionary.size
    assert result.judged_on == "test"
    for fit in result.reduced.values():
        assert fit.model.names == result.retained_names
        assert fit.diagnostics.mean_error.max() < 1e-3


def test_the_best_method_is_the_one_that_errs_least_at_the_longest_horizon(result):
    errors = {name: fit.diagnostics.mean_error[-1] for name, fit in result.reduced.items()}
    assert errors[result.best] == min(errors.values())
    assert result.model is result.reduced[result.best].model


def test_a_fitted_dictionary_and_training_errors_are_taken_too(result):
    again = reduce_and_refit(
        manifold(0), result.dictionary, methods={"I": LeastSquares()}, horizons=[1], threshold=0.999
    )
    assert again.judged_on == "training"
    assert again.dictionary is result.dictionary
    assert set(again.seconds) == {"dictionary", "compress", "identify", "reduce", "refit"}


def test_summary_has_the_fixed_names(result, tmp_path):
    write_run(result, tmp_path / "new" / "folder")
    summary = json.loads((tmp_path / "new" / "folder" / "summary.json").read_text())
    assert summary["observables"] == {
        "full": 9,
        "reduced": len(result.retained_names),
        "retained": list(result.retained_names),
    }
    assert summary["horizons"] == [1, 5]
    assert summary["nmse"]["reduced"]["III"]["b"] == pytest.approx(result.reduced["III"].diagnostics.error["b"])
    assert summary["condition_number"]["full"].keys() == {"I", "III"}
    assert summary["elbo"].keys() == summary["status"].keys() == set(result.dictionary.names)
    assert summary["seed"] == 3
    assert {"seconds", "version"} <= summary.keys()
    model = LiftedModel.load(tmp_path / "new" / "folder" / "model.npz")
    assert model.names == result.retained_names
    lines = (tmp_path / "new" / "folder" / "inclusion.csv").read_text().splitlines()
    assert lines[0].split(",")[:3] == ["regressor", "a", "b"]
    assert len(lines) == 1 + 9 + 1
    assert lines[-1].startswith("force,")


def test_numbers_that_are_not_finite_stay_valid_json(tmp_path):
    write_json(tmp_path / "x.json", {"a": np.array([1.0, math.inf, -math.inf, math.nan]), "b": (np.float64(2), None)})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": [1.0, "inf", "-inf", "nan"], "b": [2.0, None]}


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        write_json(tmp_path / "x.json", {"a": object()})
    assert list(tmp_path.iterdir()) == []


def facts(radius=0.9, rank=4, errors=(0.01, 0.02)):
    return Diagnostics(DesignDiagnostics(4, rank, 10.0), 5.0, radius, (1, 100), {"x": np.array(errors)})


def test_nothing_to_worry_about_is_said_in_one_line():
    assert facts().warnings == ()
    assert len(facts().remarks) == 1


@pytest.mark.parametrize(
    "case, words",
    [
        (facts(radius=1.01), "spectral radius is 1.01"),
        (facts(errors=(6e-11, 7e18)), "two stories: NMSE 6e-11 at 1 step but 7e.18 at 100"),
        (facts(errors=(6e-11, np.inf)), "two stories"),
        (facts(radius=1e30), "by inf over 100 steps"),
    ],
)
def test_worries_are_said_in_words(case, words):
    assert any(words in text.replace("+", ".") for text in case.warnings)


def test_missing_rank_is_a_remark():
    assert any("cannot tell 1 of the 4 regressors" in text for text in facts(rank=3).remarks)
