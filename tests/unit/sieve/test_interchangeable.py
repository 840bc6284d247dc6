"""Terms that could stand for one another are named in the result, in summary.json and in the report."""

import numpy as np
import pytest

from koopsieve import Constant, Function, GraphSieve, States, Trajectories, sift
from koopsieve._written import plain
from koopsieve.io.run import summarise
from koopsieve.report import write_report


def driven(samples=1500):
    rng = np.random.default_rng(0)
    u, x = rng.uniform(-1, 1, size=(samples, 1)), np.zeros((samples + 1, 1))
    for k in range(samples):
        x[k + 1] = 0.5 * x[k] + 0.5 * u[k] - 0.2 * np.minimum(x[k] ** 2, 2.0) + 0.02 * rng.normal()
    return Trajectories.from_arrays(x, u, state_names=["y"], input_names=["u"])


def candidates(x):
    square = x[:, 0] ** 2
    return np.column_stack([square, square + 0.02 * np.sin(40 * x[:, 0]), np.cos(3 * x[:, 0]) + 5])


@pytest.fixture(scope="module")
def result():
    recipe = States() + Constant() + Function(candidates, names=["square", "nearly square", "wave"])
    return sift(driven(), recipe, form="linear", sieve=GraphSieve(), horizons=[1, 5], test=0.2)


def test_groups_are_in_the_result_the_summary_and_the_report_and_share_their_probability(result, tmp_path):
    (group,) = result.interchangeable
    assert set(group) == {"square", "nearly square"}
    found = result.explanation
    column = found.inclusion[[found.regressors.index(name) for name in group], found.targets.index("y")]
    assert column.sum() > 0.95
    assert column.max() < 1.0
    (entry,) = plain(summarise(result))["interchangeable"]
    assert tuple(entry["terms"]) == group
    assert entry["expected_number"]["y"] == pytest.approx(column.sum())
    write_report(result, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Interchangeable terms" in page
    assert ", ".join(group) in page


def test_a_mean_that_a_constant_makes_up_for_does_not_make_terms_alike(result):
    """The wave varies little about a large mean: without the constant it would be close to the constant itself."""
    assert not any("wave" in group or "1" in group for group in result.interchangeable)
