"""Algorithm 2, dictionary reduction: inclusion probabilities and the outputs come in, the observables to keep go out.

The paper's Section 4.2: threshold → directed graph → strongly connected components → condensation → ancestors of the
components that hold the outputs → the observables in them. Functions on plain arrays; everywhere `adjacency[i, j]` is
true if observable i drives observable j one step later: the orientation of the paper's inclusion matrix, whose column j
belongs to target j.

Also here: what a sieve is, anything that gives a path of ever smaller sets of terms, and `GraphSieve`, the paper's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from koopsieve._display import Facts, Shown
from koopsieve._types import SHARE, BoolArray, FloatArray, IndexArray, KoopsieveError, real_number
from koopsieve.execution import Progress, silent
from koopsieve.identify import Estimate, Identifier, SpikeSlab
from koopsieve.regression import RegressionStatistics


@dataclass(frozen=True, eq=False, repr=False)
class Reduction(Shown):
    """Which observables the outputs depend on, and the graph that says so.

    Parameters
    ----------
    retained, discarded : array of int
        Sorted indices of the observables kept and removed; together all of them.
    components : tuple of arrays of int
        The strongly connected components of the graph, in the order of their smallest member.
    condensation : array of bool, shape (M, M)
        The acyclic graph of the components: entry (a, b) is true if a member of a drives a member of b.
    adjacency : array of bool, shape (L, L)
        The thresholded inclusion matrix: entry (i, j) is true if observable i drives observable j.
    threshold : float
        The inclusion probability from which an edge is drawn.
    outputs : tuple of int
        The observables that had to be kept.
    """

    retained: IndexArray
    discarded: IndexArray
    components: tuple[IndexArray, ...]
    condensation: BoolArray
    adjacency: BoolArray
    threshold: float
    outputs: tuple[int, ...]

    def _facts(self) -> Facts:
        kept = f"{len(self.retained)} of {len(self.adjacency)}"
        return {"retained": kept, "components": str(len(self.components)), "threshold": f"{self.threshold:g}"}


def reduce(inclusion: ArrayLike, outputs: ArrayLike, threshold: float) -> Reduction:
    """Keep the smallest set of observables that holds the outputs and everything they depend on.

    Parameters
    ----------
    inclusion : array, shape (L + l, L) or (L, L)
        Probability that regressor i drives observable j. Rows of inputs are ignored: inputs are never removed.
    outputs : sequence of int
        Indices of the observables that must be kept, usually `dictionary.outputs`.
    threshold : float
        The paper's ε, strictly between 0 and 1. A dependency less probable than this is not believed.

    Returns
    -------
    Reduction

    Raises
    ------
    KoopsieveError
        If the threshold lies outside (0, 1), there are no outputs or one does not exist, or `inclusion` does not hold
        probabilities.

    Examples
    --------
    The output, observable 0, is driven by 1 and by itself; 2 is driven by all and drives none but itself.

    >>> kept = reduce([[0.9, 0.0, 1.0], [0.7, 0.9, 1.0], [0.0, 0.0, 1.0]], outputs=[0], threshold=0.5)
    >>> kept.retained
    array([0, 1])
    """
    probability = _checked_inclusion(inclusion)
    required = _checked_outputs(outputs, probability.shape[1])
    level = real_number("threshold, which is compared with probabilities,", threshold, SHARE)
    adjacency = threshold_inclusion(probability, level)
    components = strong_components(adjacency)
    condensation = condense(adjacency, components)
    needed = ancestors(condensation, component_labels(components)[required])
    retained = np.sort(np.concatenate([components[number] for number in needed]))
    return Reduction(
        retained=retained,
        discarded=np.setdiff1d(np.arange(len(adjacency)), retained),
        components=components,
        condensation=condensation,
        adjacency=adjacency,
        threshold=float(threshold),
        outputs=tuple(required.tolist()),
    )


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


def _checked_inclusion(inclusion: ArrayLike) -> FloatArray:
    probability = np.asarray(inclusion, dtype=float)
    if probability.ndim != 2 or not 0 < probability.shape[1] <= probability.shape[0]:
        raise KoopsieveError(
            "inclusion must have one column per observable and at least as many rows, inputs last. "
            f"Expected (L + l, L), got {probability.shape}."
        )
    wrong = ~((probability >= 0) & (probability <= 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise KoopsieveError(
            "inclusion must hold probabilities between 0 and 1. "
            f"Got {probability[row, column]} in row {row}, column {column}. Pass `estimate.inclusion`, not `coef`."
        )
    return probability


def _checked_outputs(outputs: ArrayLike, observables: int) -> IndexArray:
    indices = np.atleast_1d(np.asarray(outputs))
    if indices.size == 0:
        raise KoopsieveError(
            "outputs is empty, so nothing would be kept. The dictionary has no States() block that holds a measured "
            "state; add one, or pass the indices of the observables to keep."
        )
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
        raise KoopsieveError(f"outputs must be a list of whole numbers, indices of observables. Got {outputs!r}.")
    if indices.min() < 0 or indices.max() >= observables:
        raise KoopsieveError(
            f"outputs must be indices from 0 to {observables - 1}, one of the {observables} columns of inclusion. "
            f"Got {indices.tolist()}."
        )
    return np.unique(indices).astype(np.intp)


class TermSet(Protocol):
    """A set of terms on the path."""

    @property
    def retained(self) -> IndexArray:
        """Increasing indices of the terms kept."""
        ...

    @property
    def elbo(self) -> float:
        """Bound of the evidence for it; nan where a sieve does not weigh evidence."""
        ...


class Sieve(Protocol):
    """Anything that gives sets of terms of different sizes.

    What it sifts decides in which forms it can be used. The graph sieve and the horizon sieve take the
    `RegressionStatistics` of the observables, the simulation sieve a `SimulationProblem`. A sieve says so in the class
    variable `sifts`; without it, it is taken for one of statistics.
    """

    def path(self, problem: Any, path_length: int, progress: Progress = silent) -> Sequence[TermSet]:
        """Return about `path_length` sets, the smallest first."""
        ...


def sifted_by(sieve: object) -> type[Any]:
    """Return the kind of problem that a sieve sifts."""
    kind: type[Any] = getattr(sieve, "sifts", RegressionStatistics)
    return kind


@dataclass(frozen=True, eq=False)
class GraphSet:
    """What the paper's reduction kept."""

    retained: IndexArray  # increasing indices
    elbo: float  # sum of the targets' bounds
    estimate: Estimate  # the inclusion probabilities behind it


@dataclass(frozen=True)
class GraphSieve:
    """Spike and slab one step ahead, then the ancestors of the outputs.

    Parameters
    ----------
    identifier : Identifier
        Gives the inclusion probabilities; by default `SpikeSlab()`.
    threshold : float
        Inclusion from which one observable counts as driving another.
    """

    sifts: ClassVar[type[RegressionStatistics]] = RegressionStatistics

    identifier: Identifier = field(default_factory=SpikeSlab)
    threshold: float = 0.1

    def path(
        self, problem: RegressionStatistics, path_length: int, progress: Progress = silent
    ) -> tuple[GraphSet, ...]:
        """Return the one set that the paper keeps, whatever length is asked for."""
        (estimate,) = (self.identifier.identify(problem) for _ in progress(range(1), "Inferring", 1))
        retained = reduce(estimate.inclusion, problem.outputs, self.threshold).retained
        return (GraphSet(retained, float(np.sum(estimate.elbo)), estimate),)
