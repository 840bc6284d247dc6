"""Fitted models with histories, inputs and horizons that may be wrong: the right shape, or words."""

from functools import cache

import numpy as np

from koopsieve import Constant, Inputs, Monomials, SquaredExponential, States, Trajectories, embed_delays
from tests.fuzz.values import ODD, pick, record, with_accident
from tests.reference.pendulum import least_squares_model
from tests.unit.export.models import hidden_model

FORMS = ("linear", "bilinear", "reprojected", "hidden")
RECIPE = States() + Constant() + Monomials() + SquaredExponential(centers=3) + Inputs()
REFUSED = ("nan", "inf", "mask", "complex", "text", "ragged", "no rows", "no columns")


@cache
def model(form, delays):
    """Return a small model with two outputs and one input."""
    x, u = record(np.random.default_rng(5), rows=150, columns=2, inputs=1)
    data = embed_delays(Trajectories.from_arrays(x, u, dt=0.1), delays, delays)
    if form == "hidden":
        return hidden_model((States() + Constant()).fit(data), inputs=1)
    blocks = RECIPE if form == "reprojected" else States() + Constant() + Monomials() + SquaredExponential(centers=3)
    return least_squares_model(data, blocks, form=form)


def case(rng, folder):
    found = model(pick(rng, FORMS), int(rng.integers(3)))
    steps = int(rng.integers(1, 5))
    x, u = record(rng, rows=found.history + 3 + steps, columns=2, inputs=1)
    history, accident = with_accident(rng, x[: found.history])
    along = u[: found.history - 1 + steps]
    inputs, other = with_accident(rng, along) if rng.random() < 0.3 else (along, "none")
    horizon = steps if rng.random() < 0.9 else pick(rng, ODD)
    predicted = found.predict(history, None if rng.random() < 0.05 else inputs, horizon)
    assert accident not in REFUSED, f"{accident} was taken for a history"
    assert other not in REFUSED, f"{other} was taken for inputs"
    assert predicted.shape[-1] == 2
    if (accident, other) == ("none", "none"):
        alone = found.predict(x[: found.history], along, steps)
        assert predicted.shape == (steps, 2)
        np.testing.assert_allclose(predicted, alone, rtol=1e-12)
        stacked = found.predict(np.stack([x[: found.history]] * 2), np.stack([along] * 2), steps)
        np.testing.assert_allclose(stacked[1, 0], alone[0], rtol=1e-6, atol=1e-6)  # later ones may magnify rounding
    found.simulate(with_accident(rng, x[: found.history])[0], with_accident(rng, np.vstack([u, u[:1]]))[0])
    found.linearise(history, inputs[: found.history])
    found.rollout(Trajectories.from_arrays(*record(rng, columns=2, inputs=1), dt=0.1), horizon)
