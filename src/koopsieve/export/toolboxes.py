"""A model for other toolboxes: equations in SymPy, objects of SciPy and python-control, a .mat file, a .m file.

The state of what is handed over is what the model carries, such as the lifted state φ. The .m file is a function for
MATLAB and Octave that begins and steps a prediction of any model, kernels included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sympy import Add, Eq, Expr, Float, Symbol, srepr
from sympy.printing.octave import OctaveCodePrinter

from koopsieve._exchange import write_file
from koopsieve._types import FloatArray, KoopsieveError, needed
from koopsieve.data.embedding import sample_name
from koopsieve.dictionary import TermMap
from koopsieve.dictionary.expressions import KINKED, Maximum, Minimum, real_symbols, require_expressions
from koopsieve.export.c.literals import comment, number
from koopsieve.forms import Model


@dataclass(frozen=True, eq=False)
class Equations:
    """One step of a model in SymPy; symbols carry the names of signals and observables.

    Parameters
    ----------
    states, carried, inputs, outputs : tuple of Symbol
        A state, what the model carries from step to step, the acting inputs, and the outputs in what is carried.
    start, step, read : tuple of Eq
        What is carried, from a state; what is carried next; the outputs, from what is carried. States and outputs that
        are carried themselves have one symbol for both, and no equation.
    """

    states: tuple[Symbol, ...]
    carried: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    outputs: tuple[Symbol, ...]
    start: tuple[Eq, ...]
    step: tuple[Eq, ...]
    read: tuple[Eq, ...]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write every equation as `sympy.srepr` gives it, one per line, under the headings start, step and read."""
        lines = ["# Equations of one step, written by koopsieve; sympy.sympify reads each line."]
        for heading in ("start", "step", "read"):
            lines += [f"# {heading}", *map(srepr, getattr(self, heading))]
        return write_file(path, ("\n".join(lines) + "\n").encode())


def to_sympy(model: Model) -> Equations:
    """Return the equations; see `Model.to_sympy`."""
    signals = model.signals
    require_expressions(model.dictionary, "SymPy")
    names = (*signals.state_names, *model.carried_names, *signals.acting, *signals.outputs)
    named = {name: Symbol(name, real=True) for name in names}  # a state that is carried is one symbol
    states, carried, inputs, outputs = (
        tuple(named[name] for name in some)
        for some in (signals.state_names, model.carried_names, signals.acting, signals.outputs)
    )
    following = tuple(Symbol(_unlike(_next_name(model, name), named), real=True) for name in model.carried_names)
    return Equations(
        states, carried, inputs, outputs,
        start=_equations(carried, model.start_map(), states),
        step=_equations(following, model.step_map(), carried + inputs),
        read=_equations(outputs, model.read_map(), carried),
    )  # fmt: skip


def _equations(targets: Sequence[Symbol], of: TermMap, point: Sequence[Symbol]) -> tuple[Eq, ...]:
    values = [_plain_functions(value) for value in expressions(of, point)]
    return tuple(Eq(*sides, evaluate=False) for sides in zip(targets, values, strict=True) if sides[0] != sides[1])


def _plain_functions(expression: Expr) -> Expr:
    """Return an expression in SymPy's own functions, left as they are written."""
    for kind in KINKED:
        expression = expression.replace(kind, lambda *given, kind=kind: kind.in_sympy(*given, evaluate=False))
    return expression


def expressions(of: TermMap, point: Sequence[Symbol]) -> list[Expr]:
    """Return the targets of a map as expressions of the coordinates."""
    terms = of.term_expressions(point) if len(of.weights) else []
    rows = ([(w, term) for w, term in zip(row, terms, strict=True) if w] for row in of.weights.tolist())
    sums = [Add(*(term if w == 1 else w * term for w, term in row)) for row in rows]  # SymPy would keep a factor of 1.0
    if of.bounds is not None:
        low, high = of.bounds.tolist()
        sums = [Minimum(Maximum(one, low[i]), high[i]) for i, one in enumerate(sums)]
    rest = iter(sums)
    return [point[source] if source >= 0 else next(rest) for source in of.sources]


def _next_name(model: Model, name: str) -> str:
    samples = dict(zip(model.signals.state_names, model.signals.samples, strict=False))
    if name not in samples:
        return f"({name})[k+1]"
    signal, steps = samples[name]
    return sample_name(signal, steps + 1) if steps != -1 else f"{signal}[k]"


def _unlike(name: str, taken: dict[str, Symbol]) -> str:
    while name in taken:
        name += "'"
    return name


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


