"""Few data: folds, the plain linear model as a candidate, and the check of the final model."""

import os
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from koopsieve import Constant, Embedding, Inputs, Monomials, States, Trajectories, embed_delays, sift
from koopsieve.data.splitting import MEMORIES
from koopsieve.evaluate import WindowErrors, free_run, simulation_errors, stays_in_range, window_errors
from koopsieve.evaluate.judgement import LONGEST_RUN, MAX_STEPS
from koopsieve.execution import Threads
from koopsieve.forms import FORMS, LinearModel, PlainLinearForm, Task
from koopsieve.forms.form import SHORT_PATH
from koopsieve.forms.linear.plain import ONE_STEP, OUTPUT_ERROR, arx_model
from koopsieve.forms.path import PathPoint
from koopsieve.forms.task import LONGEST_WINDOW, MAX_WINDOW, window_length
from koopsieve.regression import compress
from koopsieve.sifting.choose import chosen_point
from koopsieve.sifting.folds import fold_errors, judged_again, searched_again, stopped
from koopsieve.sifting.judge import LinearComparison
from koopsieve.sifting.parts import Parts
from koopsieve.sifting.plan import plan_searches
from koopsieve.sifting.search import _chosen, search_all
from koopsieve.sifting.search_results import (
    WORTH_LEAVING_LINEAR,
    FinalModel,
    SearchResult,
    final_models,
    learned_again,
)
from koopsieve.sifting.settings import SiftSettings
from koopsieve.sifting.split import FOLDS, MAX_FOLDED_ROWS, USUAL_MEMORY, divide


