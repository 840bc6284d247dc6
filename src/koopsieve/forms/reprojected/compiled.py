"""The time loops of reprojected models, compiled: simulation and its slopes by coefficients, from a flat program.

The loops go through windows in blocks; within a block every operation runs over all its windows, side by side in the
registers of the processor. Each window's result is the same wherever it stands. Numba is imported with this file, and
this file when the first model is simulated. Machine code is kept on disk: beside this file, or in the user's cache
where that folder cannot be written to. It is made anew when this file changes, and only then: what is compiled
together must stand together.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.dictionary.observables import Tables

BLOCK = 32  # windows side by side
Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and keep the machine code on disk if there is a place for it."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
    try:
        found: Function = numba.njit(cache=True, **options)(function)
        _forget_unreadable(found)
    except (RuntimeError, OSError):  # no folder to write to
        found = numba.njit(**options)(function)
    return found


def _forget_unreadable(function: object) -> None:
    """Empty the list of what was kept of a function where it cannot be read: another version's types may have moved."""
    kept = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if kept is not None:
        try:
            kept.load(None)
        except (ImportError, AttributeError, TypeError, ValueError, EOFError, pickle.UnpicklingError):
            kept.flush()


@compiled
def _evaluate_atoms(tables: Tables, atoms: FloatArray) -> None:
    """Write kernels, waves and nodes (rows) of all windows (columns) below the coordinates."""
    width = tables.centers.shape[1]
    at, lanes = width, atoms.shape[1]
    for k in range(len(tables.centers)):
        _distance(tables.steepness[k], tables.centers[k], atoms, atoms[at])
        _exponentials(atoms[at], atoms[-1])
        at += 1
    for k in range(len(tables.phases)):
        row = atoms[at]
        for b in range(lanes):
            row[b] = tables.phases[k]
        for d in range(width):
            frequency = tables.frequencies[k, d]
            if frequency != 0.0:
                for b in range(lanes):
                    row[b] += frequency * atoms[d, b]
        for b in range(lanes):
            row[b] = math.cos(row[b])
        at += 1
    for k in range(len(tables.operation)):
        operation, number = tables.operation[k], tables.number[k]
        if operation != 0:  # numbers stand there already
            _evaluate_node(operation, number, atoms[tables.left[k]], atoms[tables.right[k]], atoms[at])
        at += 1


@compiled
def _distance(steep: FloatArray, center: FloatArray, atoms: FloatArray, out: FloatArray) -> None:
    """Write −Σ_d steep_d·(z_d − center_d)² of all windows, four coordinates at a time: fewer loads and stores."""
    for b in range(len(out)):
        out[b] = 0.0
    d = 0
    while d + 4 <= len(center):
        e, f, g, h = steep[d], steep[d + 1], steep[d + 2], steep[d + 3]
        i, j, k, m = center[d], center[d + 1], center[d + 2], center[d + 3]
        p, q, r, s = atoms[d], atoms[d + 1], atoms[d + 2], atoms[d + 3]
        for b in range(len(out)):
            one, two, three, four = p[b] - i, q[b] - j, r[b] - k, s[b] - m
            out[b] -= e * one * one + f * two * two + g * three * three + h * four * four
        d += 4
    while d < len(center):
        e, i, p = steep[d], center[d], atoms[d]
        for b in range(len(out)):
            one = p[b] - i
            out[b] -= e * one * one
        d += 1


@compiled
def _evaluate_node(operation: int, number: float, left: FloatArray, right: FloatArray, out: FloatArray) -> None:
    """Write a node of all windows; the operations of kinks, side by side in the registers."""
    if operation == 1:
        for b in range(len(out)):
            out[b] = left[b] + right[b]
    elif operation == 2:
        for b in range(len(out)):
            out[b] = left[b] * right[b]
    elif operation == 4:
        for b in range(len(out)):
            out[b] = left[b] if left[b] > right[b] or left[b] != left[b] else right[b]
    else:
        for b in range(len(out)):
            out[b] = _node(operation, left[b], right[b], number)


