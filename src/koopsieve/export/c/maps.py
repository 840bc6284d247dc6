"""Start, step, outputs and linearisation in C, of any form: all are sums of terms, or copies; the delay line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.data import Signals
from koopsieve.dictionary import TermMap
from koopsieve.export.c.header import Sizes
from koopsieve.export.c.literals import index_table, table
from koopsieve.export.c.terms import family_source, function

_BOTH = ("carried", "input")
_JOIN = "    join(carried, input, point);\n"


@dataclass(frozen=True, eq=False)
class NamedMap:
    """A map with the names of its functions and tables in C."""

    name: str  # what they begin with
    of: TermMap
    calls: tuple[tuple[str, int], ...]  # the function of each family, and where its terms begin

    @property
    def sums(self) -> int:
        """Number of weighted sums."""
        return len(self.of.weights)

    @property
    def copied(self) -> IndexArray:
        """Targets that are copies."""
        return np.flatnonzero(self.of.sources >= 0)

    @property
    def row(self) -> str:
        """The target of sum i."""
        return "i" if (self.of.sums == np.arange(self.sums)).all() else f"{self.name}_row[i]"

    def evaluated(self, point: str, out: str) -> str:
        """Return calls that write all terms at a point into `out`."""
        return "".join(f"    {family}({point}, {out} + {first});\n" for family, first in self.calls)


def named_maps(maps: dict[str, TermMap], sloped: Sequence[str]) -> tuple[dict[str, NamedMap], str]:
    """Return maps with the functions of their families, and the source of these.

    A family that several maps use is written once; functions of slopes are written for the families of maps `sloped`.
    """
    summed = [of for of in maps.values() if len(of.weights)]
    placed = {id(f): (f, width) for of in summed for f, width in zip(of.families, of.widths, strict=True)}
    names = {key: f"terms{number}" for number, key in enumerate(placed)}
    with_slopes = {id(family) for one in sloped for family in maps[one].families}
    source = [family_source(*placed[key], name, key in with_slopes) for key, name in names.items()]
    calls = {name: _calls(of, names) if len(of.weights) else () for name, of in maps.items()}
    return {name: NamedMap(name, of, calls[name]) for name, of in maps.items()}, "".join(source)


def _calls(of: TermMap, names: dict[int, str]) -> tuple[tuple[str, int], ...]:
    firsts = np.cumsum([0, *(family.size for family in of.families)])
    return tuple((names[id(family)], int(first)) for family, first in zip(of.families, firsts, strict=False))


def map_source(given: NamedMap, model: str, parts: Sequence[str], out: str) -> str:
    """Return tables, and the model's function that writes the targets of a map at a point into `out`.

    The point is one argument, or joined from `carried` and `input`.
    """
    arguments = "".join(f"const real_t *{one}, " for one in parts)
    head = f"void {model}_{given.name}({arguments}real_t *{out})"
    joined, at = "", parts[0]
    if len(parts) > 1:
        joined, at = f"    real_t point[{len(given.of.coordinates)}];\n{_JOIN}", "point"
    if given.of.plain:
        return function(head, joined + given.evaluated(at, out))
    body, name = joined, given.name
    if given.sums:
        value = f"{name}_sum(term, i)"
        value = value if given.of.bounds is None else f"{name}_held({value}, i)"
        body += f"    real_t term[{given.of.weights.shape[1]}];\n{given.evaluated(at, 'term')}"
        body += f"    for (int i = 0; i < {given.sums}; i++)\n        {out}[{given.row}] = {value};\n"
    if given.copied.size:
        body += f"    for (int i = 0; i < {len(given.copied)}; i++)\n"
        body += f"        {out}[{name}_to[i]] = {at}[{name}_from[i]];\n"
    return _tables(given) + _sum(given) + function(head, body)


def step_source(given: NamedMap, name: str, inputs: int) -> str:
    """Return the functions step and linearise of a model called `name`; `given` is the map of its step."""
    n = len(given.of.targets)
    body = f"    for (int i = 0; i < {n}; i++)\n        point[i] = carried[i];\n"
    body += f"    for (int i = 0; i < {inputs}; i++)\n        point[{n} + i] = input[i];\n" if inputs else ""
    join = function("static void join(const real_t *carried, const real_t *input, real_t *point)", body)
    return join + map_source(given, name, _BOTH, "next") + _slope(given) + _linearise(given, name, inputs)


def start_slopes_source(given: NamedMap, model: str) -> str:
    """Return the function that writes the derivatives of what is carried by the state, row by row."""
    n, width, terms = len(given.of.targets), len(given.of.coordinates), given.of.weights.shape[1]
    body = f"    for (int i = 0; i < {n * width}; i++)\n        slopes[i] = 0.0;\n"
    if given.sums and given.of.plain:
        row = f"        real_t one[{terms}] = {{0}};\n        one[i] = 1.0;\n"
        weight = "one"
    else:
        row, weight = "", f"{given.name}_weight[i]"
    if given.sums:
        call = f"        {given.name}_slope(state, {weight}, slopes + {given.row} * {width});\n"
        body += f"    for (int i = 0; i < {given.sums}; i++) {{\n{row}{call}    }}\n"
    if given.copied.size:
        entry = f"slopes[{given.name}_to[i] * {width} + {given.name}_from[i]] = 1.0;"
        body += f"    for (int i = 0; i < {len(given.copied)}; i++)\n        {entry}\n"
    return _slope(given) + function(f"void {model}_start_slopes(const real_t *state, real_t *slopes)", body)


def _tables(given: NamedMap) -> str:
    of, name, copied = given.of, given.name, given.copied
    found = ["\n"]
    if given.sums:
        found.append(table(f"{name}_weight", np.ascontiguousarray(of.weights)))
        found += [table(f"{name}_bounds", of.bounds)] if of.bounds is not None else []
        found += [index_table(f"{name}_row", of.sums)] if given.row != "i" else []
    if copied.size:
        found.append(index_table(f"{name}_to", copied))
        found.append(index_table(f"{name}_from", of.sources[copied], len(of.targets)))
    return "".join(found)


def _sum(given: NamedMap) -> str:
    """Return the function of one sum, and the one that holds it within bounds."""
    if not given.sums:
        return ""
    name = given.name
    terms = given.of.weights.shape[1]
    rest = f"    for (; j < {terms}; j++)\n        sum += w[j] * term[j];\n" if terms % 4 else ""
    body = f"""    const real_t *w = {name}_weight[i];
    real_t sum = 0.0, second = 0.0, third = 0.0, fourth = 0.0; /* a sum waits for the one before it */
    int j = 0;
    for (; j + 4 <= {terms}; j += 4) {{
        sum += w[j] * term[j];
        second += w[j + 1] * term[j + 1];
        third += w[j + 2] * term[j + 2];
        fourth += w[j + 3] * term[j + 3];
    }}
{rest}    return (sum + second) + (third + fourth);
"""
    held = f"""    if (sum < {name}_bounds[0][i])
        return {name}_bounds[0][i];
    return sum > {name}_bounds[1][i] ? {name}_bounds[1][i] : sum;
