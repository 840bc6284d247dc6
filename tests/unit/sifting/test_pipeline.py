"""The one pipeline: what it keeps, that nothing is chosen on what it is reported on, that every way in is the same."""

import json

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from koopsieve import KoopmanSieve, KoopsieveError, LeastSquares, LinearModel, SparseBayes, Stream, Trajectories, sift
from koopsieve.cli.command_settings import Settings
from koopsieve.cli.sift import run
from koopsieve.data import Embedding
from koopsieve.dictionary import Constant, Monomials, SquaredExponential, States
from koopsieve.evaluate import Diagnostics, horizon_nmse
from koopsieve.execution import Serial, Threads
from koopsieve.io.run import write_run
from koopsieve.regression import DesignDiagnostics, compress
from koopsieve.sieve import GraphSieve
from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record


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


def test_linear_algebra_has_one_thread_during_the_job_so_that_threads_decide_nothing():
    def threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    seen = set()

    def watch(items, description, total):
        seen.update(threads())
        return items

    with threadpool_limits(2, user_api="blas"):
        sift(manifold(0), RECIPE, horizons=[1, 5], form="linear", progress=watch)
        assert seen == {1}
        assert threads() == {2}


def test_nothing_of_the_result_depends_on_the_test_data_but_the_errors(result):
    other = sift(manifold(0), RECIPE, test=manifold(2), horizons=[1, 5], seed=3, form="linear")
    np.testing.assert_array_equal(other.retained, result.retained)
    np.testing.assert_array_equal(other.model.A, result.model.A)
    assert other.path.choice.refit == result.path.choice.refit
    assert other.errors.nmse["b"][1] != result.errors.nmse["b"][1]


def test_baselines_are_what_they_are_called_and_errors_are_those_of_the_models_that_are_given(result):
    assert set(result.baselines) == {"persistence", "linear", "everything"}
    steady, linear, everything = (result.baselines[name].model for name in ("persistence", "linear", "everything"))
    np.testing.assert_array_equal(steady.predict([2.0, 3.0], np.ones((4, 1)), 4), [[2.0, 3.0]] * 4)
    assert linear.names == ("a", "b", "1")
    assert everything.names == result.dictionary.names
    whole = LinearModel.from_estimate(LeastSquares().identify(result.statistics), result.dictionary)
    np.testing.assert_allclose(everything.A, whole.A)
    for one in (result, *result.baselines.values()):
        np.testing.assert_allclose(one.errors.nmse["b"], horizon_nmse(one.model, manifold(1), [1, 5])["b"])


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
    data, asked = manifold(0), {"validation": 0, "horizons": [1], "form": "linear"}
    refits = {"sparse Bayes": SparseBayes()}
    found = sift(data, RECIPE, sieve=GraphSieve(), refits=refits, stable=False, **asked)
    everything = compress(data, found.dictionary)
    assert found.statistics.rows == everything.rows
    expected = SparseBayes().identify(everything.select(found.retained)).coef
    np.testing.assert_allclose(found.model.A.T, expected[: len(found.retained)])
    with pytest.raises(KoopsieveError, match=r"there is a choice to make: .* sets and 2 refits"):
        sift(data, RECIPE, **asked)


def test_learning_validation_and_test_share_no_sample():
    t = np.arange(3000.0)
    data = Trajectories.from_arrays(np.column_stack([t, np.sin(t)]))
    found = sift(data, States(), horizons=[1, 20], test=0.2, form="linear")
    assert found.evaluation.on == "held-out"
    assert found.samples["learn"] + found.samples["validation"] + found.samples["judged"] <= 3000
    assert len(found.evaluation.data) > 1  # several stretches, not only the end
    assert found.samples["judged"] == pytest.approx(600, abs=5)
    assert found.samples["folds"] == 3
    assert found.learned_from_all


def test_a_test_record_sampled_differently_is_refused():
    names = {"state_names": ["a", "b"], "input_names": ["force"]}
    slow = Trajectories.from_arrays(list(manifold(1).states), list(manifold(1).inputs), dt=0.1, **names)
    with pytest.raises(KoopsieveError, match=r"same sample time. Expected 0.5, got 0.1"):
        sift(manifold(0), RECIPE, test=slow, horizons=[1], form="linear")


