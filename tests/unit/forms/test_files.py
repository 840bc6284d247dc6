"""Model files: what was saved comes back; what is damaged or foreign is refused and runs nothing."""

import json
import os
import pickle

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve.data import Embedding
from koopsieve.dictionary import Fourier, Function, PeriodicSquaredExponential, SquaredExponential, States
from koopsieve.forms import Model
from tests.unit.forms.test_forms import RECIPES, every_embedding, every_form, model_of


@every_form
@every_embedding
def test_what_was_saved_comes_back(form, embedding, tmp_path):
    of = "states and inputs" if form == "reprojected" else "states"
    more = SquaredExponential(centers=3, coefficients=[0.1, 1.0], of=of) + PeriodicSquaredExponential(centers=2)
    model = model_of(form, embedding, recipe=RECIPES[form] + more + Fourier())
    rng = np.random.default_rng(0)
    history = rng.normal(size=(embedding.history, 2))
    inputs = rng.normal(size=(embedding.history + 8 + embedding.input_lead, 2))
    parts = [model]
    if form == "linear":
        parts.append(model.restrict([*model.dictionary.outputs, model.dictionary.size - 1]))
    for one in parts:
        one.save(tmp_path / "any name")
        again = Model.load(str(tmp_path / "any name"))
        assert type(again) is type(one)
        assert (again.signals, again.dictionary.names) == (one.signals, one.dictionary.names)
        for name, values in one.arrays().items():
            np.testing.assert_array_equal(getattr(again, name), values)
        np.testing.assert_array_equal(again.predict(history, inputs, 9), one.predict(history, inputs, 9))
        one.save(tmp_path / "twice")
        assert (tmp_path / "twice").read_bytes() == (tmp_path / "any name").read_bytes()


@every_form
def test_a_function_of_the_user_is_not_saved_and_nothing_is_written(form, tmp_path):
    model = model_of(form, recipe=States() + Function(np.sin, names=["sin x1", "sin x2"]))
    path = tmp_path / "model.npz"
    path.write_text("precious")
    with pytest.raises(KoopsieveError, match="Python code"):
        model.save(path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture(scope="module")
def model():
    return model_of("linear", inputs=1)


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    return path


def rewritten(path, change=None, **arrays):
    """Change the header of a model file, or its arrays; None takes an array away."""
    with np.load(path) as archive:
        content = dict(archive) | arrays
    if change is not None:
        header = change(json.loads(content["header"].tobytes()))
        content["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **{name: values for name, values in content.items() if values is not None})


class Trap:
    """A pickle that leaves a mark when it is opened."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (os.mkdir, (str(self.mark),))


@pytest.mark.parametrize("where", ["pickle", "npy", "header", "A", "dictionary.0.columns"])
def test_pickles_are_never_opened(saved, where, tmp_path):
    mark = tmp_path / "mark"
    trap = np.array([Trap(mark)], dtype=object)
    if where == "pickle":
        saved.write_bytes(pickle.dumps(Trap(mark)))
    elif where == "npy":
        with saved.open("wb") as stream:
            np.save(stream, trap, allow_pickle=True)
    else:
        rewritten(saved, **{where: trap})
    with pytest.raises(KoopsieveError):
        Model.load(saved)
    assert not mark.exists()


def signals(**change):
    """A change of the header: of what it says about the signals."""
    return lambda h: h | {"dictionary": h["dictionary"] | {"signals": h["dictionary"]["signals"] | change}}


def delays(**change):
    return signals(embedding={**Embedding().to_dict(), **change})


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda h: h | {"format": "another"}, "got 'another'"),
        (lambda h: h | {"version": 1}, "Use the koopsieve that wrote it"),
        (lambda h: h | {"form": "cubic"}, "form is 'cubic'. Expected one of linear, bilinear, reprojected"),
        (lambda h: h | {"form": "bilinear"}, "damaged"),
        (signals(dt=-1), "dt, the sample time, must be"),
        (signals(dt="0.1"), "must be a positive number. Got '0.1'"),
        (signals(dt=None), "must be a positive number. Got None"),
        (signals(outputs="ab"), "must be lists of names"),
        (signals(inputs=[]), "do not fit"),
        (signals(inputs=["x1"]), "occurs twice"),
        (signals(outputs=["x1"]), "do not fit"),
        (delays(state_delays=-1), "0 or more. Got -1"),
        (delays(more=1), "damaged"),
        (delays(inputs_at="now"), "inputs_at must be"),
        (lambda h: [h], "damaged"),
        (lambda h: "koopsieve model", "damaged"),
        (lambda h: {k: v for k, v in h.items() if k != "dictionary"}, "damaged"),
        (lambda h: h | {"dictionary": h["dictionary"] | {"families": [{"kind": "os", "names": ["x"]}]}}, "Unknown"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(saved, change, match):
    rewritten(saved, change)
    with pytest.raises(KoopsieveError, match=match):
        Model.load(saved)


@pytest.mark.parametrize(
    "name, values",
    [
        *((name, None) for name in ("A", "B", "C", "header", "dictionary.0.columns")),
        ("A", np.eye(3)),
        ("A", np.eye(6, dtype=np.int64)),
        ("B", np.array(["a"])),
        ("extra", np.ones(2)),
        ("dictionary.0.columns", np.array([0, 99])),
        ("dictionary.0.columns", np.array([0.5, 1.5])),
    ],
)
def test_arrays_that_do_not_fit_or_are_missing_are_refused(saved, name, values):
    rewritten(saved, **{name: values})
    with pytest.raises(KoopsieveError, match="damaged" if values is None else None):
        Model.load(saved)
