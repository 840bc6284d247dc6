"""Families of functions in C: one function for their values, one that adds up weighted derivatives.

Both take a point `p`: a state, or a state followed by the acting inputs. The second, for weights w, adds
Σ_i w_i ∂φ_i/∂p_d to slope[d]: the derivative of one output costs about one evaluation, and no table of all derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Observables
from koopsieve.dictionary.kernels import Kernels, PeriodicKernels
from koopsieve.dictionary.products import Pairs
from koopsieve.dictionary.states import Coordinates, Ones, Products
from koopsieve.dictionary.waves import Waves
from koopsieve.export.c.text import comment, index_table, table


@dataclass(frozen=True)
class Written:
    """A family in C.

    Parameters
    ----------
    name : str
        Of its function; that of the derivatives ends in `_slope`.
    values, slopes : str
        Definitions, tables included. Slopes use the tables of the values.
    """

    name: str
    values: str
    slopes: str


@singledispatch
def written(family: Observables, name: str) -> Written:
    """Return the functions of a family, named `name`."""
    raise KoopsieveError(f"{type(family).__name__} has no form in C. Use the built-in blocks.")


@written.register
def _(family: Coordinates, name: str) -> Written:
    tables = index_table(f"{name}_column", family.columns)
    value = f"out[i] = p[{name}_column[i]];"
    slope = f"slope[{name}_column[i]] += weight[i];"
    return _looped(family, name, tables, value, slope, slope_uses_point=False)


@written.register
def _(family: Ones, name: str) -> Written:
    values = _function(family, name, "", "    (void)p;\n" + _loop(family, "out[i] = 1.0;"))
    slopes = _slope(name, "    (void)p;\n    (void)weight;\n    (void)slope;\n")
    return Written(name, values, slopes)


@written.register
def _(family: Products, name: str) -> Written:
    d, degree = family.powers.shape[1], int(family.powers.sum(axis=1).max(initial=1))
    factors = np.full((family.size, degree), d, dtype=np.intp)
    for row, powers in zip(factors, family.powers, strict=True):
        held = np.repeat(np.arange(d), powers)
        row[: len(held)] = held
    tables = index_table(f"{name}_factor", factors, d)  # d stands for none
    value = f"""double product = 1.0;
        for (int j = 0; j < {degree} && {name}_factor[i][j] < {d}; j++)
            product *= p[{name}_factor[i][j]];
        out[i] = product;"""
    slope = f"""for (int j = 0; j < {degree} && {name}_factor[i][j] < {d}; j++) {{
            double others = weight[i];
            for (int k = 0; k < {degree} && {name}_factor[i][k] < {d}; k++)
                if (k != j)
                    others *= p[{name}_factor[i][k]];
            slope[{name}_factor[i][j]] += others;
        }}"""
    return _looped(family, name, tables, value, slope)


@written.register
def _(family: Kernels, name: str) -> Written:
    d = family.centers.shape[1]
    tables = _kernel_tables(family, name)
    square = "square += away * away;"
    value = f"""double square = 0.0;
        for (int j = 0; j < {d}; j++) {{
            const double away = {_away(name)};
            {square}
        }}
        out[i] = exp(-{name}_coefficient[i] * square);"""
    slope = f"""double square = 0.0;
        for (int j = 0; j < {d}; j++) {{
            const double away = {_away(name)};
            {square}
        }}
        const double steep = -2.0 * weight[i] * {name}_coefficient[i] * exp(-{name}_coefficient[i] * square);
        for (int j = 0; j < {d}; j++)
            slope[j] += steep * ({_away(name)}) / {name}_scale[j];"""
    return _looped(family, name, tables, value, slope)


@written.register
def _(family: PeriodicKernels, name: str) -> Written:
    d = family.centers.shape[1]
    tables = _kernel_tables(family, name) + table(f"{name}_turn", np.pi * family.frequency)
    squares = f"""double square = 0.0;
        for (int j = 0; j < {d}; j++) {{
            const double wave = sin({name}_turn[i] * ({_away(name)}));
            square += wave * wave;
        }}"""
    value = f"{squares}\n        out[i] = exp(-{name}_coefficient[i] * square);"
    slope = f"""{squares}
        const double steep = -weight[i] * {name}_coefficient[i] * exp(-{name}_coefficient[i] * square);
        for (int j = 0; j < {d}; j++)
            slope[j] += steep * {name}_turn[i] * sin(2.0 * {name}_turn[i] * ({_away(name)})) / {name}_scale[j];"""
    return _looped(family, name, tables, value, slope)


@written.register
def _(family: Waves, name: str) -> Written:
    d = family.frequencies.shape[1]
    tables = table(f"{name}_frequency", family.frequencies) + table(f"{name}_phase", family.phases)
    angle = f"""double angle = {name}_phase[i];
        for (int j = 0; j < {d}; j++)
            angle += {name}_frequency[i][j] * p[j];"""
    value = f"{angle}\n        out[i] = cos(angle);"
    slope = f"""{angle}
        const double steep = -weight[i] * sin(angle);
        for (int j = 0; j < {d}; j++)
            slope[j] += steep * {name}_frequency[i][j];"""
    return _looped(family, name, tables, value, slope)


@written.register
def _(family: Pairs, name: str) -> Written:
    left, right = written(family.left, f"{name}_left"), written(family.right, f"{name}_right")
    tables = index_table(f"{name}_first", family.first) + index_table(f"{name}_second", family.second)
    both = f"    double left[{family.left.size}], right[{family.right.size}];\n"
    evaluated = f"    {left.name}(p, left);\n    {right.name}(p, right);\n"
    multiplied = _loop(family, f"out[i] = left[{name}_first[i]] * right[{name}_second[i]];")
    shared = f"""    double to_left[{family.left.size}] = {{0}}, to_right[{family.right.size}] = {{0}};
{evaluated}    for (int i = 0; i < {family.size}; i++) {{
        to_left[{name}_first[i]] += weight[i] * right[{name}_second[i]];
        to_right[{name}_second[i]] += weight[i] * left[{name}_first[i]];
    }}
    {left.name}_slope(p, to_left, slope);
    {right.name}_slope(p, to_right, slope);
