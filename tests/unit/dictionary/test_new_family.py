"""A new family is one class and one line in the registry: it is fitted, saved, and written in every language."""

import shutil
from dataclasses import dataclass, replace

import numpy as np
import pytest

from koopsieve import KoopsieveError, Model, States, sift
from koopsieve.dictionary import Block
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.recipes import Domain
from koopsieve.dictionary.registry import FAMILIES
from tests.compiled import Compiled
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.test_toolboxes import compare as compare_with_octave


@dataclass(frozen=True, eq=False)
class Steps(Observables):
    """tanh(steep·(x − place)) of the first coordinate."""

    places: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    steep: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    per_column = ("places", "steep")

    def evaluate(self, points, out):
        np.tanh(self.steep * (points[:, :1] - self.places), out=out)

    def gradient(self, points):
        gradient = np.zeros((len(points), self.size, points.shape[1]))
        gradient[:, :, 0] = self.steep * (1 - self(points) ** 2)
        return gradient

    def expression(self, column, point):
        from sympy import tanh

        return tanh(float(self.steep[column]) * (point[0] - float(self.places[column])))

    def fits(self, width):
        return width > 0 and self.places.shape == self.steep.shape == (self.size,)


@dataclass(frozen=True, repr=False)
class SoftSteps(Block):
    count: int = 4

    def fit_block(self, samples, rng):
        domain = Domain(samples)
        x = np.concatenate([block[:, 0] for block in domain.blocks()])
        places = np.quantile(x, np.linspace(0.2, 0.8, self.count))
        names = tuple(f"step at {place:.3g}" for place in places)
        return domain.fitted(Steps(names, places, np.linspace(1.0, 2.0, self.count)))


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(FAMILIES, "Steps", Steps)


@pytest.fixture(scope="module")
def model():
    data = simulate_pendulum([200, 120], 1, seed=3)
    found = sift(data, States() + SoftSteps(), form="reprojected", horizons=[1, 5]).model
    if any("step at" in name for name in found.names):
        return found
    phi = (States() + SoftSteps()).fit(data)  # the sieve kept none: all of them then
    coef = 0.1 * np.random.default_rng(0).normal(size=(len(phi.regressors), 2))
    return replace(found, dictionary=phi, coef=coef, calibration=None)


def test_it_is_saved_and_loaded(registered, model, tmp_path):
    model.save(tmp_path / "model.npz")
    again = Model.load(tmp_path / "model.npz")
    x, u = np.ones((3, 2)) * [[0.1], [0.2], [-0.3]], np.ones((3, 1))
    np.testing.assert_array_equal(again.advance(x, u), model.advance(x, u))


def test_outside_the_registry_no_file_holds_it(model, tmp_path):
    with pytest.raises(KoopsieveError, match="which a model file does not hold"):
        model.save(tmp_path / "model.npz")


def test_it_is_written_in_every_language(model, tmp_path):
    casadi = pytest.importorskip("casadi")
    assert "tanh(" in model.equations()
    assert r"\tanh" in model._repr_latex_()
    x, u = np.array([0.3, -0.2]), np.array([0.4])
    expected = model.advance(x[None], u[None])[0]
    np.testing.assert_allclose(np.array(model.to_casadi().step(x, u)).ravel(), expected, rtol=1e-13)
    compiled = Compiled(model, tmp_path)
    np.testing.assert_allclose(compiled.step(x, u), expected, rtol=1e-13)
    np.testing.assert_allclose(compiled.linearise(x, u)[0], model.jacobians(x[None], u[None]).A[0], rtol=1e-12)
    assert casadi is not None


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="Octave is not installed: apt-get install octave")
def test_it_runs_in_octave(model, tmp_path):
    compare_with_octave(model, tmp_path)
