"""Statistics and models of matrices that another program lifted."""

import numpy as np
import pandas as pd
import pytest

from koopsieve import (
    KoopsieveError,
    KoopsieveWarning,
    LeastSquares,
    LinearModel,
    Monomials,
    RegressionStatistics,
    SpikeSlab,
    States,
    Trajectories,
    compress,
    horizon_nmse,
    reduce,
)


def record(seed=0, samples=300):
    rng = np.random.default_rng(seed)
    x, u = np.zeros((samples, 2)), rng.normal(size=(samples - 1, 1))
    for k in range(samples - 1):
        x[k + 1] = 0.8 * x[k, 0] + 0.3 * u[k, 0], 0.5 * x[k, 1] + 0.2 * x[k, 0] ** 2
        x[k + 1] += 0.02 * rng.normal(size=2)
    return x, u


def lifted(x):
    return np.column_stack([x, x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2])


def test_they_are_those_of_the_same_dictionary():
    x, u = record()
    data = Trajectories.from_arrays(x, u)
    phi = (States() + Monomials(degree=2)).fit(data)
    ours, z = compress(data, phi), phi(x)
    theirs = RegressionStatistics.from_matrices(z[:-1], z[1:], u, names=phi.names, input_names=["u1"])
    assert theirs.regressors == ours.regressors
    assert theirs.rows == ours.rows
    np.testing.assert_allclose(theirs.R, ours.R, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        LeastSquares().identify(theirs).coef, LeastSquares().identify(ours).coef, rtol=1e-9, atol=1e-12
    )


def test_records_are_put_underneath_each_other():
    parts = [record(seed) for seed in (0, 1)]
    both = [np.concatenate(rows) for rows in zip(*((lifted(x)[:-1], lifted(x)[1:], u) for x, u in parts), strict=True)]
    one, other = (RegressionStatistics.from_matrices(lifted(x)[:-1], lifted(x)[1:], u) for x, u in parts)
    whole, merged = RegressionStatistics.from_matrices(*both), one.merge(other)
    np.testing.assert_allclose(whole.R, merged.R, atol=1e-9)
    np.testing.assert_allclose(whole.S, merged.S, atol=1e-9)


def test_the_whole_method_runs_on_matrices_and_its_model_predicts_from_measured_outputs():
    x, u = record()
    z = lifted(x)
    statistics = RegressionStatistics.from_matrices(z[:-1], z[1:], u)
    kept = reduce(SpikeSlab().identify(statistics).inclusion, outputs=[0, 1], threshold=0.5).retained
    assert kept.tolist() == [0, 1, 2]
    coef, size = LeastSquares().identify(statistics.select(kept)).coef, len(kept)
    model = LinearModel.from_matrices(
        coef[:size].T, coef[size:].T, np.eye(2, size), lift=lambda y: lifted(y)[:, kept], output_names=["x1", "x2"]
    )
    errors = horizon_nmse(model, Trajectories.from_arrays(x, u), [1])
    assert max(errors["x1"][0], errors["x2"][0]) < 0.05
    following = lifted(x[:1])[:, kept] @ coef[:size] + u[0] @ coef[size:]
    np.testing.assert_allclose(model.predict(x[:1], u[:1]), following[:, :2])


def test_without_a_lift_the_lifted_state_is_measured_and_the_model_can_be_saved(tmp_path):
    A, B = np.array([[0.9, 0.1], [0.0, 0.5]]), np.array([[1.0], [0.0]])
    model = LinearModel.from_matrices(A, B, names=["a", "b"], dt=0.1)
    model.save(tmp_path / "model.npz")
    again = LinearModel.load(tmp_path / "model.npz")
    np.testing.assert_allclose(again.predict([[1.0, 2.0]], [[3.0]]), [A @ [1, 2] + B @ [3]])
    assert (again.output_names, again.dt) == (("a", "b"), 0.1)


def test_a_data_frame_gives_its_names():
    z = pd.DataFrame(lifted(record()[0]), columns=["x1", "x2", "x1²", "x1 x2", "x2²"])
    assert RegressionStatistics.from_matrices(z[:-1], z[1:]).regressors == tuple(z.columns)
    assert RegressionStatistics.from_matrices(z[:-1].to_numpy(), z[1:].to_numpy()).regressors[:2] == ("phi1", "phi2")


Z = np.arange(12.0).reshape(6, 2)
HOLE = np.where(Z == 5, np.nan, Z)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((Z, Z[1:]), r"Expected \(6, 2\), got \(5, 2\)"),
        ((Z, Z[:, :1]), r"Expected \(6, 2\), got \(6, 1\)"),
        ((Z[:0], Z[:0]), "no rows"),
        ((Z[:, :0], Z[:, :0]), "at least one column"),
        ((Z, Z, Z[:5]), "Expected 6 rows, got 5"),
        ((HOLE, Z), r"phi2 is missing \(NaN\) in row 2, and 1 of 12"),
        ((Z, HOLE), r"Phi_next .* phi2 is missing"),
        ((Z, Z, np.where(Z == 3, np.inf, Z)), "u2 is infinite in row 1"),
        ((Z * 1j, Z), "real numbers"),
        ((np.zeros((2, 2, 2)), Z), r"\(samples, columns\)"),
        (([["a", "b"]], Z), "real numbers"),
        ((Z, Z, None, ["a"]), "Expected 2 names, got 1"),
        ((Z, Z, None, ["a", "a"]), "'a' occurs twice"),
        ((Z, Z, Z, ["a", "b"], ["b", "c"]), "'b' occurs twice"),
        ((Z, Z, None, ["a", ""]), "not empty"),
        ((Z, Z, None, ["a", 3]), "text"),
        ((1e200 * Z, Z), "too large"),
        ((1e-200 * Z, Z), "too near to zero"),
    ],
)
def test_matrices_that_do_not_fit_are_refused_in_words(given, message):
    with pytest.raises(KoopsieveError, match=message):
        RegressionStatistics.from_matrices(*given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"A": [[1.0, 0.0]]}, "A must be a matrix of 1 × 1"),
        ({"A": [1.0]}, "A must be a matrix"),
        ({"A": [[np.nan]]}, "finite"),
        ({"A": [[1.0]], "B": [[1.0], [2.0]]}, "B must be a matrix of 1 × any"),
        ({"A": [[1.0]], "C": [[1.0, 2.0]], "lift": abs}, "C must be a matrix of any × 1"),
        ({"A": [[1.0]], "C": [[1.0]]}, "Give C and lift together"),
        ({"A": [[1.0]], "names": ["a", "b"]}, "Expected 1, got 2"),
        ({"A": [[1.0]], "output_names": ["y"]}, "name them with names="),
    ],
)
def test_models_of_matrices_that_do_not_fit_are_refused_in_words(given, message):
    with pytest.raises(KoopsieveError, match=message):
        LinearModel.from_matrices(**given)


def test_matrices_on_their_side_are_warned_of():
    z = lifted(record()[0]).T
    with pytest.warns(KoopsieveWarning, match=r"Phi has 299 columns and only 5 rows\. Rows are samples"):
        RegressionStatistics.from_matrices(z[:, :-1], z[:, 1:])
