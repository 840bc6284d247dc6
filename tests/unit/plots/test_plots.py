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


def labelled(axes):
    """Return the lines by their labels, without the number of terms."""
    return {str(line.get_label()).rsplit(" (", 1)[0]: line for line in axes.get_lines()}


def texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def marks(axes, meaning):
    return [line for line in axes.get_lines() if line.get_gid() == meaning]


@pytest.fixture
def wild(small_result):
    """A result whose linear model leaves every picture."""
    linear = small_result.baselines["linear"]
    linear = replace(linear, model=replace(linear.model, A=3.0 * linear.model.A))
    return replace(small_result, baselines={**small_result.baselines, "linear": linear})


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
    parts = ["error against size", "error against horizon", "a typical prediction", "what drives what", "eigenvalues"]
    assert [title.split(" of ")[0] for title in titles] == parts
    figure.savefig(tmp_path / "summary.png", dpi=40)
    assert f"{len(any_result.retained)} of {any_result.path.candidates} terms" in figure.get_suptitle()


def test_the_error_figure_shows_every_model(small_result):
    drawn = labelled(plot_error_against_horizon(small_result))
    for one in contenders(small_result):
        np.testing.assert_allclose(drawn[one.label].get_ydata(), one.errors.mean)
    assert set(drawn) >= {"sifted", "linear", "everything", "persistence", "least squares, kept", "spike and slab, all"}


def test_a_model_that_diverged_is_cut_and_marked(small_result):
    errors = replace(small_result.errors, nmse={"y": np.array([1e-3, np.inf])})
    axes = plot_error_against_horizon(replace(small_result, errors=errors))
    np.testing.assert_array_equal(np.isnan(labelled(axes)["sifted"].get_ydata()), [False, True])
    np.testing.assert_array_equal(marks(axes, "diverged")[0].get_xdata(), [10])
    assert "diverged" in texts(axes)
    assert axes.get_ylim()[1] < 1e3
    axes = new_axes()
    for _ in range(3):
        draw_errors(axes, [1, 10], [0.1, np.inf], "model")
    places = [line.get_transform().transform((10, 0.975))[0] for line in marks(axes, "diverged")]
    assert np.diff(sorted(places)).min() > 5  # marks of several do not hide each other


def test_a_prediction_that_leaves_the_picture_is_cut_and_marked(wild):
    axes = plot_prediction(wild)
    low, high = axes.get_ylim()
    lines = {name: line.get_ydata() for name, line in labelled(axes).items()}
    assert len(lines["linear"]) < len(lines["measured"]) == len(lines["sifted"])
    assert all(low <= value <= high for value in lines["linear"])
    assert len(marks(axes, "left the picture")) == 1


def test_free_runs_are_drawn_along_the_record_and_cut_where_they_leave(small_result, wild):
    lines, data = labelled(plot_simulation(small_result, seconds=5.0)), small_result.evaluation.data
    np.testing.assert_array_equal(lines["measured"].get_ydata(), data.states[0][:101, 0])
    expected = free_run(small_result.model, data.states[0][0], data.inputs[0][:100])[:, 0]
    np.testing.assert_allclose(lines["sifted"].get_ydata()[1:], expected)
    axes = plot_simulation(wild)
    assert len(labelled(axes)["linear"].get_ydata()) < 50 < len(labelled(axes)["measured"].get_ydata())
    assert "left the picture" in texts(axes)


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


def test_the_eigenvalues_are_those_of_the_model(small_result, bilinear_result, reprojected_result):
    axes = plot_eigenvalues(small_result)
    drawn = labelled(axes)["sifted"].get_xdata()
    np.testing.assert_allclose(np.sort(drawn), np.sort(small_result.model.eigenvalues.real))
    assert axes.get_title() == ""
    for other in (bilinear_result, reprojected_result):
        assert plot_eigenvalues(other).get_title() == "step linearised at the mean state"


def test_the_matrix_is_that_of_the_explanation(any_result):
    axes = plot_inclusion(any_result)
    np.testing.assert_array_equal(axes.get_images()[0].get_array(), any_result.explanation.inclusion)
    bold = {label.get_text() for label in axes.get_yticklabels() if label.get_fontweight() == "bold"}
    assert bool(bold) == any_result.outcome.graph_decides


