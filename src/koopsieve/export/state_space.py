"""A model as an object of SciPy or python-control, and as a MATLAB file.

The state of what is handed over is what the model carries, such as the lifted state φ.
"""

from __future__ import annotations

import os
from io import BytesIO
from typing import Any

import numpy as np

from koopsieve._exchange import write_file
from koopsieve._types import KoopsieveError, needed
from koopsieve.forms import Model


def to_scipy(model: Model) -> Any:
    """Return a `scipy.signal.dlti` state space; see `Model.to_scipy`."""
    from scipy.signal import StateSpace

    if not model.step_is_linear:
        raise KoopsieveError(
            f"SciPy has linear systems only, and the step of a {model.form} model is not linear. Use to_control(), "
            "to_casadi() or to_function(), or model.linearise(history, inputs) around a point."
        )
    return StateSpace(*_matrices(model), dt=model.signals.dt)


def to_control(model: Model) -> Any:
    """Return a `control.StateSpace` or a `control.NonlinearIOSystem` with the model's names; see `Model.to_control`."""
    control = needed("control", "to_control()", "control")
    names = {
        "states": _labels(model.carried_names),
        "inputs": _labels(model.signals.inputs),
        "outputs": _labels(model.signals.outputs),
    }
    if model.step_is_linear:
        return control.ss(*_matrices(model), model.signals.dt, **names, remove_useless_states=False)
    step = model.to_function()

    def following(time: float, carried: Any, inputs: Any, parameters: Any) -> Any:
        return step(carried, inputs)[0]

    def outputs(time: float, carried: Any, inputs: Any, parameters: Any) -> Any:
        return model.read(np.atleast_2d(carried))[0]

    return control.nlsys(following, outputs, dt=model.signals.dt, name=f"{model.form} model", **names)


def to_mat(path: str | os.PathLike[str], model: Model) -> None:
    """Write the model's matrices and names to a .mat file (version 5), whole or not at all."""
    from scipy.io import savemat

    signals, embedding, bounds = model.signals, model.signals.embedding, model.step_map().bounds
    content: dict[str, Any] = {name: _matlab_array(name, values) for name, values in model.arrays().items()}
    if bounds is not None:
        content["bounds"] = bounds  # between which outputs are held
    content |= {
        "form": model.form,
        "dt": signals.dt,
        "observables": _cells(model.dictionary.names),
        "input_terms": _cells(model.dictionary.input_term_names),
        "outputs": _cells(signals.outputs),
        "inputs": _cells(signals.inputs),
        "states": _cells(signals.state_names),
        "state_delays": float(embedding.state_delays),
        "input_delays": float(embedding.input_delays),
        "inputs_at": embedding.inputs_at,
    }
    stream = BytesIO()
    savemat(stream, content, oned_as="column")
    write_file(path, stream.getvalue())


def _matlab_array(name: str, values: Any) -> Any:
    if not np.isfinite(values).all():
        raise KoopsieveError(f"The model's {name} is not finite, so it is of no use elsewhere. Identify it again.")
    return np.moveaxis(values, 0, -1) if values.ndim == 3 else values  # N(:, :, j) belongs to input j


def _cells(names: tuple[str, ...]) -> Any:
    """Return names as a MATLAB cell array of one column."""
    cells = np.empty((len(names), 1), dtype=object)
    cells[:, 0] = names
    return cells


def _labels(names: tuple[str, ...]) -> list[str]:
    return [name.replace(".", "·") for name in names]  # a dot is reserved there for system.signal


def _matrices(model: Model) -> tuple[Any, Any, Any, Any]:
    """Return A, B, C and D of a step that is linear everywhere."""
    step = model.jacobian(np.zeros(len(model.carried_names)), np.zeros(len(model.signals.inputs)))
    return step.A, step.B, step.C, np.zeros((len(step.C), step.B.shape[1]))
