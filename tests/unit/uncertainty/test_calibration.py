"""Bands: that they hold on new data, that few windows do not fool them, and that they are what slow code says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koopsieve import (
    BilinearModel,
    Constant,
    KoopsieveError,
    KoopsieveWarning,
    LeastSquares,
    LinearModel,
    Model,
    Monomials,
    ReprojectedModel,
    States,
    Trajectories,
    calibrate,
    compress,
    stabilise,
)
from koopsieve.evaluate.rollout import step_errors
from koopsieve.uncertainty import coverage
from koopsieve.uncertainty.bands import LEVELS
from koopsieve.uncertainty.conformal import blocks, held_out_ranks, order_statistic

RECIPE = States() + Constant() + Monomials(degree=2)
UNEVEN = {"pole": 0.3, "noise": lambda x: 0.1 + min(abs(x), 3.0) / 2}


def walk(seed, steps=4000, pole=0.9, noise=lambda x: 1.0):
    """x+ = pole·x + u + noise(x)·e, driven by a staircase."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=(steps // 10 + 1, 1)), 10, axis=0)[: steps - 1]
    x = np.zeros((steps, 1))
    for k in range(steps - 1):
        x[k + 1] = pole * x[k] + u[k] + noise(x[k, 0]) * rng.normal()
    return Trajectories.from_arrays(x, u)


def fitted(data, recipe=None, form="linear"):
    phi = (States() + Constant() if recipe is None else recipe).fit(data)
    phi = phi.bilinear() if form == "bilinear" else phi
    statistics = compress(data, phi)
    estimate = LeastSquares().identify(statistics)
    if form == "reprojected":
        return ReprojectedModel(estimate.coef[:, list(phi.outputs)], phi, statistics.region), statistics
    build = BilinearModel if form == "bilinear" else LinearModel
    return build.from_estimate(estimate, phi), statistics


@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
def test_bands_of_a_linear_process_have_the_width_that_theory_gives_in_every_form(form):
    model, statistics = fitted(walk(0), form=form)
    banded = calibrate(model, walk(1, 20_000), 20, statistics=statistics)
    deviation = np.sqrt(np.cumsum(0.81 ** np.arange(20)))
    for level, quantile in ((0.5, 0.674), (0.9, 1.645), (0.95, 1.960)):
        half = banded.calibration.bands.half_widths(20, level)[:, 0]
        np.testing.assert_allclose(half, quantile * deviation, rtol=0.05)
    found = coverage(banded, walk(2, 20_000), [1, 2, 5, 20])
    np.testing.assert_allclose(found.share, 0.9, atol=0.025)
    np.testing.assert_allclose(found.joint, 0.9, atol=0.025)
    np.testing.assert_allclose(found.width[:, 0], 2 * 1.645 * deviation[[0, 1, 4, 19]], rtol=0.05)
    assert found.outside.max() < 0.02


def test_few_windows_do_not_fool_them():
    """Nine windows side by side: the plain quantile covers too little of new data, these bands what they say."""
    ours, plain, horizon = [], [], 20
    model, _ = fitted(walk(0))
    new = np.abs(step_errors(model, walk(1, 20_000), horizon).errors[:-horizon, -1, 0])
    for seed in range(40):
        held = walk(100 + seed, 9 * horizon)
        half = calibrate(model, held, horizon).calibration.bands.half_widths(horizon, 0.8)[-1, 0]
        error = np.abs(step_errors(model, held, horizon).errors[:-horizon, -1, 0])
        ours.append(np.mean(new <= half))
        plain.append(np.mean(new <= np.quantile(error, 0.8)))
    assert np.mean(plain) < 0.78
    assert np.mean(ours) == pytest.approx(0.8, abs=0.03)


def test_widths_follow_the_start_where_errors_do_and_only_there():
    model, _ = fitted(walk(0, **UNEVEN), RECIPE)
    banded = calibrate(model, walk(1, 8000, **UNEVEN), 5)
    found = banded.predict([[[0.0]], [[3.0]]], np.zeros((2, 1, 1)), 1, level=0.9)
    near, far = (found.upper - found.lower).ravel()
    assert far > 2 * near
    bands = banded.calibration.bands
    constant = replace(banded, calibration=replace(banded.calibration, bands=replace(bands, local=None)))
    assert bands.local is not None
    new = walk(2, 8000, **UNEVEN)
    mine, other = coverage(banded, new, [1, 5]), coverage(constant, new, [1, 5])
    np.testing.assert_allclose(mine.share, 0.9, atol=0.03)
    assert mine.score[0] < 0.9 * other.score[0]
    even = calibrate(fitted(walk(0), RECIPE)[0], walk(1, 8000), 5)
    assert even.calibration.bands.local is None


