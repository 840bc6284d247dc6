"""C of the reprojected form: y[k+1] = coefᵀ·[φ(x), ψ(x, u)], then the delay line is shifted."""

from __future__ import annotations

import numpy as np

from koopsieve.export.c.lifted import cleared
from koopsieve.export.c.sizes import Sizes, calls, unused
from koopsieve.export.c.text import index_table, table
from koopsieve.export.protocols import Predictor, ReprojectedStep


def reprojected_source(model: Predictor, step: ReprojectedStep, sizes: Sizes, name: str) -> str:
    """Return tables and the functions start, step, read and linearise."""
    return "".join(
        [
            "\n",
            table("coefficient", np.ascontiguousarray(step.coef.T)),
            table("bounds", step.bounds),
            _point(sizes),
            _predicted(sizes),
            _terms(model, sizes),
            _start(sizes, name),
            _step(sizes, name),
            _read(sizes, name),
            _slopes(model),
            _linearise(model, sizes, name),
        ]
    )


def _point(sizes: Sizes) -> str:
    inputs = f"    for (int i = 0; i < {sizes.inputs}; i++)\n        point[{sizes.states} + i] = input[i];\n"
    return f"""
static void join(const double *state, const double *input, double *point)
{{
{"" if sizes.inputs else unused("input")}    for (int i = 0; i < {sizes.states}; i++)
        point[i] = state[i];
{inputs if sizes.inputs else ""}}}
"""


def _predicted(sizes: Sizes) -> str:
    return f"""
/* One output of a step; it is held within bounds, and `free_to_move` says whether they let it be. */
static double predicted(const double *term, int i, int *free_to_move)
{{
    double sum = 0.0;
    for (int j = 0; j < {sizes.terms}; j++)
        sum += coefficient[i][j] * term[j];
    *free_to_move = sum >= bounds[0][i] && sum <= bounds[1][i];
    if (sum < bounds[0][i])
        return bounds[0][i];
    return sum > bounds[1][i] ? bounds[1][i] : sum;
}}
"""


def _terms(model: Predictor, sizes: Sizes) -> str:
    return f"""
static void evaluate(const double *p, double *out)
{{
{"".join(f"    {function}(p, out + {first});{chr(10)}" for function, first in _placed(model))}}}
"""


def _placed(model: Predictor) -> list[tuple[str, int]]:
    phi = model.dictionary
    return calls(phi.families, "observables") + calls(phi.drive_families, "drives", phi.size)


def _start(sizes: Sizes, name: str) -> str:
    return f"""
void {name}_start(const double *state, double *carried)
{{
    for (int i = 0; i < {sizes.states}; i++)
        carried[i] = state[i];
}}
"""


def _step(sizes: Sizes, name: str) -> str:
    return f"""
void {name}_step(const double *carried, const double *input, double *next)
{{
    double point[{sizes.states + sizes.inputs}], term[{sizes.terms}], output[{sizes.outputs}];
    int free_to_move;
    join(carried, input, point);
    evaluate(point, term);
    for (int i = 0; i < {sizes.outputs}; i++)
        output[i] = predicted(term, i, &free_to_move);
    for (int i = 0; i < {sizes.states}; i++)
        next[i] = carried[i];
    {name}_shift(next, output, input);
}}
"""


def _read(sizes: Sizes, name: str) -> str:
    return f"""
void {name}_read(const double *carried, double *output)
{{
    for (int i = 0; i < {sizes.outputs}; i++)
        output[i] = carried[i];
}}
"""


def _slopes(model: Predictor) -> str:
    lines = "".join(f"    {function}_slope(p, weight + {first}, slope);\n" for function, first in _placed(model))
    return f"""
static void add_slopes(const double *p, const double *weight, double *slope)
{{
{lines}}}
"""


def _linearise(model: Predictor, sizes: Sizes, name: str) -> str:
    n, width, points = sizes.states, sizes.inputs, sizes.states + sizes.inputs
    to_b = f"""        for (int j = 0; j < {width}; j++) {{
            b[i * {width} + j] = slope[{n} + j];
            offset[i] -= slope[{n} + j] * input[j];
        }}
"""
    return f"""{_shift_tables(model, sizes)}
void {name}_linearise(const double *carried, const double *input, double *a, double *b, double *offset)
{{
    double point[{points}], term[{sizes.terms}];
    int free_to_move;
    join(carried, input, point);
    evaluate(point, term);
{cleared(sizes)}    for (int i = 0; i < {sizes.outputs}; i++) {{
        double slope[{points}] = {{0}};
        offset[i] = predicted(term, i, &free_to_move);
        if (free_to_move)
            add_slopes(point, coefficient[i], slope);
        for (int j = 0; j < {n}; j++) {{
            a[i * {n} + j] = slope[j];
            offset[i] -= slope[j] * carried[j];
        }}
{to_b if width else ""}    }}
{_unit_rows(sizes)}}}
"""


def _shift_tables(model: Predictor, sizes: Sizes) -> str:
    sources = model.signals.embedding.shift_sources(sizes.outputs, sizes.inputs)[sizes.outputs :]
    return "\n" + index_table("shifted_from", sources, sizes.states) if sources.size else ""


def _unit_rows(sizes: Sizes) -> str:
    """Return the code that writes the rows of the delay line, which are copies."""
    n, width, shifted = sizes.states, sizes.inputs, sizes.states - sizes.outputs
    if not shifted:
        return ""
    state = f"a[({sizes.outputs} + i) * {n} + shifted_from[i]] = 1.0;"
    if not width:
        return f"    for (int i = 0; i < {shifted}; i++)\n        {state}\n"
    return f"""    for (int i = 0; i < {shifted}; i++) {{
        if (shifted_from[i] < {n})
            {state}
        else
            b[({sizes.outputs} + i) * {width} + shifted_from[i] - {n}] = 1.0;
    }}
"""