def linear_plant(samples=400, noise=0.0, seed=0, feedback=1.5):
    """y[k+1] = a·y[k] − 0.7·y[k-1] + u[k], measured with noise."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=(samples // 5 + 1, 1)), 5, axis=0)[:samples]
    y = np.zeros((samples, 1))
    for k in range(1, samples - 1):
        y[k + 1] = feedback * y[k] - 0.7 * y[k - 1] + u[k]
    return Trajectories.from_arrays(y + noise * np.std(y) * rng.normal(size=y.shape), u, dt=0.1, input_names=["u"])


def stamped(samples=400, episodes=1):
    """Records in which every output is its own number, so that samples can be recognised."""
    numbers = np.arange(float(samples * episodes)).reshape(episodes, samples, 1)
    return Trajectories.from_arrays(list(numbers), list(-1 - numbers), input_names=["u"])


@pytest.mark.parametrize("episodes", [1, 7])
def test_what_a_fold_predicts_is_learned_from_in_no_other_way(episodes):
    parts = divide(stamped(episodes=episodes), SiftSettings(horizons=(1, 5)))
    embedding, deepest = Embedding(1, 1), Embedding(3, 3)
    found = parts.embedded(embedding, deepest)
    assert len(found.folds) == 3
    predicted = [np.concatenate([x[1:, 0] for x in fold.whole.states]) for fold in found.folds]
    for fold, own in zip(found.folds, predicted, strict=True):
        learned = np.concatenate([x.ravel() for x in fold.learn.states])
        assert not np.intersect1d(learned, own).size
    every = np.concatenate([*predicted, np.concatenate([x[1:, 0] for x in found.windows.states])])
    assert len(np.unique(every)) == len(every)
    held = sum(len(x) for x in (*found.validation.states, *found.learn.states))
    assert len(every) > 0.9 * held


def test_many_data_have_no_folds():
    many = linear_plant(2 * MAX_FOLDED_ROWS)
    assert divide(many, SiftSettings(horizons=(1, 5))).cuts == ()
    assert divide(stamped(), SiftSettings(horizons=(1, 5), validation=0.0, dictionary=States())).cuts == ()


def slow_tank(samples, seed=0):
    """A level that follows an inflow slowly: half of its correlation is lost in hundreds of samples."""
    rng = np.random.default_rng(seed)
    u, y = np.repeat(rng.uniform(size=samples // 1000 + 1), 1000)[:samples], np.full(samples, 0.5)
    for k in range(samples - 1):
        y[k + 1] = y[k] + 0.003 * (u[k] - np.sqrt(abs(y[k])))
    return Trajectories.from_arrays(y + 0.01 * y.std() * rng.normal(size=samples), u, dt=0.01)


def test_of_a_plant_that_is_slow_beside_its_sample_time_many_rows_are_few_data():
    data = slow_tank(2 * MAX_FOLDED_ROWS)
    assert data.memory > 2 * USUAL_MEMORY
    parts = divide(data, SiftSettings(horizons=(1, 5)))
    assert len(parts.cuts) == FOLDS
    task = Task(parts.learn, parts.validation, parts.windows, (States() + Constant()).fit(parts.learn), (1, 5))
    memory = parts.windows.memory
    assert MAX_WINDOW < window_length(task) == min(memory, LONGEST_WINDOW, len(parts.learn.inputs[0]) // 4)
    model = arx_model(compress(parts.learn, task.dictionary), task.dictionary)
    runs = simulation_errors(model, parts.windows, least=1)
    assert len(parts.windows) == 1
    assert len(parts.windows.inputs[0]) == len(data.inputs[0]) // 4  # not four short stretches
    assert len(runs) == len(parts.windows.inputs[0]) // min(MEMORIES * memory, LONGEST_RUN)  # not a thousand steps each
    assert min(len(x) for x in task.in_memory[1].states) > MAX_STEPS + 1


def warming_up(samples=1200):
    """A level that starts far below where it is later: the first fold goes beyond what the others show."""
    rng = np.random.default_rng(3)
    u, y = np.repeat(rng.uniform(1, 2, samples // 10), 10), np.zeros(samples)
    for k in range(samples - 1):
        y[k + 1] = y[k] + 0.02 * (u[k] - y[k])
    return Trajectories.from_arrays(y, u, dt=0.1, input_names=["u"])


def test_of_a_fold_counts_what_stays_in_the_range_of_the_rest():
    data = warming_up()
    parts = divide(data, SiftSettings(horizons=(1, 5))).embedded(Embedding(1, 1))
    first, *others = parts.folds
    low = min(x[:, 0].min() for x in first.learn.states)
    beyond = np.flatnonzero(data.states[0][:, 0] < low - 0.06 * np.ptp(data.states[0]))
    assert first.whole.states[0][0, 0] == data.states[0][1, 0] < low / 2
    assert first.windows.states[0][1:, 0].min() >= low - 0.1
    assert len(first.whole.states[0]) - len(first.windows.states[0]) >= len(beyond) - 2 > 20
    np.testing.assert_array_equal(first.windows.states[0], first.whole.states[0][-len(first.windows.states[0]) :])
    assert all(len(one.windows.states[0]) == len(one.whole.states[0]) for one in others)


@pytest.mark.parametrize(("gain", "lost"), [(1.0, False), (1.1, True)])
def test_beyond_the_range_counts_the_model_that_has_learned_of_it_unless_the_other_is_lost_there(gain, lost):
    parts = divide(warming_up(), SiftSettings(horizons=(1, 5))).embedded(Embedding(0))
    fold, phi = parts.folds[0], (States() + Constant()).fit(parts.learn)
    whole, without = (arx_model(compress(data, phi), phi) for data in (parts.learn, fold.learn))
    without = replace(without, A=gain * without.A)
    runs = {model: simulation_errors(model, fold.whole, parts.variance, least=1) for model in (whole, without)}
    errors, found = fold_errors([whole, without, whole, whole], parts)
    ahead = len(simulation_errors(whole, parts.windows, parts.variance, least=1))
    inside = simulation_errors(without, fold.windows, parts.variance, least=1)
    assert bool(runs[without].mean() > 1) is lost
    expected = np.maximum(inside, runs[without].mean()) if lost else inside
    np.testing.assert_array_equal(found[ahead : ahead + len(inside)], expected)
    np.testing.assert_array_equal(found[ahead + len(inside) :][: len(runs[whole])], runs[whole])
    blocks = [
        window_errors(one, data, (1, 5), parts.variance).blocks.shape[1]
        for one, data in ((without, fold.windows), (whole, fold.whole))
    ]
    assert errors.blocks.shape[1] > sum(blocks)


def disturbed_lag(seed, samples=250):
    """A lag of first order with disturbances that are not measured: two terms, and much else that seems to fit."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=(samples // 10 + 1, 1)), 10, axis=0)[:samples]
    y, d = np.zeros((samples, 1)), 0.0
    for k in range(samples - 1):
        d = 0.9 * d + 0.15 * rng.normal()
        y[k + 1] = 0.8 * y[k] + 0.2 * u[k] + 0.2 * d
    return Trajectories.from_arrays(y, u, dt=0.1, input_names=["u"])


