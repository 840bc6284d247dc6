"""The path: its choice, its errors, its refits, and what it says."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import GraphSieve, HorizonLeastSquares, HorizonSieve, KoopsieveError, LeastSquares, LinearModel, sift
from koopsieve._display import number
from koopsieve.data import Trajectories
from koopsieve.dictionary import Constant, Monomials, SquaredExponential, States
from koopsieve.evaluate import WindowErrors, horizon_nmse, stays_in_range
from koopsieve.forms.form import short_or_whole
from koopsieve.forms.linear.refits import Refitter, default_refits
from koopsieve.forms.reprojected.model import ReprojectedModel
from koopsieve.forms.task import Task, filled
from koopsieve.regression import compress
from koopsieve.sifting.choose import Evidence, choose
from koopsieve.sifting.search_results import NOT_LEARNED_AGAIN
from koopsieve.systems import random_drive, van_der_pol

RECIPE = States() + SquaredExponential(centers=20, coefficients=[0.5], standardize=True)


def oscillator(samples=500, seed=0, noise=0.01):
    rng = np.random.default_rng(seed)
    drive = random_drive(samples, 10, 1.0, rng)
    x = van_der_pol(drive, 0.1)
    return Trajectories.from_arrays(x + noise * rng.normal(size=x.shape), drive, dt=0.1)


@pytest.fixture(scope="module")
def result():
    return sift(oscillator(), RECIPE, sieve=HorizonSieve(), horizons=[1, 5, 10], path_length=6, form="linear")


@pytest.fixture(scope="module")
def path(result):
    return result.path


def test_sizes_grow_from_the_outputs_to_everything_and_each_is_a_whole_model(path, result):
    assert path.sizes[0] == 2
    assert path.sizes[-1] == 22
    assert np.all(np.diff(path.sizes) > 0)
    assert path.error.shape == path.standard_error.shape == (len(path.points), 3)
    assert path.elbo.shape == (len(path.points),)
    inputs = random_drive(1000, 10, 1.0, 3)
    for point in path.points:
        assert point.model.names == point.names == tuple(result.dictionary.names[i] for i in point.retained)
        assert np.isfinite(point.errors.error).all()
        assert np.isfinite(point.model.predict([1.0, 0.0], inputs, 1000)).all()
    assert len({point.errors.blocks.shape for point in path.points}) == 1


def test_with_one_held_out_part_the_errors_are_those_of_the_model_there():
    data = oscillator(6800)
    found = sift(data, States() + Constant(), horizons=[1, 5], form="linear", path_length=4)
    for point in found.path.points:
        direct = np.mean(list(horizon_nmse(point.model, found.evaluation.data, [1, 5]).values()), axis=0)
        np.testing.assert_allclose(point.errors.error, direct, rtol=1e-9)


def test_the_choice_is_that_of_the_rule(path):
    assert path.chosen == choose(Evidence.of(path.points))
    assert path.retained_names == path.choice.names
    assert f"{path.choice.size} of 22 candidates kept" in path.describe()


def test_validation_is_a_quarter_that_no_window_shares(result):
    learn, judge = oscillator().split(0.75)
    assert result.evaluation.on == "validation"
    np.testing.assert_array_equal(result.evaluation.data.states[0], judge.states[0])
    explicit = sift(learn, RECIPE, validation=judge, horizons=[1, 5, 10], path_length=6, form="linear")
    np.testing.assert_allclose(explicit.path.error, result.path.error)


def test_more_than_a_quarter_is_explained(path):
    small = next(i for i, point in enumerate(path.points) if point.size > 22 / 4) - 1
    more = replace(path, chosen=len(path.points) - 1)
    change = np.log(path.points[small].errors.blocks) - np.log(path.points[-1].errors.blocks)
    change = change[:, np.isfinite(change).all(axis=0)].mean(axis=1)  # it stopped where it was clearly worse
    worst = change.argmax()
    assert f"With {path.points[small].size} the error" in more.why_large
    assert f"{number(np.exp(change[worst]))} times as large at horizon {path.horizons[worst]}" in more.why_large
    assert more.why_large in more.describe()
    assert replace(path, chosen=small).why_large == ""
    no_worse = [replace(one, errors=path.points[-1].errors) for one in path.points]
    plain = "That is more than a quarter of the candidates."
    assert replace(more, points=tuple(no_worse)).why_large.startswith(plain)
    no_worse = [
        replace(one, runs=np.full(3, factor)) for factor, one in zip(range(len(no_worse), 0, -1), no_worse, strict=True)
    ]
    runs = f"{plain} With {path.points[small].size} the error would be larger in free runs only."
    assert replace(more, points=tuple(no_worse)).why_large == runs
    no_worse = [replace(one, runs=np.ones(3)) for one in no_worse]
    assert replace(more, points=tuple(no_worse)).why_large == plain
    largest = replace(path, points=path.points[-1:], chosen=0)
    assert "no smaller set" in replace(largest, candidates=largest.choice.size + 1).why_large
    assert replace(largest, candidates=largest.choice.size).why_large == ""  # nothing was sifted


def test_the_model_has_learned_from_the_uncut_record_or_is_the_one_that_was_judged(result):
    longer = oscillator(800)
    found = sift(longer, RECIPE, sieve=HorizonSieve(), horizons=[1, 5, 10], path_length=6, form="linear")
    phi = found.dictionary.select(found.path.retained)
    uncut = compress(longer, phi, horizons=filled(found.path.horizons))
    model = LinearModel.from_estimate(default_refits()[found.path.choice.refit].identify(uncut), phi)
    np.testing.assert_allclose(found.model.A, model.A, atol=1e-4)
    assert np.abs(found.model.A - found.path.choice.model.A).max() > 1e-6
    assert NOT_LEARNED_AGAIN not in found.remarks
    assert NOT_LEARNED_AGAIN in result.remarks  # of these 500 samples the uncut fit loses long runs
    np.testing.assert_array_equal(result.model.A, result.path.choice.model.A)


@pytest.mark.parametrize("settings", [{"sieve": HorizonSieve(), "path_length": 3}, {"sieve": GraphSieve()}])
def test_every_sieve_takes_the_refit_over_horizons_and_shows_its_progress(settings):
    seen, refit = {}, {"over the horizons": HorizonLeastSquares()}

    def watch(items, description, total):
        items = list(items)
        seen[description] = (len(items), total)
        return items

    asked = {"refits": refit, "horizons": [1, 5], "form": "linear", "progress": watch, **settings}
    found = sift(oscillator(200), RECIPE, **asked)
    assert {point.refit for point in found.path.points} == set(refit)
    if "path_length" in settings:
        assert seen["Searching"][0] == seen["Searching"][1] >= 4
        assert "Refitting" in seen
    else:
        assert "Inferring" in seen


def test_a_diverging_model_scores_worst():
    good, bad = (
        WindowErrors((1, 10), np.array(e), np.zeros(2), np.zeros((2, 1))) for e in ([0.1, 0.2], [0.01, np.inf])
    )
    assert good.score(0.5) < bad.score(0.5) == np.inf
    np.testing.assert_allclose(good.score(1.0), (np.log(0.1) + 10 * np.log(0.2)) / 11)


@pytest.mark.parametrize(
    ("growth", "settings", "radius", "status"),
    [
        (1.1, {}, (1.05, 1.2), "Not stabilised"),  # refused where it costs
        (2.5, {}, (0.0, 1 + 1e-9), "Stabilised"),  # forced where a thousand steps would overflow
        (2.5, {"stable": False}, (2.0, 3.0), ""),
    ],
)
def test_stability_is_weighed_against_what_it_costs_and_said(growth, settings, radius, status):
    x = growth ** np.arange(40)[:, None] + 0.001 * np.random.default_rng(0).normal(size=(40, 1))
    data = Trajectories.from_arrays(x)
    phi = States().fit(data)
    refitter = Refitter(data, (1, 3), {"one step": LeastSquares()}, **settings)
    refitted = refitter(compress(data, phi, horizons=[1, 3]), phi)
    assert radius[0] < refitted.model.spectral_radius <= radius[1]
    assert refitted.status.startswith(status)
    assert bool(refitted.status) == bool(status)


def test_the_refit_that_predicts_best_is_taken():
    learn, judge = oscillator().split(0.75)
    kept = [0, 1, 4, 9, 12]
    phi = RECIPE.fit(learn)
    statistics, phi = compress(learn, phi, horizons=[1, 5, 20]).select(kept), phi.select(kept)
    alone = {
        name: Refitter(judge, (1, 5, 20), {name: refit})(statistics, phi).errors
        for name, refit in default_refits().items()
    }
    both = Refitter(judge, (1, 5, 20), default_refits())(statistics, phi)
    assert both.errors.score(0.5) == min(one.score(0.5) for one in alone.values())
    assert alone["least squares over horizons"].error[-1] < alone["least squares"].error[-1]


@pytest.mark.parametrize(("wrong", "message"), [({"path_length": 1}, "path_length"), ({"horizons": []}, "horizons")])
def test_what_cannot_be_a_path_is_refused(wrong, message):
    with pytest.raises(KoopsieveError, match=message):
        sift(oscillator(100), States(), **wrong, form="linear")


def test_a_choice_that_leaves_the_range_says_so(path):
    points = tuple(replace(point, in_range=False) for point in path.points)
    assert "do not use it with larger inputs" in replace(path, points=points).describe()
    assert path.range_warning == ""


def test_the_learning_part_is_asked_too_whether_a_model_stays_in_range():
    rng = np.random.default_rng(0)
    u = np.repeat(rng.uniform(-1, 1, size=20), 30)
    u[300:] *= 0.3  # the second half is quiet, and what happens beyond it lies within the first
    y = np.zeros(601)
    for k in range(600):
        y[k + 1] = 0.8 * y[k] + 0.045 * y[k] ** 3 + 0.15 * u[k]  # runs away with inputs above 1.1
    data = Trajectories.from_arrays(y[:, None], u[:, None], dt=0.1)
    phi = (States() + Constant() + Monomials(3)).fit(data)
    coef = np.array([[{"x1": 0.8, "x1^3": 0.045, "u1": 0.15}.get(name, 0.0)] for name in phi.regressors])
    model = ReprojectedModel(coef, phi, np.array([[-1.0, -1.0], [1.0, 1.0]]), np.array([[-1e6], [1e6]]))
    loud, quiet = data.stretches([(0, 0, 301)]), data.stretches([(0, 301, 601)])
    assert stays_in_range(model, quiet)
    assert not Task(loud, quiet, quiet, phi, (1, 5)).stays_in_range(model)
    assert Task(quiet, quiet, quiet, phi, (1, 5)).stays_in_range(model)


@pytest.mark.parametrize(("rivals", "beaten", "lengths"), [(0, True, [12]), (1, True, [5]), (1, False, [5, 12])])
def test_a_path_is_short_where_another_search_is_far_better(path, rivals, beaten, lengths):
    data = oscillator(100)
    asked = Task(data, data, data, States().fit(data), (1,), path_length=12)
    task = replace(asked, rivals=path.points[:rivals], worse=lambda points, others: beaten)
    tried = []

    def search(length):
        tried.append(length)
        return path

    assert short_or_whole(task, search) is path
    assert tried == lengths
