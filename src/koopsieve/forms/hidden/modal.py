"""Modal coordinates of a linear system: one state per real pole, two per pair of complex ones.

Filters in a chain then use different states, so that terms can vanish. The coordinates are the same whatever basis the
system came in: within a pair the second state is the one that the outputs do not read.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import ComplexArray, FloatArray

_REAL = 1e-9  # imaginary part of a pole, relative to its size, below which it is real
_WORST_CONDITION = 1e8  # of the modes: beyond, poles are nearly multiple and the system stays in its own coordinates


def modal_basis(A: FloatArray, C: FloatArray) -> FloatArray:
    """Return the basis M, x = M·x′, in which A is block diagonal; the identity where A has nearly multiple poles.

    Parameters
    ----------
    A : array, shape (n, n)
    C : array, shape (outputs, n)

    Examples
    --------
    >>> A = np.array([[0.5, 1.0], [0.0, 0.8]])
    >>> M = modal_basis(A, np.ones((1, 2)))
    >>> np.round(np.linalg.inv(M) @ A @ M, 12).tolist()
    [[0.8, 0.0], [0.0, 0.5]]
    """
    poles, modes = np.linalg.eig(A)
    columns: list[FloatArray] = []
    for i in _slowest_first(poles):
        mode = _turned(modes[:, i], C)
        if abs(poles[i].imag) <= _REAL * abs(poles[i]):
            columns.append(mode.real)
        elif poles[i].imag > 0:
            columns += [mode.real, mode.imag]
    basis = np.array(columns).T if len(columns) == len(A) else np.eye(len(A))
    return basis if np.linalg.cond(basis) < _WORST_CONDITION else np.eye(len(A))


def _slowest_first(poles: ComplexArray) -> list[int]:
    """Return the poles by their frequency, then by their decay."""
    frequency = np.round(np.abs(np.angle(poles)), 12)
    order: list[int] = np.lexsort((-np.abs(poles), frequency)).tolist()
    return order


def _turned(mode: ComplexArray, C: FloatArray) -> ComplexArray:
    """Return a mode at unit length, turned so that the output that sees most of it sees a positive real number.

    A real mode has a real output, so it is turned by a sign only.
    """
    seen = C @ mode
    largest = seen[np.argmax(np.abs(seen))] if seen.size else 0.0
    if abs(largest) == 0:
        largest = mode[np.argmax(np.abs(mode))]
    turned: ComplexArray = mode * (np.conj(largest) / abs(largest)) / np.linalg.norm(mode)
    return turned
