"""Any model in CasADi and do-mpc: symbolic functions with exact derivatives.

Comes in: a model with built-in observables, in any form. Goes out: CasADi functions, or a do-mpc model made of them.
CasADi is imported when one of these is asked for.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from sympy import Expr, Pow, Symbol

from koopsieve._exchange import write_files
from koopsieve._types import KoopsieveError, needed
from koopsieve.data import Signals
from koopsieve.dictionary import TermMap
from koopsieve.dictionary.expressions import real_symbols, require_expressions
from koopsieve.export.c.literals import identifiers
from koopsieve.forms import Model

_FOLDED = {"Add": "plus", "Mul": "times"}
_CALLED = {"Pow": "power", "Absolute": "fabs", "Sign": "sign", "Maximum": "fmax", "Minimum": "fmin"} | {
    name: name for name in ("exp", "log", "sin", "cos", "tan", "atan", "tanh", "sinh", "cosh")
}


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


def to_casadi(model: Model) -> CasadiModel:
    """Return the model's functions; see `Model.to_casadi`."""
    casadi, phi = needed("casadi", "to_casadi()", "casadi"), model.dictionary
    require_expressions(phi, "CasADi")
    lift = TermMap.of_terms(phi.state_names, phi.families)
    return CasadiModel(
        _function(casadi, "lift", lift, {"state": len(phi.state_names)}, "observables"),
        _function(casadi, "start", model.start_map(), {"state": len(phi.state_names)}, "carried"),
        _function(
            casadi,
            "step",
            model.step_map(),
            {"carried": len(model.carried_names), "input": len(model.input_names)},
            "next",
        ),
        _function(casadi, "read", model.read_map(), {"carried": len(model.carried_names)}, "outputs"),
        model.signals,
    )


def _function(casadi: Any, name: str, of: TermMap, given: Mapping[str, int], out: str) -> Any:
    """Return a map as a function; weights stay matrices, so that the graph does not grow with their number."""
    columns = [casadi.MX.sym(argument, size) for argument, size in given.items()]
    point = casadi.vertcat(*columns)
    found = point[of.sources.tolist()]
    if len(of.weights):
        weights = casadi.sparsify(casadi.DM(of.weights))  # rows of delayed copies hold a single one
        sums = casadi.mtimes(weights, _terms(casadi, of)(point))
        if of.bounds is not None:
            sums = casadi.fmin(casadi.fmax(sums, casadi.DM(of.bounds[0])), casadi.DM(of.bounds[1]))
        found[of.sums.tolist()] = sums
    return casadi.Function(name, columns, [found], list(given), [out])


def _terms(casadi: Any, of: TermMap) -> Any:
    """Return the function of all terms."""
    symbols = real_symbols("p", len(of.coordinates))
    point = casadi.SX.sym("point", len(symbols))
    known = {symbol: point[i] for i, symbol in enumerate(symbols)}
    values = [_translated(casadi, expression, known) for expression in of.term_expressions(symbols)]
    return casadi.Function("terms", [point], [casadi.vertcat(*values)])


def _translated(casadi: Any, expression: Expr, known: Mapping[Symbol, Any]) -> Any:
    """Return a SymPy expression in CasADi, node by node; nothing is evaluated as code."""
    if isinstance(expression, Symbol):
        return known[expression]
    if expression.is_Number or expression.is_NumberSymbol:
        return casadi.SX(float(expression))
    inner = [_translated(casadi, argument, known) for argument in expression.args]
    kind = type(expression).__name__
    if isinstance(expression, Pow) and expression.exp.is_number and 0 < expression.exp < 1:
        return _root(casadi, *inner)
    if kind in _FOLDED:
        return reduce(getattr(casadi, _FOLDED[kind]), inner)
    if kind in _CALLED:
        return getattr(casadi, _CALLED[kind])(*inner)
    raise KoopsieveError(
        f"{expression} cannot be written in CasADi. Expected one of {', '.join((*_FOLDED, *_CALLED))}."
    )


def _root(casadi: Any, base: Any, exponent: Any) -> Any:
    """Return a root whose slope is zero where its own would be infinite, and nowhere nan: optimisers go there."""
    positive = base > 0
    return casadi.if_else(positive, casadi.power(casadi.if_else(positive, base, 1.0), exponent), 0.0)


def to_do_mpc(model: Model, setup: bool = True) -> Any:
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