_NAME = re.compile(r"[A-Za-z]\w{0,62}", re.ASCII)
_KEYWORDS = {
    *("break", "case", "catch", "classdef", "continue", "else", "elseif", "end", "for", "function", "global", "if"),
    *("otherwise", "parfor", "persistent", "return", "spmd", "switch", "try", "while", "do", "until", "unwind_protect"),
}
_NUMBERS_PER_LINE = 4


def to_m(model: Model, path: str | os.PathLike[str]) -> Path:
    """Write the file; see `Model.to_m`."""
    target = Path(path)
    if target.suffix != ".m" or not _NAME.fullmatch(target.stem) or target.stem in _KEYWORDS:
        raise KoopsieveError(
            f"The file of a MATLAB function must be called like a function: a letter, then letters, digits and _, and "
            f"at the end .m, such as model.m. Got {target.name!r}."
        )
    return write_file(target, m_text(model, target.stem).encode("ascii"))


def m_text(model: Model, name: str) -> str:
    """Return the text of the file of a function called `name`."""
    require_expressions(model.dictionary, "MATLAB")
    return f"""function [next, outputs] = {name}(carried, input)
%{name.upper()} One step of a {model.form} model, written by koopsieve.
{_help(model, name)}
if nargin < 2
    next = {name}_start_(carried(:));
else
    next = {name}_step_([carried(:); input(:)]);
end
outputs = {name}_read_(next);
end
{_function(f"{name}_start_", model.start_map())}{_function(f"{name}_step_", model.step_map())}{
        _function(f"{name}_read_", model.read_map())
    }"""


def _help(model: Model, name: str) -> str:
    signals = model.signals
    acting = "that is sampled at k+1" if signals.embedding.input_lead else "that is held from k on"
    lines = [
        f"  carried = {name}(state) begins a prediction from a state.",
        f"  [next, outputs] = {name}(carried, input) goes one step from k to k+1, under the input {acting}:",
        "  what is carried next, and the outputs at k+1. All are columns. Without inputs, pass [].",
        f"  Sample time: {signals.dt!r}.",
        *_listed("The state", signals.state_names),
        *_listed("The input", signals.inputs),
        *_listed("Outputs", signals.outputs),
    ]
    return "\n".join(f"% {line}" for line in lines)


def _listed(what: str, names: tuple[str, ...]) -> list[str]:
    return [f"  {what}:", *(f"    {i + 1}  {comment(name)}" for i, name in enumerate(names))] if names else []


def _function(name: str, of: TermMap) -> str:
    """Return a function from a point to the targets of a map."""
    copied = np.flatnonzero(of.sources >= 0)
    lines = [f"\nfunction out = {name}(p)", f"out = zeros({len(of.targets)}, 1);"]
    if len(of.weights):
        point = real_symbols("p", len(of.coordinates))
        printer = _Octave({symbol: f"p({i + 1})" for i, symbol in enumerate(point)})
        written = [printer.doprint(expression) for expression in of.term_expressions(point)]
        lines += [f"term = zeros({len(written)}, 1);"]
        lines += [f"term({i + 1}) = {one};" for i, one in enumerate(written)]
        lines += ["sums = term;"] if of.plain else [f"sums = {_matrix(of.weights)} * term;"]
        if of.bounds is not None:
            low, high = (_matrix(bound[:, None]) for bound in of.bounds)
            lines += [f"sums = min(max(sums, {low}), {high});"]
        lines += [f"out({_indices(of.sums)}) = sums;"]
    if copied.size:
        lines += [f"out({_indices(copied)}) = p({_indices(of.sources[copied])});"]
    return "\n".join([*lines, "end", ""])


def _indices(values: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> str:
    return "[" + " ".join(str(int(value) + 1) for value in values) + "]"


def _matrix(values: FloatArray) -> str:
    rows = []
    for row in values:
        pieces = [number(value) for value in row]
        groups = [pieces[i : i + _NUMBERS_PER_LINE] for i in range(0, len(pieces), _NUMBERS_PER_LINE)]
        rows.append(", ...\n        ".join(", ".join(group) for group in groups))
    return "[" + "; ...\n    ".join(rows) + "]"


class _Octave(OctaveCodePrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's printer of Octave, with places for symbols and numbers to the last bit."""

    def __init__(self, places: Mapping[Symbol, str]) -> None:
        super().__init__()
        self._places = places

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._places[expr]

    def _print_Float(self, expr: Float) -> str:
        return number(float(expr))
