"""Averages, and numbers to JSON and back."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from koopsieve._json import number, plain, read_json, write_json
from koopsieve.experiments.averages import average


def test_interval_is_students_t():
    values = np.random.default_rng(0).normal(3, 2, size=25)
    low, high = stats.t.interval(0.95, 24, loc=values.mean(), scale=stats.sem(values))
    found = average(values)
    assert found.mean == pytest.approx(values.mean(), rel=1e-14)
    assert found.mean - found.ci95 == pytest.approx(low)
    assert found.mean + found.ci95 == pytest.approx(high)
    assert found.median == pytest.approx(np.median(values))


def test_huge_values_do_not_overflow_and_diverged_runs_show():
    assert average([1e200, 3e200]).mean == pytest.approx(2e200)
    assert math.isfinite(average([1e200, 3e200]).ci95)
    diverged = average([1.0, 2.0, math.inf])
    assert diverged.mean == math.inf
    assert diverged.ci95 == math.inf
    assert diverged.median == 2.0
    assert math.isnan(average([5.0]).ci95)
    assert average([0.0, 0.0]).mean == 0.0


@settings(max_examples=25)  # every example is a file, synced to disk
@given(st.dictionaries(st.text(max_size=4), st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=4)))
def test_numbers_survive_the_file_bit_for_bit(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("json") / "x.json"
    write_json(path, value)
    back = read_json(path)
    assert back == plain(value)
    for key, numbers in value.items():
        np.testing.assert_array_equal([number(x) for x in back[key]], numbers)