@compiled
def _exponentials(values: FloatArray, scratch: FloatArray) -> None:
    """Replace values by their exponentials, at most two units in the last place off; below −708 that of −708.

    exp(x) = 2^k·exp(r), k = round(x/ln 2). Adding 1.5·2⁵² rounds to a whole number and leaves it in the last bits, from
    where it is moved into the exponent. Unlike the library's function, this runs side by side in the registers.
    """
    bits = scratch.view(np.int64)
    for b in range(len(values)):
        x = values[b] if values[b] > -708.0 or values[b] != values[b] else -708.0
        shifted = x * 1.4426950408889634 + 6755399441055744.0
        k = shifted - 6755399441055744.0
        scratch[b] = shifted
        r = x - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10
        tail = 1 / 39916800 + r / 479001600
        tail = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * tail))
        tail = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * tail)))
        values[b] = 1 + r * (1 + r * (0.5 + r * (1 / 6 + r * tail)))
    for b in range(len(values)):
        bits[b] = (bits[b] + 1023) << 52
    for b in range(len(values)):
        values[b] *= scratch[b]


@compiled
def _sign(x: float) -> float:
    """Return −1, 0 or 1; what is not a number stays."""
    if x > 0:
        return 1.0
    return -1.0 if x < 0 else 0.0 * x


@compiled
def _node(operation: int, x: float, y: float, number: float) -> float:
    """Return the value of one node of an expression, of the `OPERATIONS` that are not written out above."""
    if operation == 3:
        return math.pow(x, number)
    if operation == 5:
        return x if x < y or x != x else y
    if operation == 6:
        return abs(x)
    if operation == 7:
        return _sign(x)
    if operation == 8:
        return math.exp(x)
    if operation == 9:
        return math.log(x)
    if operation == 10:
        return math.sin(x)
    if operation == 11:
        return math.cos(x)
    if operation == 12:
        return math.tan(x)
    if operation == 13:
        return math.sinh(x)
    if operation == 14:
        return math.cosh(x)
    if operation == 15:
        return math.tanh(x)
    return math.atan(x)


@compiled
def _node_slope(operation: int, x: float, y: float, value: float, number: float) -> float:
    """Return the derivative of a node by its first argument, at kinks the mean of both sides, zero where a root begins.

    By the second argument it is the same with the arguments exchanged. Sums and maxima are written out in `_slopes`.
    """
    if operation == 2:
        return y
    if operation == 3:
        return 0.0 if 0 < number < 1 and x <= 0 else number * math.pow(x, number - 1)
    if operation == 5:
        return 0.5 - 0.5 * _sign(x - y)
    if operation == 6:
        return _sign(x)
    if operation == 8:
        return value
    if operation == 9:
        return 1 / x
    if operation == 10:
        return math.cos(x)
    if operation == 11:
        return -math.sin(x)
    if operation == 12:
        return 1 + value * value
    if operation == 13:
        return math.cosh(x)
    if operation == 14:
        return math.sinh(x)
    if operation == 15:
        return 1 - value * value
    if operation == 16:
        return 1 / (1 + x * x)
    return 0.0


@compiled
def _evaluate_terms(tables: Tables, atoms: FloatArray, terms: FloatArray) -> None:
    """Multiply up every term (rows) of all windows (columns)."""
    lanes = atoms.shape[1]
    for i in range(len(terms)):
        low, high = tables.first[i], tables.first[i + 1]
        if low == high:
            for b in range(lanes):
                terms[i, b] = 1.0
            continue
        one, other = tables.factors[low], tables.factors[high - 1]
        if high == low + 1:
            for b in range(lanes):
                terms[i, b] = atoms[one, b]
            continue
        for b in range(lanes):
            terms[i, b] = atoms[one, b] * atoms[other, b]
        for k in range(low + 1, high - 1):
            for b in range(lanes):
                terms[i, b] *= atoms[tables.factors[k], b]