def test_a_prediction_with_a_level_is_the_plain_one_with_bands_around_it():
    model, statistics = fitted(walk(0))
    model = calibrate(model, walk(1), 10, statistics=statistics)
    rng = np.random.default_rng(0)
    history, inputs = rng.normal(size=(7, 1, 1)), rng.normal(size=(7, 6, 1))
    plain = model.predict(history, inputs, 6)
    found = model.predict(history, inputs, 6, level=0.9)
    np.testing.assert_array_equal(found.mean, plain)
    assert found.lower.shape == found.upper.shape == plain.shape
    assert found.outside.shape == (7, 6)
    np.testing.assert_allclose(found.upper - found.mean, found.mean - found.lower)
    several = model.predict(history, inputs, 6, level=[0.5, 0.9])
    assert several.lower.shape == (2, 7, 6, 1)
    np.testing.assert_array_equal(several.upper[1], found.upper)
    assert (several.upper[0] < several.upper[1]).all()
    together = model.predict(history, inputs, 6, level=0.9, joint=True)
    assert (together.upper > found.upper).all()
    one = model.predict(history[0], inputs[0], 6, level=[0.5, 0.9])
    assert one.mean.shape == (6, 1)
    assert one.lower.shape == (2, 6, 1)
    assert one.outside.shape == (6,)
    np.testing.assert_allclose(one.lower, several.lower[:, 0], rtol=1e-12)


@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
def test_all_of_it_survives_a_file(form, tmp_path):
    model, statistics = fitted(walk(0, **UNEVEN), RECIPE, form)
    model = calibrate(model, walk(1, **UNEVEN), 5, statistics=statistics)
    model.save(tmp_path / "m.npz")
    back = Model.load(tmp_path / "m.npz")
    inputs = np.array([[0.0], [0.5], [100.0], [0.0], [0.0]])
    one, two = (m.predict([[0.3]], inputs, 5, level=[0.9, 0.99], joint=True) for m in (model, back))
    for name in ("mean", "lower", "upper", "outside"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.outside.tolist() == [False, False, True, True, True]
    if form == "reprojected":
        assert back.calibration.certificate is None
    else:
        np.testing.assert_array_equal(back.calibration.certificate.residuals, model.calibration.certificate.residuals)


def predicted(model, level=0.9, steps=1):
    return model.predict([[0.0]], np.zeros((steps, 1)), steps, level=level)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda model: predicted(replace(model, calibration=None)), "has no bands"),
        (lambda model: coverage(replace(model, calibration=None), walk(1), [1]), "has no bands"),
        (lambda model: predicted(model, steps=11), "reach 10 steps ahead, and 11 were asked for"),
        (lambda model: predicted(model, 0.0), "level must lie above 0"),
        (lambda model: predicted(model, 1.0), "level must lie above 0"),
        (lambda model: predicted(model, np.nan), "level must lie above 0"),
        (lambda model: predicted(model, []), "level is empty"),
        (lambda model: model.predict([[0.0]], np.zeros((1, 1)), joint=True), "Say at which level"),
        (lambda model: calibrate(model, walk(1, 30), 30), "No episode is long enough"),
    ],
)
def test_beyond_the_calibrated_horizon_and_without_bands_words_are_all_there_is(ask, message):
    model = calibrate(fitted(walk(0))[0], walk(1), 10)
    assert predicted(model).outside is None
    with pytest.raises(KoopsieveError, match=message):
        ask(model)


def test_too_few_windows_for_a_level_are_told():
    model = calibrate(fitted(walk(0))[0], walk(1, 121), 20)
    with pytest.warns(KoopsieveWarning, match=r"level 0.9 need 10 windows of 20 steps side by side, and .* hold 6"):
        predicted(model, steps=20)
    predicted(model, steps=10)  # twelve of these: no warning


def test_a_model_that_diverges_gets_infinite_bands_where_it_does():
    model, _ = fitted(walk(0))
    broken = calibrate(replace(model, A=model.A * 1e80), walk(1), 10)
    half = broken.calibration.bands.half_widths(10, 0.9)[:, 0]
    assert np.isfinite(half[0])
    assert np.isinf(half[-1])
    found = broken.predict([[1.0]], np.zeros((10, 1)), 10, level=0.9)
    assert (found.lower[-1, 0], found.upper[-1, 0]) == (-np.inf, np.inf)


def literal_level(scores, block, level):
    """Raise p until the quantiles at p of all blocks but one cover the level of what is in that one."""
    others = {one: sorted(scores[block != one]) for one in set(block)}
    for p in np.linspace(0, 1, 501):
        covered = 0
        for one, rest in others.items():
            bound = rest[min(int(np.floor(p * len(rest) + 1e-9)), len(rest) - 1)]
            covered += sum(s < bound for s in scores[block == one])
        if covered >= level * len(scores):
            return p
    return 1.0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), level=st.sampled_from([0.5, 0.8, 0.9]))