def test_sets_that_were_found_with_a_fold_in_view_are_flattered_by_it_and_those_found_without_are_not():
    ratios = []
    for seed in range(1, 4):
        parts = divide(disturbed_lag(seed), SiftSettings(horizons=(1, 10))).embedded(Embedding(2, 2))
        recipe = States(acting=True) + Constant() + Inputs() + Monomials(3, of="states and inputs")
        task = Task(parts.learn, parts.validation, parts.windows, recipe.fit(parts.learn), parts.horizons)
        found = judged_again(FORMS["reprojected"].candidates(task), parts)
        again = searched_again(found, parts, most=8)
        for before, after in zip(found.points, again.points, strict=True):
            if before.size > 8:
                assert after is before
            elif before.size > 2 and np.isfinite(before.runs).all():
                np.testing.assert_allclose(before.runs[:1], after.runs[:1])  # on the validation data it is the same
                ratios.append(after.runs[1:].mean() / before.runs[1:].mean())
    assert len(ratios) >= 8
    assert np.exp(np.log(ratios).mean()) > np.sqrt(1.2)  # those found without are 1.2 times worse


def test_the_number_of_cores_changes_no_digit(monkeypatch):
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)), raising=False)
        assert Threads().workers == cores
        found.append(sift(disturbed_lag(1), form="reprojected", horizons=[1, 10]))
    one, other = found
    assert one.samples["folds"] == 3
    assert [repr(row) for row in one.searches] == [repr(row) for row in other.searches]
    np.testing.assert_array_equal(one.model.coef, other.model.coef)


def test_output_error_is_not_biased_by_noise_in_the_outputs():
    noisy, clean = embed_delays(linear_plant(800, noise=0.2), 1, 1), linear_plant(800, seed=1)
    learn, held = noisy.split(0.75)
    task = Task(learn, held, held, (States() + Constant()).fit(learn), (1, 10))
    found = PlainLinearForm().candidates(task)
    models = {point.refit: point.model for point in found.points}
    assert list(models) == [ONE_STEP, OUTPUT_ERROR]
    again = found.refitted([0, 1], noisy)
    one_step, *simulated = (simulation_errors(one, clean).mean() for one in (*models.values(), again[1]))
    assert max(simulated) < 0.1 * one_step
    names = models[OUTPUT_ERROR].dictionary.names
    assert models[OUTPUT_ERROR].A[0, names.index("x1")] == pytest.approx(1.5, abs=0.1)


def test_of_a_linear_plant_the_plain_linear_model_is_returned_and_said_to_be_no_better_on_test_data():
    result = sift(linear_plant(noise=0.02), test=linear_plant(noise=0.02, seed=3), horizons=[1, 10])
    assert result.form == "linear"
    assert set(result.retained_names) <= set(result.dictionary.state_names) | {"1"}
    first, last = result.beside_linear
    assert first.same
    assert last.same
    assert last.on == "test"
    assert not result.beats_linear
    assert "nothing was clearly better" in result.describe()
    np.testing.assert_allclose(result.gain_over_linear, 1.0)


