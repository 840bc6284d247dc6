"""Every figure draws any result, on axes that are given or on its own, and shows the numbers of the run."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from koopsieve import (
    Constant,
    Embedding,
    KoopmanSieve,
    KoopsieveError,
    Monomials,
    SquaredExponential,
    States,
    Trajectories,
    sift,
)
from koopsieve.evaluate import free_run
from koopsieve.plots import (
    new_axes,
    plot_coverage,
    plot_eigenvalues,
    plot_error_against_horizon,
    plot_graph,
    plot_inclusion,
    plot_path,
    plot_prediction,
    plot_simulation,
    plot_summary,
    save_figure,
)
from koopsieve.plots.figure import draw_errors
from koopsieve.plots.time_plots import examples
from koopsieve.sifting.tables import contenders
from koopsieve.systems import random_drive, van_der_pol
from koopsieve.uncertainty import coverage, coverage_curve
from tests.runs import duffing_result, duffing_trajectories

PLOTS = [plot_eigenvalues, plot_error_against_horizon, plot_graph, plot_inclusion, plot_path, plot_prediction]


PLOTS += [plot_simulation]


@pytest.mark.parametrize("plot", PLOTS)
def test_a_plot_returns_the_axes_it_drew_on(any_result, plot, tmp_path):
    axes = new_axes()
    assert plot(any_result, axes=axes) is axes
    own = plot(any_result)
    assert own.has_data() or plot is plot_graph
    again = pickle.loads(pickle.dumps(own))
    assert again._repr_png_().startswith(b"\x89PNG")  # a notebook shows it, also one that comes from another process
    save_figure(own, tmp_path / "figure.png", dpi=40)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("plot", [*PLOTS, plot_summary])
def test_a_fitted_estimator_will_do(plot):
    sieve = KoopmanSieve(
        States() + Monomials(degree=2), horizons=[1, 5], path_length=3, delays=Embedding(0, 1), form="linear"
    )
    with pytest.raises(KoopsieveError, match=r"Got KoopmanSieve; call sift\(...\) or fit\(...\) first"):
        plot(sieve)
    plot(sieve.fit(duffing_trajectories(300)))


def test_the_summary_has_five_parts(any_result, tmp_path):
    figure = plot_summary(any_result)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert [title.split(" of ")[0] for title in titles] == [
        "error against size",
        "error against horizon",
        "a typical prediction",
        "what drives what",
        "eigenvalues",
    ]
    figure.savefig(tmp_path / "summary.png", dpi=40)
    assert f"{len(any_result.retained)} of {any_result.path.candidates} terms" in figure.get_suptitle()


def test_the_error_figure_shows_every_model(small_result):
    axes = plot_error_against_horizon(small_result)
    drawn = {str(line.get_label()).rsplit(" (", 1)[0]: line.get_ydata() for line in axes.get_lines()}
    for one in contenders(small_result):
        np.testing.assert_allclose(drawn[one.label], one.errors.mean)
    assert set(drawn) >= {"sifted", "linear", "everything", "persistence", "least squares, kept", "spike and slab, all"}


def test_a_model_that_diverged_is_cut_and_marked(small_result):
    errors = replace(small_result.errors, nmse={"y": np.array([1e-3, np.inf])})
    axes = plot_error_against_horizon(replace(small_result, errors=errors))
    line = next(line for line in axes.get_lines() if str(line.get_label()).startswith("sifted"))
    np.testing.assert_array_equal(np.isnan(line.get_ydata()), [False, True])
    marks = [line for line in axes.get_lines() if line.get_gid() == "diverged"]
    np.testing.assert_array_equal(marks[0].get_xdata(), [10])
    assert "diverged" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert axes.get_ylim()[1] < 1e3


def test_marks_of_several_that_diverged_do_not_hide_each_other():
    axes = new_axes()
    for _ in range(3):
        draw_errors(axes, [1, 10], [0.1, np.inf], "model")
    marks = [line for line in axes.get_lines() if line.get_gid() == "diverged"]
    places = [line.get_transform().transform((10, 0.975))[0] for line in marks]
    assert np.diff(sorted(places)).min() > 5


def test_a_prediction_that_leaves_the_picture_is_cut_and_marked(small_result):
    wild = replace(small_result.baselines["linear"].model, A=3.0 * small_result.baselines["linear"].model.A)
    linear = replace(small_result.baselines["linear"], model=wild)
    result = replace(small_result, baselines={**small_result.baselines, "linear": linear})
    axes = plot_prediction(result)
    low, high = axes.get_ylim()
    lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert len(lines["linear"]) < len(lines["measured"])
    assert all(low <= value <= high for value in lines["linear"])
    assert len([line for line in axes.get_lines() if line.get_gid() == "left the picture"]) == 1
    assert len(lines["sifted"]) == len(lines["measured"])


def test_free_runs_are_drawn_along_the_record_and_cut_where_they_leave(small_result):
    axes = plot_simulation(small_result, seconds=5.0)
    data, model = small_result.evaluation.data, small_result.model
    lines = {str(line.get_label()).split(" (")[0]: line for line in axes.get_lines()}
    np.testing.assert_array_equal(lines["measured"].get_ydata(), data.states[0][:101, 0])
    expected = free_run(model, data.states[0][0], data.inputs[0][:100])[:, 0]
    np.testing.assert_allclose(lines["sifted"].get_ydata()[1:], expected)
    wild = replace(small_result.baselines["linear"].model, A=3.0 * small_result.baselines["linear"].model.A)
    linear = replace(small_result.baselines["linear"], model=wild)
    axes = plot_simulation(replace(small_result, baselines={**small_result.baselines, "linear": linear}))
    lines = {str(line.get_label()).split(" (")[0]: line for line in axes.get_lines()}
    assert len(lines["linear"].get_ydata()) < 50 < len(lines["measured"].get_ydata())
    assert "left the picture" in [text.get_text() for text in axes.get_legend().get_texts()]
    with pytest.raises(KoopsieveError, match=r"There is no episode 9\. Expected a number from 0 to"):
        plot_simulation(small_result, episode=9)


def test_ticks_are_plain_numbers(small_result):
    for axes in (plot_error_against_horizon(small_result), plot_path(small_result)):
        axes.get_figure().canvas.draw()
        labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        assert not any("mathdefault" in label.get_text() or "e-" in label.get_text() for label in labels)
    axes = plot_error_against_horizon(small_result)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10"]


def test_the_graph_names_every_observable_and_the_inputs(small_result, graph_result):
    shown = {text.get_text() for text in plot_graph(small_result).texts}
    assert {*small_result.retained_names, "u"} <= shown
    assert not set(small_result.dictionary.names) <= shown  # the explanation is of what was kept
    assert set(graph_result.dictionary.names) <= {text.get_text() for text in plot_graph(graph_result).texts}


def test_the_eigenvalues_are_those_of_the_model(small_result):
    axes = plot_eigenvalues(small_result)
    sifted = next(line for line in axes.get_lines() if str(line.get_label()).startswith("sifted"))
    values = small_result.model.eigenvalues
    np.testing.assert_allclose(np.sort(sifted.get_xdata()), np.sort(values.real))
    assert axes.get_title() == ""


@pytest.mark.parametrize("form", ["bilinear_result", "reprojected_result"])
def test_eigenvalues_of_other_forms_are_labelled(form, request):
    assert plot_eigenvalues(request.getfixturevalue(form)).get_title() == "step linearised at the mean state"


def test_the_matrix_is_that_of_the_explanation(any_result):
    axes = plot_inclusion(any_result)
    np.testing.assert_array_equal(axes.get_images()[0].get_array(), any_result.explanation.inclusion)
    bold = {label.get_text() for label in axes.get_yticklabels() if label.get_fontweight() == "bold"}
    assert bool(bold) == any_result.outcome.graph_decides


def test_examples_are_predictions_of_the_judged_data(small_result):
    found = {example.kind: example for example in examples(small_result)}
    judged, errors = small_result.evaluation.data, {}
    for kind, example in found.items():
        k, x, u = example.start, judged.states[0], judged.inputs[0]
        np.testing.assert_array_equal(example.measured[:, 0], x[k : k + 11, 0])
        along = np.concatenate([x[k, 2:], u[k : k + 10, 0]])[:, None]
        predicted = small_result.model.predict(x[k, [1, 0]], along, 10)
        np.testing.assert_allclose(example.predicted["sifted"][1:], predicted, rtol=1e-9)
        assert {values[0, 0] for values in example.predicted.values()} == {example.measured[0, 0]}
        errors[kind] = np.mean((example.predicted["sifted"] - example.measured) ** 2)
    assert errors["best"] < errors["typical"] < errors["worst"]


def test_without_test_data_only_models_that_had_not_learned_from_them_are_drawn():
    result = duffing_result(test=None, methods=False)
    assert result.evaluation.on == "validation"
    example = examples(result)[0]
    assert set(example.predicted) == {"sifted", "everything"}
    x, u = result.evaluation.data.states[example.episode], result.evaluation.data.inputs[example.episode]
    first = result.path.choice.model
    (ahead,) = first.steps(first.start(x[example.start][None]), [u[example.start][None]])
    np.testing.assert_allclose(example.predicted["sifted"][1], first.read(ahead)[0])


def test_a_band_is_drawn_where_there_is_one(small_result):
    example = examples(small_result)[0]
    judged, model = small_result.evaluation.data, small_result.model
    x, u = judged.states[0], judged.inputs[0]
    along = np.concatenate([x[example.start, 2:], u[example.start : example.start + 10, 0]])[:, None]
    wanted = model.predict(x[example.start, [1, 0]], along, 10, level=0.9)
    np.testing.assert_allclose(example.band[0][1:], wanted.lower, rtol=1e-9)
    np.testing.assert_allclose(example.band[1][1:], wanted.upper, rtol=1e-9)
    assert len(plot_prediction(small_result).collections) == 1
    bare = replace(small_result, outcome=replace(small_result.outcome, model=replace(model, calibration=None)))
    assert len(plot_prediction(bare).collections) == 0


def test_a_wrong_name_is_answered_with_those_there_are(small_result):
    with pytest.raises(KoopsieveError, match=r"no output 'z'\. Expected one of y"):
        plot_prediction(small_result, output="z")
    with pytest.raises(KoopsieveError, match=r"no stretch 'average'\. Expected one of typical, best, worst"):
        plot_prediction(small_result, stretch="average")


def test_dollars_in_names_are_not_mathematics(tmp_path):
    result = duffing_result(names=("cost $^", "u$"), methods=False)
    plot_summary(result).savefig(tmp_path / "summary.png", dpi=40)
    save_figure(plot_graph(result), tmp_path / "graph.png", dpi=40)
    assert {path.name for path in tmp_path.iterdir()} == {"summary.png", "graph.png"}


@pytest.fixture(scope="module")
def path():
    drive = random_drive(300, 10, 1.0, 0)
    data = Trajectories.from_arrays(van_der_pol(drive, 0.1), drive, dt=0.1)
    recipe = States() + SquaredExponential(centers=8, coefficients=[0.5])
    return sift(data, recipe, form="linear", horizons=[1, 5], path_length=4).path


def test_every_horizon_has_a_line_of_the_paths_errors(path):
    axes = plot_path(path)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["1 step ahead", "5 steps ahead"]
    for column, container in enumerate(axes.containers):
        np.testing.assert_allclose(container[0].get_xdata(), path.sizes)
        np.testing.assert_allclose(container[0].get_ydata(), path.error[:, column])


def test_the_choice_is_marked_on_the_axes_given(path):
    axes = new_axes(4, 3)
    assert plot_path(path, axes) is axes
    assert axes.get_title() == f"chosen: {path.choice.size} of 10 terms"
    assert path.choice.size in [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]


def test_a_path_of_one_set_has_whole_ticks(graph_result):
    axes = plot_path(graph_result)
    axes.get_figure().canvas.draw()
    size = graph_result.path.choice.size
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(size - 1), str(size), str(size + 1)]


@pytest.fixture(scope="module")
def data():
    drive = random_drive(1500, 10, 1.0, 0)
    noise = 0.05 * np.random.default_rng(0).normal(size=(1501, 2))
    return Trajectories.from_arrays(van_der_pol(drive, 0.1) + noise, drive, dt=0.1)


@pytest.fixture(scope="module")
def result(data):
    recipe = States() + Constant() + SquaredExponential(centers=6, standardize=True)
    return sift(data, recipe, horizons=[1, 5], path_length=3, test=0.3, form="linear")


def test_lines_are_the_shares_that_bands_cover(result):
    axes = plot_coverage(result)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["1 step", "5 steps"]
    lines = [line for line in axes.lines if line.get_label() in texts]
    curve = coverage_curve(result.model, result.evaluation.data, [1, 5])
    for column, line in enumerate(lines):
        np.testing.assert_allclose(line.get_xdata(), curve.levels)
        np.testing.assert_allclose(line.get_ydata(), curve.share[:, column])
    at = curve.levels.index(0.9)
    np.testing.assert_allclose(
        curve.share[at], coverage(result.model, result.evaluation.data, [1, 5]).share.mean(axis=1)
    )
    assert (np.diff(curve.share, axis=0) > 0).all()
    np.testing.assert_allclose(curve.share[:, 0], curve.levels, atol=0.1)


def test_it_draws_where_it_is_told(result):
    axes = new_axes(3, 3)
    assert plot_coverage(result, axes, horizons=[2]) is axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["2 steps"]
    assert axes.get_ylabel() == "share of held-out data inside"


def test_on_the_data_that_bands_were_calibrated_on_it_refuses(data):
    alone = sift(data, States() + Constant(), horizons=[1, 5], path_length=3, form="linear")
    assert alone.coverage is None
    with pytest.raises(KoopsieveError, match="calibrated on the validation data"):
        plot_coverage(alone)
