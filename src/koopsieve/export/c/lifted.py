"""C of the linear and bilinear forms: φ[k+1] = A φ[k] + B u[k] + Σ_j u_j[k] N_j φ[k].

Rows that only copy (delayed outputs and inputs) are copied, all others are multiplied out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, IndexArray
from koopsieve.export.c.sizes import Sizes, unused
from koopsieve.export.c.text import index_table, table
from koopsieve.export.protocols import LiftedStep


@dataclass(frozen=True, eq=False)
class Rows:
    """Which rows of the step are copies: `targets` of `sources` (inputs count on after the lifted state)."""

    multiplied: IndexArray
    targets: IndexArray
    sources: IndexArray

    @classmethod
    def of(cls, step: LiftedStep) -> Rows:
        """Find the rows that hold one 1 and nothing else."""
        both = np.hstack([step.A, step.B])
        copies: BoolArray = (both == 1).any(axis=1) & ((both != 0).sum(axis=1) == 1) & ~step.N.any(axis=(0, 2))
        targets = np.flatnonzero(copies)
        return cls(np.flatnonzero(~copies), targets, both[targets].argmax(axis=1))


def lifted_source(step: LiftedStep, sizes: Sizes, name: str) -> str:
    """Return tables and the functions start, step, read and linearise."""
    rows = Rows.of(step)
    return "".join(
        [
            _tables(step, rows),
            _start(name),
            _step(step, rows, sizes, name),
            _read(step, sizes, name),
            _linearise(step, rows, sizes, name),
        ]
    )


def _tables(step: LiftedStep, rows: Rows) -> str:
    found = ["\n"]
    if rows.multiplied.size:
        found += [index_table("row", rows.multiplied), table("A", step.A[rows.multiplied])]
        found += [table("B", step.B[rows.multiplied])] if step.B.size else []
        found += [table("N", step.N[:, rows.multiplied])] if step.N.size else []
    if rows.targets.size:
        found += [index_table("copied_to", rows.targets), index_table("copied_from", rows.sources, len(step.A))]
    return "".join([*found, _read_tables(step)])


def _reads(step: LiftedStep) -> bool:
    """Tell whether every output is one of the observables."""
    return bool(((step.C == 1).sum(axis=1) == 1).all() and ((step.C != 0).sum(axis=1) == 1).all())


def _read_tables(step: LiftedStep) -> str:
    return index_table("output_at", step.C.argmax(axis=1)) if _reads(step) else table("C", step.C)


def _start(name: str) -> str:
    return f"""
void {name}_start(const double *state, double *carried)
{{
    {name}_lift(state, carried);
}}
"""


def _step(step: LiftedStep, rows: Rows, sizes: Sizes, name: str) -> str:
    L, width = sizes.carried, sizes.inputs
    inputs = f"        for (int j = 0; j < {width}; j++)\n            sum += B[i][j] * input[j];\n" if width else ""
    products = f"""        for (int k = 0; k < {width}; k++) {{
            double product = 0.0;
            for (int j = 0; j < {L}; j++)
                product += N[k][i][j] * carried[j];
            sum += input[k] * product;
        }}
"""
    multiplied = f"""    for (int i = 0; i < {len(rows.multiplied)}; i++) {{
        double sum = 0.0;
        for (int j = 0; j < {L}; j++)
            sum += A[i][j] * carried[j];
{inputs}{products if step.N.size else ""}        next[row[i]] = sum;
    }}
"""
    return f"""
void {name}_step(const double *carried, const double *input, double *next)
{{
{unused() if width else unused("input")}{multiplied if rows.multiplied.size else ""}{_copies(rows, sizes)}}}
"""


def _copies(rows: Rows, sizes: Sizes) -> str:
    if not rows.targets.size:
        return ""
    source = "carried[copied_from[i]]"
    if (rows.sources >= sizes.carried).any():
        source = f"copied_from[i] < {sizes.carried} ? {source} : input[copied_from[i] - {sizes.carried}]"
    return f"    for (int i = 0; i < {len(rows.targets)}; i++)\n        next[copied_to[i]] = {source};\n"


def _read(step: LiftedStep, sizes: Sizes, name: str) -> str:
    body = f"""    for (int i = 0; i < {sizes.outputs}; i++)
        output[i] = carried[output_at[i]];
"""
    summed = f"""    for (int i = 0; i < {sizes.outputs}; i++) {{
        output[i] = 0.0;
        for (int j = 0; j < {sizes.carried}; j++)
            output[i] += C[i][j] * carried[j];
    }}
"""
    return f"""
void {name}_read(const double *carried, double *output)
{{
{body if _reads(step) else summed}}}
"""


def _linearise(step: LiftedStep, rows: Rows, sizes: Sizes, name: str) -> str:
    L, width, count = sizes.carried, sizes.inputs, len(rows.multiplied)
    own = f"""        for (int j = 0; j < {L}; j++)
            a[row[i] * {L} + j] = A[i][j];
"""
    inputs = f"        for (int k = 0; k < {width}; k++)\n            b[row[i] * {width} + k] = B[i][k];\n"
    products = f"""        for (int k = 0; k < {width}; k++) {{
            double product = 0.0;
            for (int j = 0; j < {L}; j++) {{
                product += N[k][i][j] * carried[j];
                a[row[i] * {L} + j] += input[k] * N[k][i][j];
            }}
            b[row[i] * {width} + k] += product;
            offset[row[i]] -= input[k] * product;
        }}
"""
    body = f"""    for (int i = 0; i < {count}; i++) {{
{own}{inputs if width else ""}{products if step.N.size else ""}    }}
"""
    ignored = unused() if step.N.size else unused("carried", "input")
    return f"""
void {name}_linearise(const double *carried, const double *input, double *a, double *b, double *offset)
{{
{ignored}{cleared(sizes)}{body if rows.multiplied.size else ""}{_unit_rows(rows, sizes)}}}
"""


def cleared(sizes: Sizes) -> str:
    """Return the code that sets a, b and offset to zero."""
    n, width = sizes.carried, sizes.inputs
    b = f"    for (int i = 0; i < {n * width}; i++)\n        b[i] = 0.0;\n" if width else unused("b")
    return f"""    for (int i = 0; i < {n * n}; i++)
        a[i] = 0.0;
{b}    for (int i = 0; i < {n}; i++)
        offset[i] = 0.0;
"""


def _unit_rows(rows: Rows, sizes: Sizes) -> str:
    if not rows.targets.size:
        return ""
    n, width = sizes.carried, sizes.inputs
    entry = f"a[copied_to[i] * {n} + copied_from[i]] = 1.0;"
    if not (rows.sources >= n).any():
        return f"    for (int i = 0; i < {len(rows.targets)}; i++)\n        {entry}\n"
    return f"""    for (int i = 0; i < {len(rows.targets)}; i++) {{
        if (copied_from[i] < {n})
            {entry}
        else
            b[copied_to[i] * {width} + copied_from[i] - {n}] = 1.0;
    }}
"""
