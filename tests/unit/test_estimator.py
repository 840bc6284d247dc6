"""KoopmanSieve the way scikit-learn's users use it."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from koopsieve import (
    Constant,
    Embedding,
    HorizonSieve,
    KoopmanSieve,
    KoopsieveError,
    Monomials,
    SquaredExponential,
    States,
    Trajectories,
    embed_delays,
)
from koopsieve.sieve import GraphSieve

BLOCK = States() + Monomials(degree=3)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([KoopmanSieve(States() + Constant(), form=form) for form in ("linear", "reprojected")])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def slow_manifold(rng, inputs=True, steps=120):
    """x1+ = 0.9 x1, x2+ = 0.5 x2 + 0.3 x1² + u: exactly linear in (x1, x2, x1²)."""
    u = rng.normal(size=(steps, 1)) * inputs
    x = np.zeros((steps + 1, 2))
    x[0] = rng.normal(size=2)
    for k in range(steps):
        x[k + 1] = 0.9 * x[k, 0], 0.5 * x[k, 1] + 0.3 * x[k, 0] ** 2 + u[k, 0]
    return x, u


@pytest.fixture
def episodes():
    rng = np.random.default_rng(0)
    pairs = [slow_manifold(rng) for _ in range(6)]
    return [x for x, _ in pairs], [u for _, u in pairs]


def test_it_keeps_what_drives_the_states_and_predicts():
    x, _ = slow_manifold(np.random.default_rng(3), inputs=False, steps=40)
    sieve = KoopmanSieve(BLOCK, horizons=[1, 5], form="linear").fit(x)
    assert {"x1", "x2", "x1^2"} <= set(sieve.retained_names_)
    assert len(sieve.retained_names_) < 9
    np.testing.assert_allclose(sieve.predict(x[:-1]), x[1:], atol=1e-6)
    np.testing.assert_allclose(sieve.predict(x[0], horizon=10), x[1:11], atol=1e-5)
    np.testing.assert_allclose(sieve.predict(x[:3], horizon=4)[2], x[3:7], atol=1e-5)
    assert sieve.score(x) > -1e-6


def test_inputs_go_along_the_rows_or_with_each_start(episodes):
    X, U = episodes
    sieve = KoopmanSieve(BLOCK, horizons=[1, 3], form="linear").fit(X, u=U)
    x, u = X[0], U[0]
    along = sieve.predict(x[:-1], u=u)
    assert along.shape == (120, 2)
    np.testing.assert_allclose(along, x[1:], atol=1e-6)
    ahead = sieve.predict(x[:5], u=u[:7], horizon=3)
    each = sieve.predict(x[:5], u=np.stack([u[k : k + 3] for k in range(5)]), horizon=3)
    np.testing.assert_array_equal(ahead, each)
    np.testing.assert_allclose(ahead[4, 2], x[7], atol=1e-6)
    for refused, message in (
        (lambda: sieve.predict(x), r"has inputs .u1.; give them as u"),
        (lambda: sieve.predict(x[:5], u=u[:6], horizon=3), r"Expected \(7, 1\) or \(5, 3, 1\), got \(6, 1\)"),
        (lambda: KoopmanSieve(BLOCK, form="linear").fit(X).predict(x, u=u), "no inputs, but u was given"),
        (lambda: KoopmanSieve().fit(Trajectories.from_arrays(X, U), u=U), "u must be left out"),
    ):
        with pytest.raises(KoopsieveError, match=message):
            refused()


def test_delays_use_the_first_rows_as_history(episodes):
    X, U = episodes
    sieve = KoopmanSieve(States(), delays=Embedding(1, 2), horizons=[1, 4], form="linear").fit(X, u=U)
    x, u = X[0], U[0]
    data = embed_delays(Trajectories.from_arrays(x, u), states=1, inputs=2)
    direct = sieve.model_.rollout(data, 1)[0][:, 0]
    np.testing.assert_allclose(sieve.predict(x[:-1], u=u), direct, rtol=1e-12)
    window = sieve.predict(x[10:13], u=u[10:16], horizon=4)
    np.testing.assert_allclose(window[0], sieve.model_.predict(x[10:13], u[10:16], 4), rtol=1e-12)
    kept = sieve.result_.dictionary.select(sieve.result_.retained)
    np.testing.assert_allclose(sieve.transform(x, u=u), kept(data.states[0]), rtol=1e-12)
    with pytest.raises(KoopsieveError, match=r"more rows than the longest delay. Expected 3 or more, got 2"):
        sieve.predict(x[:2], u=u[:2])


def test_names_follow_the_frame_and_set_output(episodes):
    frame = pd.DataFrame(episodes[0][0], columns=["angle", "speed"])
    sieve = KoopmanSieve(BLOCK, horizons=[1], form="linear").set_output(transform="pandas").fit(frame)
    lifted = sieve.transform(frame)
    assert list(lifted.columns) == list(sieve.get_feature_names_out()) == list(sieve.retained_names_)
    assert "angle" in lifted.columns
    np.testing.assert_allclose(lifted["angle"], frame["angle"])


@pytest.mark.filterwarnings("error")
def test_frames_arrays_and_trajectories_go_together_whatever_was_fitted():
    rng = np.random.default_rng(1)
    u, x = pd.DataFrame(rng.normal(size=(119, 2)), columns=["volt", "load"]), np.zeros((120, 1))
    for k in range(119):
        x[k + 1] = 0.8 * x[k] + u.volt[k] - 0.5 * u.load[k] + 0.01 * rng.normal()
    frame, names = pd.DataFrame(x, columns=["speed"]), {"state_names": ["speed"], "input_names": ["volt", "load"]}
    data = Trajectories.from_arrays(x, u.to_numpy(), **names)
    asked = {"horizons": [1, 5], "form": "linear"}
    for sieve in (KoopmanSieve(States(), **asked).fit(data), KoopmanSieve(States(), **asked).fit(frame, u=u)):
        assert sieve.model_.signals.inputs == ("volt", "load")
        expected = sieve.predict(data)
        np.testing.assert_array_equal(sieve.predict(frame[:-1], u=u), expected)
        np.testing.assert_array_equal(sieve.transform(frame), sieve.transform(data))
        assert sieve.score(frame, u=u) == sieve.score(frame, u=u.to_numpy()) == sieve.score(data)
        for ask, rows in ((sieve.predict, frame[:-1]), (sieve.score, frame)):
            with pytest.raises(KoopsieveError, match=r"u must have the columns \['volt', 'load'\], as in fit"):
                ask(rows, u=u[["load", "volt"]])
        with pytest.raises(KoopsieveError, match=r"must have the same sample time. Expected 1, got 0.5"):
            sieve.predict(Trajectories.from_arrays(x, u.to_numpy(), dt=0.5, **names))
    with pytest.raises(KoopsieveError, match=r"X must have the columns \['speed'\], as in fit. Got \['angle'\]"):
        KoopmanSieve(States(), **asked).fit(data).predict(frame.rename(columns={"speed": "angle"})[:-1], u=u)


def test_settings_of_the_blocks_have_names():
    sieve = KoopmanSieve(States() + Monomials(degree=2), form="linear")
    assert sieve.get_params()["dictionary__monomials__degree"] == 2
    assert "dictionary__monomials__degree" not in sieve.get_params(deep=False)
    again = clone(sieve).set_params(dictionary__monomials__degree=3, path_length=5)
    assert again.dictionary == States() + Monomials(degree=3)
    assert (sieve.dictionary, again.path_length) == (States() + Monomials(degree=2), 5)
    assert again.set_params(dictionary__monomials=Constant()).dictionary == States() + Constant()
    both = again.set_params(dictionary=States() + Monomials(degree=2), dictionary__monomials__degree=4).dictionary
    assert both == States() + Monomials(degree=4)
    for one, asked, message in (
        (sieve, {"dictionary__monomials__size": 3}, r"no parameter 'monomials__size'\. It has states, "),
        (sieve, {"dictionary__monomials": 3}, "Expected a block"),
        (KoopmanSieve(), {"dictionary__monomials__degree": 3}, "'auto', which has no blocks"),
        (sieve, {"nonsense": 1}, "Invalid parameter 'nonsense'"),
    ):
        with pytest.raises(ValueError, match=message):  # which a KoopsieveError is
            one.set_params(**asked)
    assert "KoopmanSieve" in sieve._repr_html_()


def test_a_grid_search_turns_settings_of_blocks(episodes):
    X, U = episodes
    data = Trajectories.from_arrays(X, U)
    recipe = States() + SquaredExponential(centers=4) + SquaredExponential(centers=4, coefficients=[0.1])
    grid = {"dictionary__squaredexponential-2__centers": [1, 3]}
    sieve = KoopmanSieve(recipe, horizons=[1, 5], form="linear", path_length=3)
    search = GridSearchCV(sieve, grid, cv=2, error_score="raise").fit(data)
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    assert search.best_estimator_.result_.dictionary.size in (X[0].shape[1] + 5, X[0].shape[1] + 7)


def test_grid_search_over_trajectories_with_inputs(episodes):
    X, U = episodes
    grid = {"dictionary": [States(), BLOCK], "sieve": [HorizonSieve(), GraphSieve()]}
    data = Trajectories.from_arrays(X, U)
    search = GridSearchCV(KoopmanSieve(horizons=[1, 5], form="linear"), grid, cv=3, error_score="raise").fit(data)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores[2:].min() > scores[:2].max()
    assert search.best_params_["dictionary"] == BLOCK
    with sklearn.config_context(enable_metadata_routing=True):
        routed = GridSearchCV(KoopmanSieve(horizons=[1, 5], form="linear"), grid, cv=3, error_score="raise").fit(X, u=U)
    np.testing.assert_allclose(routed.cv_results_["mean_test_score"], scores, rtol=1e-10)


def test_in_a_pipeline_its_observables_are_features(episodes):
    X, _ = episodes
    features = make_pipeline(StandardScaler(), KoopmanSieve(BLOCK, horizons=[1], form="linear")).fit_transform(X[0])
    assert features.shape[0] == len(X[0])


def test_horizons_longer_than_the_data_are_left_out_with_a_word(episodes):
    with pytest.warns(UserWarning, match="Horizons beyond 9 are left out"):
        sieve = KoopmanSieve(States(), horizons=[1, 7, 12], form="linear").fit(episodes[0][0][:40])
    assert sieve.result_.horizons == (1, 7)
    assert np.isfinite(sieve.score(episodes[0][0][:5]))


def test_a_model_that_grows_warns():
    x = 1.01 ** np.arange(60.0)[:, None] * [[1.0, 2.0]]
    x[:, 1] += np.random.default_rng(0).normal(size=60)
    with pytest.warns(UserWarning, match="spectral radius is 1.01"):
        KoopmanSieve(States(), horizons=[1], form="linear").fit(x)
