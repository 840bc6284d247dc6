"""Start, step and outputs of every form as sums of terms: the same numbers as the form's own functions."""

import numpy as np
import pytest

from tests.unit.export.models import DRIVEN_MONOMIALS, EMBEDDINGS, EVERY_BLOCK, FORMS, names_of, pendulum_model

RNG = np.random.default_rng(3)


def values(of, points):
    """What a map gives at points, summed up as its fields say."""
    sums = of.terms(points) @ of.weights.T
    if of.bounds is not None:
        sums = np.clip(sums, *of.bounds)
    found = points[:, of.sources]
    found[:, of.sums] = sums
    return found


def compare(model):
    states = RNG.normal(size=(6, len(model.signals.state_names)))
    acting = RNG.normal(size=(6, len(model.input_names)))
    carried = model.start(states)
    close = {"rtol": 1e-12, "atol": 1e-12}
    assert model.start_map().targets == model.carried_names
    np.testing.assert_allclose(values(model.start_map(), states), carried, **close)
    points = np.hstack([carried, acting])
    assert model.step_map().coordinates == model.carried_names + model.signals.acting
    np.testing.assert_allclose(values(model.step_map(), points), model.advance(carried, acting), **close)
    np.testing.assert_allclose(values(model.read_map(), carried), model.read(carried), **close)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=names_of)
def test_every_form_and_timing(form, embedding):
    compare(pendulum_model(form, embedding))


@pytest.mark.parametrize("form", FORMS)
def test_every_block_and_no_inputs(form):
    compare(pendulum_model(form, recipe=EVERY_BLOCK))
    compare(pendulum_model(form, inputs=0))
    if form == "reprojected":
        compare(pendulum_model(form, EMBEDDINGS[2], DRIVEN_MONOMIALS))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "hidden"])  # which carries no delay line
def test_delayed_copies_are_copied_and_not_summed(form):
    step = pendulum_model(form, EMBEDDINGS[2]).step_map()
    assert len(step.sums) == len(step.weights) < len(step.targets)
    assert (step.sources >= 0).sum() >= 4


def test_the_sum_of_the_terms_is_the_prediction_one_step_ahead(any_result):
    model, data = any_result.model, any_result.evaluation.data
    terms = model.output_terms()
    x, u = data.states[0][:20], data.inputs[0][:20]
    phi = model.dictionary.bilinear() if model.form == "bilinear" else model.dictionary
    values = dict(zip(phi.regressors, phi.evaluate(np.hstack([x, u])).T, strict=True))
    found = sum(np.outer(values[name], row) for name, row in zip(terms.names, terms.coef, strict=True))
    (ahead,) = model.steps(model.start(x), [u])
    np.testing.assert_allclose(found, model.read(ahead), rtol=1e-9, atol=1e-12)
