"""Arguments that make no sense are refused with a clear message at every entry, and nothing is dropped in silence."""

import numpy as np
import pytest

from koopsieve import (
    STLSQ,
    Embedding,
    HorizonSieve,
    KoopmanSieve,
    KoopsieveError,
    LeastSquares,
    LinearModel,
    Monomials,
    SparseBayes,
    SpikeSlab,
    States,
    Trajectories,
    compress,
    embed_delays,
    horizon_nmse,
    nmse,
    sift,
)
from koopsieve.identify import Status
from koopsieve.regression import RegressionStatistics, TriangularFactor

BLOCK = States() + Monomials()
rng = np.random.default_rng(0)
U = rng.normal(size=(199, 1))
X = np.zeros((200, 2))
for k in range(199):
    X[k + 1] = 0.9 * X[k, 0] + 0.1 * U[k, 0], 0.5 * X[k, 1] + U[k, 0]
X += 0.01 * rng.normal(size=X.shape)
DATA = Trajectories.from_arrays(X, U)


def sieve(**settings):
    return KoopmanSieve(BLOCK, **{"horizons": [1, 5], **settings})


@pytest.fixture(scope="module")
def fitted():
    return sieve().fit(X, u=U)


def masked(values):
    found = np.ma.masked_array(values.copy(), mask=False)
    found[50, 0] = np.ma.masked
    return found


@pytest.mark.parametrize(
    "ask",
    [
        lambda _: sieve().fit(masked(X)),
        lambda _: sieve().fit([X, masked(X)]),
        lambda _: sieve().fit(X, u=masked(U)),
        lambda f: f.predict(masked(X)[:-1], u=U),
        lambda f: f.predict(X[:-1], u=masked(U)),
        lambda f: f.transform(masked(X)),
        lambda f: f.score(masked(X), u=U),
        lambda f: f.score(X, u=masked(U)),
        lambda f: f.model_.predict(masked(X)[50], U[:3], 3),
        lambda f: f.model_.predict(X[50], masked(U)[49:52], 3),
        lambda f: f.model_.simulate(X[:3], masked(U)),
        lambda _: nmse(masked(X), X),
        lambda _: sieve().fit(np.where(X[50, 0] == X, np.nan, X)),
        lambda _: sieve().fit(np.where(X[50, 0] == X, np.inf, X)),
        lambda f: f.predict(np.full((5, 2), np.nan), u=U[:5]),
        lambda f: f.predict(X[:5], u=np.full((5, 1), np.nan)),
    ],
)
def test_missing_samples_are_never_taken_for_numbers(ask, fitted):
    with pytest.raises(KoopsieveError, match=r"NaN|nan|inf|finite"):
        ask(fitted)


def test_the_advice_is_about_missing_samples():
    message = r'contains NaN \(missing\) at sample 50 .*, column 0.*gaps="split"'
    with pytest.raises(KoopsieveError, match=message) as refused:
        sieve().fit(masked(X))
    assert "boosting" not in str(refused.value)


@pytest.mark.parametrize("u", [U, U[:, 0], np.vstack([U, U[:1]]), [U], X[:, 0], U.tolist()])
def test_inputs_in_the_place_of_the_target_are_refused(u):
    for call in (lambda: sieve().fit(X, u), lambda: sieve().fit(X, u=U).score(X, u)):
        with pytest.raises(KoopsieveError, match=r"has no target y.*fit\(X, u=inputs\)"):
            call()


def test_labels_are_ignored_with_a_word():
    with pytest.warns(UserWarning, match="y is ignored"):
        found = sieve().fit(X, np.arange(200) % 2)
    assert found.retained_names_ == sieve().fit(X).retained_names_