def test_errors_on_the_validation_data_alone_are_told_from_those_with_the_folds():
    data, few = linear_plant(noise=0.02), {"delays": Embedding(1, 1), "form": "linear", "horizons": [1, 10]}
    said = sift(data, States() + Constant(), **few).describe()
    assert "NMSE on validation data alone, without the folds:" in said
    assert "NMSE on test data:" in sift(data, States() + Constant(), test=linear_plant(seed=3), **few).describe()


def searched(data, **settings):
    asked = SiftSettings(horizons=(1, 10), path_length=6, delays=Embedding(1, 1), **settings)
    parts = divide(data, asked)
    return search_all(plan_searches(parts, asked), parts, asked).best


@pytest.fixture
def products():
    """The best of a search for products, of a linear plant."""
    return searched(linear_plant(noise=0.02), dictionary=States() + Constant() + Monomials(2))


def bent_plant(bend, samples=400, noise=0.02):
    """The linear plant, its output bent by a cubic term on the way back."""
    data = linear_plant(samples)
    u, y = data.inputs[0], np.zeros((samples, 1))
    for k in range(1, samples - 1):
        y[k + 1] = 1.5 * y[k] - 0.7 * y[k - 1] - bend * y[k] ** 3 + u[k]
    return replace(data, states=(y + noise * np.std(y) * np.random.default_rng(5).normal(size=y.shape),))


@pytest.mark.parametrize(("bend", "outlier", "linear"), [(0.0, 0.0, True), (0.02, 0.0, False), (0.02, 500.0, False)])
def test_what_is_hardly_better_along_all_data_gives_way_to_the_plain_linear_model(bend, outlier, linear):
    data, recipe = bent_plant(bend), States() + Constant() + Inputs() + Monomials(3)
    data.states[0][150] += outlier  # the largest error of both models, as far as their means show
    asked = SiftSettings(horizons=(1, 10), path_length=6, delays=Embedding(1, 1), dictionary=recipe)
    parts = divide(data, asked)
    found = search_all(plan_searches(parts, asked), parts, asked)
    lifted = next(one for one in found.every if one.path.form == "reprojected")
    vars(found)["best"] = lifted  # as if it had been the best on the held-out data
    taken, plain = final_models(found)
    assert plain.search.plain
    assert (taken.search is plain.search) == linear
    assert (taken.search is lifted) == (not linear)
    assert ("reprojected form was better on the validation data" in taken.outcome.status) == linear
    assert (plain.typical_score - FinalModel.of(lifted).typical_score < WORTH_LEAVING_LINEAR) == linear
    assert found.paths(taken.search)[taken.form] is taken.search.path
    few = replace(plain.search, found=replace(plain.search.found, task=replace(plain.search.found.task, max_terms=1)))
    other = replace(found, every=tuple(few if one is plain.search else one for one in found.every))
    vars(other)["best"] = lifted
    assert final_models(other)[0].search is lifted  # the linear model has more terms than were asked for


def test_what_is_further_from_the_data_in_runs_from_end_to_end_gives_way_to_the_plain_linear_model(monkeypatch):
    asked = SiftSettings(
        horizons=(1, 10),
        path_length=6,
        delays=Embedding(1, 1),
        dictionary=States() + Constant() + Inputs() + Monomials(3),
    )
    parts = divide(bent_plant(0.02), asked)
    found = search_all(plan_searches(parts, asked), parts, asked)
    assert final_models(found)[0].form == "reprojected"
    monkeypatch.setattr(Parts, "end_to_end", lambda parts, model: 0.1 if model.form == "linear" else 0.2)
    taken, plain = final_models(found)
    assert taken.search is plain.search
    assert "But in runs from end to end of the record" in taken.outcome.status
    monkeypatch.setattr(Parts, "end_to_end", lambda parts, model: 1.1 if model.form == "linear" else 1.9)
    assert final_models(found)[0].form == "reprojected"  # beyond the variance, long runs tell nothing


