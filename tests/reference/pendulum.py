"""A damped pendulum with a torque, one Euler step per sample, and its models by least squares, in every form."""

from types import SimpleNamespace

import numpy as np

from koopsieve.data import Trajectories
from koopsieve.forms import BilinearModel, LinearModel, ReprojectedModel
from koopsieve.regression import compress


def simulate_pendulum(lengths, inputs, seed=0):
    """One episode per length; the torque is the sum of `inputs` columns of white noise."""
    rng = np.random.default_rng(seed)
    states, torques = [], []
    for length in lengths:
        x, u = np.empty((length, 2)), rng.normal(size=(length - 1, inputs))
        x[0] = rng.normal(size=2)
        for k in range(length - 1):
            x[k + 1] = x[k] + 0.1 * np.array([x[k, 1], -np.sin(x[k, 0]) - 0.5 * x[k, 1] + u[k].sum()])
        states.append(x)
        torques.append(u)
    return Trajectories.from_arrays(states, torques if inputs else None, dt=0.1)


def least_squares(trajectories, dictionary, scale=1.0):
    """The estimate whose coefficients are `scale` times numpy's least squares."""
    statistics = compress(trajectories, dictionary)
    coef = scale * np.linalg.lstsq(statistics.R, statistics.S, rcond=None)[0]
    precision = np.arange(1.0, dictionary.size + 1)
    return SimpleNamespace(coef=coef, noise_precision=precision, regressors=statistics.regressors)


def least_squares_model(trajectories, recipe, scale=1.0, form="linear"):
    """The model in one of the forms whose coefficients are `scale` times numpy's least squares."""
    dictionary = recipe.fit(trajectories)
    if form == "bilinear":
        return BilinearModel.from_estimate(least_squares(trajectories, dictionary.bilinear(), scale), dictionary)
    estimate = least_squares(trajectories, dictionary, scale)
    if form == "linear":
        return LinearModel.from_estimate(estimate, dictionary)
    points = np.concatenate(list(trajectories.acted_blocks()))
    region = np.stack([points.min(axis=0), points.max(axis=0)])
    return ReprojectedModel(estimate.coef[:, list(dictionary.outputs)], dictionary, region)