def test_later_steps_of_a_pipeline_have_their_target():
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    assert make_pipeline(sieve(), Ridge()).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
    with pytest.raises(KoopsieveError, match="has no target y"):
        sieve().fit_transform(X, U)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda _: sieve().fit(X + 1j), "Complex data"),
        (lambda _: sieve().fit(X, u=U + 1j), "real numbers"),
        (lambda f: f.predict(X[:-1] + 1j, u=U), "Complex data"),
        (lambda f: f.predict(X[:-1], u=U + 1j), "real numbers"),
        (lambda f: f.model_.predict(X[0] + 1j, U[:3], 3), "real numbers"),
        (lambda _: nmse(X, X + 1j), "real numbers"),
        (lambda _: sieve(dt=0).fit(X), "positive number"),
        (lambda _: sieve(dt=True).fit(X), "positive number"),
        (lambda _: sieve(horizons=5).fit(X), r"horizons must be several numbers of steps, such as \[1, 10, 50\]"),
        (lambda _: sieve(horizons=[1.9]).fit(X), "Each of horizons must be a whole number"),
        (lambda _: sieve(horizons=None).fit(X), "horizons must be several"),
        (lambda f: f.predict(X[:3], u=U[:5], horizon=1.9), "whole number"),
        (lambda f: f.predict(X[:3], u=U[:5], horizon="a"), "whole number"),
        (
            lambda _: KoopmanSieve(States, horizons=[1]).fit(X),
            r"Expected a dictionary, got the class States. Write States\(…\)",
        ),
        (lambda _: KoopmanSieve("rbf", horizons=[1]).fit(X), 'dictionary may be "auto"'),
        (lambda _: KoopmanSieve([States()], horizons=[1]).fit(X), "Expected a dictionary, got list"),
        (lambda _: sieve(seed=-1).fit(X), "seed must be a whole number, 0 or more. Got -1"),
        (lambda _: sieve(path_length=1.5).fit(X), "path_length, the number of sets"),
        (lambda _: sieve(stable="maybe").fit(X), "stable must be True or False"),
        (lambda _: sieve(validation="a").fit(X), "validation, the share"),
        (lambda _: sieve(validation=True).fit(X), "validation, the share"),
        (lambda _: sieve(validation=float("nan")).fit(X), "validation, the share"),
        (lambda _: sieve(sieve="graph").fit(X), r"Expected a sieve, such as HorizonSieve\(\)"),
        (lambda _: sieve(sieve=HorizonSieve).fit(X), "Expected a sieve"),
        (lambda _: sieve(delays=Embedding(1.5)).fit(X), "state_delays"),
        (lambda _: sieve().fit([[10**400, 1], [1, 2], [2, 3]]), "too large"),
        (lambda _: sieve().fit(X[:, 0]), "Expected 2D array"),
        (lambda _: sieve().predict(X), "not fitted yet"),
        (lambda _: sift(X, BLOCK), "Expected Trajectories or a Stream, got ndarray"),
        (lambda _: sift(DATA, BLOCK, validation=X), "validation, the share"),
        (lambda _: sift(DATA, BLOCK, test=X), "test, the share"),
        (lambda _: sift(DATA, BLOCK, test=0.2, truth=X), "truth as Trajectories"),
        (lambda _: sift(DATA, BLOCK, test=0.2, truth=DATA), "truth is the test data without noise"),
        (lambda _: sift(DATA, BLOCK, delays=3), "delays must be"),
        (lambda _: sift(DATA, BLOCK, budget="a"), "budget, a number of seconds"),
        (lambda _: sift(DATA, BLOCK, budget=0), "budget, a number of seconds, must be a positive number or infinity"),
        (lambda _: sift(DATA, BLOCK, progress="yes"), "progress must be True, False or a function"),
        (lambda _: sift(DATA, BLOCK, progress=lambda: None), "progress must be True, False or a function"),
        (lambda _: sift(DATA, BLOCK, refits={}), "refits is empty"),
        (lambda _: sift(DATA, BLOCK, compare=[LeastSquares()]), "compare must be a mapping"),
        (lambda _: sift(DATA, BLOCK, compare={"a": LeastSquares}), r"Expected a method such as LeastSquares\(\)"),
        (lambda _: sift(DATA, BLOCK, refits=LeastSquares()), "refits must be a mapping"),
        (lambda _: sift(DATA, BLOCK, threshold="a"), "threshold must lie between 0 and 1, both excluded"),
        (lambda _: embed_delays(X, 2), "Expected Trajectories or a Stream, got ndarray"),
        (lambda f: horizon_nmse(f.model_, X, [1]), "Expected Trajectories, got ndarray"),
        (lambda _: horizon_nmse(None, DATA, [1]), "Expected a model, got NoneType"),
        (lambda _: LeastSquares().identify(X), "Expected RegressionStatistics, got ndarray"),
        (lambda _: SpikeSlab().identify(DATA), r"Make them of data with compress\(data, dictionary\)"),
        (lambda _: compress(DATA, BLOCK.fit(DATA), chunk_rows=0), "chunk_rows"),
        (lambda _: compress(DATA, BLOCK.fit(DATA), executor=4), "Expected an executor, got int"),
        (lambda _: LinearModel.from_estimate(None, BLOCK), "Expected a fitted dictionary"),
    ],
)
def test_words_instead_of_tracebacks(ask, message, fitted):
    with pytest.raises(KoopsieveError, match=message):
        ask(fitted)