def test_runs_from_end_to_end_are_as_long_as_the_record():
    data, delays = slow_tank(9000), Embedding(0)
    parts = divide(data, SiftSettings(horizons=(1, 5))).embedded(delays)
    phi = (States() + Constant()).fit(parts.learn)
    model = arx_model(compress(parts.learn, phi), phi)
    x, u = parts.learn.states[0], parts.learn.inputs[0]
    whole = np.mean((free_run(model, x[0], u) - x[1:]) ** 2) / parts.variance[0]
    assert len(u) > LONGEST_RUN
    assert parts.end_to_end(model) == pytest.approx(whole)


def test_a_model_that_is_worse_after_it_learned_from_all_data_is_not_returned(products, monkeypatch):
    assert learned_again(products).model is not products.path.choice.model
    relearn = type(products.found).relearn

    def spoiled(self, chosen):
        outcome = relearn(self, chosen)
        return replace(outcome, model=replace(outcome.model, A=0.5 * outcome.model.A))

    monkeypatch.setattr(type(products.found), "relearn", spoiled)
    kept = learned_again(products)
    assert kept.model is products.path.choice.model
    assert "the one that was judged" in kept.status


def lag_that_comes_to_rest(seed, samples=250, rest=True):
    """A slow lag whose input is zero from before the held-out quarter on."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=(samples // 10 + 1, 1)), 10, axis=0)[:samples]
    u[3 * samples // 4 - 40 if rest else samples :] = 0.0
    y, d = np.zeros((samples, 1)), 0.0
    for k in range(samples - 1):
        d = 0.9 * d + 0.15 * rng.normal()
        y[k + 1] = 0.9 * y[k] + 0.1 * u[k] + 0.03 * d
    return Trajectories.from_arrays(y, u, dt=0.1, input_names=["u"])


@pytest.mark.parametrize("seed", [1, 4])
def test_a_held_out_part_at_rest_does_not_keep_a_model_from_learning_from_all_data(seed):
    data, clean = lag_that_comes_to_rest(seed), lag_that_comes_to_rest(seed + 100, 1000, rest=False)
    asked = SiftSettings(dictionary=States() + Constant(), delays=Embedding(2, 2), form="linear")
    parts = divide(data, asked)
    best = search_all(plan_searches(parts, asked), parts, asked).best
    both = best.path.choice.model, learned_again(best).model
    before, after = (simulation_errors(one, clean).mean() for one in both)
    assert after < 0.8 * before


def logged_under_feedback(seed, samples=400):
    """A linear plant with a pole at 1.08 that a controller holds, measured with noise."""
    rng = np.random.default_rng(seed)
    goal, u, y = np.repeat(rng.uniform(-1, 1, samples // 20), 20), np.zeros((samples, 1)), np.zeros((samples, 1))
    for k in range(2, samples):
        y[k] = 1.78 * y[k - 1] - 0.756 * y[k - 2] + 0.3 * u[k - 1] + 0.1 * u[k - 2]
        u[k] = 1.6 * (goal[k] - y[k, 0]) - 1.5 * (y[k] - y[k - 1]) + 0.1 * rng.normal()
    return Trajectories.from_arrays(y + 0.01 * np.std(y) * rng.normal(size=y.shape), u, dt=0.1, input_names=["u"])


@pytest.mark.parametrize("seed", [1, 2])
def test_a_model_of_an_unstable_plant_learns_from_all_data_though_both_leave_their_range(seed):
    parts = divide(logged_under_feedback(seed), SiftSettings()).embedded(Embedding(8, 8))
    task = Task(parts.learn, parts.validation, parts.windows, (States() + Constant()).fit(parts.learn), parts.horizons)
    found = judged_again(PlainLinearForm().candidates(task), parts)
    before, again = found.points[0].model, learned_again(SearchResult(parts, found, 0, None))
    assert before.spectral_radius > 1.05
    assert again.model is not before
    assert not again.status


def plain_candidates(data):
    parts = divide(data, SiftSettings(horizons=(1, 10))).embedded(Embedding(1, 1))
    phi = (States() + Constant()).fit(parts.learn)
    task = Task(parts.learn, parts.validation, parts.windows, phi, parts.horizons)
    return PlainLinearForm().candidates(task), parts


@pytest.mark.parametrize("least", [np.inf, -np.inf])
def test_points_that_another_search_beats_by_far_are_not_cross_validated(least):
    found, parts = plain_candidates(linear_plant(noise=0.02))
    points = judged_again(found, parts, least).points
    finite = [np.isfinite(point.errors.blocks).all() for point in points]
    assert sum(finite) == (len(points) if least > 0 else 1)
    assert all(np.isfinite(point.errors.error).all() for point in points)  # what the report shows
    assert len({point.errors.blocks.shape for point in points}) == 1


def test_points_that_are_clearly_worse_stop_before_the_last_fold(products, monkeypatch):
    found, parts = products.found, products.parts
    assert len(parts.folds) > 1
    fitted, refitted = [], type(found).refitted

    def counted(self, chosen, data):
        fitted.append(list(chosen))
        return refitted(self, chosen, data)

    monkeypatch.setattr(type(found), "refitted", counted)
    fresh = replace(found, points=tuple(found.form.candidates(found.task).points))
    points = judged_again(fresh, parts).points
    assert all(set(later) <= set(former) for former, later in pairwise(fitted))
    kept = points[chosen_point(points)]
    assert np.isfinite(kept.errors.blocks).all()
    rival = replace(kept, errors=replace(kept.errors, blocks=1e-4 * kept.errors.blocks), runs=1e-4 * kept.runs)
    fitted.clear()
    points = judged_again(fresh, parts, rival=rival).points
    assert [len(one) for one in fitted] == [1] * len(parts.folds)  # the best of the path is always judged
    assert len({point.errors.blocks.shape for point in points}) == 1


def test_the_error_of_a_point_that_stopped_can_be_compared_with_that_of_one_that_did_not():
    easy, hard = np.full((1, 2), 0.01), np.full((1, 6), 0.09)

    def point(blocks):
        errors = WindowErrors((10,), blocks.mean(axis=1), np.array([0.001]), blocks)
        return PathPoint(np.array([0]), ("y",), np.nan, errors, np.full(blocks.shape[1], 0.1), None, "")

    judged, twice = point(np.hstack([easy, hard])), point(2 * easy)  # the folds are harder than the validation data
    shown = stopped(twice, judged)
    np.testing.assert_allclose(shown.errors.error, 2 * judged.errors.error)
    np.testing.assert_allclose(shown.errors.standard_error, 0.007)
    assert np.isinf(shown.errors.blocks[:, 2:]).all()
    assert np.isinf(shown.runs[2:]).all()
    assert stopped(judged, judged) is judged


def test_a_model_that_cannot_be_simulated_is_marked():
    data = linear_plant()
    best = searched(data, dictionary=States() + Constant())
    point = best.path.choice
    assert point.bounded
    wild = replace(point, model=replace(point.model, A=1.3 * point.model.A))
    assert not stays_in_range(wild.model, data, 1.0)
    (judged,) = judged_again(replace(best.found, points=(wild,)), replace(best.parts, folds=())).points
    assert not judged.bounded
    assert "leaves the range" in replace(best.path, points=(judged,), chosen=0).describe()


def unstable_plant():
    """y[k+1] = 1.2·y[k] + u[k], held by a feedback of the newest output."""
    rng = np.random.default_rng(0)
    y, u = np.zeros((1500, 1)), rng.normal(size=(1500, 1))
    for k in range(1499):
        u[k] -= 0.9 * y[k]
        y[k + 1] = 1.2 * y[k] + u[k] + 0.1 * rng.normal()
    u[-1] -= 0.9 * y[-1]
    return Trajectories.from_arrays(y, u, dt=0.1)


@pytest.mark.parametrize("asked", [{}, {"dictionary": States() + Constant() + Monomials(2), "form": "bilinear"}])
def test_an_unstable_plant_logged_under_feedback_is_not_called_stable(asked):
    """With a dictionary of the user's own the plain linear model is no candidate."""
    found = sift(unstable_plant(), delays=Embedding(), horizons=[1, 10, 50], **asked)
    slope = found.model.linearise([[0.0]], [[0.0]]).A
    assert slope.ravel()[0] == pytest.approx(1.2, abs=0.05)
    assert found.unstable == ("logged under feedback" in found.describe())


