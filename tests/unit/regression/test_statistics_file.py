"""Statistics and dictionaries on disk: the same values come back; nothing half-written or foreign does."""

import errno
import json

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Constant, Dictionary, Fourier, Function, Monomials, SquaredExponential, States
from koopsieve.regression import RegressionStatistics, compress
from tests.problems import assert_same_statistics


def make(seed=0):
    rng = np.random.default_rng(seed)
    return Trajectories.from_arrays(rng.normal(size=(60, 2)), rng.normal(size=(59, 1)), dt=0.2)


@pytest.mark.parametrize("horizons", [(), (1, 3)])
def test_statistics_come_back_and_merge_with_new_data(tmp_path, horizons):
    first, second = (embed_delays(make(seed), 1, 2, "k+1") for seed in (0, 1))
    phi = (States() + Monomials(of="states and inputs")).fit(first)
    compress(first, phi, horizons=horizons).save(tmp_path / "yesterday.npz")
    phi.save(tmp_path / "phi.npz")
    later = Dictionary.load(tmp_path / "phi.npz")
    grown = RegressionStatistics.load(tmp_path / "yesterday.npz").merge(compress(second, later, horizons=horizons))
    at_once = compress(first, phi, horizons=horizons).merge(compress(second, phi, horizons=horizons))
    assert_same_statistics(grown, at_once, tolerance=0)
    assert grown.rows == at_once.rows == 112
    assert grown.signals == at_once.signals == first.signals
    assert grown.multistep is None or grown.multistep.inputs == ("u1[k+1]",)


def test_dictionaries_come_back(tmp_path):
    data = make()
    phi = (States() + Constant() + Fourier() + SquaredExponential(centers=4)).fit(data)
    phi.save(tmp_path / "phi.npz")
    back = Dictionary.load(tmp_path / "phi.npz")
    assert (back.names, back.state_names, back.outputs) == (phi.names, phi.state_names, phi.outputs)
    np.testing.assert_array_equal(back(data.states[0]), phi(data.states[0]))
    with pytest.raises(KoopsieveError, match="come from Python code"):
        Function(np.abs, names=["a", "b"]).fit(data).save(tmp_path / "code.npz")
    assert not (tmp_path / "code.npz").exists()


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    data = make()
    statistics = compress(data, States().fit(data))
    path = tmp_path / "statistics.npz"

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("koopsieve._written.os.fsync", full)
        with pytest.raises(KoopsieveError, match="could not be written: No space left on device"):
            statistics.save(path)
        assert list(tmp_path.iterdir()) == []
    statistics.save(path)
    before = path.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("numpy.savez", full)
        with pytest.raises(KoopsieveError, match="No space left on device"):
            statistics.discount(0.5).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"one_step.S": np.ones((3, 3))}, "do not belong to 3 regressors and 2 targets"),
        ({"one_step.R": np.ones((3, 3))}, "not a triangular factor"),
        ({"one_step.leftover_products": np.array([[1.0, 0.0], [0.0, np.nan]])}, "not a triangular factor"),
        ({"one_step.leftover_products": np.array([[1.0, 0.5], [0.0, 1.0]])}, "not a triangular factor"),
        ({"one_step.leftover_products": np.diag([1.0, -1.0])}, "not a triangular factor"),
        *(({"one_step.rows": np.array(rows)}, "not a triangular factor") for rows in (-1.0, np.nan, np.inf)),
        ({"one_step.R": np.array([{}], dtype=object)}, "Python objects, which are never opened"),
        ({"header": {"version": 9}}, "version 3; got .*version 9. Use the koopsieve that wrote it"),
    ],
)
def test_arrays_that_fit_nothing(tmp_path, change, message):
    data = make()
    path = tmp_path / "x.npz"
    compress(data, States().fit(data)).save(path)
    with np.load(path) as archive:
        content = dict(archive)
    if "header" in change:
        header = json.loads(content["header"].tobytes()) | change["header"]
        change = {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}
    np.savez(path, **(content | change))
    with pytest.raises(KoopsieveError, match=message):
        RegressionStatistics.load(path)
