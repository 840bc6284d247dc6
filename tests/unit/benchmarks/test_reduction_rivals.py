"""The rivals of the reduction benchmark against brute force and known answers."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.linear_model import Lasso, MultiTaskLasso

from koopsieve import Constant, Monomials, States, Trajectories, compress, horizon_nmse

FOLDER = str(Path(__file__).parents[3] / "benchmarks")


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    """Let the files of the benchmark find each other."""
    monkeypatch.syspath_prepend(FOLDER)


def quadratic(steps=300, seed=0, noise=0.0):
    """Return x⁺ = 0.9x + u, y⁺ = 0.5y + 0.4x²: the space of x, y and x² is invariant but for the input."""
    rng = np.random.default_rng(seed)
    u, x, y = 0.1 * rng.normal(size=steps), np.zeros(steps + 1), np.zeros(steps + 1)
    x[0], y[0] = 1.0, 0.5
    for k in range(steps):
        x[k + 1], y[k + 1] = 0.9 * x[k] + u[k], 0.5 * y[k] + 0.4 * x[k] ** 2
    states = np.column_stack([x, y])
    return Trajectories.from_arrays(states + noise * rng.normal(size=states.shape), u[:, None])


def free(seed=0, episodes=40):
    """Return the same without inputs, from many starts."""
    rng = np.random.default_rng(seed)
    runs = []
    for start in rng.uniform(-1, 1, size=(episodes, 2)):
        run = [start]
        for _ in range(6):
            x, y = run[-1]
            run.append(np.array([0.9 * x, 0.5 * y + 0.4 * x**2]))
        runs.append(np.array(run))
    return Trajectories.from_arrays(runs)


RECIPE = States() + Constant() + Monomials(3)


def lifted(data):
    """Return observables now, one step later, and inputs, episode by episode, with the dictionary and statistics."""
    phi = RECIPE.fit(data)
    values = [phi(x) for x in data.states]
    now, then = (np.concatenate([v[a:b] for v in values]) for a, b in ((0, -1), (1, None)))
    return now, then, np.concatenate(data.inputs), phi, compress(data, phi, horizons=[1, 3])


def residual(columns, always):
    return columns - always @ np.linalg.lstsq(always, columns, rcond=None)[0]


def test_group_lasso_lets_in_first_what_scikit_learn_lets_in_on_the_data():
    from reduction_pruning import group_lasso

    now, then, u, phi, statistics = lifted(quadratic(noise=0.02))
    others = np.arange(2, phi.size)
    always = np.column_stack([now[:, :2], u])
    design, target = (
        residual(now[:, others], always),
        residual(then[:, :2], always) / np.linalg.norm(then[:, :2], axis=0),
    )
    design /= np.linalg.norm(design, axis=0)
    pick = group_lasso(statistics)
    strongest = np.argmax(np.linalg.norm(design.T @ target, axis=1))
    assert set(pick(3)) == {0, 1, others[strongest]}
    top = np.linalg.norm(design.T @ target, axis=1).max() / len(design)
    for share in (0.5, 0.2):
        direct = MultiTaskLasso(alpha=share * top, fit_intercept=False, tol=1e-8, max_iter=100000).fit(design, target)
        kept = others[np.linalg.norm(direct.coef_, axis=0) > 0]
        assert set(kept) <= set(pick(2 + len(kept) + 1))


def test_row_wise_lassos_unite_the_supports_of_all_rows():
    from reduction_pruning import row_lassos

    data = quadratic(noise=0.02)
    phi = RECIPE.fit(data)
    lift, (u,), others = phi(data.states[0]), data.inputs, np.arange(2, phi.size)
    rows = len(u) - 2  # every horizon has the rows that the longest one has
    problems = []
    for h in (1, 3):
        always = np.column_stack([lift[:rows, :2], *(u[i : i + rows] for i in range(h))])
        design = residual(lift[:rows, others], always)
        whole = np.linalg.norm(lift[h : h + rows, :2], axis=0)
        target = residual(lift[h : h + rows, :2], always) / whole
        problems += [(design / np.linalg.norm(design, axis=0), target[:, j]) for j in range(2)]
    top = max(np.abs(design.T @ target).max() for design, target in problems) / rows
    kept = set()
    for design, target in problems:
        direct = Lasso(alpha=0.3 * top, fit_intercept=False, tol=1e-8, max_iter=100000).fit(design, target)
        kept |= set(others[direct.coef_ != 0])
    pick = row_lassos(compress(data, phi, horizons=[1, 3]))
    assert 0 < len(kept) < len(others)
    assert kept == set(pick(2 + len(kept))) - {0, 1}


def test_few_rows_stand_for_all_of_the_data():
    from reduction_pruning import lifted_pair

    now, then, u, _, statistics = lifted(quadratic(noise=0.05))
    a, b = lifted_pair(statistics)
    left, right = residual(now, u), residual(then, u)
    np.testing.assert_allclose(a.T @ a, left.T @ left, atol=1e-8)
    np.testing.assert_allclose(a.T @ b, left.T @ right, atol=1e-8)
    np.testing.assert_allclose(b.T @ b, right.T @ right, atol=1e-8)


def test_principal_vectors_have_the_angles_of_scipy():
    from reduction_pruning import principal_vectors

    rng = np.random.default_rng(3)
    now, then = rng.normal(size=(20, 4)), rng.normal(size=(20, 4))
    cosines, left, right = principal_vectors(now, then)
    np.testing.assert_allclose(np.arccos(cosines), subspace_angles(now, then)[::-1])
    np.testing.assert_allclose(np.sum(left * right, axis=1), cosines)


def test_the_worst_predicted_observable_goes_first():
    from reduction_pruning import worst_predicted_out

    now, then, u, phi, statistics = lifted(quadratic(noise=0.02))
    left = list(range(phi.size))
    while len(left) > 4:
        basis = residual(now[:, left], u)
        gone = residual(residual(then[:, left], u), basis)
        share = np.sum(gone**2, axis=0) / np.sum(residual(then[:, left], u) ** 2, axis=0)
        share[:2] = -1
        left.pop(int(np.argmax(share)))
    assert worst_predicted_out(statistics)(4).tolist() == left


@pytest.mark.parametrize("name", ["tunable_decomposition", "single_principal_vectors"])
def test_subspace_pruning_finds_the_invariant_subspace(name):
    import reduction_pruning

    now, then, _, phi, statistics = lifted(free())
    invariant = np.zeros((phi.size, 6))
    for column, observable in enumerate(["x1", "x2", "1", "x1^2", "x1 x2", "x1^3"]):
        invariant[phi.names.index(observable), column] = 1.0
    known = subspace_angles(now @ invariant, then @ invariant).max()
    assert known < 1e-6
    basis = getattr(reduction_pruning, name)(statistics)(6)
    assert basis.shape[1] == 6
    assert subspace_angles(now @ basis, now @ invariant).max() < 1e-4


def test_a_projected_model_on_all_directions_is_plain_least_squares():
    from reduction_pruning import orthonormal_on, projected_model

    data = quadratic(noise=0.02)
    _, _, _, phi, statistics = lifted(data)
    from koopsieve import LeastSquares, LinearModel

    plain = LinearModel.from_estimate(LeastSquares().identify(statistics), phi)
    whole = projected_model(statistics, phi, orthonormal_on(statistics.R[:, : phi.size]))
    for state, errors in horizon_nmse(plain, data, [1, 5]).items():
        np.testing.assert_allclose(horizon_nmse(whole, data, [1, 5])[state], errors, rtol=1e-5)


def test_quasi_norm_sets_hold_the_exponents_of_their_ball():
    from reduction_pruning import quasi_norm_sets

    powers = np.array(list(product(range(5), repeat=2)))
    found = quasi_norm_sets(powers, 9, [0.5, 1.0])
    assert {tuple(powers[i]) for i in found[0.5]} == {
        (a, b) for a, b in product(range(5), repeat=2) if a * b == 0 and a + b < 4
    }
    assert {tuple(powers[i]) for i in found[1.0]} == {(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0)}
    assert quasi_norm_sets(powers, 2, [1.0]) == {}


def test_rows_come_back_as_they_were_and_a_cut_line_is_left_out(tmp_path):
    from reduction_rows import Row, read_rows, write_rows

    row = Row("duffing", "20 dB", 1, 2000, "10", "random", "one step", 10, (0.1, 0.2, float("inf")), -1.0, 5.0, 0.1)
    path = tmp_path / "rows.jsonl"
    assert read_rows(path) == []
    write_rows(path, [row, row])
    with path.open("a") as file:
        file.write(json.dumps({"kind": "Row", "system": "duff"})[:20])
    assert read_rows(path) == [row, row]


def test_intervals_are_students_over_systems():
    from reduction_tables import Ratio

    cases = [(system, "20 dB", seed, "10") for system in "abc" for seed in (1, 2)]
    ratio = Ratio(cases, np.array([[0.0], [0.2], [0.3], [0.5], [-0.1], [0.1]]))
    mean, half = ratio.interval(0, 1)
    assert mean == pytest.approx(1 / 6)
    assert half == pytest.approx(4.302653 * np.std([0.1, 0.4, 0.0], ddof=1) / np.sqrt(3))
    assert ratio.interval(0, 2)[1] == pytest.approx(2.570582 * np.std(ratio.values[:, 0], ddof=1) / np.sqrt(6))


def test_the_swept_graph_sieve_goes_from_generous_to_strict():
    from swept_graph_sieve import SweptGraphSieve

    *_, phi, statistics = lifted(quadratic(noise=0.02))
    found = SweptGraphSieve(generous=1e-3, strict=1e3).path(statistics, 6)
    assert [one.worth for one in found] == sorted((one.worth for one in found), reverse=True)
    assert len(found[0].retained) < len(found[-1].retained)
    assert len({tuple(one.retained.tolist()) for one in found}) == len(found)
    for one in found:
        assert set(phi.outputs) <= set(one.retained.tolist())
