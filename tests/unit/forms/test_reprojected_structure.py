"""Simulation and its sensitivities: against sample-by-sample code, and against differences."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from koopsieve.data import Embedding, Trajectories, embed_delays
from koopsieve.dictionary import Constant, Fourier, Function, Inputs, Monomials, RandomFourier, States, Terms
from koopsieve.dictionary import SquaredExponential as Kernel
from koopsieve.forms.reprojected import compiled
from koopsieve.forms.reprojected.structure import (
    DictionaryRegressors,
    ReprojectedStructure,
    bounds_around,
)
from koopsieve.sieve.simulation import WindowFit, draw_windows
from tests.reference.literal_simulation import simulate
from tests.regressors import Joined, Kernels, Polynomial, embedded

WIDE = 1e3


def bounds(n, low=-WIDE, high=WIDE):
    return np.repeat([[low], [high]], n, axis=1)


def problem(n=2, inputs=1, a=2, b=1, samples=60, seed=0, low=-WIDE, high=WIDE):
    """Return a random stable-ish model, its coefficients, and a random record."""
    rng = np.random.default_rng(seed)
    columns = n * (1 + a) + inputs * (1 + b)
    kernels = Kernels(rng.normal(size=(3, columns)), 0.3, np.ones(columns))
    family = Joined((Polynomial.up_to(2, columns), kernels))
    coef = 0.1 * rng.normal(size=(family.size, n)) / np.sqrt(family.size)
    y, u = rng.normal(size=(samples, n)), rng.normal(size=(samples - 1, inputs))
    return ReprojectedStructure(family, n, Embedding(a, b), bounds(n, low, high)), coef, y, u


@pytest.mark.parametrize(
    ("n", "inputs", "a", "b"), [(1, 1, 0, 0), (1, 1, 2, 2), (2, 1, 2, 1), (2, 0, 1, 0), (3, 2, 0, 2)]
)
def test_windows_are_simulated_as_sample_by_sample_and_sensitivities_are_the_derivatives(n, inputs, a, b):
    model, coef, y, u = problem(n, inputs, a, b)
    x, acting = embedded(y, u, a, b)
    rng = np.random.default_rng(1)
    windows = draw_windows([(x, acting)], n, 7, 5, rng)
    free = rng.random(coef.shape) < 0.5
    coef = coef * free

    def step(state, present):
        return (model.regressors.evaluate(np.concatenate([state, present])[None]) @ coef)[0]

    found = model.simulate(coef, windows.starts, windows.inputs)
    for window in range(windows.count):
        start = int(np.flatnonzero((x == windows.starts[window]).all(axis=1))[0]) + max(a, b)
        np.testing.assert_allclose(found[window], simulate(step, y, u, start, 7, a, b), rtol=1e-12)
        np.testing.assert_array_equal(windows.outputs[window], y[start + 1 : start + 8])
    outputs, slopes = model.sensitivities(coef, free, windows.starts, windows.inputs)
    np.testing.assert_allclose(outputs, found, rtol=1e-13)
    for number, place in enumerate(np.argwhere(free)):
        moved = np.zeros_like(coef)
        moved[tuple(place)] = 1e-6
        above, below = (model.simulate(coef + sign * moved, windows.starts, windows.inputs) for sign in (1, -1))
        np.testing.assert_allclose(slopes[..., number], (above - below) / 2e-6, atol=1e-7)


SIGNALS = {"state_names": ["y", "w"], "input_names": ["u"]}
BLOCKS = {
    "monomials": Monomials(3, of="states and inputs"),
    "kernels": Kernel(7, standardize=True, of="states and inputs"),
    "waves": RandomFourier(6, coefficient=0.4) + Fourier([0.3], of="states and inputs"),
    "products": Inputs() * Kernel(4) + Inputs() * RandomFourier(3),
    "texts": Terms("abs(y)*w", "sqrt(y)*u[k]", "exp(-y^2)*sin(u)", "max(y, 0.2) + min(u, w)/2", "tanh(y)^3 + sign(w)"),
    "all functions": Terms("log(2 + y^2)", "cos(y) + tan(w/9)", "sinh(y)*cosh(w)/9", "atan(y - w)", "(1 + y^2)^-0.5"),
}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("high", [WIDE, 0.8])
def test_compiled_loops_do_what_numpy_does(block, high):
    rng = np.random.default_rng(4)
    data = Trajectories.from_arrays(rng.normal(size=(150, 2)), rng.normal(size=(149, 1)), **SIGNALS)
    data = embed_delays(data, 2, 1)
    phi = (States() + Constant() + Inputs() + BLOCKS[block]).fit(data, seed=0)
    some = np.flatnonzero(rng.random(len(phi.regressors)) < 0.7)
    whole = ReprojectedStructure(DictionaryRegressors.of(phi), 2, data.signals.embedding, bounds(2, -high, high))
    fast = whole.select(some)
    assert fast.regressors.program is not None
    plain = replace(fast, regressors=replace(fast.regressors, program=None))
    free = rng.random((len(some), 2)) < 0.6
    coef = np.where(free, rng.normal(size=free.shape), 0.0) / len(some)
    windows = draw_windows(zip(data.states, data.inputs, strict=True), 2, 9, 50, rng)  # more than one block of windows
    runs = windows.starts, windows.inputs
    points = np.hstack([windows.starts, windows.inputs[:, 0]])
    found, expected = ((*one.sensitivities(coef, free, *runs), *one.linearised(coef, points)) for one in (fast, plain))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max())
    np.testing.assert_array_equal(fast.simulate(coef, *runs), found[0])
    alone = fast.simulate(coef, windows.starts[40:41], windows.inputs[40:41])
    np.testing.assert_array_equal(alone[0], found[0][40])  # wherever a window stands


def test_loops_are_compiled_where_machine_code_cannot_be_kept(monkeypatch):
    from numba.core.caching import CompileResultCacheImpl

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    assert compiled.compiled(lambda x: x + 1)(2) == 3


@pytest.mark.parametrize("written", [b"", b"cgone.module\nType\n.", b"nonsense"])
def test_machine_code_of_another_version_is_made_anew_where_it_cannot_be_read(tmp_path, monkeypatch, written):
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def doubled(x):
        return 2 * x

    compiled.compiled(doubled)(1.0)
    (index,) = tmp_path.rglob("*.nbi")
    index.write_bytes(pickle.dumps(numba.__version__) + written)
    assert compiled.compiled(doubled)(3.0) == 6.0


def test_a_user_s_function_has_no_program_and_is_simulated_by_numpy():
    rng = np.random.default_rng(4)
    data = Trajectories.from_arrays(rng.normal(size=(40, 1)), rng.normal(size=(39, 1)))
    phi = (States() + Inputs() + Function(lambda x: np.tanh(x), names=["tanh"])).fit(data)
    model = ReprojectedStructure(DictionaryRegressors.of(phi), 1, Embedding(), bounds(1))
    assert model.regressors.program is None
    found = model.simulate(np.array([[0.2], [0.3], [0.1]]), data.states[0][:1], data.inputs[0][None, :1])
    z, u = data.states[0][0, 0], data.inputs[0][0, 0]
    np.testing.assert_allclose(found[0, 0, 0], 0.2 * z + 0.3 * np.tanh(z) + 0.1 * u, rtol=1e-14)


def test_a_held_output_has_no_sensitivity_and_passes_none_on():
    model, coef, y, u = problem(n=1, a=0, b=0, low=-1e-3, high=1e-3)
    coef[0] = 1.0  # the constant drives every step onto the bound
    windows = draw_windows([(y, u)], 1, 4, 3, np.random.default_rng(0))
    outputs, slopes = model.sensitivities(coef, np.ones(coef.shape, bool), windows.starts, windows.inputs)
    np.testing.assert_array_equal(outputs, np.full(outputs.shape, 1e-3))
    assert not slopes.any()


def test_the_factor_and_products_are_those_of_the_jacobian_whatever_the_chunks(monkeypatch):
    model, coef, y, u = problem()
    free = np.ones(coef.shape, dtype=bool)
    windows = draw_windows([embedded(y, u, 2, 1)], 2, 6, 12, np.random.default_rng(0))
    scale = np.random.default_rng(1).uniform(0.5, 2.0, size=(6, 2))
    fit = WindowFit(model, windows, scale, free)
    theta = coef[free]
    outputs, slopes = model.sensitivities(coef, free, windows.starts, windows.inputs)
    J = (slopes / scale[:, :, None]).reshape(-1, len(theta))
    target = ((windows.outputs - outputs) / scale).ravel() + J @ theta
    for chunk in (1, 1 << 21):
        monkeypatch.setattr("koopsieve.sieve.simulation.windows._CHUNK", chunk)
        normal = fit.normal(theta)
        np.testing.assert_allclose(normal.products, J.T @ J, rtol=1e-12, atol=1e-12 * np.abs(J.T @ J).max())
        np.testing.assert_allclose(normal.score, J.T @ (target - J @ theta), atol=1e-12 * np.abs(J.T @ target).max())
        factor = fit.factor(theta, prior=0.0)
        np.testing.assert_allclose(factor.R.T @ factor.R, J.T @ J, atol=1e-10 * np.abs(J.T @ J).max())
        np.testing.assert_allclose(factor.R.T @ factor.S[:, 0], J.T @ target, atol=1e-10 * np.abs(J.T @ target).max())
        held = fit.factor(theta, prior=0.1).R
        with_prior = J.T @ J + np.diag(0.01 * np.sum(J**2, axis=0))
        np.testing.assert_allclose(held.T @ held, with_prior, atol=1e-10 * np.abs(J.T @ J).max())
        assert factor.rows == 12 * 6 * 2
        np.testing.assert_allclose(np.sum(factor.S**2) + factor.leftover[0], target @ target, rtol=1e-12)
    assert fit.loss(theta) == pytest.approx(np.mean(((windows.outputs - outputs) / scale) ** 2))


def test_a_limit_is_found_below_noise_and_a_level_that_the_record_settles_at_is_none():
    rng = np.random.default_rng(0)
    wave = 3 * np.sin(np.linspace(0, 40, 2000)) + 5
    overflowing = np.clip(wave, 2.5, 7) + 5e-4 * rng.normal(size=2000)
    settling = lfilter([0.1], [1, -0.9], np.repeat(rng.choice([-1.0, 1.0], 20), 100))
    low, high = bounds_around(np.column_stack([overflowing, settling]))
    assert high[0] == pytest.approx(7, abs=1e-4)
    assert low[0] == pytest.approx(2.5, abs=1e-4)
    assert [low[1], high[1]] == pytest.approx([settling.min() - np.ptp(settling), settling.max() + np.ptp(settling)])


def test_a_limit_of_the_record_is_a_bound_and_neither_its_range_nor_coarse_quantisation_is():
    rng = np.random.default_rng(0)
    pure = np.sin(np.linspace(0, 40, 2000))
    wave = pure + 0.01 * rng.normal(size=2000)
    record = np.column_stack([np.minimum(wave, 0.7), wave, np.round(20 * pure) / 20])
    low, high = bounds_around(record)
    assert high[0] == 0.7
    spread = np.ptp(record, axis=0)
    np.testing.assert_allclose(high[1:], (record.max(axis=0) + spread)[1:])
    np.testing.assert_allclose(low, record.min(axis=0) - spread)
