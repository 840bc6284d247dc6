"""Every block: names, values against the formula written out, cutting, and refusal of bad requests."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import (
    Constant,
    Dictionary,
    Fourier,
    Function,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
    Transformer,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return Trajectories.from_arrays([rng.normal(size=(40, 2)), rng.normal(size=(25, 2))], state_names=["a", "b"])


def test_values_against_the_formulas(data):
    centers = np.array([[0.0, 1.0], [2.0, -1.0]])
    x = data.states[0]
    phi = SquaredExponential(centers=centers, coefficients=[0.1, 2.0]).fit(data)
    direct = [np.exp(-c * ((x - z) ** 2).sum(axis=1)) for c in (0.1, 2.0) for z in centers]
    np.testing.assert_allclose(phi(x), np.column_stack(direct), rtol=1e-12)

    phi = PeriodicSquaredExponential(centers=centers, coefficients=[0.5], frequencies=[0.3, 1.0]).fit(data)
    direct = [np.exp(-0.5 * (np.sin(np.pi * f * (x - z)) ** 2).sum(axis=1)) for f in (0.3, 1.0) for z in centers]
    np.testing.assert_allclose(phi(x), np.column_stack(direct), rtol=1e-12)

    phi = Fourier(frequencies=[0.25]).fit(data)
    direct = [wave(2 * np.pi * 0.25 * x[:, d]) for d in (0, 1) for wave in (np.sin, np.cos)]
    np.testing.assert_allclose(phi(x), np.column_stack(direct), atol=1e-12)

    phi = Monomials(degree=3).fit(data)
    reference = PolynomialFeatures(degree=3, include_bias=False).fit(x)
    np.testing.assert_allclose(phi(x), reference.transform(x)[:, 2:], rtol=1e-12)


def test_kernels_far_from_the_origin_keep_their_digits():
    rng = np.random.default_rng(1)
    offset = 1e6
    data = Trajectories.from_arrays(offset + rng.normal(size=(30, 1)))
    phi = SquaredExponential(centers=[[offset]], coefficients=[1.0]).fit(data)
    direct = np.exp(-((data.states[0] - offset) ** 2))
    np.testing.assert_allclose(phi(data.states[0]), direct, rtol=1e-9)


def test_random_waves_approximate_their_kernel(data):
    x = data.states[0]
    phi = RandomFourier(features=20_000, coefficient=0.3).fit(data, seed=0)
    gram = 2 * phi(x) @ phi(x).T / phi.size
    kernel = np.exp(-0.3 * ((x[:, None] - x[None]) ** 2).sum(axis=-1))
    assert np.abs(gram - kernel).max() < 0.05


def test_what_is_cut_away_is_not_computed(data):
    calls = []
    phi = (States() + Function(lambda x: calls.append(len(x)) or x[:, 0] ** 3, names=["cube"])).fit(data)
    calls.clear()
    phi.select([0, 1])(data.states[0])
    assert calls == []
    wide = SquaredExponential(centers=10, coefficients=[1.0, 2.0]).fit(data).select([3, 13])
    assert len(wide.families[0].centers) == 1


def test_fitting_twice_with_one_seed_gives_the_same_dictionary(data):
    block = States() + SquaredExponential(centers=6) + RandomFourier(features=3)
    one, two, other = block.fit(data, seed=1), block.fit(data, seed=1), block.fit(data, seed=2)
    np.testing.assert_array_equal(one(data.states[0]), two(data.states[0]))
    assert np.abs(one(data.states[0]) - other(data.states[0])).max() > 1e-3


def test_standardized_kernels_do_not_depend_on_units(data):
    factors = np.array([1e3, 1e-4])
    scaled = Trajectories.from_arrays([x * factors for x in data.states])
    block = SquaredExponential(centers=4, coefficients=[0.7], standardize=True)
    here, there = block.fit(data, seed=0)(data.states[0]), block.fit(scaled, seed=0)(scaled.states[0])
    np.testing.assert_allclose(here, there, rtol=1e-9)


def test_delayed_copies_are_not_outputs():
    x = np.arange(12.0).reshape(6, 2) ** 2
    data = embed_delays(Trajectories.from_arrays(x, x[:, :1]), states=1, inputs=1)
    phi = (Constant() + States()).fit(data)
    assert [phi.names[i] for i in phi.outputs] == ["x1", "x2"]
    assert phi.outputs == (1, 2)
    assert phi.state_positions.tolist() == [1, 2, 3, 4, 5]
    assert phi.select([0, 2, 4]).outputs == (1,)
    assert phi.select([0, 2, 4]).state_positions.tolist() == [-1, 1, -1, 2, -1]


def test_files_that_hold_something_else_are_refused(data):
    config, arrays = States().fit(data).to_parts()
    with pytest.raises(KoopsieveError, match="arrays that do not belong to it: more"):
        Dictionary.from_parts(config, {**arrays, "more": np.zeros(1)})
    config["families"][0]["kind"] = "os.system"
    with pytest.raises(KoopsieveError, match="Unknown kind"):
        Dictionary.from_parts(config, arrays)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda d: (States() + States()).fit(d), "different names. a, b came more than once"),
        (lambda d: SquaredExponential(centers=0).fit(d), "whole number, 1 or more"),
        (lambda d: SquaredExponential(centers=66).fit(d), "Asked for 66, found 65"),
        (lambda d: SquaredExponential(centers=[[1.0]]).fit(d), r"Expected \(k, 2\), got \(1, 1\)"),
        (lambda d: SquaredExponential(coefficients=[-1.0]), "positive number. Got"),
        (lambda d: PeriodicSquaredExponential(frequencies=[]), "frequencies must be one or more"),
        (lambda d: Monomials(degree=1), "degree one is States"),
        (lambda d: Fourier(frequencies=[0.0]), "positive"),
        (lambda d: RandomFourier(features=0), "whole number, 1 or more"),
        (lambda d: RandomFourier(coefficient=-1.0), "coefficient must be a positive number"),
        (lambda d: Function(lambda x: x, names=["one"]).fit(d), "Expected 1 .one., got 2"),
        (lambda d: Function(lambda x: x[:1], names=["a", "b"]).fit(d), "one row per sample"),
        (lambda d: Function(lambda x: x[:, 0] * np.nan, names=["c"]).fit(d), "not finite for c"),
        (lambda d: Transformer(PolynomialFeatures(), names=["only"]).fit(d), "one per column. Expected 6, got 1"),
        (lambda d: States().fit(d)(np.ones((3, 5))), r"Expected \(samples, 2\), got \(3, 5\)"),
    ],
)
def test_errors_say_what_to_do(data, ask, message):
    with pytest.raises(KoopsieveError, match=message):
        ask(data)


def joblib_copy(value):
    stream = io.BytesIO()
    joblib.dump(value, stream)
    stream.seek(0)
    return joblib.load(stream)


@pytest.mark.parametrize("copied", [lambda value: pickle.loads(pickle.dumps(value)), joblib_copy, copy.deepcopy])
def test_functions_without_a_name_can_be_pickled(copied):
    power = 3
    data = Trajectories.from_arrays(np.arange(5.0))
    recipe = States() + Function(lambda x: x**power, names=["cube"], gradient=lambda x: power * x[:, :, None] ** 2)
    again, phi = copied(recipe), copied(recipe.fit(data))
    assert phi([[2.0]]).tolist() == again.fit(data)([[2.0]]).tolist() == [[2.0, 8.0]]
    assert phi.gradient(np.array([[2.0]])).ravel().tolist() == [1.0, 12.0]
