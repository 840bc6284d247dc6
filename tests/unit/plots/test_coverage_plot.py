"""The plot of coverage: one line per horizon at the shares that bands cover, and a refusal where that says nothing."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from koopsieve import Constant, KoopsieveError, SquaredExponential, States, Trajectories, sift
from koopsieve.evaluate import coverage, coverage_curve
from koopsieve.plots import new_axes, plot_coverage
from koopsieve.systems import random_drive, van_der_pol


@pytest.fixture(scope="module")
def data():
    drive = random_drive(1500, 10, 1.0, 0)
    noise = 0.05 * np.random.default_rng(0).normal(size=(1501, 2))
    return Trajectories.from_arrays(van_der_pol(drive, 0.1) + noise, drive, dt=0.1)


@pytest.fixture(scope="module")
def result(data):
    recipe = States() + Constant() + SquaredExponential(centers=6, standardize=True)
    return sift(data, recipe, horizons=[1, 5], steps=3, test=0.3, form="linear")


def test_lines_are_the_shares_that_bands_cover(result):
    axes = plot_coverage(result)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["1 step", "5 steps"]
    lines = [line for line in axes.lines if line.get_label() in texts]
    curve = coverage_curve(result.model, result.judged.data, [1, 5])
    for column, line in enumerate(lines):
        np.testing.assert_allclose(line.get_xdata(), curve.levels)
        np.testing.assert_allclose(line.get_ydata(), curve.share[:, column])
    at = curve.levels.index(0.9)
    np.testing.assert_allclose(curve.share[at], coverage(result.model, result.judged.data, [1, 5]).share.mean(axis=1))
    assert (np.diff(curve.share, axis=0) > 0).all()
    np.testing.assert_allclose(curve.share[:, 0], curve.levels, atol=0.1)


def test_it_draws_where_it_is_told(result):
    axes = new_axes(3, 3)
    assert plot_coverage(result, axes, horizons=[2]) is axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["2 steps"]
    assert axes.get_ylabel() == "share of held-out data inside"


def test_on_the_data_that_bands_were_calibrated_on_it_refuses(data):
    alone = sift(data, States() + Constant(), horizons=[1, 5], steps=3, form="linear")
    assert alone.coverage is None
    with pytest.raises(KoopsieveError, match="calibrated on the validation data"):
        plot_coverage(alone)
