"""The equations of one step of any model in SymPy; comes in: a model, of which only its maps are asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sympy import Add, Eq, Expr, Symbol, srepr

from koopsieve._exchange import write_file
from koopsieve.data.embedding import sample_name
from koopsieve.dictionary import TermMap
from koopsieve.dictionary.expressions import KINKED, Maximum, Minimum, require_expressions
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
    phi, signals = model.dictionary, model.signals
    require_expressions((*phi.families, *phi.input_families), "SymPy")
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
    sums = [Add(*(_times(w, term) for w, term in zip(row, terms, strict=True) if w)) for row in of.weights.tolist()]
    if of.bounds is not None:
        low, high = of.bounds.tolist()
        sums = [Minimum(Maximum(one, low[i]), high[i]) for i, one in enumerate(sums)]
    rest = iter(sums)
    return [point[source] if source >= 0 else next(rest) for source in of.sources]


def _times(weight: float, term: Expr) -> Expr:
    return term if weight == 1 else weight * term  # SymPy keeps a factor of 1.0


def _next_name(model: Model, name: str) -> str:
    """Return how something carried is called one step later."""
    samples = dict(zip(model.signals.state_names, model.signals.samples, strict=False))
    if name not in samples:
        return f"({name})[k+1]"
    signal, steps = samples[name]
    return sample_name(signal, steps + 1) if steps != -1 else f"{signal}[k]"


def _unlike(name: str, taken: dict[str, Symbol]) -> str:
    while name in taken:
        name += "'"
    return name
