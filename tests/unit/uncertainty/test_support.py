"""Outside the data: a start, an input or a prediction beyond what a model was learned from."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from koopsieve import Constant, Embedding, KoopsieveError, Monomials, States, Trajectories, calibrate, compress
from koopsieve.data import embedded
from koopsieve.uncertainty import Support, coverage
from koopsieve.uncertainty.support import HELD_OUT_MARGIN, support_of
from tests.unit.uncertainty.test_calibration import fitted

NEXT_DOOR = Path(__file__).parents[3] / ".." / "shared" / "data"
SILVERBOX = Path(os.environ.get("KOOPSIEVE_DATA", NEXT_DOOR)) / "silverbox.mat"


def ellipse(seed, steps=3000):
    """Two states that move together, x2 close to x1, driven; their difference stays small though each is large."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, size=(steps - 1, 1))
    x = np.zeros((steps, 2))
    for k in range(steps - 1):
        x[k + 1] = 0.9 * x[k].mean() + u[k] + 0.02 * rng.normal(size=2)
    return Trajectories.from_arrays(x, u)


@pytest.fixture(scope="module")
def model():
    model, statistics = fitted(ellipse(0))
    return calibrate(model, ellipse(1), 5, statistics=statistics)


@pytest.mark.parametrize(
    "start, inputs, expected",
    [
        ([0.5, 0.5], [0.0, 0.0, 0.0], [False, False, False]),
        ([30.0, 30.0], [0.0, 0.0, 0.0], [True, True, True]),
        ([1.0, -1.0], [0.0, 0.0], [True, True]),  # a combination that the data do not hold, each signal within
        ([0.5, 0.5], [0.0, 1.5, 0.0], [False, True, True]),  # an input, from there on
    ],
)
def test_a_start_an_input_or_a_prediction_beyond_the_data_flags_what_follows(model, start, inputs, expected):
    def outside(start, inputs):
        return model.predict([start], np.reshape(inputs, (-1, 1)), len(inputs), level=0.9).outside.tolist()

    assert outside(start, inputs) == expected
    flags = outside([0.98 * ellipse(0).states[0].max()] * 2, [1.0] * 5)  # predictions leave the region
    assert flags[-1]
    assert flags == sorted(flags)
    assert coverage(model, ellipse(2), [1, 5]).outside.max() < 0.01  # new data of the same kind do not


def test_a_combination_on_the_way_flags_what_follows():
    """The record is of a controlled plant: an input that goes against it is within its bounds, and was never there."""
    rng, x, u = np.random.default_rng(0), np.zeros((4000, 1)), np.zeros((3999, 1))
    for k in range(3999):
        u[k] = -0.4 * x[k] + 0.02 * rng.normal()
        x[k + 1] = 0.9 * x[k] + u[k] + 0.3 * rng.normal()
    learn, held = (Trajectories.from_arrays(x[part], u[part][:-1]) for part in (slice(2500), slice(2500, 3999)))
    model, statistics = fitted(learn)
    model = calibrate(model, held, 3, statistics=statistics)
    for inputs, expected in (([-0.2, -0.1, -0.05], [False] * 3), ([-0.2, 0.2, 0.05], [False, True, True])):
        assert model.predict([[0.5]], np.reshape(inputs, (-1, 1)), 3, level=0.9).outside.tolist() == expected


def test_leverage_is_that_of_the_regression_written_out(model):
    data = ellipse(0)
    x, u = data.states[0][:-1], data.inputs[0]
    design = np.hstack([x, np.ones((len(x), 1)), u])
    expected = np.einsum("ij,jk,ik->i", design, np.linalg.inv(design.T @ design), design) * len(x) / 4
    support = model.calibration.support
    np.testing.assert_allclose(support.leverage(model.dictionary, x, u), expected, rtol=1e-8)
    held = ellipse(1)
    again = support.leverage(model.dictionary, held.states[0][:-1], held.inputs[0])
    assert support.limit == pytest.approx(HELD_OUT_MARGIN * np.quantile(again, 0.999, method="higher"))
    by_hand = replace(compress(data, model.dictionary), region=None)  # knows no region
    assert support_of(model.dictionary, by_hand, x, u, np.zeros((1, 1, 2))) is None


def test_the_end_of_silverbox_arrow_lies_outside_and_its_beginning_does_not():
    if not SILVERBOX.exists():
        pytest.skip("silverbox.mat is neither in KOOPSIEVE_DATA nor in ../shared/data")
    from scipy.io import loadmat

    record = loadmat(SILVERBOX)
    u, y = record["V1"].reshape(-1, 1), record["V2"].reshape(-1, 1)

    def part(start, stop):
        return Trajectories.from_arrays(y[start:stop], u[start:stop], dt=1 / 610.35)

    learn, held, arrow = part(40650, 80650), part(80650, 100650), part(100, 40575)
    delays = Embedding(2, 2, "k+1")
    model, statistics = fitted(embedded(learn, delays), States() + Constant() + Monomials(degree=3))
    model = calibrate(model, held, 10, statistics=statistics)
    test, first, last = (
        coverage(model, one, [1, 10]) for one in (part(100650, 127400), part(100, 20100), part(36575, 40575))
    )
    assert test.outside.max() < 0.02
    assert first.outside.max() < 0.001
    assert last.outside.min() > 0.1
    np.testing.assert_allclose(test.share, 0.9, atol=0.03)
    beyond = np.flatnonzero(
        np.abs(arrow.states[0][:, 0]) > 1.1 * np.abs(np.vstack([learn.states[0], held.states[0]])).max()
    )
    assert len(beyond) > 20
    history = np.stack([arrow.states[0][k - 2 : k + 1] for k in beyond])
    inputs = np.stack([arrow.inputs[0][k - 2 : k + 2] for k in beyond])
    assert model.predict(history, inputs, 1, level=0.9).outside.all()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["whitening", "region", "reach"])
def test_bounds_that_are_no_numbers_are_refused(part, number):
    arrays = {"whitening": np.ones((1, 1)), "region": np.array([[0.0], [1.0]]), "reach": np.array([[0.0], [1.0]])}
    arrays[part][-1, 0] = number
    if (part, number) == ("reach", np.inf):  # predictions that diverged set no limit
        Support(("y",), limit=1.0, **arrays)
        return
    with pytest.raises(KoopsieveError, match=r"The support of the data must be finite, with bounds in order"):
        Support(("y",), limit=1.0, **arrays)
