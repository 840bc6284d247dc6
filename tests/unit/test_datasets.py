"""Benchmarks: simulated ones always, measured ones from files of their shape, scores as a plain loop computes them."""

import numpy as np
import pytest
from scipy.io import savemat

from koopsieve import Constant, Embedding, Inputs, KoopsieveError, States, datasets, sift
from koopsieve.datasets import Record

SILVERBOX = {"multisine": 21688, "arrow": 40475, "no extrapolation": 32000}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=(60, 1)) for name in ("uEst", "yEst", "uVal", "yVal")}
    savemat(tmp_path / "cascaded_tanks.mat", {**columns, "Ts": 4.0})
    savemat(tmp_path / "silverbox.mat", {"V1": rng.normal(size=(1, 131072)), "V2": rng.normal(size=(1, 131072))})
    u, y = rng.normal(size=(2, 190000))
    np.savez(tmp_path / "wiener_hammerstein_2009.npz", u=u, y=y, fs=51200.0)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "train", "tests", "window", "unit", "labels"),
    [
        ("spring", 2400, {"test": 2000}, 10, "-", ["position", "force"]),
        ("two_tanks", 3000, {"test": 1500}, 10, "mm", ["level [m]", "pump [V]"]),
        ("tanks", 60, {"test": 60}, 50, "V", ["y [V]", "u [V]"]),
        ("silverbox", 65062, SILVERBOX, 50, "mV", ["y [V]", "u [V]"]),
        ("wiener_hammerstein_2009", 100000, {"test": 78800}, 50, "mV", ["y [V]", "u [V]"]),
    ],
)
def test_splits_windows_and_units_are_the_official_ones(folder, name, train, tests, window, unit, labels):
    data = datasets.load(name, folder)
    for signals in (data.train.signals, data.test.signals):
        assert [signals.label(one) for one in (*signals.outputs, *signals.inputs)] == labels
    assert data.source.startswith("simulated: koopsieve.systems." if name in ("spring", "two_tanks") else "nonlinearb")
    assert (data.train.n_samples, data.window, data.unit) == (train, window, unit)
    assert {key: len(one.outputs) for key, one in data.records.items()} == tests
    assert data.test.output_names == data.train.output_names
    assert name in repr(data)


def test_the_score_is_the_error_of_a_free_run():
    data = datasets.load("spring")
    short, recipe = data.train.stretches([(0, 0, 400)]), States() + Constant() + Inputs()
    short = sift(short, recipe, form="reprojected", delays=Embedding(1, 1), horizons=[1, 10], path_length=3)
    model, one = short.model, data.records["test"]
    score = data.score(model)["test"]
    state = np.array([[one.outputs[9, 0], one.outputs[8, 0], one.inputs[8, 0]]])
    carried, errors = model.start(state), []
    for k in range(9, len(one.outputs) - 1):
        carried = model.advance(carried, one.inputs[k][None])
        errors.append(model.read(carried)[0, 0] - one.outputs[k + 1, 0])
    assert score == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-9)
    assert data.score(model, window=500)["test"] != score


def test_what_cannot_be_had_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("KOOPSIEVE_DATA", raising=False)
    for name, message in (
        ("nothing", "Expected one of spring, two_tanks, silverbox"),
        ("silverbx", "Did you mean 'silverbox'"),
        ("silverbox", r"needs the file .*silverbox\.mat"),
        ("f16", "not read from a folder"),
    ):
        with pytest.raises(KoopsieveError, match=message):
            datasets.load(name, tmp_path)


def test_a_download_takes_the_packages_window(monkeypatch):
    monkeypatch.delenv("KOOPSIEVE_DATA", raising=False)
    rng = np.random.default_rng(0)

    class Part:
        name, sampling_time, state_initialization_window_length = "low", 0.02, 10
        y, u = rng.normal(size=(100, 1)), rng.normal(size=(100, 1))

    class Package:
        @staticmethod
        def CED(**_):
            return (Part,), (Part,)

        @staticmethod
        def Silverbox(**_):
            raise OSError("no network")

        EMPS = Silverbox

    monkeypatch.setattr(datasets, "needed", lambda *_: Package)
    monkeypatch.setenv("KOOPSIEVE_DATA", "a folder")  # which does not hold the drives
    data = datasets.load("coupled_drives")
    monkeypatch.delenv("KOOPSIEVE_DATA")
    assert (data.window, list(data.records), data.train.dt) == (10, ["low"], 0.02)
    assert isinstance(data.records["low"], Record)
    assert data.train.signals.label("u") == "u [V]"
    with pytest.raises(KoopsieveError, match=r"could not be downloaded \(OSError: no network\).*, or give the folder"):
        datasets.load("silverbox")
    with pytest.raises(KoopsieveError, match=r"Try again with a network\.$"):
        datasets.load("emps")
