"""Where hidden states come from: subspace identification, from one triangular factor of the data.

Comes in: delay lines of standardised outputs and inputs, piece by piece. Goes out: linear state spaces of any number of
states, in modal coordinates of unit variance, each with a linear encoder of the delay line. The data are read once;
only a triangle of as many columns as the delay line has is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from koopsieve._types import ComplexArray, FloatArray, or_one
from koopsieve.data import Embedding
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.windows import Episode

_ROWS = 8192  # rows folded at once
_SINGULAR = 1e-10  # relative singular value below which a direction of the past is left out
_REAL = 1e-9  # imaginary part of a pole, relative to its size, below which it is real
_WORST_CONDITION = 1e8  # of the modes: beyond, poles are nearly multiple and the system stays in its own coordinates


@dataclass(frozen=True, eq=False)
class LinearStateSpace:
    """x[k] = E·line[k], x[k+1] = A x[k] + B v[k], y[k+1] = C x[k] + D v[k], v the input that acts in the step.

    Parameters
    ----------
    encoder : array, shape (n, n_x)
        E, of the delay line.
    A, B, C, D : array
    """

    encoder: FloatArray
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray

    @property
    def rows(self) -> FloatArray:
        """[A B; C D], shape (n + outputs, n + l)."""
        return np.block([[self.A, self.B], [self.C, self.D]])

    def changed(self, basis: FloatArray) -> LinearStateSpace:
        """Return the same system with states x′, x = basis·x′."""
        inverse = np.linalg.inv(basis)
        return LinearStateSpace(
            inverse @ self.encoder, inverse @ self.A @ basis, inverse @ self.B, self.C @ basis, self.D
        )


@dataclass(frozen=True, eq=False)
class Subspace:
    """What subspace identification knows of a record.

    Parameters
    ----------
    triangle : array
        Triangular factor of [line[k], v[k], y[k+1]], divided by the root of the number of rows.
    embedding : Embedding
        Of the delay line.
    outputs, inputs : int
    """

    triangle: FloatArray
    embedding: Embedding
    outputs: int
    inputs: int

    @classmethod
    def of(cls, episodes: Iterable[Episode], embedding: Embedding, outputs: int, inputs: int) -> Subspace:
        """Fold episodes of standardised delay lines (samples, n_x) and the inputs between them (samples − 1, l)."""
        width = outputs * (embedding.state_delays + 2) + inputs * (embedding.input_delays + 1)
        factor = TriangularFactor.empty(width, 0)
        for lines, acting in episodes:
            for first in range(0, len(acting), _ROWS):
                part = slice(first, first + _ROWS)
                rows = np.hstack([lines[:-1][part], acting[part], lines[1:, :outputs][part]])
                factor = factor.absorb(rows, np.empty((len(rows), 0)))
        return cls(factor.R / np.sqrt(max(factor.rows, 1.0)), embedding, outputs, inputs)

    @property
    def lines(self) -> int:
        """Columns of a delay line, n_x."""
        return len(self.triangle) - self.inputs - self.outputs

    @cached_property
    def directions(self) -> tuple[FloatArray, FloatArray]:
        """Singular values, and an encoder (all, n_x) whose first rows are the best states of any number (D83).

        A long ARX model says how the future depends on the past; its leading singular directions, in units in which the
        past is white, are the states. They are uncorrelated and have unit variance.
        """
        split = self.lines + self.inputs
        arx = _least_squares(self.triangle[:, :split], self.triangle[:, split:]).T
        past = self.triangle[: self.lines, : self.lines]
        left, size, _ = np.linalg.svd(past @ self._future(arx).T, full_matrices=False)
        known = int(np.sum(size > _SINGULAR * size[0])) if size.size else 0
        encoder = _least_squares(past, left[:, :known]).T
        return size[:known], encoder

    def _future(self, arx: FloatArray) -> FloatArray:
        """Return how outputs 1, 2, … steps ahead depend on the delay line while inputs and surprises stay zero.

        What lies d samples back now lies d + i samples back i steps later: the ARX coefficients, shifted (D83).
        """
        reach = self.embedding.state_delays + 1
        split = self.outputs * reach
        past_outputs = arx[:, :split].reshape(self.outputs, reach, self.outputs)
        past_inputs = arx[:, split : self.lines].reshape(self.outputs, self.embedding.input_delays, self.inputs)
        steps = self.embedding.history
        return np.hstack([_shifted(past_outputs, steps), _shifted(past_inputs, steps)])

    def state_space(self, states: int) -> LinearStateSpace:
        """Return the system with the leading states, in modal coordinates of unit variance (D84)."""
        encoder = self.directions[1][:states]
        split = self.lines + self.inputs
        sources = self.embedding.shift_sources(self.outputs, self.inputs)
        sources = np.where(sources < 0, split + np.arange(len(sources)), sources)
        now, following = self.triangle[:, : self.lines] @ encoder.T, self.triangle[:, sources] @ encoder.T
        design = np.hstack([now, self.triangle[:, self.lines : split]])
        step = _least_squares(design, np.hstack([following, self.triangle[:, split:]])).T
        A, B, C, D = step[:states, :states], step[:states, states:], step[states:, :states], step[states:, states:]
        system = LinearStateSpace(encoder, A, B, C, D)
        system = system.changed(modal_basis(A, C))
        deviation = np.linalg.norm(self.triangle[:, : self.lines] @ system.encoder.T, axis=0)
        return system.changed(np.diag(or_one(deviation)))


def _least_squares(design: FloatArray, targets: FloatArray) -> FloatArray:
    found: FloatArray = np.asarray(np.linalg.lstsq(design, targets, rcond=_SINGULAR)[0], dtype=np.float64)
    return found


def _shifted(coefficients: FloatArray, steps: int) -> FloatArray:
    """Return coefficients (outputs, depth, signals) moved back by 0, 1, … samples, shape (steps·outputs, columns)."""
    outputs, depth, signals = coefficients.shape
    found = np.zeros((steps, outputs, depth, signals))
    for step in range(min(steps, depth)):
        found[step, :, : depth - step] = coefficients[:, step:]
    return found.reshape(steps * outputs, depth * signals)


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
    >>> (np.round(np.linalg.inv(M) @ A @ M, 12) + 0.0).tolist()  # no −0.0
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
