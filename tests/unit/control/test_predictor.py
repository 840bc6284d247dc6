"""A model beside a plant: one sample at a time, tested, and refitted where the plant changed."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import calibrate, compress
from koopsieve._types import KoopsieveError
from koopsieve.control import Predictor
from koopsieve.control.predictor import Adaptation
from koopsieve.data import Embedding
from tests.unit.export.models import EMBEDDINGS, FORMS, names_of, pendulum_model
from tests.unit.export.plant import plant_model, plant_step, record

NOISE = 0.02


def known_model(form):
    """The plant's model in a form, with support and noise."""
    model, held = plant_model(form, noise=NOISE), record(600, seed=8, noise=NOISE)
    return calibrate(model, held, horizon=5, statistics=compress(record(noise=NOISE), model.dictionary))


def watched(predictor, samples, bend=0.3, push=0.0, seed=3, noise=NOISE, spoil=lambda k, y: y):
    rng, x = np.random.default_rng(seed), np.array([0.1, 0.3])
    for k in range(samples):
        u = rng.uniform(-1, 1, size=1)
        x = plant_step(x, u, push, bend)
        predictor.update(spoil(k, x + noise * rng.normal(size=2)), u)
    return predictor


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=names_of)
def test_predictions_are_those_of_the_whole_record(form, embedding):
    model, rng = pendulum_model(form, embedding), np.random.default_rng(0)
    y, u = 0.3 * rng.normal(size=(9, 2)), 0.3 * rng.normal(size=(9 + 4 + 1, 2))
    predictor, ahead = Predictor(model), embedding.input_lead
    for k in range(9):
        if k < model.history - 1:
            with pytest.raises(KoopsieveError, match=f"needs {model.history} samples first. Got {k}"):
                predictor.forecast(u[:1], 1)
        predictor.update(y[k], u[k - 1 + ahead] if k else None)
    found = predictor.forecast(u[8 + ahead : 12 + ahead], 4)
    np.testing.assert_allclose(found, model.predict(y, u[: 12 + ahead], 4), rtol=1e-10)


def ahead_error(model, bend):
    data = record(300, seed=11, bend=bend)
    errors = np.concatenate([y[:, 0] for y in model.rollout(data, 1)]) - data.states[0][1:]
    return np.sqrt(np.mean(errors**2))


@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_a_plant_that_changed_is_followed_and_a_model_that_is_right_stays(form):
    """In the linear form a constant push is added; in the other the valve gains more with the level."""
    model, change = known_model(form), {"push": 0.4} if form == "linear" else {"bend": 0.8}
    fixed, adapted = (watched(Predictor(model, adapt=adapt), 500, **change) for adapt in (None, 80))
    assert fixed.model is model
    assert not fixed.innovations.consistent
    assert adapted.innovations.spread.max() < 0.5 * fixed.innovations.spread.max()
    if form == "reprojected":
        assert ahead_error(adapted.model, bend=0.8) < 0.35 * ahead_error(fixed.model, bend=0.8)
        assert adapted.innovations.consistent
    kept = watched(Predictor(model, adapt=200, dead_zone=3.0), 1000).model
    assert ahead_error(kept, bend=0.3) < ahead_error(model, bend=0.3) + 0.3 * NOISE


def test_without_excitation_nothing_is_forgotten():
    """At rest all rows are alike: other directions keep a part of their information, and noise does not move them."""
    model, rng = known_model("reprojected"), np.random.default_rng(0)
    adaptation = Adaptation.of(model, 30)
    first, state = adaptation.information[0, 0], np.array([0.0, 1 / 3])
    for _ in range(3000):
        measured = plant_step(state, [0.0]) + NOISE * rng.normal(size=2)
        adaptation = adaptation.following(state, np.zeros(1), measured)
    assert np.linalg.eigvalsh(adaptation.information).min() >= 0.049 * first
    moved = adaptation.model.step_row(np.array([0.5, 0.1]), np.ones(1)) @ (adaptation.model.coef - model.coef)
    assert np.abs(moved).max() < 0.1


def test_recursion_is_the_regression_of_all_rows(monkeypatch):
    """Remembering nearly everything, the coefficients are those of least squares with the prior as further rows."""
    monkeypatch.setattr("koopsieve.control.predictor.LEAST_INFORMATION", 0.0)
    model, rng = known_model("reprojected"), np.random.default_rng(0)
    adaptation = replace(Adaptation.of(model, 50), memory=10**12)
    back = np.linalg.inv(adaptation.whitening)
    information = back.T @ adaptation.information @ back
    moment = information @ model.coef
    for _ in range(40):
        x, u = rng.normal(size=2), rng.normal(size=1)
        adaptation = adaptation.following(x, u, plant_step(x, u, bend=0.9))
        row = model.step_row(x, u)
        information, moment = information + np.outer(row, row), moment + np.outer(row, plant_step(x, u, bend=0.9))
    np.testing.assert_allclose(adaptation.model.coef, np.linalg.solve(information, moment), rtol=1e-5, atol=1e-7)
    assert np.abs(adaptation.model.coef - model.coef).max() > 1e-3


def test_missing_samples_and_spikes_teach_nothing():
    model = known_model("reprojected")
    spoil = lambda k, y: np.array([np.nan, y[1]]) if k % 2 else y + 100.0 * (k == 20)  # noqa: E731
    predictor = watched(Predictor(model, adapt=50, dead_zone=4.9), 60, spoil=spoil)
    np.testing.assert_allclose(predictor.model.coef, model.coef, atol=0.05)
    assert np.isfinite(predictor.forecast([[0.1], [0.2]], 2)).all()


def test_what_cannot_be_is_said():
    with pytest.raises(KoopsieveError, match="does not know the data that it was learned from"):
        Predictor(plant_model("reprojected"), adapt=100)
    with pytest.raises(KoopsieveError, match="adapt, the samples to remember, must be a whole number, 10 or more"):
        Predictor(known_model("linear"), adapt=3)
    with pytest.raises(KoopsieveError, match="dead_zone= has no effect on a model that stays as it is"):
        Predictor(known_model("linear"), dead_zone=1.0)
    predictor = Predictor(plant_model("linear", Embedding(1, 0)))
    predictor.update([0.1, 0.2])
    with pytest.raises(KoopsieveError, match=r"acted, the inputs .*\(u1\), is needed from the second sample on"):
        predictor.update([0.1, 0.2])
    predictor.update([0.1, 0.2], [0.0])
    with pytest.raises(KoopsieveError, match=r"inputs must hold those of every step. Expected \(3, 1\), got \(2, 1\)"):
        predictor.forecast([[0.0], [0.0]], 3)
    predictor.reset()
    with pytest.raises(KoopsieveError, match="needs 2 samples first"):
        predictor.forecast([[0.0]], 1)
