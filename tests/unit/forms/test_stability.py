"""Stabilising a model: unchanged where it was stable, and as little worse as promised."""

import numpy as np
import pytest

from koopsieve import KoopsieveError, LeastSquares, LinearModel, States, Trajectories, compress, embed_delays, stabilise


def growing(inputs=1):
    rng = np.random.default_rng(1)
    u = rng.normal(size=(60, inputs))
    x = np.zeros((61, 2))
    for k in range(60):
        x[k + 1] = [[1.05, 0.1], [0.0, 0.8]] @ x[k] + u[k].sum() * np.array([0.2, 1.0])
    x += 0.01 * rng.normal(size=x.shape)
    data = Trajectories.from_arrays(x, u)
    phi = States().fit(data)
    statistics = compress(data, phi)
    return LinearModel.from_estimate(LeastSquares().identify(statistics), phi), statistics


def test_the_input_matrix_is_refitted_to_the_new_dynamics():
    model, statistics = growing()
    calm = stabilise(model, statistics)
    assert model.spectral_radius > 1.01
    assert calm.spectral_radius <= 1 + 1e-9

    def misfit(A, B):
        return np.sum((statistics.S - statistics.R @ np.hstack([A, B]).T) ** 2)

    assert misfit(calm.A, calm.B) < misfit(calm.A, model.B)
    direction = np.ones_like(calm.B)
    assert all(misfit(calm.A, calm.B + step * direction) > misfit(calm.A, calm.B) for step in (-1e-3, 1e-3))


def test_a_stable_model_is_returned_as_it_is():
    model, statistics = growing()
    calm = stabilise(model, statistics)
    assert stabilise(calm, statistics) is calm
    assert stabilise(model, statistics, radius=2.0) is model


def test_what_cannot_be_meant_is_refused():
    model, statistics = growing()
    with pytest.raises(KoopsieveError, match="radius"):
        stabilise(model, statistics, radius=0.0)
    with pytest.raises(KoopsieveError, match="observables"):
        stabilise(model, statistics.select([0]))


@pytest.mark.parametrize("inputs_at", ["k", "k+1"])
def test_delayed_copies_stay_copies(inputs_at):
    """y[k-1] and y[k-2] are what y was, u[k-1] is what the input was, before and after."""
    rng = np.random.default_rng(2)
    u, y = rng.normal(size=(200, 1)), np.zeros((201, 1))
    for k in range(2, 200):
        y[k + 1] = 1.2 * y[k] - 0.1 * y[k - 2] + 0.3 * u[k - 1] + u[k]
    y += 0.01 * np.abs(y).max() * rng.normal(size=y.shape)
    data = embed_delays(Trajectories.from_arrays(y, u, state_names="y"), 3, 2, inputs_at)
    phi = States().fit(data)
    names = ("y", "y[k-3]", "u1[k-2]") if inputs_at == "k" else ("y", "y[k-3]", "u1[k-1]")
    kept = [phi.names.index(name) for name in names]
    statistics = compress(data, phi).select(kept)
    model = LinearModel.from_estimate(LeastSquares().identify(statistics), phi.select(kept))
    inside_circle = stabilise(model, statistics)
    assert model.spectral_radius > 1.01
    assert inside_circle.spectral_radius <= 1 + 1e-9
    copies = [i for i, name in enumerate(model.names) if name != "y"]
    assert len(copies) == 5
    for before, after in ((model.A, inside_circle.A), (model.B, inside_circle.B)):
        np.testing.assert_allclose(after[copies], before[copies], rtol=0, atol=1e-15)
        assert set(np.unique(before[copies])) <= {0.0, 1.0}
    carried = [i for i, name in enumerate(model.names) if name not in names]
    assert not inside_circle.A[0, carried].any()
