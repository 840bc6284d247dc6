"""Residuals of eigenpairs and the error of the whole span, from statistics, against the data written out."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import (
    BilinearModel,
    Constant,
    Embedding,
    KoopsieveError,
    LeastSquares,
    LinearModel,
    Monomials,
    States,
    Trajectories,
    compress,
)
from koopsieve.data import embedded
from koopsieve.uncertainty import eigenpair_residuals, invariance_error
from koopsieve.uncertainty.certificates import certified


def driven(seed=0, noise=0.01, steps=120):
    """x1+ = 0.9 x1, x2+ = 0.5 x2 + 0.3 x1² + u: closed on (x1, x2, x1²) but for the noise."""
    rng = np.random.default_rng(seed)
    episodes, inputs = [], []
    for _ in range(3):
        x, u = np.zeros((steps, 2)), rng.normal(size=(steps - 1, 1))
        x[0] = rng.normal(size=2)
        for k in range(steps - 1):
            x[k + 1] = 0.9 * x[k, 0] + 0.1 * noise, 0.5 * x[k, 1] + 0.3 * x[k, 0] ** 2 + u[k, 0]
        episodes.append(x + noise * rng.normal(size=x.shape))
        inputs.append(u)
    return Trajectories.from_arrays(episodes, inputs)


def model_of(data, recipe, names=None, form="linear", **how):
    """Return the least-squares model of a recipe, cut to some names, and its statistics."""
    phi = recipe.fit(data)
    phi = phi if names is None else phi.select([i for i, name in enumerate(phi.names) if name in names])
    phi = phi.bilinear() if form == "bilinear" else phi
    statistics = compress(data, phi, **how)
    build = BilinearModel if form == "bilinear" else LinearModel
    return build.from_estimate(LeastSquares().identify(statistics), phi), statistics


def written_out(data, phi):
    design = [phi.evaluate(np.hstack([x[:-1], u])) for x, u in zip(data.states, data.inputs, strict=True)]
    return np.vstack(design), np.vstack([phi(x[1:]) for x in data.states])


@pytest.mark.parametrize("chunk_rows", [7, 1000])
@pytest.mark.parametrize("form", ["linear", "bilinear"])
def test_residuals_are_those_of_the_data_written_out(form, chunk_rows):
    data = driven()
    recipe = States() + Constant() + Monomials(degree=2)
    model, statistics = model_of(data, recipe, form=form, chunk_rows=chunk_rows)
    phi = recipe.fit(data).bilinear() if form == "bilinear" else recipe.fit(data)
    values, residuals = eigenpair_residuals(model, statistics)
    design, following = written_out(data, phi)
    K = np.linalg.lstsq(design, following, rcond=None)[0]
    for value, residual in zip(values, residuals, strict=True):
        w = np.linalg.svd(model.A.T - value * np.eye(len(model.A)))[2][-1].conj()  # wᵀA = λwᵀ
        now, then = design[:, : phi.size] @ w, following @ w
        driven_part = design[:, phi.size :] @ (K[phi.size :] @ w)
        assert residual == pytest.approx(
            np.linalg.norm(then - value * now - driven_part) / np.linalg.norm(now), rel=1e-5, abs=1e-9
        )
    assert (np.diff(np.abs(values)) <= 1e-12).all()


def test_exact_eigenfunctions_have_no_residual_and_false_ones_have():
    data = driven(noise=0.0)
    closed, statistics = model_of(data, States() + Monomials(degree=2), ("x1", "x2", "x1^2"))
    values, residuals = eigenpair_residuals(closed, statistics)
    assert np.sort(values.real) == pytest.approx([0.5, 0.81, 0.9], abs=1e-8)
    assert residuals.max() < 1e-6
    assert invariance_error(statistics) < 1e-6
    open_ended, statistics = model_of(data, States())
    assert eigenpair_residuals(open_ended, statistics)[1].max() > 1e-3
    assert invariance_error(statistics) > 1e-2


def worst_by_search(missed, following, rng):
    """The largest ‖missed w‖/‖following w‖ found by many random directions, each improved by power steps."""
    gram = following.T @ following
    found = 0.0
    for _ in range(20):
        w = rng.normal(size=missed.shape[1])
        for _ in range(300):
            w = np.linalg.solve(gram, missed.T @ (missed @ w))
            w /= np.linalg.norm(w)
        found = max(found, np.linalg.norm(missed @ w) / np.linalg.norm(following @ w))
    return found


def test_the_error_of_the_span_is_the_worst_of_any_combination():
    data = driven(noise=0.05)
    model, statistics = model_of(data, States() + Monomials(degree=2), chunk_rows=50)
    phi = model.dictionary
    design, following = written_out(data, phi)
    missed = following - design @ np.linalg.lstsq(design, following, rcond=None)[0]
    rng = np.random.default_rng(0)
    error = invariance_error(statistics)
    assert error == pytest.approx(worst_by_search(missed, following, rng), rel=1e-6)
    combinations = rng.normal(size=(phi.size, 500))
    ratios = np.linalg.norm(missed @ combinations, axis=0) / np.linalg.norm(following @ combinations, axis=0)
    assert ratios.max() <= error <= 1
    assert invariance_error(statistics, model) == pytest.approx(error, rel=1e-9)
    off = replace(model, A=1.1 * model.A)
    missed = following - design @ np.vstack([off.A.T, off.B.T])
    assert invariance_error(statistics, off) == pytest.approx(worst_by_search(missed, following, rng), rel=1e-6)
    scaled = Trajectories.from_arrays([x * [1e4, 1e-3] for x in data.states], list(data.inputs))  # other units
    assert invariance_error(model_of(scaled, States() + Monomials(degree=2))[1]) == pytest.approx(error, rel=1e-6)


def test_statistics_merge_before_or_after():
    data, more = driven(0), driven(1)
    phi = (States() + Monomials(degree=2)).fit(data)
    whole = Trajectories.from_arrays([*data.states, *more.states], [*data.inputs, *more.inputs])
    merged = compress(data, phi).merge(compress(more, phi))
    assert invariance_error(merged) == pytest.approx(invariance_error(compress(whole, phi)), rel=1e-9)
    kept = [0, 1, 2]
    assert invariance_error(merged.select(kept)) == pytest.approx(
        invariance_error(compress(whole, phi.select(kept))), rel=1e-9
    )


def test_a_model_with_delays_is_certified_by_statistics_that_hold_its_delay_line():
    data = embedded(driven(), Embedding(2, 1))
    phi = (States() + Constant()).fit(data)
    statistics = compress(data, phi)
    kept = [i for i, name in enumerate(phi.names) if name not in ("x1[k-1]",)]
    model = LinearModel.from_estimate(LeastSquares().identify(statistics.select(kept)), phi.select(kept))
    assert "x1[k-1]" in model.names
    assert certified(model, statistics.select(kept)) is None
    certificate = certified(model, statistics)
    assert len(certificate.residuals) == len(model.A)
    assert np.isfinite(certificate.residuals[np.abs(certificate.eigenvalues) > 1e-9]).all()
    with pytest.raises(KoopsieveError, match=r"lack 1 of the model's regressors, such as x1\[k-1\]"):
        eigenpair_residuals(model, statistics.select(kept))
    with pytest.raises(KoopsieveError, match="not finite"):
        eigenpair_residuals(replace(model, A=np.full_like(model.A, np.nan)), statistics)
