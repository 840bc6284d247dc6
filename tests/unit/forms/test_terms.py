"""The terms of a model, in any form: their sum is the next output."""

import numpy as np


def test_the_sum_of_the_terms_is_the_prediction_one_step_ahead(any_result):
    model, data = any_result.model, any_result.evaluation.data
    terms = model.output_terms()
    x, u = data.states[0][:20], data.inputs[0][:20]
    phi = model.dictionary.bilinear() if model.form == "bilinear" else model.dictionary
    values = dict(zip(phi.regressors, phi.evaluate(np.hstack([x, u])).T, strict=True))
    found = sum(np.outer(values[name], row) for name, row in zip(terms.names, terms.coef, strict=True))
    (ahead,) = model.steps(model.start(x), [u])
    np.testing.assert_allclose(found, model.read(ahead), rtol=1e-9, atol=1e-12)
