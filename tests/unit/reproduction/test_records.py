"""The Wiener–Hammerstein records: where they are looked for, and what is said when they are not there."""

import sys
import types

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.datasets import FOLDER_VARIABLE
from koopsieve.reproduction.study_settings import FILE, load_records

DATA = {"train": "est", "test_record": 0}
SIMULATED = {"records": 2, "samples": 300, "test_samples": 400}


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "nonlinear_benchmarks", None)
    monkeypatch.setitem(sys.modules, "nonlinear_benchmarks.not_splitted_benchmarks", None)


def store(folder, **extra):
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=(2, 50)).astype(np.float32) for name in ("u_est", "y_est", "u_test", "y_test")}
    np.savez(folder / FILE, **{**arrays, **extra})
    return arrays


def test_records_from_a_named_folder(tmp_path):
    arrays = store(tmp_path)
    records = load_records(tmp_path, DATA, SIMULATED, seed=0)
    assert "SIMULATED" not in records.source
    assert records.train.n_episodes == 2
    np.testing.assert_array_equal(records.train.states[1][:, 0], arrays["y_est"][1])
    np.testing.assert_array_equal(records.test.inputs[0][:, 0], arrays["u_test"][0, :-1])
    assert records.test.dt == 1 / 78125
    assert load_records(tmp_path, DATA, SIMULATED, seed=0).digest() == records.digest()
    store(tmp_path, y_test=np.ones((2, 50)) * np.arange(50))
    assert load_records(tmp_path, DATA, SIMULATED, seed=0).digest() != records.digest()


def test_the_environment_names_the_folder_too_but_the_argument_wins(tmp_path, monkeypatch):
    store(tmp_path)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert "SIMULATED" not in load_records(None, DATA, SIMULATED, seed=0).source
    with pytest.raises(KoopsieveError, match=rf"does not hold {FILE}.*10\.4121/12952124"):
        load_records(tmp_path / "elsewhere", DATA, SIMULATED, seed=0)
    with pytest.raises(KoopsieveError, match="train must be one of"):
        load_records(tmp_path, {**DATA, "train": "multisine"}, SIMULATED, seed=0)
    np.savez(tmp_path / FILE, u_est=np.zeros((1, 9)))
    with pytest.raises(KoopsieveError, match="lacks the arrays y_est"):
        load_records(tmp_path, DATA, SIMULATED, seed=0)


def test_without_records_a_simulated_circuit_with_a_warning_that_says_where_to_get_them():
    with pytest.warns(KoopsieveWarning, match=r"simulated circuit.*not installed.*10\.4121/12952124"):
        records = load_records(None, DATA, SIMULATED, seed=0)
    assert ("SIMULATED" in records.source, records.train.n_episodes) == (True, 2)


@pytest.fixture
def package(monkeypatch):
    """The package that downloads the records, without its download."""
    found = types.ModuleType("nonlinear_benchmarks.not_splitted_benchmarks")
    monkeypatch.setitem(sys.modules, "nonlinear_benchmarks", types.ModuleType("nonlinear_benchmarks"))
    monkeypatch.setitem(sys.modules, found.__name__, found)
    return found


def test_a_failed_download_falls_back_and_says_so(package):
    def download(**_):
        raise OSError("no network")

    package.WienerHammerstein_Process_Noise = download
    with pytest.warns(KoopsieveWarning, match="no network"):
        assert "SIMULATED" in load_records(None, DATA, SIMULATED, seed=0).source


def test_records_from_the_package(package):
    record = types.SimpleNamespace(u=np.arange(40.0), y=np.arange(40.0) ** 2)
    too_long = types.SimpleNamespace(u=np.zeros(20000), y=np.zeros(20000))
    package.WienerHammerstein_Process_Noise = lambda **_: ([too_long, record], [record])
    records = load_records(None, DATA, SIMULATED, seed=0)
    assert "SIMULATED" not in records.source
    assert records.train.n_episodes == 1
    np.testing.assert_array_equal(records.test.states[0][:, 0], record.y)
