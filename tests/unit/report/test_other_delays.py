"""The linear model beside may have other delays than the sifted one; the report and the plots show both."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import Constant, Embedding, States, Trajectories, embed_delays, sift
from koopsieve.plots import plot_prediction, plot_simulation
from koopsieve.plots.time_plots import _predicted, simulated_rows
from koopsieve.report import render_report
from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record

RECORD = bench_record(500, seed=0)


def linear_result(delays):
    force, position = RECORD
    data = Trajectories.from_arrays(position, force, dt=BENCH_SAMPLE_TIME, state_names="y", input_names="u")
    return sift(data, States() + Constant(), form="linear", delays=delays, horizons=[1, 5], test=0.3, path_length=2)


@pytest.fixture(scope="module")
def results():
    return {delays: linear_result(delays) for delays in (Embedding(4, 2), Embedding(1, 1), Embedding(2, 2, "k+1"))}


@pytest.mark.parametrize("mine", [Embedding(4, 2), Embedding(1, 1), Embedding(2, 2, "k+1")], ids=str)
@pytest.mark.parametrize("other", [Embedding(4, 2), Embedding(1, 1), Embedding(2, 2, "k+1")], ids=str)
def test_a_model_with_other_delays_runs_along_the_same_record(results, mine, other):
    result, beside = results[mine], results[other].model
    data, part = result.evaluation.data, results[other].evaluation.data
    rows = len(data.states[0])
    run = simulated_rows(beside, result, 0, rows)
    first = int(np.argmax(~np.isnan(run[:, 0])))
    assert first <= other.lost + 1
    assert np.isnan(run[rows - 2 :]).sum() <= 2
    begin = first + mine.lost - other.lost  # the same sample in the other's own data
    known = run[first : rows - 2]
    steps = len(known) - 1
    line = part.states[0][begin : begin + 1], part.inputs[0][begin : begin + steps]
    expected = beside.free_runs(line[0], line[1][None])[0]
    np.testing.assert_allclose(known[1:], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(known[:1], data.states[0][first : first + 1, :1])
    ahead = _predicted(beside, result, [(0, first), (0, 0)], 5)
    np.testing.assert_allclose(ahead[0], expected[:5], rtol=1e-9, atol=1e-12)
    assert np.isnan(ahead[1]).all() == (first > 0)


def test_report_and_plots_are_made(results):
    pytest.importorskip("matplotlib")
    result, beside = results[Embedding(1, 1)], results[Embedding(4, 2)]
    linear = replace(result.baselines["linear"], model=beside.model)
    mixed = replace(result, baselines={**result.baselines, "linear": linear})
    assert "linear" in render_report(mixed, title="bench.csv")
    assert len(plot_simulation(mixed).lines) == len(plot_simulation(result).lines)  # no cross of a run that left
    plot_prediction(mixed)


def test_measured_is_the_inverse_of_embed():
    rng = np.random.default_rng(0)
    y, u = rng.normal(size=(30, 2)), rng.normal(size=(29, 3))
    for embedding in (Embedding(3, 1), Embedding(0, 2), Embedding(2, 2, "k+1"), Embedding(2, 0)):
        made = embed_delays(
            Trajectories.from_arrays(y, u),
            *(embedding.state_delays, embedding.input_delays),
            inputs_at=embedding.inputs_at,
        )
        back, inputs, before = embedding.measured(made.states[0], made.inputs[0], 2)
        first = embedding.lost - before
        end = len(y) - embedding.input_lead
        np.testing.assert_array_equal(back, y[first:end])
        np.testing.assert_array_equal(inputs[: len(back) - 1], u[first : end - 1])