@pytest.mark.parametrize(
    "indices", [[True] * 5, [0.0, 1.0], [-1], [0, 0], [1, 0], [99], None, "a", [[0, 1]], slice(0, 2), [0, None], {0, 1}]
)
def test_indices_that_are_none(indices):
    phi = BLOCK.fit(DATA)
    for value in (phi, compress(DATA, phi)):
        with pytest.raises(KoopsieveError, match="increasing indices below 5, each once"):
            value.select(indices)


@pytest.mark.parametrize("identifier", [LeastSquares(), STLSQ(), STLSQ(ridge=1.0), SparseBayes(), SpikeSlab()])
@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e140])
def test_identifiers_give_finite_numbers_or_say_that_they_cannot(identifier, scale):
    """Statistics made by hand may hold anything; one column in extreme units leaves the range of coefficients."""
    columns = np.column_stack([X[:, 0] * scale, X[:, 1]])
    factor = TriangularFactor.empty(2, 2).absorb(columns[:-1], columns[1:])
    found = identifier.identify(RegressionStatistics(factor, ("a", "b")))
    for values in (found.coef, found.inclusion, found.coef_variance):
        assert np.isfinite(values).all()
    assert not np.isnan(found.noise_precision).any()
    if scale == 1e-310 and isinstance(identifier, LeastSquares):
        assert found.status == (Status.SETTLED, Status.OUT_OF_RANGE)


CONSTANT = np.column_stack([X[:, 0], np.full(200, 3.0)])


@pytest.mark.parametrize(
    "states, options, message",
    [
        (CONSTANT, {}, r"Output 'x2' never changes: it is 3 in all 150 samples to learn from\. Leave it out"),
        (np.zeros((200, 1)), {}, r"Output 'x1' never changes: it is 0 in all 150 samples to learn from"),
        (CONSTANT, {"form": "linear"}, r"Output 'x2' never changes"),
    ],
)
@pytest.mark.filterwarnings("ignore:State columns that never change")
def test_an_output_that_never_changes_is_named(states, options, message):
    with pytest.raises(KoopsieveError, match=message):
        sift(Trajectories.from_arrays(states, U), **options)


@pytest.mark.parametrize("rows", [4, 5, 8])
def test_a_few_rows_with_an_input(rows):
    message = r"too short( for [1-9]\d* delays)?: .*has \d samples\. Expected at least \d+"
    with pytest.raises(KoopsieveError, match=message):
        sift(Trajectories.from_arrays(X[:rows, :1], U[: rows - 1]), horizons=[1])


@pytest.mark.parametrize("dt", [1e-320, 1e-101, 1e101])
def test_a_sample_time_whose_rate_overflows(dt):
    with pytest.raises(KoopsieveError, match=r"dt, the sample time, must lie between 1e-100 and 1e\+100"):
        Trajectories.from_arrays(X, U, dt=dt)
