"""Predictions and the paper's error by plain loops over episodes, starts and steps: slow, obvious, the judge."""

import numpy as np


def delay_line(embedding, outputs, inputs, k):
    """The state at sample k of a record, written out: past outputs, then the inputs that acted in past steps."""
    past = [outputs[k - delay] for delay in range(embedding.state_delays + 1)]
    past += [inputs[k - delay + embedding.input_lead] for delay in range(1, embedding.input_delays + 1)]
    return np.concatenate(past)


def acting(embedding, inputs, k):
    """The input that acts between sample k and k + 1."""
    return inputs[k + embedding.input_lead]


def predict_one(model, state, inputs):
    """Outputs after every step from one state, under the inputs that act in each step."""
    return np.array(STEPS[model.form](model, np.asarray(state, dtype=float), np.asarray(inputs, dtype=float)))


def linear(model, state, inputs):
    lifted, outputs = model.dictionary(state[None])[0], []
    for u in inputs:
        lifted = model.A @ lifted + model.B @ u
        outputs.append(model.C @ lifted)
    return outputs


def bilinear(model, state, inputs):
    lifted, outputs = model.dictionary(state[None])[0], []
    for u in inputs:
        following = model.A @ lifted + model.B @ u
        for j, value in enumerate(u):
            following = following + value * (model.N[j] @ lifted)
        lifted = following
        outputs.append(model.C @ lifted)
    return outputs


def reprojected(model, state, inputs):
    n, outputs = len(model.output_names), []
    embedding = model.signals.embedding
    for u in inputs:
        y = np.zeros(n)
        for value, row in zip(model.dictionary.evaluate(np.concatenate([state, u])[None])[0], model.coef, strict=True):
            y = y + value * row
        y = np.minimum(np.maximum(y, model.bounds[0]), model.bounds[1])
        past_outputs = [y, *(state[n * d : n * (d + 1)] for d in range(embedding.state_delays))]
        held = state[n * (embedding.state_delays + 1) :]
        past_inputs = [u, *(held[len(u) * d : len(u) * (d + 1)] for d in range(embedding.input_delays))]
        state = np.concatenate(past_outputs + past_inputs[: embedding.input_delays])
        outputs.append(y)
    return outputs


STEPS = {"linear": linear, "bilinear": bilinear, "reprojected": reprojected}


def predict_record(model, outputs, inputs, k, horizon):
    """Outputs 1 … `horizon` steps after sample k of a record of raw outputs and inputs."""
    embedding = model.signals.embedding
    along = [acting(embedding, inputs, k + j) for j in range(horizon)]
    return predict_one(model, delay_line(embedding, outputs, inputs, k), np.reshape(along, (horizon, -1)))


def horizon_nmse(model, trajectories, horizons, truth=None):
    """‖true − predicted‖² / ‖true − mean(true)‖² of the predictions exactly h steps ahead, per output and horizon."""
    reference = truth or trajectories
    columns = [reference.state_names.index(name) for name in model.output_names]
    table = []
    for h in horizons:
        true, predicted = [], []
        for x, u, y in zip(trajectories.states, trajectories.inputs, reference.states, strict=True):
            for k in range(len(x) - h):
                predicted.append(predict_one(model, x[k], u[k : k + h])[-1])
                true.append(y[k + h, columns])
        true, predicted = np.array(true), np.array(predicted)
        table.append(((true - predicted) ** 2).sum(axis=0) / ((true - true.mean(axis=0)) ** 2).sum(axis=0))
    return {name: np.array(table)[:, i] for i, name in enumerate(model.output_names)}