@pytest.mark.parametrize(
    ("samples", "horizons", "said"),
    [(60, [1, 10], "samples are few"), (30, [1], "30 samples are few for predictions 1 step ahead")],
)
def test_few_samples_are_said_to_be_few(samples, horizons, said):
    found = sift(linear_plant(samples), States() + Constant(), form="linear", horizons=horizons, validation=0.3)
    assert said in found.describe()


def test_outputs_that_are_predicted_worse_than_by_their_mean_are_named():
    def record(seed, shift):
        rng, plant = np.random.default_rng(seed), linear_plant(300, noise=0.02, seed=seed)
        noise = shift + rng.normal(size=(300, 1))  # nobody can predict it, and its mean moves
        y = np.hstack([plant.states[0], noise])
        return Trajectories.from_arrays(y, plant.inputs[0], dt=0.1, state_names=["level", "noise"])

    found = sift(record(0, 0.0), States() + Constant(), form="linear", horizons=[1, 5], test=record(1, 3.0))
    assert found.errors.mean[-1] > 1 > found.errors.nmse["level"][-1]
    assert "At 5 steps it predicts noise worse than the mean would." in found.describe()


def integrator(data, slope):
    """y[k+1] = y[k] + slope, whatever the input."""
    phi = (States() + Constant()).fit(data)
    return LinearModel(np.array([[1.0, slope], [0.0, 1.0]]), np.zeros((2, 1)), np.array([[1.0, 0.0]]), phi)


