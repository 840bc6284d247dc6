"""The one pipeline: what it keeps, that nothing is chosen on what it is reported on, that every way in is the same."""

import json
import math

import numpy as np
import pytest

from koopsieve import (
    Constant,
    Embedding,
    GraphSieve,
    KoopmanSieve,
    KoopsieveError,
    LeastSquares,
    LinearModel,
    Monomials,
    SparseBayes,
    SquaredExponential,
    States,
    Stream,
    Trajectories,
    compress,
    horizon_nmse,
    sift,
)
from koopsieve._written import write_json
from koopsieve.evaluate import Diagnostics
from koopsieve.execution import Serial, Threads
from koopsieve.io.run import write_run
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


RECIPE = States() + Constant() + Monomials(degree=3)


@pytest.fixture(scope="module")
def result():
    methods = {"least squares": LeastSquares(), "sparse Bayes": SparseBayes()}
    return sift(manifold(0), RECIPE, test=manifold(1), compare=methods, horizons=[1, 5], seed=3, form="linear")


def test_it_keeps_what_the_outputs_need(result):
    assert {"a", "b", "a^2"} <= set(result.retained_names)
    assert len(result.retained_names) < result.dictionary.size == 10
    assert result.evaluation.on == "test"
    assert result.model.names == result.retained_names
    assert result.errors.mean.max() < 1e-3
    for both in result.comparison.values():
        assert both.reduced.model.names == result.retained_names
        assert both.full.model.names == result.dictionary.names


def test_nothing_of_the_result_depends_on_the_test_data_but_the_errors(result):
    other = sift(manifold(0), RECIPE, test=manifold(2), horizons=[1, 5], seed=3, form="linear")
    np.testing.assert_array_equal(other.retained, result.retained)
    np.testing.assert_array_equal(other.model.A, result.model.A)
    assert other.path.choice.refit == result.path.choice.refit
    assert other.errors.nmse["b"][1] != result.errors.nmse["b"][1]


def test_the_errors_are_those_of_the_model_that_is_given(result):
    direct = horizon_nmse(result.model, manifold(1), result.horizons)
    np.testing.assert_allclose(result.errors.nmse["b"], direct["b"])
    for baseline in result.baselines.values():
        np.testing.assert_allclose(baseline.errors.nmse["b"], horizon_nmse(baseline.model, manifold(1), [1, 5])["b"])


def test_baselines_are_what_they_are_called(result):
    assert set(result.baselines) == {"persistence", "linear", "everything"}
    steady = result.baselines["persistence"].model
    np.testing.assert_array_equal(steady.predict([2.0, 3.0], np.ones((4, 1)), 4), [[2.0, 3.0]] * 4)
    assert result.baselines["linear"].model.names == ("a", "b", "1")
    assert result.baselines["everything"].model.names == result.dictionary.names
    whole = LinearModel.from_estimate(LeastSquares().identify(result.statistics), result.dictionary)
    np.testing.assert_allclose(result.baselines["everything"].model.A, whole.A)


def test_a_model_no_better_than_the_linear_one_says_so(result):
    assert result.beats_linear
    assert result.gain_over_linear.min() > 5
    assert "is less than that of the best plain linear model" in result.describe()
    rng = np.random.default_rng(0)
    x = np.zeros((400, 1))
    for k in range(399):
        x[k + 1] = 0.9 * x[k] + rng.normal(scale=0.1)
    plain = sift(Trajectories.from_arrays(x), RECIPE, horizons=[1, 5], form="linear")
    assert not plain.beats_linear
    assert "is less than" not in plain.describe()


def test_the_explanation_is_of_the_kept_set_unless_the_graph_decides(result):
    assert result.explanation.targets == result.retained_names
    assert len(result.reduction.adjacency) == len(result.retained)
    paper = sift(manifold(0), RECIPE, sieve=GraphSieve(threshold=0.5), horizons=[1, 5], threshold=0.5, form="linear")
    assert paper.explanation.targets == paper.dictionary.names
    np.testing.assert_array_equal(paper.reduction.retained, paper.retained)
    assert len(paper.path.points) == 1


def test_with_nothing_to_choose_nothing_need_be_held_out():
    data = manifold(0)
    found = sift(
        data,
        RECIPE,
        sieve=GraphSieve(),
        refits={"sparse Bayes": SparseBayes()},
        validation=0,
        horizons=[1],
        stable=False,
        form="linear",
    )
    everything = compress(data, found.dictionary)
    assert found.statistics.rows == everything.rows
    expected = SparseBayes().identify(everything.select(found.retained)).coef
    np.testing.assert_allclose(found.model.A.T, expected[: len(found.retained)])
    with pytest.raises(KoopsieveError, match=r"there is a choice to make: .* sets and 2 refits"):
        sift(data, RECIPE, validation=0, horizons=[1], form="linear")


def test_learning_validation_and_test_share_no_sample():
    t = np.arange(3000.0)
    data = Trajectories.from_arrays(np.column_stack([t, np.sin(t)]))
    found = sift(data, States(), horizons=[1, 20], test=0.2, form="linear")
    parts = {"judged": found.evaluation.data}
    assert found.evaluation.on == "held-out"
    assert found.samples["learn"] + found.samples["validation"] + found.samples["judged"] <= 3000
    assert len(parts["judged"]) > 1  # several stretches, not only the end
    assert found.samples["judged"] == pytest.approx(600, abs=5)


def test_a_test_record_sampled_differently_is_refused():
    other = manifold(1)
    names = {"state_names": ["a", "b"], "input_names": ["force"]}
    slow = Trajectories.from_arrays(list(other.states), list(other.inputs), dt=0.1, **names)
    with pytest.raises(KoopsieveError, match=r"same sample time. Expected 0.5, got 0.1"):
        sift(manifold(0), RECIPE, test=slow, horizons=[1], form="linear")


