"""How firmly each observable is kept: the strongest path from it to an output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Strength:
    """Per observable, its strongest path to an output; a path is as strong as its least probable dependency.

    Parameters
    ----------
    value : array, shape (L,)
        Strength of that path: the largest threshold at which the observable is still retained. 1 for outputs, 0 where
        there is no path.
    following : array of int, shape (L,)
        The next observable on the path; −1 for outputs and where there is no path.
    """

    value: FloatArray
    following: IndexArray

    def path(self, observable: int) -> tuple[int, ...]:
        """Return the path from an observable to an output, both included."""
        steps = [int(observable)]
        while self.following[steps[-1]] >= 0:
            steps.append(int(self.following[steps[-1]]))
        return tuple(steps)


def strength(inclusion: ArrayLike, outputs: ArrayLike) -> Strength:
    """Find the strongest path from every observable to an output (Dijkstra's search, with the minimum for the sum).

    For every threshold the observables that `reduce` retains are exactly those at least as strong as the threshold.

    Parameters
    ----------
    inclusion : array, shape (L + l, L) or (L, L)
        Probability that regressor i drives observable j; rows of inputs are ignored.
    outputs : sequence of int
        Indices of the outputs.

    Examples
    --------
    Observable 2 drives 1 surely, 1 drives the output 0 with probability 0.7: both are kept up to a threshold of 0.7.

    >>> found = strength([[0.9, 0.0, 0.0], [0.7, 0.9, 0.0], [0.0, 1.0, 0.0]], outputs=[0])
    >>> found.value, found.path(2)
    (array([1. , 0.7, 0.7]), (2, 1, 0))
    """
    probability = np.asarray(inclusion, dtype=float)
    L = probability.shape[1]
    value, following, steps = np.zeros(L), np.full(L, -1, dtype=np.intp), np.zeros(L, dtype=np.intp)
    value[np.asarray(outputs, dtype=np.intp)] = 1.0
    done = np.zeros(L, dtype=bool)
    while not done.all():
        j = int(np.lexsort((steps, np.where(done, np.inf, -value)))[0])  # the strongest, of equals the nearest
        if value[j] <= 0:
            break
        done[j] = True
        through = np.minimum(probability[:L, j], value[j])
        shorter = (through == value) & (steps[j] + 1 < steps) & (through > 0)
        better = ~done & ((through > value) | shorter)
        value[better], following[better], steps[better] = through[better], j, steps[j] + 1
    return Strength(value, following)
