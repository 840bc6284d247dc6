"""Test data outside what was learned from, or predicted far worse than validation data, are mentioned first."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import GraphSieve, Monomials, States, Trajectories, sift
from koopsieve.report.html import render_report


def record(size, seed):
    """A level whose outflow grows with its square; `size` of the inflow."""
    rng = np.random.default_rng(seed)
    u, y = size * rng.uniform(size=600), np.zeros(601)
    for k in range(600):
        y[k + 1] = y[k] + 0.1 * (u[k] - 0.5 * y[k] ** 2)
    return Trajectories.from_arrays(y, u, state_names="level", input_names="inflow")


def sifted(test):
    return sift(record(1.0, 0), States() + Monomials(), sieve=GraphSieve(), horizons=[1, 10], test=test)


def test_data_outside_the_learned_range_are_mentioned_first():
    result = sifted(record(4.0, 1))
    first, second = result.cautions
    assert first.startswith("The test data go beyond what was learned from: 'level' from 0 to ")
    assert "'inflow' from " in first
    assert "% of the samples outside)" in first
    assert second.startswith("At 10 steps the NMSE is ")
    assert "on the validation data it was" in second
    assert result.describe().startswith(first)
    page = render_report(result)
    assert page.index("The test data go beyond") < page.index('class="tiles"')
    assert page.count('<p class="warn">The test data go beyond') == 1


def test_a_much_larger_error_alone_is_mentioned():
    other, noise = record(1.0, 1), 0.05 * np.random.default_rng(2).normal(size=(601, 1))
    noisy = replace(other, states=(np.clip(other.states[0] + noise, 0.0, 1.5),))
    (only,) = sifted(noisy).cautions
    assert only.startswith("At 10 steps the NMSE is ")


@pytest.mark.parametrize("test", [record(1.0, 1), 0.2, None], ids=["test", "held out", "none"])
def test_alike_data_are_no_caution(test):
    assert sifted(test).cautions == ()


@pytest.mark.parametrize(("every", "said"), [(1, True), (20, False)])
def test_a_record_that_is_sampled_much_faster_than_it_changes_is_mentioned(every, said):
    rng = np.random.default_rng(0)
    u, y = np.repeat(rng.uniform(size=40), 400), np.zeros(16000)
    for k in range(15999):
        y[k + 1] = y[k] + 0.004 * (u[k] - y[k])
    data = Trajectories.from_arrays(y[::every], u[::every], dt=0.01 * every)
    result = sift(data, States(), form="linear", horizons=[1, 10])
    found = [one for one in result.remarks if one.startswith("The record is sampled much faster")]
    assert bool(found) is said
    if said:
        count = int(found[0].split("One sample in ")[1].split()[0])
        assert 5 < count < 50
        assert found[0].endswith(f"resample={0.01 * count:.4g}.")
