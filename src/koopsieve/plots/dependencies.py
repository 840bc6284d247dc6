"""Who depends on whom, as plain values to be drawn: nodes, circles of dependencies, and the arrows between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, IndexArray, KoopsieveError
from koopsieve.data.embedding import sample_name
from koopsieve.sieve.algorithm_2 import Reduction
from koopsieve.sifting.result import SieveResult

OUTPUT, INPUT, OBSERVABLE = "output", "input", "observable"


@dataclass(frozen=True, eq=False)
class Dependencies:
    """The graph of an explanation.

    Parameters
    ----------
    names, kinds : tuple of str
        Per node; a kind is "output", "input" (any input term) or "observable".
    components : tuple of arrays of int
        Nodes that drive each other in circles; most have one.
    links : array of bool, shape (components, components)
        Entry (a, b) is true if a node of a drives a node of b.
    retained : tuple of bool
        Per component, whether an output depends on it.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    components: tuple[IndexArray, ...]
    links: BoolArray
    retained: tuple[bool, ...]


def dependencies(result: SieveResult) -> Dependencies:
    """Return the graph of the explanation at its threshold, inputs included."""
    return _with_circles(result) if result.model.carries_observables else _towards_outputs(result)


def reduction_graph(reduction: Reduction, names: Sequence[str] | None = None) -> Dependencies:
    """Return the graph of Algorithm 2, its strongly connected components as circles."""
    count = len(reduction.adjacency)
    named = tuple(f"φ{i + 1}" for i in range(count)) if names is None else tuple(map(str, names))
    if len(named) != count:
        raise KoopsieveError(
            f"names must name every observable. Expected {count}, got {len(named)}. Pass estimate.targets."
        )
    kinds = tuple(OUTPUT if i in reduction.outputs else OBSERVABLE for i in range(count))
    kept = set(reduction.retained.tolist())
    retained = tuple(int(component[0]) in kept for component in reduction.components)
    return Dependencies(named, kinds, reduction.components, reduction.condensation, retained)


def condensation_graph(reduction: Reduction, names: Sequence[str] | None = None) -> Dependencies:
    """Return the condensation G_C: one node per strongly connected component."""
    graph = reduction_graph(reduction, names)
    labels, kinds = [], []
    for component in graph.components:
        first = sorted(component, key=lambda i: (graph.kinds[i] != OUTPUT, i))[0]
        more = f" and {len(component) - 1} more" if len(component) > 1 else ""
        labels.append(f"{graph.names[first]}{more}")
        kinds.append(graph.kinds[first])
    alone = tuple(np.array([i]) for i in range(len(labels)))
    return Dependencies(tuple(labels), tuple(kinds), alone, graph.links, graph.retained)


def _with_circles(result: SieveResult) -> Dependencies:
    """Observables that are carried drive each other; input terms are sources."""
    found, graph = result.explanation, result.reduction
    L, acting = len(found.targets), set(result.model.signals.acting)
    driven = found.inclusion[L:] >= graph.threshold
    terms = [j for j in range(len(driven)) if driven[j].any() or found.regressors[L + j] in acting]
    members = [*graph.components, *(np.array([L + i]) for i in range(len(terms)))]
    count = len(graph.components)
    links = np.zeros((len(members), len(members)), dtype=bool)
    links[:count, :count] = graph.condensation
    for place, j in enumerate(terms):
        links[count + place, :count] = [bool(driven[j, component].any()) for component in graph.components]
    kept = set(graph.retained.tolist())
    retained = [int(component[0]) in kept for component in graph.components]
    retained += [bool((links[count + place, :count] & np.array(retained[:count])).any()) for place in range(len(terms))]
    kinds = [OUTPUT if i in graph.outputs else OBSERVABLE for i in range(L)] + [INPUT] * len(terms)
    names = (*found.targets, *(found.regressors[L + j] for j in terms))
    return Dependencies(names, tuple(kinds), tuple(members), links, tuple(retained))


def _towards_outputs(result: SieveResult) -> Dependencies:
    """Terms drive the next outputs and nothing else."""
    found = result.explanation
    p, q = found.inclusion.shape
    terms = set(result.dictionary.input_term_names)
    links = np.zeros((p + q, p + q), dtype=bool)
    links[:p, p:] = found.inclusion >= result.reduction.threshold
    kinds = [INPUT if name in terms else OBSERVABLE for name in found.regressors] + [OUTPUT] * q
    names = (*found.regressors, *(sample_name(name, 1) for name in found.targets))
    retained = (*(bool(row.any()) for row in links[:p]), *([True] * q))
    return Dependencies(names, tuple(kinds), tuple(np.array([i]) for i in range(p + q)), links, retained)
