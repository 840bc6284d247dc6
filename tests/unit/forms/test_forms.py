"""The three forms against plain loops over raw records: predict, rollout, simulate, linearise; and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Trajectories
from koopsieve.data.delays import embedded
from koopsieve.dictionary import Constant, Inputs, Monomials, States
from koopsieve.forms import BilinearModel, LinearModel, ReprojectedModel
from tests.reference.literal_prediction import predict_one, predict_record
from tests.reference.pendulum import least_squares, least_squares_model, simulate_pendulum

FORMS = ["linear", "bilinear", "reprojected"]
EMBEDDINGS = [Embedding(), Embedding(2, 0), Embedding(1, 2), Embedding(0, 1, "k+1"), Embedding(inputs_at="k+1")]
PRODUCTS = States() + Constant() + Monomials(degree=2)
RECIPES = dict.fromkeys(FORMS, PRODUCTS)
RECIPES["reprojected"] = States() + Constant() + Monomials(degree=2, of="states and inputs") + Inputs()
CLOSE = {"rtol": 1e-10, "atol": 1e-12}

every_form = pytest.mark.parametrize("form", FORMS)
every_embedding = pytest.mark.parametrize(
    "embedding", EMBEDDINGS, ids=lambda e: "-".join(map(str, e.to_dict().values()))
)


def model_of(form, embedding=EMBEDDINGS[0], inputs=2, recipe=None):
    data = embedded(simulate_pendulum([120, 60], inputs), embedding)
    return least_squares_model(data, recipe or RECIPES[form], form=form)


@every_form
@every_embedding
def test_predictions_from_raw_records_are_those_of_plain_loops(form, embedding):
    model = model_of(form, embedding)
    record = simulate_pendulum([40], 2, seed=7)
    y, u = record.states[0], record.inputs[0]
    assert model.history == embedding.lost + 1
    for k in (embedding.lost, 11, 20):
        first = k - embedding.lost
        expected = predict_record(model, y, u, k, 6)
        np.testing.assert_allclose(
            model.predict(y[first : k + 1], u[first : k + 6 + embedding.input_lead], 6), expected, **CLOSE
        )
    found = model.rollout(record, 6)[0]
    np.testing.assert_allclose(found[20 - embedding.lost], expected, **CLOSE)
    np.testing.assert_array_equal(model.rollout(embedded(record, embedding), 6)[0], found)


@every_form
@pytest.mark.parametrize("inputs", [0, 1, 2])
@pytest.mark.parametrize("chunk", [None, 5])
def test_every_start_of_every_episode_is_rolled_out(form, inputs, chunk, monkeypatch):
    data = simulate_pendulum([30, 6, 2, 25], inputs)
    model = least_squares_model(data, States() + Constant() + Monomials(degree=3), form=form)
    if chunk:
        monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", chunk * 8 * model.numbers_per_start)
    found = model.rollout(data, horizon=5)
    assert [f.shape for f in found] == [(25, 5, 2), (1, 5, 2), (0, 5, 2), (20, 5, 2)]
    for predicted, x, u in zip(found, data.states, data.inputs, strict=True):
        for k, rows in enumerate(predicted):
            np.testing.assert_allclose(rows, predict_one(model, x[k], u[k : k + 5]), rtol=1e-9, atol=1e-12)


@every_form
@every_embedding
def test_many_starts_equal_one_at_a_time(form, embedding, monkeypatch):
    model, rng = model_of(form, embedding), np.random.default_rng(0)
    histories = rng.normal(size=(7, embedding.history + 1, 2))
    inputs = rng.normal(size=(7, embedding.history + 5 + embedding.input_lead, 2))
    together = model.predict(histories, inputs, 5)
    assert together.shape == (7, 5, 2)
    for i in range(7):
        np.testing.assert_allclose(model.predict(histories[i], inputs[i], 5), together[i], rtol=1e-11, atol=1e-13)
    monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", 3 * 8 * model.numbers_per_start)
    np.testing.assert_allclose(model.predict(histories, inputs, 5), together, rtol=1e-11, atol=1e-13)


@every_form
@every_embedding
def test_simulation_is_prediction_from_the_first_rows(form, embedding):
    model = model_of(form, embedding)
    record = simulate_pendulum([50], 2, seed=3)
    y, u = record.states[0], np.vstack([record.inputs[0], [[0.3, -0.2]]])
    for rows in (embedding.history, embedding.history + 3):
        found = model.simulate(y[:rows], u)
        assert found.shape == (50 - rows, 2)
        expected = predict_record(model, y, u, rows - 1, 50 - rows)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@every_form
def test_simulation_without_inputs(form):
    model = model_of(form, Embedding(1), inputs=0, recipe=States() + Monomials())
    y = simulate_pendulum([30], 0, seed=3).states[0]
    expected = predict_one(model, np.concatenate([y[1], y[0]]), np.zeros((28, 0)))
    np.testing.assert_allclose(model.simulate(y[:2], samples=30), expected)


@every_form
@every_embedding
def test_linearisation_is_that_of_differences(form, embedding):
    model, rng = model_of(form, embedding), np.random.default_rng(5)
    history = 0.5 * rng.normal(size=(embedding.history, 2))
    inputs = 0.5 * rng.normal(size=(embedding.history + embedding.input_lead, 2))
    found = model.linearise(history, inputs)
    past = [inputs[len(inputs) - 1 - delay] for delay in range(1, embedding.input_delays + 1)]
    state = np.concatenate([history[::-1][: embedding.state_delays + 1].ravel(), *past])
    carried, acting = model.start(state[None])[0], inputs[-1]

    def step(both):
        return model.advance(both[None, : len(carried)], both[None, len(carried) :])[0]

    both = np.concatenate([carried, acting])
    slopes = np.column_stack([(step(both + d) - step(both - d)) / 2e-6 for d in 1e-6 * np.eye(len(both))])
    scale = max(1.0, np.abs(slopes).max())
    np.testing.assert_allclose(np.hstack([found.A, found.B]), slopes, atol=1e-7 * scale)
    here = found.A @ carried + found.B @ acting + found.offset
    np.testing.assert_allclose(here, step(both), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.C @ here, model.predict(history, inputs, 1)[0], rtol=1e-9, atol=1e-9)


def test_an_output_held_at_its_limit_does_not_change():
    """Far out the first output stays at its bound; its row of the linearisation is zero, and still exact."""
    model = replace(model_of("reprojected"), limits=np.array([[-0.5, -9.0], [0.5, 9.0]]))
    history, inputs = np.array([1.5, 0.1]), np.array([[0.1, 0.2]])
    found = model.linearise(history, inputs)
    assert (found.A[0] == 0).all()
    assert (found.B[0] == 0).all()
    assert found.A[1].any()
    assert model.predict(history, inputs)[0, 0] == 0.5
    here = found.A @ history + found.B @ inputs[0] + found.offset
    np.testing.assert_allclose(here, model.predict(history, inputs)[0], rtol=1e-12)
    still = np.zeros((5, 2))
    np.testing.assert_allclose(model.predict(history, still, 5), predict_one(model, history, still), rtol=1e-12)


def test_a_reprojected_prediction_that_leaves_the_data_stays_finite():
    grown = model_of("reprojected", Embedding(1, 1))
    wild = ReprojectedModel(1e3 * grown.coef, grown.dictionary, grown.region)
    assert np.isfinite(wild.predict(np.ones((2, 2)), np.ones((401, 2)), 400)).all()


def test_divergence_is_told_by_numbers_and_not_by_warnings():
    found = model_of("linear", inputs=0)
    wild = replace(found, A=1e60 * np.ones_like(found.A))
    predicted = wild.predict([[1.0, 1.0]], horizon=9)
    assert np.isfinite(predicted[0]).all()
    assert not np.isfinite(predicted[-1]).any()


def test_a_bilinear_plant_is_found_exactly():
    """x1⁺ = 0.8 x1 + u, x2⁺ = 0.5 x2 + u x1: bilinear in states and input, so many steps later still exact."""
    rng = np.random.default_rng(0)
    x, u = np.zeros((80, 2)), rng.normal(size=(79, 1))
    for k in range(79):
        x[k + 1] = [0.8 * x[k, 0] + u[k, 0], 0.5 * x[k, 1] + u[k, 0] * x[k, 0]]
    model = least_squares_model(Trajectories.from_arrays(x, u), States(), form="bilinear")
    for name, expected in {"A": [[0.8, 0], [0, 0.5]], "B": [[1.0], [0.0]], "N": [[[0, 0], [1, 0]]]}.items():
        np.testing.assert_allclose(getattr(model, name), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict(x[0], u, 79), x[1:], atol=1e-10)


@pytest.mark.parametrize("form", ["linear", "bilinear"])
def test_a_kept_delay_is_shifted_exactly_although_the_younger_are_gone(form):
    """The dictionary keeps y[k-3] and u[k-2]; the recursion by hand remembers them itself."""
    rng = np.random.default_rng(0)
    raw = Trajectories.from_arrays(rng.normal(size=(60, 1)).cumsum(axis=0), rng.normal(size=(59, 1)), state_names="y")
    data = embedded(raw, Embedding(3, 2))
    phi = (States() + Monomials()).fit(data)
    kept = phi.select([i for i, name in enumerate(phi.names) if name in ("y", "y[k-3]", "u1[k-2]")])
    estimate = least_squares(data, kept.bilinear() if form == "bilinear" else kept)
    model = {"linear": LinearModel, "bilinear": BilinearModel}[form].from_estimate(estimate, kept)
    assert model.names == ("y", "y[k-3]", "u1[k-2]", "y[k-1]", "y[k-2]", "u1[k-1]")
    y, u, horizon = list(raw.states[0][:10, 0]), raw.inputs[0][:, 0], 12
    c = estimate.coef[:, 0]
    for k in range(9, 9 + horizon):
        value = c[0] * y[k] + c[1] * y[k - 3] + c[2] * u[k - 2] + c[3] * u[k]
        if form == "bilinear":
            value += u[k] * (c[4] * y[k] + c[5] * y[k - 3] + c[6] * u[k - 2])
        y.append(value)
    predicted = model.predict(raw.states[0][6:10], raw.inputs[0][6 : 9 + horizon], horizon)
    np.testing.assert_allclose(predicted[:, 0], y[10:], rtol=1e-9, atol=1e-12)
    assert model.history == 4


@every_form
def test_a_model_says_what_it_is(form):
    model = model_of(form)
    assert repr(model).startswith(f"{type(model).__name__}(form {form}, ")
    assert "outputs x1, x2" in repr(model)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "How long is the record"),
        ({"samples": 1.9}, r"samples, the number of steps, must be a whole number, 1 or more\. Got 1\.9"),
        ({"inputs": np.zeros((2, 2))}, "longer than its first rows. Expected more than 2 samples, got 2"),
        ({"inputs": np.zeros((9, 2)), "samples": 8}, "a row per sample of the record. Expected 8, got 9"),
        ({"samples": 9}, r"has inputs \(u1, u2\)"),
        ({"inputs": np.zeros((9, 3))}, r"Expected .*\(8, 2\)"),
    ],
)
def test_records_that_cannot_be_simulated(arguments, message):
    with pytest.raises(KoopsieveError, match=message):
        model_of("linear", Embedding(1)).simulate(np.zeros((2, 2)), **arguments)


@pytest.mark.parametrize(
    "asked, message",
    [
        *((lambda m, d, h=h: m.predict(np.zeros(2), np.zeros((1, 2)), h), "whole number") for h in (0, 1.5, True, "2")),
        (lambda m, d: m.predictions(d, [0, 3]), "a whole number, 1 or more"),
        (lambda m, d: m.predictions(d, []), "horizons is empty"),
        (lambda m, d: m.predictions(d, [1, 30]), "at least 31 samples"),
        (lambda m, d: m.rollout(d, 30), "at least 31 samples, the longest has 30"),
        (lambda m, d: m.predictions(simulate_pendulum([30], 3), [2]), "must have the same inputs"),
        (
            lambda m, d: m.rollout(
                Trajectories.from_arrays(list(d.states), list(d.inputs), state_names=["x2", "x1"]), 2
            ),
            "must have the same outputs. Expected x1, x2, got x2, x1. Give them the same names",
        ),
        (lambda m, d: m.linearise(np.zeros((3, 1, 2)), np.zeros((1, 2))), r"one history at a time\. Got 3"),
    ],
)
def test_what_cannot_be_predicted_is_refused(asked, message):
    with pytest.raises(KoopsieveError, match=message):
        asked(model_of("linear"), simulate_pendulum([30, 6, 2, 25], 2))


@pytest.mark.parametrize(
    "form, change, message",
    [
        ("linear", {"C": np.eye(1, 6)}, r"C does not fit.*Expected \(2, 6\), got \(1, 6\)"),
        ("bilinear", {"N": np.zeros((1, 6, 6))}, r"N does not fit.*Expected \(2, 6, 6\), got \(1, 6, 6\)"),
        ("bilinear", {"B": np.zeros((6, 1))}, "B does not fit"),
        ("reprojected", {"coef": np.zeros((3, 2))}, "coef does not fit"),
        ("reprojected", {"region": np.zeros((2, 2))}, r"region does not fit.*Expected \(2, 4\)"),
        ("reprojected", {"region": np.array([[1.0], [0.0]]) * np.ones(4)}, "least values first"),
        ("reprojected", {"region": np.full((2, 4), np.nan)}, "least values first"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(form, change, message):
    with pytest.raises(KoopsieveError, match=message):
        replace(model_of(form), **change)


@pytest.mark.parametrize(
    "made, message",
    [
        (lambda data, phi: BilinearModel.from_estimate(least_squares(data, phi), phi), "not made with this dictionary"),
        (
            lambda data, phi: LinearModel.from_estimate(least_squares(data, phi.bilinear()), phi),
            "not made with this dictionary",
        ),
        (
            lambda data, phi: LinearModel.from_estimate(least_squares(data, phi), phi.select([0, 1])),
            r"dictionary\.select\(retained\)",
        ),
        (
            lambda data, phi: LinearModel.from_estimate(least_squares(data, phi.select([2, 3])), phi.select([2, 3])),
            r"States\(\)",
        ),
    ],
)
def test_an_estimate_that_does_not_belong_to_the_dictionary_is_refused(made, message):
    data = simulate_pendulum([60], 1)
    with pytest.raises(KoopsieveError, match=message):
        made(data, PRODUCTS.fit(data))
