"""Any model in CasADi and do-mpc: symbolic functions with exact derivatives.

Comes in: a model with built-in observables, in any form. Goes out: CasADi functions, or a do-mpc model made of them.
CasADi is imported when one of these is asked for.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koopsieve._optional import needed
from koopsieve.data import Signals
from koopsieve.export.c.text import identifiers
from koopsieve.export.files import write_files
from koopsieve.export.foreign import check_built_in
from koopsieve.export.protocols import Predictor


@dataclass(frozen=True, eq=False)
class CasadiModel:
    """A model as CasADi functions of columns.

    Parameters
    ----------
    lift : casadi.Function
        State to observables.
    start : casadi.Function
        State to what the model carries from step to step: the observables, or in the reprojected form the state.
    step : casadi.Function
        What is carried and the input that acts, to what is carried next.
    read : casadi.Function
        What is carried to the outputs.
    signals : Signals
        Names, sample time and delays.
    """

    lift: Any
    start: Any
    step: Any
    read: Any
    signals: Signals

    def save(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write lift.casadi, start.casadi, step.casadi and read.casadi, for `casadi.Function.load`."""
        functions = (self.lift, self.start, self.step, self.read)
        return write_files(folder, {f"{one.name()}.casadi": _saved(one) for one in functions})


def _saved(function: Any) -> bytes:
    """Return what CasADi saves; it writes to files only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "function"
        function.save(str(path))
        return path.read_bytes()


def to_casadi(model: Predictor) -> CasadiModel:
    """Return the model's functions; see `Model.to_casadi`."""
    needed("casadi", "to_casadi()", "casadi")
    check_built_in(model.dictionary, "CasADi")
    from koopsieve.export.symbolic import functions

    lift = functions.lift_function(model)
    start, step = functions.start_function(model, lift), functions.step_function(model)
    return CasadiModel(lift, start, step, functions.read_function(model), model.signals)


def to_do_mpc(model: Predictor, setup: bool = True) -> Any:
    """Return a discrete do-mpc model; see `Model.to_do_mpc`."""
    do_mpc = needed("do_mpc", "to_do_mpc()", "do-mpc")
    functions, signals = to_casadi(model), model.signals
    built = do_mpc.model.Model("discrete", "MX")
    taken = ("carried", "default")  # "default" is do-mpc's own
    names = identifiers((*taken, *signals.outputs, *signals.inputs))[len(taken) :]
    outputs, inputs = names[: len(signals.outputs)], names[len(signals.outputs) :]
    carried = built.set_variable("_x", "carried", (functions.step.size1_in(0), 1))
    acting = [built.set_variable("_u", name) for name in inputs]
    casadi = needed("casadi", "to_do_mpc()", "do-mpc")
    values = functions.read(carried)
    for i, name in enumerate(outputs):
        built.set_expression(name, values[i])
    built.set_rhs("carried", functions.step(carried, casadi.vertcat(*acting)))
    if setup:
        built.setup()
    return built
