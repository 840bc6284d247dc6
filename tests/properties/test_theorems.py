"""Every statement proved in the paper's Section 4.2, on random dependency graphs and random thresholded models.

Model matrices hold small whole numbers, so that "identical" is tested as equality and ranks are exact.
"""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import sympy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sympy.polys.matrices import DomainMatrix

from koopsieve.identify import Estimate
from koopsieve.regression import RegressionStatistics, TriangularFactor
from koopsieve.sieve import (
    ancestors,
    coefficient_count,
    condense,
    controllable_subspace,
    strong_components,
    thresholded,
)
from koopsieve.sieve.algorithm_2 import Reduction, component_labels, reduce

PROBABILITIES = st.sampled_from([0.0, 0.0, 0.0, 0.009, 0.1, 0.25, 0.5, 0.99, 1.0])
THRESHOLDS = st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.999])


@st.composite
def reductions(draw, largest=10):
    """A random inclusion matrix with some rows of inputs, reduced."""
    L, inputs = draw(st.integers(1, largest)), draw(st.integers(0, 2))
    inclusion = draw(hnp.arrays(float, (L + inputs, L), elements=PROBABILITIES))
    outputs = draw(st.lists(st.integers(0, L - 1), min_size=1, max_size=3))
    return reduce(inclusion, outputs, draw(THRESHOLDS))


@st.composite
def thresholded_models(draw):
    """A reduction and matrices A_ε, B of the full thresholded model (column convention: φ⁺ = Aφ + Bu)."""
    reduction: Reduction = draw(reductions(largest=6))
    L, inputs = len(reduction.adjacency), draw(st.integers(0, 2))
    coef = draw(hnp.arrays(np.int64, (L + inputs, L), elements=st.integers(-2, 2))).astype(float)
    names = tuple(f"o{i}" for i in range(L))
    statistics = RegressionStatistics(TriangularFactor.empty(L + inputs, L), names, ("u", "v")[:inputs])
    found = thresholded(Estimate.of(statistics, coef, noise_precision=np.ones(L)), reduction).coef
    assert np.array_equal(found[:L] != 0, reduction.adjacency & (coef[:L] != 0))
    assert np.array_equal(found[L:], coef[L:])
    return reduction, found[:L].T, found[L:].T


def exact_rank(matrix):
    """Rank over the rationals."""
    return DomainMatrix.from_Matrix(sympy.Matrix(matrix.astype(int))).convert_to(sympy.QQ).rank()


def controllability_matrix(A, B):
    blocks = [B]
    for _ in range(len(A) - 1):
        blocks.append(A @ blocks[-1])
    return np.hstack(blocks)


@given(reductions())
def test_condensed_search_equals_plain_search(reduction):
    """Proposition 1: A(O) = dec(A_C(S_O)); networkx is the judge."""
    graph = nx.from_numpy_array(reduction.adjacency, create_using=nx.DiGraph)
    expected = set(reduction.outputs).union(*(nx.ancestors(graph, o) for o in reduction.outputs))
    assert set(ancestors(reduction.adjacency, reduction.outputs).tolist()) == expected
    assert list(reduction.retained) == sorted(expected)
    assert sorted([*reduction.retained, *reduction.discarded]) == list(range(len(reduction.adjacency)))


@given(reductions())
def test_components_and_condensation_are_those_of_networkx(reduction):
    graph = nx.from_numpy_array(reduction.adjacency, create_using=nx.DiGraph)
    assert {frozenset(c.tolist()) for c in reduction.components} == set(
        map(frozenset, nx.strongly_connected_components(graph))
    )
    judge = nx.condensation(graph, [set(c.tolist()) for c in reduction.components])
    assert set(zip(*map(np.ndarray.tolist, np.nonzero(reduction.condensation)), strict=True)) == set(judge.edges)
    assert nx.is_directed_acyclic_graph(nx.from_numpy_array(reduction.condensation, create_using=nx.DiGraph))
    for number, component in enumerate(reduction.components):
        assert (component_labels(reduction.components)[component] == number).all()


@given(hnp.arrays(bool, st.integers(1, 8).map(lambda L: (L, L))))
def test_condensation_of_a_condensation_is_itself(adjacency):
    condensation = condense(adjacency, strong_components(adjacency))
    assert np.array_equal(condense(condensation, strong_components(condensation)), condensation)


@given(reductions())
def test_retained_observables_depend_on_no_discarded_one(reduction):
    """Lemma 1 (closure): j retained and (i, j) an edge imply i retained."""
    assert not reduction.adjacency[np.ix_(reduction.discarded, reduction.retained)].any()


@given(reductions(largest=7))
def test_every_closed_set_that_holds_the_outputs_holds_the_retained(reduction):
    """Lemma 2 (minimality), over all subsets."""
    L, retained = len(reduction.adjacency), set(reduction.retained.tolist())
    for size in range(L + 1):
        for chosen in map(set, combinations(range(L), size)):
            closed = all(i in chosen for j in chosen for i in range(L) if reduction.adjacency[i, j])
            if closed and chosen.issuperset(reduction.outputs):
                assert retained <= chosen


@given(thresholded_models(), st.data())
def test_restriction_preserves_the_retained_trajectory(model, data):
    """Proposition 2 (output preservation): exact, for any start and any input sequence."""
    reduction, A, B = model
    R, steps = reduction.retained, 6
    small = st.integers(-3, 3)
    full = data.draw(hnp.arrays(np.int64, len(A), elements=small)).astype(float)
    inputs = data.draw(hnp.arrays(np.int64, (steps, B.shape[1]), elements=small)).astype(float)
    reduced = full[R]
    for u in inputs:
        full, reduced = A @ full + B @ u, A[np.ix_(R, R)] @ reduced + B[R] @ u
        assert np.array_equal(full[R], reduced)
    assert set(reduction.outputs) <= set(R.tolist())


def same_span(one, other):
    """Tell whether two sets of columns span the same space; the second is an orthonormal basis."""
    rank = np.linalg.matrix_rank(one, tol=1e-7) if one.size else 0
    inside = np.allclose(other @ (other.T @ one), one, atol=1e-7)
    return rank == other.shape[1] and inside


@given(thresholded_models())
def test_controllable_subspace_is_that_of_the_controllability_matrix(model):
    _, A, B = model
    basis, powers = controllable_subspace(A, B), controllability_matrix(A, B)
    assert basis.shape == (len(A), exact_rank(powers))
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)
    scale = np.maximum(np.abs(powers).max(axis=0), 1.0)
    np.testing.assert_allclose(basis @ (basis.T @ powers) / scale, powers / scale, atol=1e-7)


@given(thresholded_models())
def test_controllable_subspace_is_projected(model):
    """Proposition 3: Π_R C_full = C_R, by exact ranks and by the library's own bases."""
    reduction, A, B = model
    R = reduction.retained
    projected = controllability_matrix(A, B)[R]
    reduced = controllability_matrix(A[np.ix_(R, R)], B[R])
    rank = exact_rank(reduced)
    assert exact_rank(projected) == rank
    assert exact_rank(np.hstack([projected, reduced])) == rank
    assert same_span(controllable_subspace(A, B)[R], controllable_subspace(A[np.ix_(R, R)], B[R]))


@given(thresholded_models())
def test_a_reduced_model_stores_as_many_coefficients_as_its_matrices_have(model):
    reduction, A, B = model
    R = reduction.retained
    assert coefficient_count(len(A), B.shape[1]) == A.size + B.size
    assert coefficient_count(len(R), B.shape[1]) == A[np.ix_(R, R)].size + B[R].size
