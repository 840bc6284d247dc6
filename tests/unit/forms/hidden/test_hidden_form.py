"""The hidden form end to end: sifted, judged, explained, saved, written."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import (
    Constant,
    HiddenModel,
    HiddenSieve,
    KoopsieveError,
    Model,
    States,
    Trajectories,
    embed_delays,
    sift,
)
from koopsieve.control import KalmanFilter, noise_of
from koopsieve.data import Embedding
from koopsieve.forms.hidden.form import HiddenForm
from koopsieve.forms.hidden.growth import Growth
from koopsieve.forms.hidden.learning import HiddenLearning, Scaling, plain_encoder
from koopsieve.forms.hidden.problem import with_linear
from koopsieve.io.run import summarise
from koopsieve.report import write_report
from koopsieve.sifting.settings import SiftSettings

SHORT = replace(Growth(), higher=replace(Growth().higher, iterations=3))
QUICK = HiddenSieve(states=2, length=80, windows=30, burn=10, growth=SHORT)
DELAYS = Embedding(12, 12)


def wiener(samples, seed=0, units=(1.0, 1.0), names=("y", "u"), noise=1e-3, poles=(0.6, 0.7)):
    """A filter, a bend, and a filter behind it: what is between is not measured."""
    rng = np.random.default_rng(seed)
    u = np.convolve(rng.normal(size=samples + 2), np.ones(3) / np.sqrt(3), "valid")
    y, s, f = np.zeros(samples), 0.0, 0.0
    for k in range(samples):
        y[k] = f
        f = poles[1] * f + (1 - poles[1]) * (s + 0.4 * s**2 - 0.1 * s**3)
        s = poles[0] * s + (1 - poles[0]) * u[k]
    y += noise * rng.normal(size=samples)
    return Trajectories.from_arrays(
        units[0] * y[:, None], units[1] * u[:, None], dt=0.1, state_names=names[:1], input_names=names[1:]
    )


def sifted(data, **more):
    settings = {"form": "hidden", "sieve": QUICK, "delays": DELAYS, "horizons": [1, 10], "path_length": 12} | more
    return sift(data, **settings)


@pytest.fixture(scope="module")
def result():
    return sifted(wiener(1000), test=wiener(600, seed=1))


def test_it_finds_what_delays_do_not_express(result):
    assert isinstance(result.model, HiddenModel)
    assert result.form == "hidden"
    assert result.beats_linear
    assert result.errors.mean[-1] < 0.02 * result.baselines["linear"].errors.mean[-1]
    assert result.n_terms == len(result.retained) == len(result.model.term_names)
    assert result.n_terms < result.path.candidates
    small = [point for point in result.path.points if point.size < result.path.candidates / 3]
    assert min(point.errors.error[-1] for point in small) < 0.02 * result.baselines["linear"].errors.mean[-1]
    assert list(result.path.sizes) == sorted(set(result.path.sizes))
    assert "hidden form" in result.describe()


def test_a_restart_never_makes_a_fit_worse(monkeypatch):
    data = embed_delays(wiener(600), states=12, inputs=12)
    phi = (States() + Constant()).fit(data)
    learned = HiddenLearning.of((data,), phi, Scaling.of(data), 80, 30, 10, 0)
    space = learned.subspace.state_space(2)
    problem, rough = learned.problem(space, 1), plain_encoder(space)
    coef = with_linear(problem.structure.terms, space.rows)
    assert learned.restarted(problem, coef, rough).loss(coef) <= problem.loss(coef)
    monkeypatch.setattr(HiddenLearning, "_regressed", lambda *of: np.full(rough.shape, 1e3))
    assert learned.restarted(problem, coef, rough) is problem


def test_the_linear_start_is_on_the_path(result):
    assert min(np.asarray(point.model.powers).sum(axis=1).max() for point in result.path.points) == 1


def test_predictions_simulations_and_bands(result):
    model, record = result.model, wiener(200, seed=2)
    y, u = record.states[0], np.vstack([record.inputs[0], np.zeros((1, 1))])[:200]
    ahead = model.predict(y[:20], u[:29], 10)
    np.testing.assert_allclose(ahead, model.simulate(y[:20], u[:30]), rtol=1e-12)
    assert np.std(model.simulate(y[:20], u)[:, 0] - y[20:, 0]) < 0.05 * np.std(y)
    banded = model.predict(y[:20], u[:29], 10, level=0.9)
    assert (banded.lower < banded.upper).all()
    assert not banded.outside.any()


def test_the_linearisation_is_the_slope_of_the_step(result):
    model, rng = result.model, np.random.default_rng(0)
    both = rng.normal(size=(4, model.states + 2))

    def step(both):
        return model.advance(both[:, :-1], both[:, -1:])

    around = model.jacobians(both[:, :-1], both[:, -1:])
    slopes = np.concatenate([around.A, around.B], axis=2)
    for i, moved in enumerate(1e-6 * np.eye(model.states + 2)):
        np.testing.assert_allclose(slopes[:, :, i], (step(both + moved) - step(both - moved)) / 2e-6, atol=1e-7)
    np.testing.assert_allclose(np.einsum("pij,pj->pi", slopes, both) + around.offset, step(both), atol=1e-12)


def test_it_is_saved_and_read_again(result, tmp_path):
    result.model.save(tmp_path / "model.npz")
    again = Model.load(tmp_path / "model.npz")
    assert isinstance(again, HiddenModel)
    for name, values in result.model.arrays().items():
        np.testing.assert_array_equal(getattr(again, name), values)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("powers", 0.5, "whole numbers"), ("scale", 0.0, "scale must be above 0"), ("powers", 200.0, "at most 100")],
)
def test_a_model_that_makes_no_sense_is_refused(result, name, value, message):
    with pytest.raises(KoopsieveError, match=message):
        replace(result.model, **{name: np.full_like(getattr(result.model, name), value)})


def test_states_terms_poles_and_encoder_are_shown(result, tmp_path):
    summary = summarise(result)
    assert summary["terms"] == result.n_terms
    assert {"x1", "x2", "y"} == set(summary["coefficients"][0]["coefficient"])
    chances = [p for term in summary["coefficients"] for p in term["probability"].values()]
    assert all(0 <= p <= 1 for p in chances)
    assert sum(p > 0.5 for p in chances) > 3
    assert len(summary["eigenvalues"]["real"]) == result.model.states + 1
    assert {"coef", "encoder"} == set(result.model.matrices())
    assert "x1[k+1] = " in result.model.equations()
    assert "at the start" in result.model.equations()
    write_report(result, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "states that are not measured" in page
    assert "encoder" in page
    assert "hidden form with 2 hidden states" in page
    assert "Coefficients kept" in page
    assert "simulated outputs need the coefficient" in page
    assert (result.model.coef == 0).any()
    assert ">0 <small>p" not in page  # what was sifted out has no probability


def test_a_filter_finds_hidden_states_from_outputs(result):
    model, record = result.model, wiener(300, seed=3, noise=0.02)
    states, acting = DELAYS.embed(record.states[0], record.inputs[0])
    kalman = KalmanFilter(model, noise_of(model, result.outcome.kept), drift=0.0)
    belief = kalman.start(states[0])
    wrong = replace(belief, carried=belief.carried + np.array([1.0, -1.0, 0.0]))
    for x, v in zip(states[1:], acting, strict=True):
        belief, wrong = kalman.update(belief, v, x[:1]), kalman.update(wrong, v, x[:1])
    np.testing.assert_allclose(wrong.carried, belief.carried, atol=0.05)
    assert (kalman.noise.process > 0).all()


def test_units_do_not_matter(result):
    other = sifted(wiener(1000, units=(1e-3, 1e4)), test=wiener(600, seed=1, units=(1e-3, 1e4)))
    # The answer is the same; which larger sizes lie on the path is decided by rounding.
    assert other.model.term_names == result.model.term_names
    np.testing.assert_allclose(other.errors.mean, result.errors.mean, rtol=0.05)


def test_signals_may_have_the_names_of_states():
    found = sifted(wiener(600, names=("x1", "x2")), path_length=4)
    assert found.model.carried_names == ("xx1", "xx2", "x1")


def test_whole_terms_can_be_sifted():
    found = sifted(wiener(1000), sieve=replace(QUICK, by_term=True))
    used = [(point.model.coef != 0).any(axis=0).sum() for point in found.path.points]
    assert min(used) < max(used)
    smallest = found.path.points[1].model
    rows = (smallest.coef != 0)[:, np.asarray(smallest.powers).sum(axis=1) > 0]
    assert rows[:, rows.any(axis=0)].mean() > 0.8  # a term that is left is left everywhere


@pytest.mark.parametrize(("outputs", "inputs"), [(2, 2), (1, 0)])
def test_several_outputs_inputs_and_episodes_or_no_inputs(outputs, inputs):
    rng, episodes = np.random.default_rng(0), []
    for _ in range(4):
        x, u, rows = rng.normal(size=2), rng.normal(size=(300, inputs)), []
        for k in range(300):
            rows.append(x[:outputs] + 1e-4 * rng.normal(size=outputs))
            push = 0.05 * np.resize(u[k], 2) if inputs else np.zeros(2)
            x = x + np.array([0.1 * x[1], 0.1 * (1 - x[0] ** 2) * x[1] - 0.1 * x[0]]) + push  # van der Pol
        episodes.append((np.array(rows), u))
    data = Trajectories.from_arrays([y for y, _ in episodes], [u for _, u in episodes] if inputs else None, dt=0.1)
    found = sifted(data, delays=Embedding(4, 4 if inputs else 0))
    assert found.model.coef.shape[0] == 2 + outputs
    assert np.isfinite(found.errors.mean).all()
    assert found.errors.mean[-1] < 1.2 * found.baselines["linear"].errors.mean[-1]
    assert found.model.predict(episodes[0][0][:10], episodes[0][1][:14] if inputs else None, 5).shape == (5, outputs)


def test_short_records_stay_linear():
    rng = np.random.default_rng(0)
    u = rng.normal(size=250)
    y = np.zeros(250)
    for k in range(249):
        y[k + 1] = 0.8 * y[k] + u[k] + rng.normal()
    data = Trajectories.from_arrays(y[:, None], u[:, None], dt=1.0)
    found = sift(data, form="hidden", delays=Embedding(2, 2), horizons=[1, 10])
    assert found.path.points[found.path.chosen].size <= found.samples["learn"] // 10
    assert found.errors.mean[-1] < 1.2 * found.baselines["linear"].errors.mean[-1]


def test_a_dictionary_would_have_no_effect():
    with pytest.raises(KoopsieveError, match="dictionary has no effect in the hidden form"):
        sift(wiener(300), States(), form="hidden")


def test_the_order_of_outputs_does_not_matter():
    first, second = wiener(700), wiener(700, noise=0.01)
    y = np.hstack([first.states[0], second.states[0] ** 2])
    u = np.vstack([first.inputs[0], np.zeros((1, 1))])[:700]
    runs = []
    for columns in ([0, 1], [1, 0]):
        names = [("a", "b")[i] for i in columns]
        data = Trajectories.from_arrays(y[:, columns], u, dt=0.1, state_names=names)
        runs.append(sifted(data, delays=Embedding(6, 6), path_length=4))
    straight, turned = runs
    assert turned.n_terms == straight.n_terms
    for name in ("a", "b"):
        np.testing.assert_allclose(turned.errors.nmse[name], straight.errors.nmse[name], rtol=1e-4)
    # Further down the path, rounding decides which coefficient is missed least: other versions of NumPy, other sizes.
    np.testing.assert_array_equal(turned.path.sizes[-2:], straight.path.sizes[-2:])


@pytest.mark.parametrize(("noise", "searched"), [(1e-4, True), (0.3, False)])
def test_by_default_it_is_searched_where_free_runs_are_worse_than_the_next_step(monkeypatch, noise, searched):
    monkeypatch.setattr(HiddenForm, "rows_needed", 0)
    data = wiener(1000, noise=noise, poles=(0.9, 0.85))
    found = sift(data, sieve=QUICK, delays=Embedding(2, 2), horizons=[1, 10], path_length=4)
    assert ("hidden" in found.paths) == searched


def test_by_default_short_records_do_not_have_it():
    searched = {rows: [form.name for form in SiftSettings().forms_for(inputs=True, rows=rows)] for rows in (4000, 6000)}
    assert "hidden" not in searched[4000]
    assert "hidden" in searched[6000]


def test_a_search_ends_early_where_short_fits_do_not_beat_other_forms(monkeypatch):
    candidates = HiddenForm.candidates
    monkeypatch.setattr(HiddenForm, "candidates", lambda self, task: candidates(self, replace(task, to_beat=1e-9)))
    assert len(sifted(wiener(600)).path.points) == 1
