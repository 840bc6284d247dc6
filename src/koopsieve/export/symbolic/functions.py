"""A model as CasADi functions, whose derivatives are exact."""

from __future__ import annotations

from typing import Any

import casadi

from koopsieve.dictionary import Observables
from koopsieve.export.protocols import LiftedStep, Predictor, ReprojectedStep, step_of
from koopsieve.export.symbolic.families import expressions


def lift_function(model: Predictor) -> Any:
    """Return φ: state to observables."""
    state = casadi.SX.sym("state", len(model.signals.state_names))
    values = _stacked(model.dictionary.families, state)
    return casadi.Function("lift", [state], [values], ["state"], ["observables"])


def start_function(model: Predictor, lift: Any) -> Any:
    """Return what is carried from step to step, of a state."""
    state = casadi.SX.sym("state", len(model.signals.state_names))
    carried = state if model.form == "reprojected" else lift(state)
    return casadi.Function("start", [state], [carried], ["state"], ["carried"])


def step_function(model: Predictor) -> Any:
    """Return one step: what is carried and the acting input, to what is carried next."""
    step = step_of(model)
    carried, inputs, following = (
        _lifted_step(model, step) if isinstance(step, LiftedStep) else _reprojected_step(model, step)
    )
    return casadi.Function("step", [carried, inputs], [following], ["carried", "input"], ["next"])


def read_function(model: Predictor) -> Any:
    """Return the outputs in what is carried."""
    step = step_of(model)
    if isinstance(step, LiftedStep):
        carried = casadi.MX.sym("carried", len(step.A))
        outputs = casadi.mtimes(_matrix(step.C), carried)
    else:
        carried = casadi.MX.sym("carried", len(model.signals.state_names))
        outputs = carried[: len(model.signals.outputs)]
    return casadi.Function("read", [carried], [outputs], ["carried"], ["outputs"])


def _lifted_step(model: Predictor, step: LiftedStep) -> tuple[Any, Any, Any]:
    carried = casadi.MX.sym("carried", len(step.A))  # matrix products stay products: the graph does not grow with L²
    inputs = casadi.MX.sym("input", len(model.signals.inputs))
    following = casadi.mtimes(_matrix(step.A), carried) + casadi.mtimes(casadi.DM(step.B), inputs)
    for j, N in enumerate(step.N):
        following = following + inputs[j] * casadi.mtimes(_matrix(N), carried)
    return carried, inputs, following


def _reprojected_step(model: Predictor, step: ReprojectedStep) -> tuple[Any, Any, Any]:
    n, width = len(model.signals.state_names), len(model.signals.inputs)
    carried, inputs = casadi.SX.sym("carried", n), casadi.SX.sym("input", width)
    given, phi = casadi.vertcat(carried, inputs), model.dictionary
    terms = casadi.vertcat(_stacked(phi.families, carried), _stacked(phi.drive_families, given))
    predicted = casadi.mtimes(casadi.DM(step.coef.T), terms)
    outputs = casadi.fmin(casadi.fmax(predicted, casadi.DM(step.bounds[0])), casadi.DM(step.bounds[1]))
    sources = model.signals.embedding.shift_sources(len(model.signals.outputs), width)
    copies = [given[int(source)] for source in sources[len(model.signals.outputs) :]]
    return carried, inputs, casadi.vertcat(outputs, *copies)


def _stacked(families: tuple[Observables, ...], point: Any) -> Any:
    return casadi.vertcat(*[value for family in families for value in expressions(family, point)])


def _matrix(values: Any) -> Any:
    """Return a constant without its zeros: rows of delayed copies hold a single one."""
    return casadi.sparsify(casadi.DM(values))