@compiled
def _sums(coef: FloatArray, terms: FloatArray, raw: FloatArray) -> None:
    """Write the sums Σ_i coef_ic·term_i (rows) of all windows (columns)."""
    for c in range(len(raw)):
        for b in range(raw.shape[1]):
            raw[c, b] = 0.0
    for i in range(len(terms)):
        for c in range(len(raw)):
            weight = coef[i, c]
            if weight != 0.0:
                for b in range(raw.shape[1]):
                    raw[c, b] += weight * terms[i, b]


@compiled
def _slopes(tables: Tables, coef: FloatArray, atoms: FloatArray, columns: int, slope: FloatArray) -> None:
    """Write the slopes of one sum by the first `columns` coordinates (rows), backwards through the program."""
    for d in range(len(slope)):
        for b in range(slope.shape[1]):
            slope[d, b] = 0.0
    _slopes_of_factors(tables, coef, atoms, columns, slope)
    _through_nodes(tables, atoms, slope)
    _through_waves(tables, atoms, columns, slope)
    _through_kernels(tables, atoms, columns, slope)


@compiled
def _slopes_of_factors(tables: Tables, coef: FloatArray, atoms: FloatArray, columns: int, slope: FloatArray) -> None:
    """Add the slopes of a sum by the factors of its terms."""
    width, lanes = tables.centers.shape[1], atoms.shape[1]
    others = slope[-1]  # the product of a term's other factors
    for i in range(len(coef)):
        low, high = tables.first[i], tables.first[i + 1]
        if coef[i] == 0.0:
            continue
        for k in range(low, high):
            factor = tables.factors[k]
            if columns <= factor < width:  # a coordinate whose slope is not asked for
                continue
            if high == low + 1:
                for b in range(lanes):
                    slope[factor, b] += coef[i]
            elif high == low + 2:
                other = tables.factors[low + high - 1 - k]
                for b in range(lanes):
                    slope[factor, b] += coef[i] * atoms[other, b]
            else:
                for b in range(lanes):
                    others[b] = coef[i]
                for place in range(low, high):
                    if place != k:
                        for b in range(lanes):
                            others[b] *= atoms[tables.factors[place], b]
                for b in range(lanes):
                    slope[factor, b] += others[b]


@compiled
def _through_nodes(tables: Tables, atoms: FloatArray, slope: FloatArray) -> None:
    """Pass slopes by nodes on to what these are made of, the last node first."""
    lanes, first = atoms.shape[1], tables.centers.shape[1] + len(tables.centers) + len(tables.phases)
    for k in range(len(tables.operation) - 1, -1, -1):
        at = first + k
        operation, number, left, right = tables.operation[k], tables.number[k], tables.left[k], tables.right[k]
        if operation == 0:
            continue
        if operation == 1:
            for b in range(lanes):
                slope[left, b] += slope[at, b]
                slope[right, b] += slope[at, b]
            continue
        if operation == 4:
            for b in range(lanes):
                pull, share = slope[at, b], 0.5 + 0.5 * _sign(atoms[left, b] - atoms[right, b])
                slope[left, b] += pull * share if pull != 0.0 else 0.0
                slope[right, b] += pull * (1.0 - share) if pull != 0.0 else 0.0
            continue
        for b in range(lanes):
            x, y, value = atoms[left, b], atoms[right, b], atoms[at, b]
            if slope[at, b] != 0.0:
                slope[left, b] += slope[at, b] * _node_slope(operation, x, y, value, number)
                if operation in (2, 5):
                    slope[right, b] += slope[at, b] * _node_slope(operation, y, x, value, number)


@compiled
def _through_waves(tables: Tables, atoms: FloatArray, columns: int, slope: FloatArray) -> None:
    """Pass slopes by waves on to the coordinates."""
    width, lanes = tables.centers.shape[1], atoms.shape[1]
    for k in range(len(tables.phases)):
        at = width + len(tables.centers) + k
        for b in range(lanes):
            if slope[at, b] != 0.0:
                angle = tables.phases[k]
                for d in range(width):
                    angle += tables.frequencies[k, d] * atoms[d, b]
                pull = -slope[at, b] * math.sin(angle)
                for d in range(columns):
                    slope[d, b] += pull * tables.frequencies[k, d]