@pytest.mark.parametrize("wrong", [5, [], [0], [1.9], [True], ["1"]])
def test_horizons_that_are_none_are_refused(wrong):
    with pytest.raises(KoopsieveError, match="horizons must be"):
        sift(manifold(0), RECIPE, horizons=wrong, form="linear")


def bench_csv(path, samples=900, seed=0):
    from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record

    u, y = bench_record(samples, seed=seed)
    rows = "".join(f"{k * BENCH_SAMPLE_TIME:.2f},{u[k]:.6f},{y[k]:.6f}\n" for k in range(samples))
    path.write_text("t,u,y\n" + rows)
    return path


def test_every_door_keeps_the_same_set_and_gives_the_same_model(tmp_path):
    from koopsieve.cli.settings import Settings
    from koopsieve.cli.sift import run

    train, test = bench_csv(tmp_path / "a.csv"), bench_csv(tmp_path / "b.csv", seed=1)
    settings = Settings(
        files=(str(train),),
        states=("y",),
        inputs=("u",),
        time="t",
        delays=1,
        inputs_at="k",
        form="linear",
        polynomials=3,
        kernels=10,
        horizons=(1, 10),
        test=(str(test),),
    )
    recipe = RECIPE + SquaredExponential(centers=10, standardize=True)
    data, other = (Trajectories.from_file(p, "y", "u", time="t") for p in (train, test))
    x, u = data.states[0], data.inputs[0]
    common = {"delays": Embedding(1, 1), "horizons": [1, 10], "form": "linear"}
    ways = {
        "command line": run(settings),
        "threads": sift(data, recipe, test=other, executor=Threads(2), **common),
        "one core": sift(data, recipe, test=other, executor=Serial(), **common),
        "stream": sift(Stream.from_arrays(x, u, dt=data.dt, state_names="y", input_names="u"), recipe, **common),
    }
    facade = KoopmanSieve(recipe, **common).fit(data)
    ways["KoopmanSieve"] = facade.result_
    first = ways["command line"]
    for found in ways.values():
        assert found.retained_names == first.retained_names
        assert found.path.choice.refit == first.path.choice.refit
        np.testing.assert_allclose(found.model.A, first.model.A, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.model.B, first.model.B, rtol=1e-6, atol=1e-9)


def test_summary_has_the_fixed_names(result, tmp_path):
    write_run(result, tmp_path / "new" / "folder")
    summary = json.loads((tmp_path / "new" / "folder" / "summary.json").read_text())
    assert summary["observables"] == {
        "full": 10,
        "reduced": len(result.retained_names),
        "retained": list(result.retained_names),
    }
    assert (summary["form"], summary["terms"]) == ("linear", len(result.retained_names) + 1)
    assert summary["embedding"] == {"state_delays": 0, "input_delays": 0, "inputs_at": "k"}
    assert summary["horizons"] == [1, 5]
    assert set(summary["baselines"]) == {"persistence", "linear", "everything"}
    assert summary["test"]["nmse"]["b"] == pytest.approx(result.errors.nmse["b"])
    assert summary["test"]["simulation_rmse"]["a"] == pytest.approx(result.errors.simulation_rmse["a"])
    assert summary["nmse"]["reduced"]["sparse Bayes"]["b"] == pytest.approx(
        result.comparison["sparse Bayes"].reduced.errors.nmse["b"]
    )
    assert summary["elbo"].keys() == summary["status"].keys() == set(result.retained_names)
    assert summary["seed"] == 3
    assert {"seconds", "version", "data"} <= summary.keys()
    model = LinearModel.load(tmp_path / "new" / "folder" / "model.npz")
    assert model.names == result.retained_names
    lines = (tmp_path / "new" / "folder" / "inclusion.csv").read_text().splitlines()
    assert lines[0].split(",")[:3] == ['"regressor"', '"a"', '"b"']
    assert lines[-1].startswith('"force",')


def test_numbers_that_are_not_finite_stay_valid_json(tmp_path):
    write_json(tmp_path / "x.json", {"a": np.array([1.0, math.inf, -math.inf, math.nan]), "b": (np.float64(2), None)})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": [1.0, "inf", "-inf", "nan"], "b": [2.0, None]}


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        write_json(tmp_path / "x.json", {"a": object()})
    assert list(tmp_path.iterdir()) == []


def facts(radius=0.9, rank=4, errors=(0.01, 0.02)):
    return Diagnostics(DesignDiagnostics(4, rank, 10.0), 5.0, radius, (1, 100), {"x": np.array(errors)})


def test_nothing_to_worry_about_is_said_in_two_lines():
    assert facts().warnings == ()
    assert len(facts().remarks) == 2
    assert len(facts(radius=np.nan).remarks) == 1  # a form without a matrix A


@pytest.mark.parametrize(
    "case, words",
    [
        (facts(radius=1.01), "spectral radius is 1.01"),
        (facts(errors=(6e-11, 7e18)), "differ: NMSE 6.00·10⁻¹¹ at 1 step, but 7.00·10¹⁸ at 100"),
        (facts(errors=(6e-11, np.inf)), "but ∞ at 100"),
        (facts(radius=1e30), "by ∞ over 100 steps"),
    ],
)
def test_worries_are_said_in_words(case, words):
    assert any(words in text.replace("+", ".") for text in case.warnings)


def test_missing_rank_is_a_remark():
    assert any("cannot tell 1 of the 4 regressors" in text for text in facts(rank=3).remarks)
