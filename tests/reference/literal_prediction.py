"""Predictions and the paper's error by plain loops over episodes, starts and steps: slow, obvious, the judge."""

import numpy as np


def predict_one(model, x, inputs, relift):
    """Outputs after every step from one start."""
    lifted, outputs = model.dictionary(x[None])[0], []
    for u in inputs:
        lifted = model.A @ lifted + model.B @ u
        outputs.append(model.C @ lifted)
        if relift:
            state = [lifted[model.names.index(name)] for name in model.dictionary.state_names]
            lifted = model.dictionary(np.array([state]))[0]
    return np.array(outputs)


def horizon_nmse(model, trajectories, horizons, truth=None, relift=False):
    """‖true − predicted‖² / ‖true − mean(true)‖² of the predictions exactly h steps ahead, per output and horizon."""
    reference = truth or trajectories
    columns = [reference.state_names.index(name) for name in model.output_names]
    table = []
    for h in horizons:
        true, predicted = [], []
        for x, u, y in zip(trajectories.states, trajectories.inputs, reference.states, strict=True):
            for k in range(len(x) - h):
                predicted.append(predict_one(model, x[k], u[k : k + h], relift)[-1])
                true.append(y[k + h, columns])
        true, predicted = np.array(true), np.array(predicted)
        table.append(((true - predicted) ** 2).sum(axis=0) / ((true - true.mean(axis=0)) ** 2).sum(axis=0))
    return {name: np.array(table)[:, i] for i, name in enumerate(model.output_names)}
