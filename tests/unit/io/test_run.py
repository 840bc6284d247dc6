"""The files of a run have the names and keys that other programs read."""

import csv
import json

import numpy as np
import pytest

from koopsieve import KoopmanSieve, Model, Monomials, States
from koopsieve._written import plain
from koopsieve.io.run import fit_per_cent, summarise, write_run
from tests.runs import duffing_result, duffing_trajectories

FIXED = {"observables", "horizons", "nmse", "condition_number", "seconds", "elbo", "status", "version", "seed", "form"}
FIXED |= {"terms", "embedding", "baselines", "test", "data", "path", "remarks", "judged_on"}


@pytest.fixture(scope="module")
def summary(small_result):
    return plain(summarise(small_result))


def test_the_summary_has_the_fixed_names(any_result, tmp_path):
    write_run(any_result, tmp_path, {"settings": {"seed": 0}})
    found = json.loads((tmp_path / "summary.json").read_text())
    outputs, horizons = any_result.model.output_names, len(any_result.horizons)
    assert set(found) >= FIXED | {"settings"}
    assert set(found["bands"]) >= {"level", "coverage"}
    assert found["form"] == any_result.form
    assert found["observables"]["full"] == any_result.path.candidates
    assert found["observables"]["reduced"] == len(found["observables"]["retained"])
    assert found["observables"]["retained"] == list(any_result.retained_names)
    assert found["terms"] == any_result.n_terms
    assert set(found["embedding"]) == {"state_delays", "input_delays", "inputs_at"}
    assert set(found["baselines"]) == {"persistence", "linear", "everything"}
    for each in (found["bands"]["coverage"], *found["baselines"].values()):
        assert {state: len(values) for state, values in each.items()} == dict.fromkeys(outputs, horizons)
    assert set(found["test"]) >= {"nmse", "simulation_rmse"}
    assert set(found["test"]["simulation_rmse"]) == set(outputs)
    assert set(found["elbo"]) == set(found["status"]) == set(any_result.explanation.targets)
    assert found["settings"] == {"seed": 0}
    assert found["data"]["samples"] == any_result.samples


def test_methods_are_under_their_names(summary):
    assert set(summary["nmse"]["full"]) == {"everything", "least squares", "spike and slab"}
    assert set(summary["nmse"]["reduced"]) == {"sifted", "least squares", "spike and slab"}
    for what in ("condition_number", "spectral_radius"):
        assert all(set(summary[what][size]) == set(summary["nmse"][size]) for size in ("full", "reduced"))


def test_the_numbers_are_those_of_the_run(summary, small_result):
    np.testing.assert_allclose(summary["nmse"]["reduced"]["sifted"]["y"], small_result.errors.nmse["y"])
    np.testing.assert_allclose(summary["test"]["nmse"]["y"], small_result.errors.nmse["y"])
    full = small_result.comparison["spike and slab"].full
    np.testing.assert_allclose(summary["nmse"]["full"]["spike and slab"]["y"], full.errors.nmse["y"])
    np.testing.assert_allclose(summary["condition_number"]["reduced"]["sifted"], small_result.model.condition_number)
    for name, baseline in small_result.baselines.items():
        np.testing.assert_allclose(summary["baselines"][name]["y"], baseline.errors.nmse["y"])


def test_fit_is_one_minus_the_ratio_of_norms(summary, small_result):
    data, model = small_result.evaluation.data, small_result.model
    x, u = data.states[0], data.inputs[0]
    (ahead,) = model.steps(model.start(x[:-1]), [u])
    gap, y = x[1:, :1] - model.read(ahead), x[1:, :1]
    expected = 100 * (1 - np.linalg.norm(gap) / np.linalg.norm(y - y.mean()))
    assert summary["models"]["sifted"]["fit"]["y"][0] == pytest.approx(expected, rel=1e-9)
    free = np.array([model.read(carried)[0] for carried in model.steps(model.start(x[:1]), u[:, None])])
    simulated = 100 * (1 - np.linalg.norm(y - free) / np.linalg.norm(y - y.mean()))
    assert summary["models"]["sifted"]["simulation_fit"]["y"] == pytest.approx(simulated, rel=1e-9)
    np.testing.assert_allclose(fit_per_cent(np.array([np.inf])), [-np.inf])


def test_without_test_data_there_is_no_test():
    found = summarise(duffing_result(test=None, methods=False))
    assert ({"test", "bands"} & set(found), found["judged_on"]) == (set(), "validation")
    assert set(found["models"]["sifted"]) >= {"nmse", "simulation_rmse"}


def test_terms_have_formulas_coefficients_and_probabilities(any_result):
    found = plain(summarise(any_result))["coefficients"]
    terms = any_result.model.output_terms()
    assert [term["name"] for term in found] == list(terms.names)
    for j, output in enumerate(any_result.model.output_names):
        np.testing.assert_allclose([term["coefficient"][output] for term in found], terms.coef[:, j])
    given = {term["name"]: term["probability"] for term in found}
    explained = any_result.explanation
    for i, name in enumerate(explained.regressors):
        for j, target in enumerate(explained.targets):
            if target in any_result.model.output_names and name in given:
                assert given[name][target] == explained.inclusion[i, j]


def test_every_form_that_was_tried_is_there(reprojected_result):
    found = plain(summarise(reprojected_result))
    assert set(found["paths"]) == set(reprojected_result.paths) == {"reprojected"}
    assert found["paths"]["reprojected"] == found["path"]
    assert found["condition_number"]["reduced"]["sifted"] == "nan"
    assert found["eigenvalues"]["of"] == "step linearised at the mean state"


def test_a_fitted_estimator_will_do(tmp_path):
    sieve = KoopmanSieve(States() + Monomials(degree=2), horizons=[1, 5], path_length=3, form="linear")
    write_run(sieve.fit(duffing_trajectories(300)), tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"summary.json", "model.npz", "inclusion.csv"}


def test_the_model_and_the_matrix_are_those_of_the_run(any_result, tmp_path):
    write_run(any_result, tmp_path)
    loaded, model = Model.load(tmp_path / "model.npz"), any_result.model
    for name, array in model.arrays().items():
        np.testing.assert_array_equal(loaded.arrays()[name], array)
    with (tmp_path / "inclusion.csv").open() as stream:
        header, *rows = csv.reader(stream)
    assert header == ["regressor", *any_result.explanation.targets]
    assert [row[0] for row in rows] == list(any_result.explanation.regressors)
    values = np.array([[float(v) for v in row[1:]] for row in rows])
    np.testing.assert_allclose(values, any_result.explanation.inclusion, rtol=1e-5)
