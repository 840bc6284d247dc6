"""What the benchmarks on measured records print beside their tables; the README quotes these lines."""

import numpy as np
import pytest

from benchmarks.record_data import Record
from benchmarks.record_data import Test as ScoredPart
from benchmarks.records import arx, by_simulation, simulated, summaries
from benchmarks.stability import in_unit, median_and_range
from koopsieve import Trajectories


def test_records_are_summed_up_apart_and_together():
    tuned, others, together = summaries({"drive-1": 0.5, "tanks": 2.0, "dryer": 0.25})
    assert "2 records tuned on (*): geometric mean 1.00, worst 2.00" in tuned
    assert "1 records not tuned on: geometric mean 0.25, worst 0.25" in others
    assert "3 records together: geometric mean 0.63, worst 2.00" in together
    assert len(summaries({"dryer": 0.25})) == 2


@pytest.mark.parametrize(
    "unit, factor, expected", [("mV", 1e3, "400 (200 to 800) mV"), ("V", 1.0, "0.4 (0.2 to 0.8) V"), ("-", 1.0, "–")]
)
def test_relative_errors_in_the_unit_of_the_record(unit, factor, expected):
    y = np.array([9.0, 9.0, -2.0, 2.0, -2.0, 2.0])[:, None]  # deviation 2 after the first two rows
    record = Record("one", None, {"test": ScoredPart(y, y, 2)}, unit, factor, {})
    assert in_unit(record, np.array([0.1, 0.2, 0.4])) == expected
    assert median_and_range(np.array([0.1, 0.2, 0.4])) == "0.2 (0.1 to 0.4)"


@pytest.mark.parametrize("fit", [arx, simulated])
def test_linear_models_beside_which_records_are_scored(fit):
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(300, 1)), np.zeros((300, 1))
    for k in range(299):
        y[k + 1] = 0.8 * y[k] + u[k]
    found = by_simulation(Trajectories.from_arrays(y, u, dt=1.0), fit, (0, 1))
    np.testing.assert_allclose(found.simulate(y[:2], u), y[found.history :], atol=1e-6)
