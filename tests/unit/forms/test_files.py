"""Model files: what was saved comes back; what is damaged or foreign is refused and runs nothing."""

import json
import os
import pickle

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import embed_delays
from koopsieve.dictionary import (
    Constant,
    Fourier,
    Function,
    Monomials,
    PeriodicSquaredExponential,
    SquaredExponential,
    States,
)
from koopsieve.forms import LinearModel
from tests.reference.pendulum import least_squares_model, simulate_pendulum

EVERY_BLOCK = (
    States()
    + Constant()
    + Monomials(degree=2)
    + Fourier()
    + SquaredExponential(centers=4, coefficients=[0.1, 1.0])
    + PeriodicSquaredExponential(centers=2)
)


@pytest.fixture
def data():
    return simulate_pendulum([80], 1)


@pytest.fixture
def model(data):
    return least_squares_model(data, States() + Monomials(degree=2))


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    return path


def assert_same(one, two):
    for name in ("A", "B", "C"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert (one.names, one.input_names, one.output_names) == (two.names, two.input_names, two.output_names)
    assert (one.dt, one.dictionary.outputs) == (two.dt, two.dictionary.outputs)
    assert one.dictionary.state_names == two.dictionary.state_names


@pytest.mark.parametrize("delays", [0, 1])
def test_what_was_saved_comes_back(data, delays, tmp_path):
    ramp = np.arange(7.0)[:, None] / 7
    model = least_squares_model(embed_delays(data, states=delays, inputs=delays), EVERY_BLOCK)
    model.save(tmp_path / "any name")
    again = LinearModel.load(str(tmp_path / "any name"))
    assert_same(model, again)
    np.testing.assert_array_equal(
        again.predict(data.states[0][3:6], ramp, 5), model.predict(data.states[0][3:6], ramp, 5)
    )
    kept = [*model.dictionary.outputs, model.dictionary.size - 1]
    model.restrict(kept).save(tmp_path / "cut.npz")
    assert_same(model.restrict(kept), LinearModel.load(tmp_path / "cut.npz"))


def test_saving_twice_gives_the_same_bytes(model, saved, tmp_path):
    model.save(tmp_path / "again.npz")
    assert saved.read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_a_function_of_the_user_is_not_saved_and_nothing_is_written(data, tmp_path):
    model = least_squares_model(data, States() + Function(np.sin, names=["sin x1", "sin x2"]))
    path = tmp_path / "model.npz"
    path.write_text("precious")
    with pytest.raises(KoopsieveError, match="Python code"):
        model.save(path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


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
        with np.load(saved) as archive:
            arrays = dict(archive)
        np.savez(saved, **{**arrays, where: trap})
    with pytest.raises(KoopsieveError):
        LinearModel.load(saved)
    assert not mark.exists()


def rewritten(path, change):
    """Change the header of a model file."""
    with np.load(path) as archive:
        arrays = dict(archive)
    header = change(json.loads(arrays["header"].tobytes()))
    np.savez(path, **{**arrays, "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)})


def signals(**change):
    """A change of the header: of what it says about the signals."""
    return lambda h: h | {"dictionary": h["dictionary"] | {"signals": h["dictionary"]["signals"] | change}}


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
        (signals(embedding={"state_delays": -1, "input_delays": 0, "inputs_at": "k"}), "0 or more. Got -1"),
        (signals(embedding={"state_delays": 0, "input_delays": 0, "inputs_at": "k", "more": 1}), "damaged"),
        (signals(embedding={"state_delays": 0, "input_delays": 0, "inputs_at": "now"}), "inputs_at must be"),
        (lambda h: [h], "damaged"),
        (lambda h: "koopsieve model", "damaged"),
        (lambda h: {k: v for k, v in h.items() if k != "dictionary"}, "damaged"),
        (
            lambda h: h | {"dictionary": h["dictionary"] | {"families": [{"kind": "os", "names": ["x"]}]}},
            "Unknown kind",
        ),
    ],
)
def test_a_header_that_does_not_fit_is_refused(saved, change, match):
    rewritten(saved, change)
    with pytest.raises(KoopsieveError, match=match):
        LinearModel.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"A": np.eye(3)},
        {"A": np.eye(5, dtype=np.int64)},
        {"B": np.array(["a"])},
        {"extra": np.ones(2)},
        {"dictionary.0.columns": np.array([0, 99])},
        {"dictionary.0.columns": np.array([0.5, 1.5])},
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_are_refused(saved, change):
    with np.load(saved) as archive:
        arrays = dict(archive)
    np.savez(saved, **{**arrays, **change})
    with pytest.raises(KoopsieveError):
        LinearModel.load(saved)


@pytest.mark.parametrize("name", ["A", "B", "C", "header", "dictionary.0.columns"])
def test_a_missing_array_is_refused(saved, name):
    with np.load(saved) as archive:
        arrays = {key: values for key, values in archive.items() if key != name}
    np.savez(saved, **arrays)
    with pytest.raises(KoopsieveError, match="damaged"):
        LinearModel.load(saved)