@pytest.mark.parametrize("wrong", [5, [], [0], [1.9], [True], ["1"]])
def test_horizons_that_are_none_are_refused(wrong):
    with pytest.raises(KoopsieveError, match="horizons must be"):
        sift(manifold(0), RECIPE, horizons=wrong, form="linear")


def bench_csv(path, seed=0):
    u, y = bench_record(900, seed=seed)
    rows = "".join(f"{k * BENCH_SAMPLE_TIME:.2f},{u[k]:.6f},{y[k]:.6f}\n" for k in range(900))
    path.write_text("t,u,y\n" + rows)
    return path


def test_every_way_in_keeps_the_same_set_and_gives_the_same_model(tmp_path):
    train, test = bench_csv(tmp_path / "a.csv"), bench_csv(tmp_path / "b.csv", seed=1)
    said = {"states": ("y",), "inputs": ("u",), "time": "t", "delays": 1, "inputs_at": "k", "polynomials": 3}
    said |= {"kernels": 10, "horizons": (1, 10), "form": "linear"}
    recipe = RECIPE + SquaredExponential(centers=10, standardize=True)
    data, other = (Trajectories.from_file(p, "y", "u", time="t") for p in (train, test))
    stream = Stream.from_arrays(data.states[0], data.inputs[0], dt=data.dt, state_names="y", input_names="u")
    common = {"delays": Embedding(1, 1), "horizons": [1, 10], "form": "linear"}
    first, *others = (
        run(Settings(files=(str(train),), test=(str(test),), **said)),
        sift(data, recipe, test=other, executor=Threads(2), **common),
        sift(data, recipe, test=other, executor=Serial(), **common),
        sift(stream, recipe, **common),
        KoopmanSieve(recipe, **common).fit(data).result_,
    )
    for found in others:
        assert found.retained_names == first.retained_names
        assert found.path.choice.refit == first.path.choice.refit
        np.testing.assert_allclose(found.model.A, first.model.A, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.model.B, first.model.B, rtol=1e-6, atol=1e-9)


def test_summary_has_the_fixed_names(result, tmp_path):
    folder, names = tmp_path / "new" / "folder", list(result.retained_names)
    write_run(result, folder)
    summary = json.loads((folder / "summary.json").read_text())
    expected = {
        "observables": {"full": 10, "reduced": len(names), "retained": names},
        "form": "linear",
        "terms": len(names) + 1,
        "embedding": {"state_delays": 0, "input_delays": 0, "inputs_at": "k"},
        "horizons": [1, 5],
        "seed": 3,
    }
    assert {key: summary[key] for key in expected} == expected
    assert set(summary["baselines"]) == {"persistence", "linear", "everything"}
    assert summary["test"]["nmse"]["b"] == pytest.approx(result.errors.nmse["b"])
    assert summary["test"]["simulation_rmse"]["a"] == pytest.approx(result.errors.simulation_rmse["a"])
    reduced = result.comparison["sparse Bayes"].reduced.errors.nmse["b"]
    assert summary["nmse"]["reduced"]["sparse Bayes"]["b"] == pytest.approx(reduced)
    assert summary["elbo"].keys() == summary["status"].keys() == set(names)
    assert {"seconds", "version", "data"} <= summary.keys()
    assert LinearModel.load(folder / "model.npz").names == result.retained_names
    lines = (folder / "inclusion.csv").read_text().splitlines()
    assert lines[0].split(",")[:3] == ['"regressor"', '"a"', '"b"']
    assert lines[-1].startswith('"force",')


def facts(radius=0.9, rank=4, errors=(0.01, 0.02)):
    return Diagnostics(DesignDiagnostics(4, rank, 10.0), 5.0, radius, (1, 100), {"x": np.array(errors)})


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


def test_nothing_to_worry_about_is_said_in_two_lines_and_missing_rank_is_a_remark():
    assert facts().warnings == ()
    assert len(facts().remarks) == 2
    assert len(facts(radius=np.nan).remarks) == 1  # a form without a matrix A
    assert any("cannot tell 1 of the 4 regressors" in text for text in facts(rank=3).remarks)
