"""The files of a run have the names and keys that other programs read."""

import csv
import json

import numpy as np

from koopsieve import LiftedModel
from koopsieve.io import write_run

FIXED = {"observables", "horizons", "nmse", "condition_number", "seconds", "elbo", "status", "version", "seed"}


def test_the_summary_has_the_fixed_names(small_result, tmp_path):
    write_run(small_result, tmp_path, {"data": "a story"})
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert set(summary) >= FIXED | {"data"}
    assert summary["observables"]["full"] == small_result.dictionary.size
    assert summary["observables"]["reduced"] == len(summary["observables"]["retained"])
    assert summary["observables"]["retained"] == list(small_result.retained_names)
    for size in ("full", "reduced"):
        assert set(summary["nmse"][size]) == set(summary["condition_number"][size]) == {"I", "IV"}
        assert {name: len(errors) for name, errors in summary["nmse"][size]["I"].items()} == {"y": 2}
    assert set(summary["elbo"]) == set(summary["status"]) == set(small_result.dictionary.names)


def test_the_model_and_the_matrix_are_those_of_the_run(small_result, tmp_path):
    write_run(small_result, tmp_path)
    np.testing.assert_array_equal(LiftedModel.load(tmp_path / "model.npz").A, small_result.model.A)
    with (tmp_path / "inclusion.csv").open() as stream:
        header, *rows = csv.reader(stream)
    assert header == ["regressor", *small_result.dictionary.names]
    assert [row[0] for row in rows] == [*small_result.dictionary.names, "u"]
    values = np.array([[float(v) for v in row[1:]] for row in rows])
    np.testing.assert_allclose(values, small_result.found.inclusion, rtol=1e-5)
