"""A small plant that is bilinear in state and input, and models of it that are exact, for the tests of control."""

import numpy as np

from koopsieve.data import Embedding, Trajectories
from koopsieve.data.delays import embedded
from koopsieve.dictionary import Constant, Inputs, States
from koopsieve.forms import BilinearModel, LinearModel, ReprojectedModel
from koopsieve.regression import compress
from tests.reference.pendulum import least_squares

NO_DELAYS = Embedding()
PLANT_FORMS = ("linear", "bilinear", "reprojected")


def plant_step(x, u, push=0.0, bend=0.3):
    """Two tanks in a row, the first fed through a valve that gains with its level; `push` moves the second."""
    return np.array([0.8 * x[0] + 0.4 * u[0] * (1 + bend * x[0]), 0.7 * x[1] + 0.3 * x[0] + 0.1 + push])


def record(samples=400, seed=0, bend=0.3, noise=0.0, ahead=0):
    """A record of the plant; with `ahead` the input that leads to a sample is written beside it, not before it."""
    rng = np.random.default_rng(seed)
    u, x = rng.uniform(-1, 1, size=(samples - 1, 1)), np.zeros((samples, 2))
    for k in range(samples - 1):
        x[k + 1] = plant_step(x[k], u[k], bend=bend)
    x += noise * rng.normal(size=x.shape)
    written = np.vstack([np.zeros((ahead, 1)), u])[: samples - 1]
    return Trajectories.from_arrays(x, written, dt=1.0, state_names=["level", "next"])


def plant_model(form, embedding=NO_DELAYS, bend=0.3, noise=0.0):
    """The plant itself in the bilinear and reprojected forms, the best linear model of it in the other."""
    data = embedded(record(bend=bend, noise=noise, ahead=embedding.input_lead), embedding)
    if form == "reprojected":
        phi = (States() + Constant() + Inputs() + Inputs() * States()).fit(data)
        points = np.concatenate(list(data.acted_blocks()))
        coef = least_squares(data, phi).coef[:, list(phi.outputs)]
        return ReprojectedModel(coef, phi, np.stack([points.min(axis=0), points.max(axis=0)]))
    phi = (States() + Constant()).fit(data)
    if form == "bilinear":
        return BilinearModel.from_estimate(least_squares(data, phi.bilinear()), phi)
    return LinearModel.from_estimate(least_squares(data, phi), phi)


def statistics_of(form, data, horizons=(1, 2, 3)):
    phi = (States() + Constant()).fit(data)
    return compress(data, phi.bilinear() if form == "bilinear" else phi, horizons=horizons)
