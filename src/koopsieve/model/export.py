"""A lifted model as the state-space object of other libraries; the state there is the lifted state φ."""

from __future__ import annotations

from typing import Any

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.model.system import System


def to_scipy(system: System) -> Any:
    """Return a `scipy.signal.dlti` state space."""
    from scipy.signal import StateSpace

    return StateSpace(system.A, system.B, system.C, _no_feedthrough(system), dt=system.dt)


def to_control(system: System) -> Any:
    """Return a `control.StateSpace` with the model's names."""
    try:
        import control
    except ImportError as error:
        raise KoopsieveError(
            "to_control() needs python-control, which is not installed. Install koopsieve[control]."
        ) from error
    return control.ss(
        system.A,
        system.B,
        system.C,
        _no_feedthrough(system),
        system.dt,
        states=_labels(system.dictionary.names),
        inputs=_labels(system.input_names),
        outputs=_labels(system.output_names),
        remove_useless_states=False,
    )


def _labels(names: tuple[str, ...]) -> list[str]:
    return [name.replace(".", "·") for name in names]  # a dot is reserved there for system.signal


def _no_feedthrough(system: System) -> Any:
    return np.zeros((len(system.C), system.B.shape[1]))
