"""Every figure draws, on axes that are given or on its own, and shows the numbers of the run."""

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve.plots import (
    new_axes,
    plot_eigenvalues,
    plot_error_against_horizon,
    plot_graph,
    plot_inclusion,
    plot_prediction,
    plot_summary,
    save_figure,
)
from koopsieve.plots.examples import examples
from tests.runs import duffing_result

PLOTS = [plot_eigenvalues, plot_error_against_horizon, plot_graph, plot_inclusion, plot_prediction]


@pytest.mark.parametrize("plot", PLOTS)
def test_a_plot_returns_the_axes_it_drew_on(small_result, plot, tmp_path):
    axes = new_axes()
    assert plot(small_result, axes) is axes
    own = plot(small_result)
    assert own.has_data() or plot is plot_graph
    save_figure(own, tmp_path / "figure.png", dpi=40)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_the_summary_has_four_parts(small_result, tmp_path):
    figure = plot_summary(small_result)
    assert len([axes for axes in figure.axes if axes.get_title()]) == 4
    figure.savefig(tmp_path / "summary.png", dpi=40)
    assert f"{len(small_result.reduction.retained)} of 19" in figure.get_suptitle()


def test_the_summary_of_a_path_has_its_curve(path_result, tmp_path):
    figure = plot_summary(path_result)
    assert "error against size" in [axes.get_title() for axes in figure.axes]
    figure.savefig(tmp_path / "summary.png", dpi=40)


def test_the_error_figure_shows_the_errors(small_result):
    axes = plot_error_against_horizon(small_result)
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    kept = len(small_result.reduction.retained)
    np.testing.assert_allclose(drawn[f"I, kept {kept}"], small_result.reduced["I"].diagnostics.mean_error)
    np.testing.assert_allclose(drawn["IV, all 19"], small_result.full["IV"].diagnostics.mean_error)


def test_the_graph_names_every_observable(small_result):
    shown = {text.get_text() for text in plot_graph(small_result).texts}
    assert set(small_result.dictionary.names) <= shown


def test_the_eigenvalues_are_those_of_the_model(small_result):
    axes = plot_eigenvalues(small_result)
    kept = next(line for line in axes.get_lines() if str(line.get_label()).startswith("kept"))
    values = small_result.model.eigenvalues
    np.testing.assert_allclose(np.sort(kept.get_xdata()), np.sort(values.real))


def test_examples_are_predictions_of_the_judged_data(small_result):
    found = {example.kind: example for example in examples(small_result)}
    judged = small_result.judged.states[0]
    errors = {}
    for kind, example in found.items():
        np.testing.assert_array_equal(example.measured[:, 0], judged[example.start : example.start + 11, 0])
        u = small_result.judged.inputs[0][example.start : example.start + 10]
        predicted = small_result.model.predict(judged[example.start], u, 10)
        np.testing.assert_allclose(example.reduced[1:], predicted)
        assert example.full[0] == example.reduced[0] == example.measured[0]
        errors[kind] = np.mean((example.reduced - example.measured) ** 2)
    assert errors["best"] < errors["typical"] < errors["worst"]


def test_a_wrong_name_is_answered_with_those_there_are(small_result):
    with pytest.raises(KoopsieveError, match=r"no output 'z'\. Expected one of y"):
        plot_prediction(small_result, output="z")
    with pytest.raises(KoopsieveError, match=r"no stretch 'average'\. Expected one of typical, best, worst"):
        plot_prediction(small_result, stretch="average")


def test_dollars_in_names_are_not_mathematics(tmp_path):
    result = duffing_result(names=("cost $^", "u$"))
    plot_summary(result).savefig(tmp_path / "summary.png", dpi=40)
    save_figure(plot_graph(result), tmp_path / "graph.png", dpi=40)
    assert {path.name for path in tmp_path.iterdir()} == {"summary.png", "graph.png"}