"""
    plain = function(f"static real_t {name}_sum(const real_t *term, int i)", body)
    return plain if given.of.bounds is None else plain + function(f"static real_t {name}_held(real_t sum, int i)", held)


def _slope(given: NamedMap) -> str:
    """Return the function that adds the slopes of one sum, and gives what its tangent leaves at zero."""
    if not given.sums:
        return ""
    lines = "".join(f"    rest += {family}_slope(p, weight + {first}, slope);\n" for family, first in given.calls)
    head = f"static real_t {given.name}_slope(const real_t *p, const real_t *weight, real_t *slope)"
    return function(head, f"    real_t rest = 0.0;\n{lines}    return rest;\n")


def _linearise(given: NamedMap, name: str, inputs: int) -> str:
    n = len(given.of.targets)
    head = f"void {name}_linearise(const real_t *carried, const real_t *input, real_t *a, real_t *b, real_t *offset)"
    body = f"    for (int i = 0; i < {n * n}; i++)\n        a[i] = 0.0;\n"
    body += f"    for (int i = 0; i < {n * inputs}; i++)\n        b[i] = 0.0;\n" if inputs else ""
    body += f"    for (int i = 0; i < {n}; i++)\n        offset[i] = 0.0;\n"
    if given.sums:
        body = f"    real_t point[{len(given.of.coordinates)}];\n{_JOIN}{body}{_tangents(given, n, inputs)}"
    return function(head, body + _unit_rows(given, n, inputs))


def _tangents(given: NamedMap, n: int, inputs: int) -> str:
    """Return the loop over the sums; one that is held at its bound does not change."""
    name, row, terms, held = given.name, given.row, "", ""
    if given.of.bounds is not None:
        terms = f"    real_t term[{given.of.weights.shape[1]}];\n{given.evaluated('point', 'term')}"
        held = f"""        const real_t sum = {name}_sum(term, i);
        offset[{row}] = {name}_held(sum, i);
        if (offset[{row}] != sum)
            continue;