def test_ranks_raise_the_level_as_trying_each_block_does(seed, level):
    rng = np.random.default_rng(seed)
    count = rng.integers(4, 8)
    block = np.repeat(np.arange(count), 20)
    scores = np.abs(rng.normal(size=count * 20)) * np.exp(rng.normal(size=count))[block]
    found = order_statistic(held_out_ranks(scores, block), np.array([level]))[0]
    slow = literal_level(scores, block, level)
    assert found == pytest.approx(slow, abs=1 / (len(scores) - 20) + 2e-3)


def test_blocks_are_two_horizons_long_and_never_cross_episodes():
    def numbers(states, horizon):
        data = Trajectories.from_arrays(states)
        errors = step_errors(LinearModel(np.eye(1), np.zeros((1, 0)), np.eye(1), States().fit(data)), data, horizon)
        return blocks(errors, errors.reaching(horizon), horizon)

    uneven = numbers([np.arange(length)[:, None] * 1.0 for length in (101, 45, 12)], 10)
    assert np.bincount(uneven).tolist() == [23, 23, 23, 22, 35, 2]
    assert len(set(numbers(np.arange(2000.0), 1))) == 50
    short = numbers([np.arange(5.0)[:, None] + i for i in range(120)], 2)
    assert len(set(short)) == 50
    assert (short.reshape(120, 3) == short.reshape(120, 3)[:, :1]).all()
    assert set(numbers(np.arange(25.0), 10)) == {0, 1}


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1000), share=st.floats(0.01, 1.0))
def test_an_order_statistic_is_the_least_that_covers_the_share(seed, share):
    values = np.random.default_rng(seed).normal(size=1 + seed % 40)
    found = order_statistic(values, np.array([share]))[0]
    assert np.mean(values <= found) >= share - 1e-9
    assert np.mean(values < found) < share


def test_levels_between_those_kept_are_interpolated_and_increase():
    bands = calibrate(fitted(walk(0))[0], walk(1, 8000), 5).calibration.bands
    widths = np.array([bands.half_widths(5, level) for level in (0.01, 0.5, 0.515, 0.55, 0.9, 0.985, 0.999)])
    assert (np.diff(widths, axis=0) > 0).all()
    i = int(np.flatnonzero(np.isclose(LEVELS, 0.5))[0])
    np.testing.assert_allclose(widths[2], 0.7 * bands.widths[:, :, i] + 0.3 * bands.widths[:, :, i + 1])


def test_what_a_user_holds_says_what_it_is_in_a_line():
    model, statistics = fitted(walk(0))
    model = calibrate(model, walk(1), 10, statistics=statistics)
    found = model.predict([[0.0]], np.zeros((3, 1)), 3, level=[0.5, 0.9])
    assert repr(found) == "Prediction(shape (3, 1), beyond the learned data 0 %)"
    text = repr(model.calibration)
    assert "Bands(steps ahead 10, windows 399, depend on the start no)" in text
    assert "Certificate(eigenvalues 2" in text
    assert "Support(regressors x1, 1, u1" in text
    assert repr(coverage(model, walk(2), [1, 5])).startswith("Coverage(level 0.9, horizons 1, 5, covered 0.")
    assert "\n" not in text + repr(found)


@pytest.mark.parametrize(
    "change",
    [
        {"calibration.bands.widths": np.ones((5, 2, len(LEVELS)))},
        {"calibration.bands.steps": np.arange(5.0)},
        {"calibration.bands.joint": -np.ones((5, len(LEVELS)))},
        {"calibration.bands.windows": np.ones(4)},
        {"calibration.bands.more": np.ones(4)},
        {"calibration.local.center": np.zeros(4)},
        {"calibration.support.whitening": np.ones((2, 2))},
        {"calibration.support.region": np.ones((2, 5))},
        {"calibration.support.reach": np.ones((2, 2))},
        {"calibration.certificate.pairs": np.ones((3, 2), dtype=np.float32)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_calibration_that_does_not_fit_the_model_is_refused(change, tmp_path):
    model, statistics = fitted(walk(0, **UNEVEN), RECIPE)
    path = tmp_path / "m.npz"
    calibrate(model, walk(1, **UNEVEN), 5, statistics=statistics).save(path)
    with np.load(path) as archive:
        content = dict(archive)
    np.savez(path, **(content | change))
    with pytest.raises(KoopsieveError):
        Model.load(path)


def test_a_model_that_is_changed_loses_its_calibration():
    model, statistics = fitted(walk(0), RECIPE)
    model = calibrate(model, walk(1), 5, statistics=statistics)
    assert model.restrict([0, 1]).calibration is None
    wild = calibrate(replace(model, A=2 * model.A), walk(1), 2)
    assert stabilise(wild, statistics).calibration is None
