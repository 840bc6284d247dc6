"""Any model as one .m file: a function for MATLAB and Octave that begins and steps a prediction, kernels included."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from sympy import Float, Symbol
from sympy.printing.octave import OctaveCodePrinter

from koopsieve._exchange import write_file
from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary import TermMap
from koopsieve.dictionary.expressions import real_symbols, require_expressions
from koopsieve.export.c.literals import comment, number
from koopsieve.forms import Model

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
    phi = model.dictionary
    require_expressions((*phi.families, *phi.input_families), "MATLAB")
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
    acting = "that is sampled at k+1" if signals.embedding.ahead else "that is held from k on"
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
