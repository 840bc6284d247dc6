"""Models in C, CasADi and SymPy against the same models in Python: every form, timing and block."""

from dataclasses import replace

import casadi
import numpy as np
import pytest

from koopsieve.data import Embedding
from koopsieve.dictionary import States, Terms
from tests.compiled import Compiled
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import DRIVEN_MONOMIALS, EMBEDDINGS, EVERY_BLOCK, FORMS, NO_DELAYS, PLAIN, pendulum_model


class InCasadi:
    """The functions of CasADi, and the slopes that it finds."""

    def __init__(self, model, folder):
        self.of = model.to_casadi()
        z, u = casadi.MX.sym("z", self.of.step.size1_in(0)), casadi.MX.sym("u", self.of.step.size1_in(1))
        following = self.of.step(z, u)
        self.slopes = casadi.Function("s", [z, u], [casadi.jacobian(following, z), casadi.jacobian(following, u)])

    def __getattr__(self, name):
        return lambda *given: np.array(getattr(self.of, name)(*given)).ravel()

    def linearise(self, z, u):
        A, B = (np.array(one) for one in self.slopes(z, u))
        return A, B, self.step(z, u) - A @ z - B @ u


class InSympy:
    """Numbers put into the equations."""

    def __init__(self, model, folder):
        self.of = model.to_sympy()
        following = [one.lhs for one in self.of.step]
        assert len({*following, *self.of.carried, *self.of.inputs}) == 2 * len(following) + len(self.of.inputs)
        self.targets = {"start": self.of.carried, "step": following, "read": self.of.outputs}
        self.points = {"start": self.of.states, "step": self.of.carried + self.of.inputs, "read": self.of.carried}

    def _values(self, name, *given):
        values = dict(zip(self.points[name], np.concatenate(given), strict=True))
        values |= {one.lhs: float(one.rhs.evalf(subs=values)) for one in getattr(self.of, name)}
        return np.array([values[target] for target in self.targets[name]])

    def start(self, x):
        return self._values("start", x)

    def step(self, z, u):
        return self._values("step", z, u)

    def read(self, z):
        return self._values("read", z)


def assert_same(found, expected, size=0.0, tolerance=1e-12):
    """To 1e-12 of the largest value, or of `size`, the largest sum behind it."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    largest = max(np.abs(expected).max(initial=0.0), size)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * largest)


def assert_same_at(there, model, x, u):
    """Compare all functions that there are at one state and input; return what is carried next."""
    z = model.start(x[None])
    following, around = model.advance(z, u[None])[0], model.jacobians(z, u[None])
    assert_same(there.start(x), z[0])
    assert_same(there.step(z[0], u), following)
    assert_same(there.read(z[0]), model.read(z)[0])
    if isinstance(there, InSympy):
        return following
    assert_same(there.lift(x), model.dictionary(x))
    size, tolerance = (
        max(np.abs(around.A).max(), np.abs(following).max()),
        1e-12 if isinstance(there, Compiled) else 1e-11,
    )
    for one, expected in zip(there.linearise(z[0], u), (around.A, around.B, around.offset), strict=True):
        assert_same(one, expected[0], size, tolerance)
    return following


def compare(model, program, folder, every=4):
    """Every function at points from a record; those of C for the delay line and for free runs too."""
    there, inputs = program(model, folder), len(model.input_names)
    record = simulate_pendulum([30], inputs, seed=1)
    y, u = record.states[0], np.vstack([record.inputs[0], np.zeros((1, inputs))])
    rows, ahead = model.history, model.signals.embedding.input_lead
    states, acting = model.signals.embedding.embed(y, u)
    for k in range(0, len(acting), every):
        assert_same_at(there, model, states[k], acting[k])
        if program is Compiled:
            np.testing.assert_array_equal(there.state(y[k : k + rows], u[k : k + rows - 1 + ahead]), states[k])
            np.testing.assert_array_equal(there.shift(states[k], y[k + rows], acting[k]), states[k + 1])
    if program is Compiled:
        assert_same(there.simulate(y[:rows], u), model.simulate(y[:rows], u if inputs else None, len(u)))
        assert there.sizes["HISTORY"] == model.signals.embedding.history
        assert there.sizes["SAMPLE_TIME"] == 0.1


MODELS = [
    *((form, embedding, PLAIN, 2) for form in FORMS for embedding in EMBEDDINGS),
    *((form, embedding, PLAIN, 0) for form in FORMS for embedding in (NO_DELAYS, Embedding(1))),
    *((form, NO_DELAYS, EVERY_BLOCK, 2) for form in FORMS),
    *(("reprojected", embedding, DRIVEN_MONOMIALS, 2) for embedding in (NO_DELAYS, Embedding(1, 2, "k+1"))),
]
LARGE = [(form, Embedding(1, 1, "k+1"), EVERY_BLOCK, 2) for form in FORMS]
IN_SYMPY = [one for one in MODELS if one[2] is not EVERY_BLOCK or one[0] == "reprojected"]  # others take long


@pytest.mark.parametrize(
    "program, asked",
    [
        *((Compiled, one) for one in MODELS + LARGE),
        *((InCasadi, one) for one in MODELS),
        *((InSympy, one) for one in IN_SYMPY),
    ],
)
def test_every_form_timing_and_block(program, asked, tmp_path):
    compare(pendulum_model(*asked), program, tmp_path, 20 if program is InSympy else 4)


@pytest.mark.parametrize("program", [Compiled, InCasadi])
@pytest.mark.parametrize("limits", [None, [[-0.1, -9.0], [0.1, 9.0]]])
def test_outputs_are_held_within_bounds(program, limits, tmp_path):
    model = pendulum_model("reprojected")
    model = replace(model, limits=limits if limits is None else np.array(limits))
    there, held = program(model, tmp_path), 0
    for far in ([60.0, 0.1], [0.2, -90.0], [0.01, 0.02]):
        x, u = np.array(far), np.array([0.3, 9.0])
        at_bound = np.isin(assert_same_at(there, model, x, u), model.bounds)
        held += at_bound.sum()
        assert not there.linearise(x, u)[0][at_bound].any()
    assert held >= 2


@pytest.mark.parametrize("program", [Compiled, InCasadi])
def test_roots_have_finite_slopes_where_they_begin(program, tmp_path):
    """Optimisers go there; a plain square root gives inf, and nan below zero."""
    model = pendulum_model("reprojected", recipe=States() + Terms("sqrt(x1)", "x2^1.5", "abs(x1)"), inputs=0)
    there = program(model, tmp_path)
    for x in ([0.0, 0.0], [-0.3, -0.2], [0.3, 0.2]):
        assert_same_at(there, model, np.array(x), np.zeros(0))


@pytest.mark.parametrize("delays", [127, 128, 150])
@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_indices_beyond_one_byte(form, delays, tmp_path):
    model = pendulum_model(form, Embedding(delays, 1), States(), 1, simulate_pendulum([delays + 40], 1))
    assert len(model.signals.state_names) > 256
    rng = np.random.default_rng(0)
    assert_same_at(
        Compiled(model, tmp_path), model, rng.normal(size=len(model.signals.state_names)), rng.normal(size=1)
    )