"""
    to_b = f"        for (int j = 0; j < {inputs}; j++)\n            b[{row} * {inputs} + j] = slope[{n} + j];\n"
    return f"""{terms}    for (int i = 0; i < {given.sums}; i++) {{
        real_t slope[{len(given.of.coordinates)}] = {{0}};
{held}        offset[{row}] = {name}_slope(point, {name}_weight[i], slope);
        for (int j = 0; j < {n}; j++)
            a[{row} * {n} + j] = slope[j];
{to_b if inputs else ""}    }}
"""


def _unit_rows(given: NamedMap, n: int, inputs: int) -> str:
    """Return the loop over the copies, whose rows hold a one."""
    if not given.copied.size:
        return ""
    name, loop = given.name, f"    for (int i = 0; i < {len(given.copied)}; i++)"
    entry = f"a[{name}_to[i] * {n} + {name}_from[i]] = 1.0;"
    if not (given.of.sources >= n).any():
        return f"{loop}\n        {entry}\n"
    return f"""{loop} {{
        if ({name}_from[i] < {n})
            {entry}
        else
            b[{name}_to[i] * {inputs} + {name}_from[i] - {n}] = 1.0;
    }}
"""


def line_source(signals: Signals, sizes: Sizes, name: str) -> str:
    """Return the functions state and shift."""
    return _state(signals, sizes, name) + _shift(signals, sizes, name)


def _state(signals: Signals, sizes: Sizes, name: str) -> str:
    embedding, n, width = signals.embedding, sizes.outputs, sizes.inputs
    last = embedding.history - 1
    past = f"""    for (int delay = 0; delay <= {embedding.state_delays}; delay++)
        for (int i = 0; i < {n}; i++)
            state[delay * {n} + i] = outputs[({last} - delay) * {n} + i];
"""
    first = n * (embedding.state_delays + 1)
    past_inputs = f"""    for (int delay = 1; delay <= {embedding.input_delays}; delay++)
        for (int i = 0; i < {width}; i++)
            state[{first} + (delay - 1) * {width} + i] = inputs[({last + embedding.input_lead} - delay) * {width} + i];
"""
    head = f"void {name}_state(const real_t *outputs, const real_t *inputs, real_t *state)"
    return function(head, past + (past_inputs if embedding.input_delays else ""))


def _shift(signals: Signals, sizes: Sizes, name: str) -> str:
    embedding, n, width = signals.embedding, sizes.outputs, sizes.inputs
    split = n * (1 + embedding.state_delays)
    moved = f"    for (int i = {split - 1}; i >= {n}; i--)\n        state[i] = state[i - {n}];\n"
    moved_inputs = f"""    for (int i = {sizes.states - 1}; i >= {split + width}; i--)
        state[i] = state[i - {width}];
    for (int i = 0; i < {width}; i++)
        state[{split} + i] = input[i];
"""
    new = f"    for (int i = 0; i < {n}; i++)\n        state[i] = output[i];\n"
    body = (moved if embedding.state_delays else "") + new + (moved_inputs if embedding.input_delays else "")
    return function(f"void {name}_shift(real_t *state, const real_t *output, const real_t *input)", body)


def simulate_source(signals: Signals, sizes: Sizes, name: str) -> str:
    """Return the function that runs the model freely along a record."""
    embedding = signals.embedding
    first = embedding.history - 1 + embedding.input_lead
    acting = f"inputs + (k + {first}) * {sizes.inputs}" if sizes.inputs else "inputs"
    body = f"""    real_t state[{sizes.states}], carried[2][{sizes.carried}];
    {name}_state(outputs, inputs, state);
    {name}_start(state, carried[0]);
    for (int k = 0; k < samples - {embedding.history}; k++) {{
        {name}_step(carried[k % 2], {acting}, carried[(k + 1) % 2]);
        {name}_read(carried[(k + 1) % 2], simulated + k * {sizes.outputs});
    }}
"""
    return function(
        f"void {name}_simulate(const real_t *outputs, const real_t *inputs, int samples, real_t *simulated)", body
    )
