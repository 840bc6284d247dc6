"""A polynomial state space run sample by sample, term by term: nothing in common with the fast code.

Everything works on complex numbers too, so that derivatives come from complex steps, exact to rounding.
"""

import numpy as np


def term(powers, x, u):
    """Return the product of states and inputs to their powers."""
    value = 1.0
    for power, factor in zip(powers, [*x, *u], strict=True):
        for _ in range(int(power)):
            value = value * factor
    return value


def simulate(powers, coef, start, inputs, states, bound=np.inf):
    """Return the outputs after each step, a row per step; states beyond ±bound are set onto it."""
    x, found = list(start), []
    for u in inputs:
        values = [term(row, x, u) for row in powers]
        following = [sum(weight * value for weight, value in zip(row, values, strict=True)) for row in coef]
        found.append(following[states:])
        x = [bound * np.sign(v.real) if abs(v.real) > bound else v for v in map(np.complex128, following[:states])]
    return np.array(found)


def jacobian(powers, coef, free, start, inputs, states, bound=np.inf):
    """Return the derivatives of all outputs by the free coefficients, shape (steps, outputs, P), by complex steps."""
    columns = []
    for place in np.argwhere(free):
        moved = np.array(coef, dtype=complex)
        moved[tuple(place)] += 1e-30j
        columns.append(simulate(powers, moved, start, inputs, states, bound).imag / 1e-30)
    return np.stack(columns, axis=-1)
