"""The graph of dependencies between observables, as functions on plain arrays (the paper's Section 3.3).

Everywhere `adjacency[i, j]` is true if observable i drives observable j one step later: the orientation of the paper's
inclusion matrix, whose column j belongs to target j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from koopsieve._types import BoolArray, FloatArray, IndexArray


def threshold_inclusion(inclusion: FloatArray, threshold: float) -> BoolArray:
    """Return the dependency graph Γₓ ≥ ε of the observables; rows of inputs, below the first L, are left out.

    Parameters
    ----------
    inclusion : array, shape (L + l, L)
        Probability that regressor i drives observable j.
    threshold : float
        The paper's ε.

    Returns
    -------
    array of bool, shape (L, L)

    Examples
    --------
    >>> threshold_inclusion(np.array([[0.9, 0.1], [0.0, 0.2], [1.0, 1.0]]), 0.1)
    array([[ True,  True],
           [False,  True]])
    """
    L = inclusion.shape[1]
    adjacency: BoolArray = inclusion[:L] >= threshold
    return adjacency


def strong_components(adjacency: BoolArray) -> tuple[IndexArray, ...]:
    """Return the strongly connected components, each sorted, in the order of their smallest member.

    Examples
    --------
    >>> strong_components(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]], dtype=bool))
    (array([0, 1]), array([2]))
    """
    count, labels = connected_components(adjacency, directed=True, connection="strong")
    members = (np.flatnonzero(labels == label) for label in range(count))
    return tuple(sorted(members, key=lambda component: int(component[0])))


def condense(adjacency: BoolArray, components: tuple[IndexArray, ...]) -> BoolArray:
    """Return the condensation: an acyclic graph with one node per component and an edge wherever a member has one."""
    label = component_labels(components)
    condensation = np.zeros((len(components), len(components)), dtype=bool)
    source, target = np.nonzero(adjacency)
    condensation[label[source], label[target]] = True
    np.fill_diagonal(condensation, False)
    return condensation


def component_labels(components: tuple[IndexArray, ...]) -> IndexArray:
    """Return for every node the number of the component that holds it."""
    label = np.empty(sum(map(len, components)), dtype=np.intp)
    for number, component in enumerate(components):
        label[component] = number
    return label


def ancestors(adjacency: BoolArray, outputs: ArrayLike) -> IndexArray:
    """Return all nodes with a directed path to one of `outputs`, the outputs themselves included, sorted.

    Examples
    --------
    >>> ancestors(np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool), [1])
    array([0, 1, 2])
    """
    reached = np.zeros(len(adjacency), dtype=bool)
    frontier = np.zeros(len(adjacency), dtype=bool)
    frontier[np.asarray(outputs, dtype=np.intp)] = True
    while frontier.any():
        reached |= frontier
        frontier = adjacency[:, frontier].any(axis=1) & ~reached
    return np.flatnonzero(reached)
