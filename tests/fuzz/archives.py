"""Files of models, dictionaries and statistics with bytes, headers or arrays changed: usable, or refused in words."""

import io
import json
import zipfile
from functools import cache

import numpy as np

from koopsieve import Dictionary, Trajectories, compress, embed_delays
from koopsieve.forms import Model
from koopsieve.regression import RegressionStatistics
from koopsieve.uncertainty import calibrate
from tests.fuzz.models import FORMS, RECIPE, model
from tests.fuzz.values import ODD, pick, record

PLAIN = [one for one in ODD if isinstance(one, float | str | list | dict | None) or type(one) is bool]
PLAIN += [-1, 0, 1, 2, 40, 3 * 10**8, 2**31, 2**62, 10**30, "y", ["y"], [[0]], "x1", 1e-300, "x1^999999", "x1\r=1"]
LOAD = {"dictionary": Dictionary.load, "statistics": RegressionStatistics.load, "model": Model.load}


def case(rng, folder):
    kind = pick(rng, tuple(LOAD))
    form = pick(rng, FORMS)
    path = folder / "file.npz"
    content = _file(kind, form)
    path.write_bytes(_bytes_changed(rng, content) if rng.random() < 0.4 else _meaning_changed(rng, content))
    loaded = LOAD[kind](path)
    with np.errstate(all="ignore"):  # enormous numbers in a file give enormous predictions
        _is_usable(kind, loaded)
    loaded.save(folder / "again.npz")
    assert type(LOAD[kind](folder / "again.npz")) is type(loaded)


def _is_usable(kind, loaded):
    if kind == "model":
        assert all(np.isfinite(one).all() for one in loaded.arrays().values())
        rows = np.zeros((loaded.history, len(loaded.output_names)))
        inputs = np.zeros((len(rows) + 1, len(loaded.input_names)))
        assert loaded.predict(rows, inputs, 2).shape == (2, len(loaded.output_names))
        if loaded.calibration is not None and loaded.calibration.bands is not None:
            assert np.isfinite(loaded.calibration.support.region).all() if loaded.calibration.support else True
            found = loaded.predict(rows, inputs, 2, level=0.9)
            assert not (np.isnan(found.upper) & np.isfinite(found.mean)).any()  # the model may diverge, its bands not
    elif kind == "dictionary":
        assert loaded(np.zeros((2, len(loaded.signals.state_names)))).shape == (2, loaded.size)
    else:
        assert np.isfinite(loaded.R).all()


@cache
def _file(kind, form):
    stream = io.BytesIO()
    x, u = record(np.random.default_rng(5), rows=60, columns=2, inputs=1)
    data = Trajectories.from_arrays(x, u, dt=0.1)
    value = {
        "model": lambda: _calibrated(form),
        "dictionary": lambda: RECIPE.fit(data),
        "statistics": lambda: compress(data, RECIPE.fit(data), horizons=[1, 2]),
    }[kind]()
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as there:
        value.save(Path(there) / "x.npz")
        stream.write((Path(there) / "x.npz").read_bytes())
    return stream.getvalue()


def _calibrated(form):
    """Return a model with bands and, where its own dictionary suffices, with the support of its data."""
    found = model(form, 1)
    x, u = record(np.random.default_rng(6), rows=150, columns=2, inputs=1)
    data = embed_delays(Trajectories.from_arrays(x, u, dt=0.1), 1, 1)
    known = None if form in ("bilinear", "hidden") else compress(data, found.dictionary)
    return calibrate(found, data, 3, statistics=known)


def _bytes_changed(rng, content):
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(len(changed)))
        how = int(rng.integers(4))
        if how == 0:
            changed[place] ^= 1 << int(rng.integers(8))
        elif how == 1:
            del changed[place : place + int(rng.integers(1, 200))]
        elif how == 2:
            changed[place:place] = rng.bytes(int(rng.integers(1, 50)))
        else:
            del changed[place:]
        if not changed:
            break
    return bytes(changed)


def _meaning_changed(rng, content):
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    if rng.random() < 0.6:
        kinds = [part for part in header.values() if isinstance(part, dict | list) and part and rng.random() < 0.9]
        _change_somewhere(rng, pick(rng, kinds) if kinds else header)
        text = json.dumps(header, default=str).encode()
        arrays["header"] = np.frombuffer(text, dtype=np.uint8)
    else:
        name = pick(rng, [one for one in arrays if one != "header"])
        arrays[name] = _array_changed(rng, arrays[name])
        if arrays[name] is None:
            del arrays[name]
    stream = io.BytesIO()
    if rng.random() < 0.1:
        np.savez_compressed(stream, **arrays)
    else:
        np.savez(stream, **arrays)
    if rng.random() < 0.05:
        with zipfile.ZipFile(stream, "a") as archive:
            archive.writestr("more.npy", rng.bytes(40))
    return stream.getvalue()


def _change_somewhere(rng, value):
    """Change one entry somewhere in nested lists and mappings."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = pick(rng, keys)
    inner = value[key]
    if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
        _change_somewhere(rng, inner)
    elif isinstance(value, dict) and rng.random() < 0.2:
        del value[key]
    else:
        value[key] = pick(rng, PLAIN)


def _array_changed(rng, array):
    if rng.random() < 0.2:
        return None
    how = pick(rng, ("value", "shape", "type", "empty", "more"))
    if how == "value" and array.size and array.dtype.kind in "iu":
        changed = array.copy()
        changed.flat[int(rng.integers(array.size))] = pick(rng, (-1, 0, 1, 10**9, 2**62))
        return changed
    if how == "value" and array.size and array.dtype.kind == "f":
        changed = array.copy()
        changed.flat[int(rng.integers(array.size))] = pick(rng, (np.nan, np.inf, -1.0, 0.0, 1e300, 1e-320))
        return changed
    if how == "shape":
        return array.ravel()
    if how == "type":
        return array.astype(pick(rng, ("f4", "i8", "c16", "U8", "?")))
    if how == "empty":
        return array[..., :0] if array.ndim else array[None][:0]
    return np.concatenate([np.atleast_1d(array)] * 2)