def test_a_model_that_drifts_in_long_runs_only_is_found_out():
    wave = np.sin(2 * np.pi * np.arange(500) / 25)
    data = Trajectories.from_arrays(wave, np.cos(wave), input_names=["u"])
    parts = divide(data, SiftSettings(horizons=(1, 10)))
    still, drifting = integrator(data, 0.0), integrator(data, 4.0 / 500)
    assert simulation_errors(drifting, parts.windows).mean() < 3  # too short to show it
    assert parts.drifts(drifting)
    assert not parts.drifts(still)


def test_long_runs_see_nothing_of_the_test_data():
    parts = divide(stamped(400), SiftSettings(horizons=(1, 5), test=0.25))
    judged = np.concatenate([x[:, 0] for x in parts.evaluation.data.states])
    assert not np.intersect1d(parts.uncut.states[0][:, 0], judged).size
    assert parts.uncut.n_samples > parts.learn.n_samples


def test_a_model_that_grows_slowly_is_found_out_along_the_whole_record():
    wave = 1 + np.sin(2 * np.pi * np.arange(15_000) / 25)
    data = Trajectories.from_arrays(wave, np.cos(wave), input_names=["u"])
    parts = divide(data, SiftSettings(horizons=(1, 10)))
    phi = integrator(data, 0.0).dictionary
    still, growing = (
        LinearModel(np.diag([pole, 1.0]), np.zeros((2, 1)), np.array([[1.0, 0.0]]), phi) for pole in (1.0, 1.0008)
    )
    assert not parts.drifts(growing)  # a thousand steps are too few
    assert parts.runs_away(growing)
    assert not parts.runs_away(still)


def test_a_point_that_runs_away_is_not_chosen(monkeypatch):
    found, parts = plain_candidates(linear_plant())
    found = judged_again(found, parts)
    _, usual = _chosen(found, parts, None)
    away = found.points[usual].model
    monkeypatch.setattr(Parts, "runs_away", lambda self, model: model is away)
    marked, other = _chosen(found, parts, None)
    assert other != usual
    assert [point.bounded for point in marked.points].count(False) == 1