@compiled
def _through_kernels(tables: Tables, atoms: FloatArray, columns: int, slope: FloatArray) -> None:
    """Pass slopes by kernels on to the coordinates."""
    width, lanes = tables.centers.shape[1], atoms.shape[1]
    for k in range(len(tables.centers)):
        pull, acts = slope[width + k], 0
        for b in range(lanes):
            acts += pull[b] != 0.0
            pull[b] *= -2.0 * atoms[width + k, b]
        if acts == 0:
            continue
        for d in range(columns):
            steep, center = tables.steepness[k, d], tables.centers[k, d]
            if steep != 0.0:
                for b in range(lanes):
                    slope[d, b] += pull[b] * steep * (atoms[d, b] - center)


@compiled
def _work(tables: Tables, coef: FloatArray, lanes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return room for the atoms of a block of windows, with a row to work in; for its terms, and its sums.

    Nodes that are numbers stay as they are.
    """
    first = tables.centers.shape[1] + len(tables.centers) + len(tables.phases)
    atoms = np.zeros((first + len(tables.operation) + 1, lanes))
    for k in range(len(tables.operation)):
        if tables.operation[k] == 0:
            atoms[first + k] = tables.number[k]
    return atoms, np.empty((len(coef), lanes)), np.empty((coef.shape[1], lanes))


@compiled
def _load(starts: FloatArray, first: int, atoms: FloatArray) -> None:
    """Write the starts of a block of windows; the last ones stand in for windows that are not there."""
    for b in range(atoms.shape[1]):
        window = min(first + b, len(starts) - 1)
        for d in range(starts.shape[1]):
            atoms[d, b] = starts[window, d]


@compiled
def _act(inputs: FloatArray, first: int, t: int, line: int, atoms: FloatArray) -> None:
    """Write the inputs that act in step t."""
    for b in range(atoms.shape[1]):
        window = min(first + b, len(inputs) - 1)
        for j in range(inputs.shape[2]):
            atoms[line + j, b] = inputs[window, t, j]


@compiled
def _shift(sources: IndexArray, outputs: FloatArray, atoms: FloatArray) -> None:
    """Move the delay line on by the new outputs; every sample comes from one that stands before it."""
    for d in range(len(sources) - 1, -1, -1):
        row = outputs[d] if sources[d] < 0 else atoms[sources[d]]
        for b in range(atoms.shape[1]):
            atoms[d, b] = row[b]


@compiled
def _held(value: float, low: float, high: float) -> float:
    """Return the value set onto a bound if it is beyond; what is not a number stays."""
    if value < low:
        return low
    return high if value > high else value


@compiled
def simulate(
    tables: Tables, coef: FloatArray, bounds: FloatArray, sources: IndexArray, starts: FloatArray, inputs: FloatArray
) -> FloatArray:
    """Return the outputs after each step, shape (W, T, n): see `ReprojectedStructure.simulate`."""
    windows, steps, outputs = len(starts), inputs.shape[1], coef.shape[1]
    lanes, line = min(BLOCK, windows), starts.shape[1]
    found = np.empty((windows, steps, outputs))
    atoms, terms, raw = _work(tables, coef, lanes)
    for first in range(0, windows, BLOCK):
        _load(starts, first, atoms)
        here = min(lanes, windows - first)
        for t in range(steps):
            _act(inputs, first, t, line, atoms)
            _evaluate_atoms(tables, atoms)
            _evaluate_terms(tables, atoms, terms)
            _sums(coef, terms, raw)
            for c in range(outputs):
                for b in range(lanes):
                    raw[c, b] = _held(raw[c, b], bounds[0, c], bounds[1, c])
                for b in range(here):
                    found[first + b, t, c] = raw[c, b]
            _shift(sources, raw, atoms)
    return found


@compiled
def sums_and_slopes(tables: Tables, coef: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of terms at points (P, width), shape (P, n), and their slopes (P, n, width)."""
    count, width, outputs = len(points), points.shape[1], coef.shape[1]
    lanes = min(BLOCK, count)
    found, slopes = np.empty((count, outputs)), np.empty((count, outputs, width))
    atoms, terms, raw = _work(tables, coef, lanes)
    slope = np.empty_like(atoms)
    for first in range(0, count, BLOCK):
        _load(points, first, atoms)
        here = min(lanes, count - first)
        _evaluate_atoms(tables, atoms)
        _evaluate_terms(tables, atoms, terms)
        _sums(coef, terms, raw)
        for c in range(outputs):
            _slopes(tables, coef[:, c], atoms, width, slope)
            for b in range(here):
                found[first + b, c] = raw[c, b]
                for d in range(width):
                    slopes[first + b, c, d] = slope[d, b]
    return found, slopes


@compiled
def _add_products(weights: FloatArray, rows: IndexArray, count: int, slopes: FloatArray, window: int, row: int) -> None:
    """Add Σ_d weights[d]·(row rows[d]) over the first `count` to a row of a window, four at a time: fewer loads."""
    d = 0
    while d + 4 <= count:
        p, q, r, s = weights[d], weights[d + 1], weights[d + 2], weights[d + 3]
        one, two, three, four = rows[d], rows[d + 1], rows[d + 2], rows[d + 3]
        for k in range(slopes.shape[2]):
            slopes[window, row, k] += (
                p * slopes[window, one, k]
                + q * slopes[window, two, k]
                + r * slopes[window, three, k]
                + s * slopes[window, four, k]
            )
        d += 4
    while d < count:
        p, one = weights[d], rows[d]
        for k in range(slopes.shape[2]):
            slopes[window, row, k] += p * slopes[window, one, k]
        d += 1


@compiled
def sensitivities(
    tables: Tables,
    free: BoolArray,
    reach: int,
    coef: FloatArray,
    bounds: FloatArray,
    sources: IndexArray,
    starts: FloatArray,
    inputs: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the outputs (W, T, n) and their derivatives (W, T, n, P): see `ReprojectedStructure.sensitivities`.

    The derivatives of the delayed outputs are those of earlier steps, and are read where they were written.
    """
    windows, steps, outputs = len(starts), inputs.shape[1], coef.shape[1]
    lanes, line, past = min(BLOCK, windows), starts.shape[1], reach * outputs
    place = np.cumsum(free).reshape(free.shape) - 1
    found, slopes = np.empty((windows, steps, outputs)), np.empty((windows, steps * outputs, free.sum()))
    atoms, terms, raw = _work(tables, coef, lanes)
    inward, held = np.empty((outputs, *atoms.shape)), np.empty((outputs, lanes))
    weights, rows = np.empty(past), np.empty(past, np.int64)
    for first in range(0, windows, BLOCK):
        _load(starts, first, atoms)
        here = min(lanes, windows - first)
        for t in range(steps):
            _act(inputs, first, t, line, atoms)
            _evaluate_atoms(tables, atoms)
            _evaluate_terms(tables, atoms, terms)
            _sums(coef, terms, raw)
            for c in range(outputs):
                _slopes(tables, coef[:, c], atoms, past, inward[c])
                for b in range(lanes):
                    held[c, b] = _held(raw[c, b], bounds[0, c], bounds[1, c])
                for b in range(here):
                    found[first + b, t, c] = held[c, b]
            for b in range(here):
                for c in range(outputs):
                    row = t * outputs + c
                    for k in range(slopes.shape[2]):
                        slopes[first + b, row, k] = 0.0
                    if raw[c, b] != held[c, b]:
                        continue
                    for i in range(len(coef)):
                        if free[i, c]:
                            slopes[first + b, row, place[i, c]] = terms[i, b]
                    count = 0
                    for d in range(min(reach, t) * outputs):
                        weights[count], rows[count] = inward[c, d, b], (t - 1 - d // outputs) * outputs + d % outputs
                        count += inward[c, d, b] != 0.0
                    _add_products(weights, rows, count, slopes, first + b, row)
            _shift(sources, held, atoms)
    return found, slopes.reshape(windows, steps, outputs, slopes.shape[2])
