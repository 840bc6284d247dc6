"""Numbers at the ends of the scale, and things that are no data: finite statistics or an error in words."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Stream, Trajectories, embed_delays
from koopsieve.dictionary import (
    Constant,
    Fourier,
    Function,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
)
from koopsieve.execution import Serial, Threads
from koopsieve.regression import compress
from koopsieve.sifting.pipeline import sift

pytestmark = pytest.mark.filterwarnings("ignore:.*far outside the others")
RECIPES = {
    "states": States(),
    "monomials": States() + Constant() + Monomials(degree=3),
    "kernels": States() + SquaredExponential(centers=3),
    "standardised kernels": States() + SquaredExponential(centers=3, standardize=True),
    "periodic kernels": States() + PeriodicSquaredExponential(centers=3),
    "waves": States() + Fourier(),
    "random waves": States() + RandomFourier(features=4),
}


def samples(seed=0):
    return np.random.default_rng(seed).normal(size=(300, 2))


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("value", [1e150, 1e160, 1e300, -1.7e308, 1e-310, 5e-324])
def test_one_extreme_sample(recipe, value):
    x = samples()
    x[120, 1] = value
    data = Trajectories.from_arrays(x)
    try:
        found = compress(data, recipe.fit(data), horizons=[1, 3], chunk_rows=40)
    except KoopsieveError as error:
        assert any(words in str(error) for words in ("too large", "not finite"))  # noqa: PT017
        refused = True
    else:
        refused = False
        for factor in (found.factor, found.multistep.factor):
            assert all(np.isfinite(v).all() for v in (factor.R, factor.S, factor.leftover))
    assert refused == (abs(value) > 1e155) or value == 1e150


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-160, 1e100])
def test_all_samples_in_extreme_units(recipe, scale):
    data = Trajectories.from_arrays(samples() * scale)
    try:
        found = compress(data, recipe.fit(data), horizons=[1, 3], chunk_rows=40)
    except KoopsieveError as error:
        words = (
            "x1, x2 are too near to zero: their squares vanish",
            "too near for a kernel",
            "too large",
            "not finite",
        )
        assert any(one in str(error) for one in words)  # noqa: PT017
    else:
        for factor in (found.factor, found.multistep.factor):
            assert all(np.isfinite(v).all() for v in (factor.R, factor.S, factor.leftover))


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-160, 1e100])
def test_standardised_kernels_mean_the_same_in_any_unit(scale):
    block = SquaredExponential(centers=4, standardize=True)
    here, there = Trajectories.from_arrays(samples()), Trajectories.from_arrays(samples() * scale)
    loose = 1e-2 if scale == 1e-310 else 1e-9
    np.testing.assert_allclose(block.fit(here)(here.states[0]), block.fit(there)(there.states[0]), rtol=loose)


@pytest.mark.parametrize("executor", [Serial(), Threads(2), Threads(3)])
@pytest.mark.parametrize("delays", [0, 3])
def test_what_is_not_finite_is_named_with_its_place(executor, delays):
    """Whatever the parts, the row is that of the episode as it was given."""
    x = [samples(), samples(1), samples(2)]
    x[1][217, 0] = 1e200
    data = embed_delays(Trajectories.from_arrays(x), states=delays)
    phi = (States() + Monomials()).fit(data)
    message = r"The observable x1\^2 is not finite \(inf\) at sample 217 .* of episode 1\."
    for source in (data, Stream.of(data), embed_delays(Stream.from_arrays(x), states=delays)):
        with pytest.raises(KoopsieveError, match=message):
            compress(source, phi, chunk_rows=20, executor=executor)


def test_a_function_may_not_return_what_is_not_finite():
    x = samples()
    phi = (States() + Function(lambda s: np.log(s[:, 0] + 10), names=["log"])).fit(Trajectories.from_arrays(x))
    x = x.copy()
    x[7, 0] = -10.0
    with np.errstate(divide="ignore"), pytest.raises(KoopsieveError, match="not finite for log"):
        compress(Trajectories.from_arrays(x), phi)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda d: compress(d.states[0], States().fit(d)), "Expected Trajectories or a Stream, got ndarray"),
        (
            lambda d: compress(d, States() + Monomials()),
            r"Expected a fitted dictionary, got States\(\) \+ Monomials\(\)",
        ),
        (lambda d: compress(d, States), "Expected a fitted dictionary, got <class"),
        (lambda d: States().fit(d.states[0]), "Expected Trajectories or a Stream, got ndarray"),
        (lambda d: States().fit(d, seed=-1), "seed must be a whole number, 0 or more. Got -1"),
        (lambda d: States().fit(d, seed=1.5), "seed must be a whole number"),
        (lambda d: States() + Monomials, r"Monomials must be written with brackets: Monomials\(\)"),
        (lambda d: States + Monomials(), r"States must be written with brackets: States\(\)"),
        (lambda d: States() * States, r"States must be written with brackets"),
        (lambda d: States * States(), r"States must be written with brackets"),
        (lambda d: Monomials(degree=300), "degree must lie between 2 and 100. Got 300"),
        (lambda d: Monomials(degree=2.5), "degree must be a whole number"),
        (lambda d: Monomials(degree=60).fit(embed_delays(d, states=9)), "products up to degree 60, more than 50000"),
    ],
)
def test_words_instead_of_tracebacks(ask, message):
    with pytest.raises(KoopsieveError, match=message):
        ask(Trajectories.from_arrays(samples()))


def test_one_huge_sample_is_refused_in_the_reprojected_form_too():
    x = np.random.default_rng(0).normal(size=(60, 1))
    x[20] = 1e155
    data = Trajectories.from_arrays(x, dt=0.1)
    with pytest.raises(KoopsieveError, match="too large to be added up"):
        sift(data, States(), form="reprojected", horizons=[1])