def hardening(samples=600):
    """y[k+1] = 1.5·y[k] − 0.7·y[k-1] − 0.1·y[k]³ + 0.3·u[k]: no linear model comes near."""
    rng = np.random.default_rng(0)
    u = np.repeat(rng.uniform(-1, 1, (samples // 5 + 1, 1)), 5, axis=0)[:samples]
    y = np.zeros((samples, 1))
    for k in range(1, samples - 1):
        y[k + 1] = 1.5 * y[k] - 0.7 * y[k - 1] - 0.1 * y[k] ** 3 + 0.3 * u[k]
    return Trajectories.from_arrays(y + 0.001 * rng.normal(size=y.shape), u, input_names=["u"])


def test_a_form_that_is_far_behind_has_a_short_path_and_is_not_fitted_to_the_folds():
    asked = SiftSettings(horizons=(1, 10), path_length=12, delays=Embedding(1, 1), dictionary=States() + Monomials(3))
    parts = divide(hardening(), asked)
    found = search_all(plan_searches(parts, asked), parts, asked)
    best, (linear,) = found.best, [one for one in found.every if one.found.form.name == "linear" and not one.plain]
    assert best.found.form.name == "reprojected"
    assert np.isfinite(best.path.choice.runs).all()
    assert len(linear.path.points) <= SHORT_PATH + 1  # with the plain linear set
    assert np.isfinite(linear.summary.runs).all()
    for point in linear.path.points:
        assert np.isinf(point.runs[len(linear.summary.runs) :]).all()
        assert point.runs.shape == best.path.choice.runs.shape
    assert all(np.isfinite(one.path.choice.runs).all() for one in found.every if one.plain)


def test_delays_with_which_linear_models_are_hopeless_are_not_tried():
    asked = SiftSettings(horizons=(1, 10))
    data = linear_plant(800, noise=0.001)
    plan = plan_searches(divide(data, asked), asked)
    tried = {one.embedding.state_delays for one in plan.preliminary if one.form == "reprojected"}
    assert 0 in {one.embedding.state_delays for one in plan.preliminary if one.form == "linear"}
    assert 0 not in tried  # an oscillator has two states
    assert 1 in tried


def test_one_block_gives_no_interval():
    alone = WindowErrors((1,), np.array([0.5]), np.array([np.nan]), np.array([[0.5]]))
    assert "too few to tell" in LinearComparison("validation", alone, alone).describe()


def test_a_ratio_close_to_one_shows_on_which_side_it_lies():
    blocks = 0.5 + 1e-7 * np.arange(8.0)[None]
    linear, mine = (WindowErrors((1,), np.array([0.5]), np.array([0.0]), factor * blocks) for factor in (1.0, 1.0004))
    assert (
        "is larger than that of the best plain linear model: 1.0004 to 1.0004 times"
        in LinearComparison("test", mine, linear).describe()
    )
    assert (
        "is less than that of the best plain linear model: 0.9996 to 0.9996 times"
        in LinearComparison("test", linear, mine).describe()
    )


def test_what_has_no_inputs_was_not_logged_under_feedback():
    """Prey and predators that follow a cycle: linear models that grow predict the next sample best."""
    (prey, predators), y = np.random.default_rng([3, 1, 0]).uniform(0.5, 1.5, 2), np.zeros((250, 2))
    for k in range(250):
        y[k] = prey, predators
        for _ in range(20):
            prey += 0.01 * prey * (1.1 * (1 - prey / 4) - predators / (0.3 + prey))
            predators += 0.01 * predators * (-0.35 + prey / (0.6 + prey))
    delays = [Embedding(0), Embedding(1), Embedding(2)]
    found = sift(Trajectories.from_arrays(y[100:], dt=0.2), States() + Constant(), delays=delays, horizons=[1, 10])
    assert not found.unstable
    assert "feedback" not in found.describe()
