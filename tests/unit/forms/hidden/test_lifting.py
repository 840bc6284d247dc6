"""The exact lifting of a chain of filter, polynomial and filter, and what has none."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from koopsieve import HiddenModel, KoopsieveError, States, Trajectories
from koopsieve.forms.hidden import lifting as exact

POWERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0], [3, 0, 0]]


def chain():
    """x1 is a filter of u, bent before it enters the filter x2, which is measured."""
    data = Trajectories.from_arrays([[0.0], [1.0], [0.5]], [[1.0], [0.0]], state_names="y", input_names="u")
    coef = np.array([[0.1, 0.6, 0, 0.4, 0, 0], [0, 0.3, 0.7, 0, 0.12, -0.03], [0, 0, 2.0, 0.1, 0, 0]])
    return HiddenModel(
        coef=coef,
        powers=np.array(POWERS, dtype=float),
        encoder=np.array([[0.1, 0.5], [0.0, 0.5]]),
        center=np.array([0.2]),
        scale=np.array([1.5]),
        limits=np.outer([-50.0, 50.0], np.ones(3)),
        dictionary=States().fit(data),
    )


def test_a_chain_is_lifted_exactly():
    model, rng = chain(), np.random.default_rng(0)
    lifting = model.lifted()
    assert lifting.names == ("1", "x1", "x2", "x1^2", "x1^3")
    assert not lifting.bilinear
    assert set(lifting.step) == {(0,), (1,), (2,), (3,)}
    carried, inputs = model.start(np.array([[0.4], [-0.3]])), rng.normal(size=(30, 2, 1))
    lifted = lifting.lift(carried[:, :2])
    for u in inputs:
        carried = model.advance(carried, u)
        lifted, outputs = lifting.advance(lifted, u)
        np.testing.assert_allclose(outputs, model.read(carried), rtol=1e-10)
        np.testing.assert_allclose(lifted, lifting.lift(carried[:, :2]), rtol=1e-10)


def test_without_products_it_is_the_linear_system():
    linear = replace(chain(), coef=np.where(np.array(POWERS).sum(axis=1) > 1, 0.0, chain().coef))
    lifting = linear.lifted()
    assert lifting.names == ("1", "x1", "x2")
    assert lifting.bilinear
    np.testing.assert_allclose(lifting.step[(0,)][1:, 1:], linear.coef[:2, 1:3])


def test_a_product_that_is_fed_back_has_no_finite_lifting():
    model = chain()
    fed_back = model.coef.copy()
    fed_back[0, 4] = 0.1  # x1 squared drives x1
    with pytest.raises(KoopsieveError, match="no exact lifting with at most 40 products"):
        replace(model, coef=fed_back).lifted(most=40)


def test_that_there_is_no_lifting_is_found_without_multiplying_everything_out(monkeypatch):
    every = [powers for powers in product(range(4), repeat=4) if sum(powers) <= 3]
    limits, encoder = np.outer([-50.0, 50.0], np.ones(4)), np.full((3, 2), 0.1)
    dense = replace(chain(), coef=np.full((4, 35), 0.1), powers=np.array(every, float), encoder=encoder, limits=limits)
    times, work = exact._times, []
    monkeypatch.setattr(exact, "_times", lambda a, b: work.append(len(a) * len(b)) or times(a, b))
    with pytest.raises(KoopsieveError, match="no exact lifting with at most 500 products"):
        dense.lifted()
    assert sum(work) < 1_000_000  # all products of up to 500 would be 10 million and more