def test_examples_are_predictions_of_the_judged_data_with_bands(small_result):
    judged, model, errors = small_result.evaluation.data, small_result.model, {}
    for example in examples(small_result):
        k, x, u = example.start, judged.states[0], judged.inputs[0]
        np.testing.assert_array_equal(example.measured[:, 0], x[k : k + 11, 0])
        along = np.concatenate([x[k, 2:], u[k : k + 10, 0]])[:, None]
        wanted = model.predict(x[k, [1, 0]], along, 10, level=0.9)
        found = (example.predicted["sifted"], *example.band)
        for mine, theirs in zip(found, (wanted.mean, wanted.lower, wanted.upper), strict=True):
            np.testing.assert_allclose(mine[1:], theirs, rtol=1e-9)
        assert {values[0, 0] for values in example.predicted.values()} == {example.measured[0, 0]}
        errors[example.kind] = np.mean((example.predicted["sifted"] - example.measured) ** 2)
    assert errors["best"] < errors["typical"] < errors["worst"]
    bare = replace(small_result, outcome=replace(small_result.outcome, model=replace(model, calibration=None)))
    assert [len(plot_prediction(one).collections) for one in (small_result, bare)] == [1, 0]


def test_without_test_data_only_models_that_had_not_learned_from_them_are_drawn():
    result = duffing_result(test=None, methods=False)
    assert result.evaluation.on == "validation"
    example = examples(result)[0]
    assert set(example.predicted) == {"sifted", "everything"}
    x, u = result.evaluation.data.states[example.episode], result.evaluation.data.inputs[example.episode]
    first = result.path.choice.model
    (ahead,) = first.steps(first.start(x[example.start][None]), [u[example.start][None]])
    np.testing.assert_allclose(example.predicted["sifted"][1], first.read(ahead)[0])


def test_a_wrong_name_is_answered_with_those_there_are(small_result):
    for asked, message in (
        ({"output": "z"}, r"no output 'z'\. Expected one of y"),
        ({"stretch": "average"}, r"no stretch 'average'\. Expected one of typical, best, worst"),
        ({"episode": 9}, r"There is no episode 9\. Expected a number from 0 to"),
    ):
        with pytest.raises(KoopsieveError, match=message):
            (plot_simulation if "episode" in asked else plot_prediction)(small_result, **asked)


def test_dollars_in_names_are_not_mathematics(tmp_path):
    result = duffing_result(names=("cost $^", "u$"), methods=False)
    plot_summary(result).savefig(tmp_path / "summary.png", dpi=40)
    save_figure(plot_graph(result), tmp_path / "graph.png", dpi=40)
    assert {path.name for path in tmp_path.iterdir()} == {"summary.png", "graph.png"}


@pytest.fixture(scope="module")
def result():
    drive = random_drive(1500, 10, 1.0, 0)
    noise = 0.05 * np.random.default_rng(0).normal(size=(1501, 2))
    data = Trajectories.from_arrays(van_der_pol(drive, 0.1) + noise, drive, dt=0.1)
    recipe = States() + Constant() + SquaredExponential(centers=6, standardize=True)
    return sift(data, recipe, horizons=[1, 5], path_length=3, test=0.3, form="linear")


def test_every_horizon_has_a_line_of_the_paths_errors_and_the_choice_is_marked(result, graph_result):
    path, axes = result.path, new_axes(4, 3)
    assert plot_path(path, axes) is axes
    assert texts(axes) == ["1 step ahead", "5 steps ahead"]
    for column, container in enumerate(axes.containers):
        np.testing.assert_allclose(container[0].get_xdata(), path.sizes)
        np.testing.assert_allclose(container[0].get_ydata(), path.error[:, column])
    assert axes.get_title() == f"chosen: {path.choice.size} of {path.candidates} terms"
    assert path.choice.size in [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    axes, size = plot_path(graph_result), graph_result.path.choice.size
    axes.get_figure().canvas.draw()  # of one set only: whole ticks
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(size - 1), str(size), str(size + 1)]


def test_lines_are_the_shares_that_bands_cover(result):
    axes, data = plot_coverage(result), result.evaluation.data
    assert texts(axes) == ["1 step", "5 steps"]
    lines = [line for line in axes.lines if line.get_label() in texts(axes)]
    curve = coverage_curve(result.model, data, [1, 5])
    for column, line in enumerate(lines):
        np.testing.assert_allclose(line.get_xdata(), curve.levels)
        np.testing.assert_allclose(line.get_ydata(), curve.share[:, column])
    at = curve.levels.index(0.9)
    np.testing.assert_allclose(curve.share[at], coverage(result.model, data, [1, 5]).share.mean(axis=1))
    assert (np.diff(curve.share, axis=0) > 0).all()
    np.testing.assert_allclose(curve.share[:, 0], curve.levels, atol=0.1)
    axes = new_axes(3, 3)
    assert plot_coverage(result, axes, horizons=[2]) is axes
    assert (texts(axes), axes.get_ylabel()) == (["2 steps"], "share of held-out data inside")


def test_on_the_data_that_bands_were_calibrated_on_it_refuses():
    alone = duffing_result(test=None, methods=False)
    assert alone.coverage is None
    with pytest.raises(KoopsieveError, match="calibrated on the validation data"):
        plot_coverage(alone)
