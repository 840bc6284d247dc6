"""Subspace identification from one triangle, and modal coordinates."""

import numpy as np
import pytest

from koopsieve.data import Embedding
from koopsieve.forms.hidden.start import Subspace, modal_basis

EMBEDDING = Embedding(7, 7)
POLES = [0.9 * np.exp(0.4j), 0.9 * np.exp(-0.4j), 0.6]


def record(samples, inputs, outputs, seed=0, noise=0.0):
    """Return a stable linear system of three states, and episodes of it; v[k] acts on y[k+1]."""
    rng = np.random.default_rng(seed)
    A = np.array(
        [[0.9 * np.cos(0.4), 0.9 * np.sin(0.4), 0.0], [-0.9 * np.sin(0.4), 0.9 * np.cos(0.4), 0.0], [0.0, 0.0, 0.6]]
    )
    B, C, D = rng.normal(size=(3, inputs)), rng.normal(size=(outputs, 3)), rng.normal(size=(outputs, inputs))
    episodes = []
    for length in samples:
        x, v, y = 3 * rng.normal(size=3), rng.normal(size=(length, inputs)), [rng.normal(size=outputs)]
        for k in range(length):
            y.append(C @ x + D @ v[k] + noise * rng.normal(size=outputs))
            x = A @ x + B @ v[k]
        episodes.append((np.array(y), v))
    return episodes


def found(episodes, inputs=1, embedding=EMBEDDING):
    """Return the delay lines of episodes, and the subspace that is found in them."""
    parts = [embedding.embed(y[1:], v[1:]) for y, v in episodes]
    return parts, Subspace.of(parts, embedding, episodes[0][0].shape[1], inputs)


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (2, 1), (1, 2), (0, 2)])
def test_it_finds_the_system_in_states_of_unit_variance(inputs, outputs):
    parts, subspace = found(record([400, 300], inputs, outputs), inputs, Embedding(7, 7 if inputs else 0))
    size, _ = subspace.directions
    assert size[2] > 1e-4 * size[0]
    space = subspace.state_space(3)
    np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(space.A)), np.sort_complex(POLES), atol=1e-7)
    for lines, acting in parts:  # encoder, step and outputs are those of the record
        x = lines @ space.encoder.T
        np.testing.assert_allclose(x[1:], x[:-1] @ space.A.T + acting @ space.B.T, atol=1e-6)
        np.testing.assert_allclose(lines[1:, :outputs], x[:-1] @ space.C.T + acting @ space.D.T, atol=1e-6)
    x = np.concatenate([lines[:-1] for lines, _ in parts]) @ space.encoder.T
    np.testing.assert_allclose(np.sqrt(np.mean(x**2, axis=0)), 1.0, rtol=1e-10)


def test_the_order_of_outputs_permutes_the_answer():
    episodes = record([500], 1, 2, noise=1e-3)
    first, second = (found(one)[1].state_space(3) for one in (episodes, [(y[:, ::-1], v) for y, v in episodes]))
    np.testing.assert_allclose(second.A, first.A, atol=1e-9)
    np.testing.assert_allclose(second.C[::-1], first.C, atol=1e-9)


def test_modal_coordinates_do_not_depend_on_the_basis():
    space = found(record([500], 1, 1, noise=1e-2))[1].state_space(3)
    other = space.changed(np.random.default_rng(1).normal(size=(3, 3)))
    again = other.changed(modal_basis(other.A, other.C))
    deviation = np.linalg.norm(again.encoder, axis=1) / np.linalg.norm(space.encoder, axis=1)
    np.testing.assert_allclose(again.changed(np.diag(deviation)).rows, space.rows, atol=1e-8)


def test_modal_coordinates_are_block_diagonal_and_the_second_of_a_pair_is_not_read():
    A = np.array([[0.9, 0.5, 0.2], [-0.4, 0.8, 0.1], [0.3, 0.0, 0.5]])
    C = np.array([[1.0, -2.0, 0.5]])
    M = modal_basis(A, C)
    poles = np.linalg.eigvals(A)
    turned, read = np.linalg.inv(M) @ A @ M, C @ M
    real = int(np.sum(np.abs(poles.imag) < 1e-12))
    assert real == 1
    first = 1 if abs(turned[0, 1]) < 1e-9 else 0  # the real pole is slowest or fastest
    pair = slice(first, first + 2)
    assert abs(read[0, first + 1]) < 1e-12
    off = turned.copy()
    off[pair, pair] = 0.0
    np.fill_diagonal(off, 0.0)
    assert np.abs(off).max() < 1e-12


def test_a_multiple_pole_stays_in_its_coordinates():
    A = np.array([[0.5, 1.0], [0.0, 0.5]])
    np.testing.assert_array_equal(modal_basis(A, np.ones((1, 2))), np.eye(2))
