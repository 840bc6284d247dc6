"""A linear model as the state-space object of other libraries, and any model as a MATLAB file.

The state of what is handed over is what the model carries: the lifted state φ.
"""

from __future__ import annotations

import os
from io import BytesIO
from typing import Any

import numpy as np

from koopsieve._exchange import write_file
from koopsieve._types import KoopsieveError, needed
from koopsieve.forms import LinearModel, Model


def to_scipy(system: LinearModel) -> Any:
    """Return a `scipy.signal.dlti` state space."""
    from scipy.signal import StateSpace

    return StateSpace(system.A, system.B, system.C, _no_feedthrough(system), dt=system.signals.dt)


def to_control(system: LinearModel) -> Any:
    """Return a `control.StateSpace` with the model's names."""
    control = needed("control", "to_control()", "control")
    return control.ss(
        system.A,
        system.B,
        system.C,
        _no_feedthrough(system),
        system.signals.dt,
        states=_labels(system.dictionary.names),
        inputs=_labels(system.signals.inputs),
        outputs=_labels(system.signals.outputs),
        remove_useless_states=False,
    )


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


def _no_feedthrough(system: LinearModel) -> Any:
    return np.zeros((len(system.C), system.B.shape[1]))