"""
    values = left.values + right.values + _function(family, name, tables, both + evaluated + multiplied)
    return Written(name, values, left.slopes + right.slopes + _slope(name, both + shared))


def uses_mathematics(families: tuple[Observables, ...]) -> bool:
    """Tell whether a family needs exp, sin or cos."""
    return any(isinstance(family, Kernels | Waves) for family in _plain(families))


def _plain(families: tuple[Observables, ...]) -> Iterator[Observables]:
    for family in families:
        if isinstance(family, Pairs):
            yield from _plain((family.left, family.right))
        else:
            yield family


def _kernel_tables(family: Kernels, name: str) -> str:
    return (
        table(f"{name}_scale", family.scale)
        + table(f"{name}_center", family.centers)
        + index_table(f"{name}_at", family.center)
        + table(f"{name}_coefficient", family.coefficient)
    )


def _away(name: str) -> str:
    return f"p[j] / {name}_scale[j] - {name}_center[{name}_at[i]][j]"


def _looped(
    family: Observables, name: str, tables: str, value: str, slope: str, slope_uses_point: bool = True
) -> Written:
    unused = "" if slope_uses_point else "    (void)p;\n"
    return Written(
        name, _function(family, name, tables, _loop(family, value)), _slope(name, unused + _loop(family, slope))
    )


def _loop(family: Observables, body: str) -> str:
    return f"    for (int i = 0; i < {family.size}; i++) {{\n        {body}\n    }}\n"


def _function(family: Observables, name: str, tables: str, body: str) -> str:
    shown = ", ".join(family.names[:6]) + (", ..." if family.size > 6 else "")
    return f"\n/* {comment(shown)} */\n{tables}\nstatic void {name}(const double *p, double *out)\n{{\n{body}}}\n"


def _slope(name: str, body: str) -> str:
    return f"\nstatic void {name}_slope(const double *p, const double *weight, double *slope)\n{{\n{body}}}\n"
