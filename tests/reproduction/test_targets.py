"""What the reproduction must show, on the quick version of every study (3 runs, three levels of noise)."""

import os
from pathlib import Path

import numpy as np
import pytest

from koopsieve._written import json_number
from koopsieve.datasets import FOLDER_VARIABLE
from koopsieve.reproduction import reproduce
from koopsieve.reproduction.study_settings import FILE

pytestmark = pytest.mark.slow
NEXT_DOOR = Path(__file__).parents[2] / ".." / "shared" / "data"


@pytest.fixture(scope="module")
def lorenz(tmp_path_factory):
    return reproduce("lorenz", tmp_path_factory.mktemp("lorenz"), quick=True)["lorenz"]


@pytest.fixture(scope="module")
def usv(tmp_path_factory):
    return reproduce("usv", tmp_path_factory.mktemp("usv"), quick=True)


@pytest.fixture(scope="module")
def circuit(tmp_path_factory):
    folder = Path(os.environ.get(FOLDER_VARIABLE) or NEXT_DOOR)
    if not (folder / FILE).is_file():
        pytest.skip(f"the measured records ({FILE}) are neither in {FOLDER_VARIABLE} nor in ../shared/data")
    return reproduce("wiener-hammerstein", tmp_path_factory.mktemp("circuit"), data=folder)["wiener-hammerstein"]


def array(values):
    return np.array([json_number(value) for value in values])


def test_lorenz_keeps_at_most_half_at_every_level(lorenz):
    assert max(lorenz["reduced_size"]["0.01"]) <= 12


@pytest.mark.parametrize("method", ["I", "II"])
def test_lorenz_fifty_steps_ahead_the_reduced_model_is_ten_times_better(lorenz, method):
    at = lorenz["horizons"].index(50)
    full, reduced = (json_number(lorenz["long_term"][size][method][at]) for size in ("full", "reduced"))
    assert reduced <= full / 10
    assert np.isfinite(reduced)


def test_lorenz_condition_number_falls_a_thousandfold(lorenz):
    full, reduced = (array(lorenz["condition_number"][size]["I"]) for size in ("full", "reduced"))
    assert np.all(reduced <= full / 1000)


def test_lorenz_sparse_bayes_loses_little_at_one_step(lorenz):
    full, reduced = (array(lorenz["one_step"][size]["III"]["test"]) for size in ("full", "reduced"))
    assert np.all(reduced <= 1.5 * full)


def test_vehicle_keeps_at_most_half(usv):
    for summary in usv.values():
        assert max(summary["reduced_size"]["0.25"]) <= 14


@pytest.mark.parametrize("method", ["I", "II", "III"])
def test_vehicle_loses_nothing_at_any_horizon(usv, method):
    full, reduced = (array(usv["usv"]["long_term"][size][method]) for size in ("full", "reduced"))
    assert np.all(reduced <= 1.2 * full)


def test_circuit_is_reduced_to_what_the_paper_found_or_less(circuit):
    assert circuit["full_size"] == 46
    assert circuit["reduced_size"] <= 8


@pytest.mark.parametrize("method", ["I", "III"])
def test_circuit_errors_are_the_papers(circuit, method):
    assert circuit["horizons"] == [2, 5, 10, 20, 50]
    gap = array(circuit["long_term"]["reduced"][method]) / [0.0179, 0.1066, 0.377, 1.03, 1.41] - 1
    assert np.all(np.abs(gap) <= [0.1, 0.1, 0.1, 0.2, 0.2])


def test_circuit_condition_number(circuit):
    assert json_number(circuit["condition_number"]["full"]["I"]) > 1e16
    assert json_number(circuit["condition_number"]["reduced"]["I"]) < 1e7
