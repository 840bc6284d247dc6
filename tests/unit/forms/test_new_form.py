"""A new form is a model, a form and a line in the registry: everything else works without knowing it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from koopsieve import Constant, KoopsieveError, LeastSquares, Model, Monomials, SpikeSlab, States, sift
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.dictionary.states import Ones
from koopsieve.evaluate import simulation_errors, window_errors
from koopsieve.forms import FORMS, Candidates, Form, Linearisation, Outcome, OutputTerms
from koopsieve.forms.path import PathPoint
from koopsieve.forms.task import learning_statistics, with_validation
from koopsieve.io.run import summarise
from koopsieve.report import write_report
from koopsieve.uncertainty import Calibration
from tests.runs import duffing_trajectories


@dataclass(frozen=True, eq=False, repr=False)
class Decay(Model):
    """y[k+1] = rate·y[k] + level, whatever the input: a fixed filter of one output, which carries that output."""

    form: ClassVar[str] = "decay"
    terms_in_words: ClassVar[str] = "The output decays towards its level."

    coef: np.ndarray
    dictionary: Dictionary
    calibration: Calibration | None = None

    numbers_per_start = 1

    def start(self, states):
        return states[:, :1]

    def advance(self, carried, acting):
        return carried * self.coef[0] + self.coef[1]

    def read(self, carried):
        return carried

    def jacobians(self, carried, acting):
        around = np.broadcast_to(self.coef[:1, None], (len(carried), 1, 1))
        slopes = np.zeros((len(carried), 1, acting.shape[1]))
        return Linearisation(around, slopes, np.eye(1), np.broadcast_to(self.coef[1:], (len(carried), 1)))

    def start_slopes(self, states):
        return np.eye(1, states.shape[1])[None].repeat(len(states), axis=0)

    carried_names = ("y",)

    def start_map(self):
        return TermMap.linear(self.dictionary.state_names, ("y",), np.eye(1, len(self.dictionary.state_names)))

    def step_map(self):
        point = ("y", *self.signals.acting)
        rate = self.coef[0] * np.eye(1, len(point))
        return TermMap.linear(point, ("y",), rate, (Ones(("1",)),), self.coef[1:, None])

    def read_map(self):
        return TermMap.linear(("y",), ("y",), np.eye(1))

    def output_terms(self):
        return OutputTerms(self.names, self.coef[:, None])

    def arrays(self):
        return {"coef": self.coef}


def decay(parts, dictionary):
    """Return least squares of y[k+1] on y[k] and one."""
    now, following = (np.concatenate([x[rows, 0] for part in parts for x in part.states]) for rows in (NOW, NEXT))
    return Decay(np.polyfit(now, following, 1), dictionary)


NOW, NEXT = slice(None, -1), slice(1, None)


@dataclass(frozen=True, eq=False)
class DecayForm(Form):
    """One set: the output and the constant."""

    model: ClassVar[type[Model]] = Decay

    def candidates(self, task):
        phi = task.dictionary.linear()
        kept = np.array([phi.names.index("y"), phi.names.index("1")])
        model = decay([task.learn], phi.select(kept))
        errors, runs = window_errors(model, task.windows, task.horizons), simulation_errors(model, task.windows)
        point = PathPoint(kept, model.names, np.nan, errors, runs, model, "least squares")
        return DecayCandidates(self, task, phi, (point,))


@dataclass(frozen=True, eq=False)
class DecayCandidates(Candidates):
    @property
    def total(self):
        return self.dictionary.size

    def refitted(self, chosen, data):
        return tuple(decay([data], self.points[i].model.dictionary) for i in chosen)

    def relearn(self, chosen):
        kept, task = self.points[chosen].retained, self.task
        learned = learning_statistics(task, self.dictionary, ())
        both, small = with_validation(learned, task, self.dictionary, ()), self.dictionary.select(kept)
        model = decay([task.learn, task.validation], small)
        everything = self.points[chosen].model, model
        return Outcome(
            self.path(chosen), model, everything, self.dictionary, both, both.select(kept), SpikeSlab(), ("u",)
        )


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(FORMS, Decay.form, DecayForm())


@pytest.fixture
def result(registered):
    test = duffing_trajectories(400, seed=1)
    return sift(duffing_trajectories(), States() + Constant() + Monomials(2), form="decay", horizons=[1, 5], test=test)


def test_sift_returns_a_model_of_the_form(result):
    assert isinstance(result.model, Decay)
    assert (result.form, result.path.form, result.n_terms) == ("decay", "decay", 3)
    assert result.retained_names == ("y", "1")
    assert "decay form" in result.describe()
    assert np.isfinite(result.errors.mean).all()


def test_it_predicts_simulates_is_linearised_and_has_bands(result):
    model, inputs = result.model, np.ones((6, 1))
    expected = model.coef[0] * 0.3 + model.coef[1]
    np.testing.assert_allclose(model.predict([[0.3]], inputs[:1]), [[expected]])
    assert model.simulate([[0.3]], inputs).shape == (5, 1)
    assert model.predict([[0.3]], inputs[:5], 5, level=0.9).upper[-1, 0] > model.predict([[0.3]], inputs[:5], 5)[-1, 0]
    around = model.linearise([[0.3]], inputs[:1])
    np.testing.assert_allclose(around.A @ [0.3] + around.offset, [expected])


def test_it_is_saved_and_read_again_where_it_is_known(result, tmp_path, monkeypatch):
    result.model.save(tmp_path / "model.npz")
    again = Model.load(tmp_path / "model.npz")
    assert isinstance(again, Decay)
    np.testing.assert_array_equal(again.coef, result.model.coef)
    monkeypatch.delitem(FORMS, "decay")
    with pytest.raises(KoopsieveError, match="Its form is 'decay'"):
        Model.load(tmp_path / "model.npz")


def test_it_is_summarised_reported_and_exported(result, tmp_path):
    summary, model = summarise(result), result.model
    assert summary["form"] == "decay"
    assert [term["name"] for term in summary["coefficients"]] == ["y", "1"]
    assert summary["eigenvalues"]["of"] == "step linearised at the mean state"
    np.testing.assert_allclose(summary["eigenvalues"]["real"], model.coef[:1])
    write_report(result, tmp_path / "report.html")
    assert "The output decays towards its level." in (tmp_path / "report.html").read_text()
    assert len(model.to_sympy().step) == 1
    assert "y[k+1] = " in model.equations()
    assert {path.name for path in model.to_c(tmp_path)} == {"model.h", "model.c", "model_test.c", "Makefile"}
    model.to_mat(tmp_path / "model.mat")
    assert np.isfinite(model.to_qp(3).programme([0.3], [0.0], [0.0]).q).all()


def test_auto_searches_it_and_knows_what_it_does_not_take(registered):
    found = sift(duffing_trajectories(400), States() + Constant() + Monomials(2), horizons=[1, 5], path_length=4)
    assert list(found.paths) == ["linear", "bilinear", "reprojected", "decay"]
    form = FORMS["decay"]
    assert not form.takes("refits")
    assert not form.takes_sieve(FORMS["linear"].sieve)
    assert form.configured(refits={"least squares": LeastSquares()}, stable=False).name == "decay"
