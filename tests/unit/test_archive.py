"""Archives: bounded in what they unpack, refused if they claim what they do not hold, for every kind of file."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

from koopsieve import _archive
from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import (
    Constant,
    Dictionary,
    Fourier,
    Inputs,
    Monomials,
    PeriodicSquaredExponential,
    SquaredExponential,
    States,
)
from koopsieve.forms import Model
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.uncertainty import calibrate
from tests.reference.pendulum import least_squares_model

DATA = Trajectories.from_arrays(
    np.random.default_rng(0).normal(size=(60, 2)), np.random.default_rng(1).normal(size=(59, 1)), dt=0.1
)
RECIPE = States() + Constant() + Monomials() + SquaredExponential(centers=3) + PeriodicSquaredExponential(centers=2)
RECIPE = RECIPE + Fourier() + Inputs() + Inputs() * States()


def save(kind, path):
    phi = RECIPE.fit(DATA)
    if kind == "dictionary":
        phi.save(path)
    elif kind == "statistics":
        compress(DATA, phi, horizons=[1, 2]).save(path)
    else:
        least_squares_model(DATA, RECIPE, form="reprojected").save(path)


LOADERS = {"dictionary": Dictionary.load, "statistics": RegressionStatistics.load, "model": Model.load}
every_kind = pytest.mark.parametrize("kind", LOADERS)


def changed(path, header=lambda header: header, **change):
    """Write a file anew with another header, other arrays, or without those that are None."""
    with np.load(path) as archive:
        arrays = dict(archive) | change
    config = header(json.loads(arrays["header"].tobytes()))
    arrays["header"] = np.frombuffer(json.dumps(config).encode(), dtype=np.uint8)
    np.savez(path, **{name: values for name, values in arrays.items() if values is not None})


@every_kind
def test_a_bomb_is_not_unpacked(kind, tmp_path):
    save(kind, path := tmp_path / "x.npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez_compressed(path, **arrays)
    LOADERS[kind](path)  # compressing alone does no harm
    np.savez_compressed(path, **arrays, bomb=np.zeros(40_000_000))
    assert path.stat().st_size < 10**6
    tracemalloc.start()
    with pytest.raises(KoopsieveError, match=r"would unpack from 0\.\d to 305 MiB, more than 16 times its size"):
        LOADERS[kind](path)
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()


def test_arrays_that_cannot_be(tmp_path):
    save("statistics", path := tmp_path / "x.npz")
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10**6)}
    with zipfile.ZipFile(path, "a") as archive, archive.open("big.npy", "w") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
    with pytest.raises(KoopsieveError, match=r"big\.npy does not hold what it claims"):
        RegressionStatistics.load(path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("one_step.R.npy", b"")
    with pytest.raises(KoopsieveError, match="two arrays of the same name"):
        RegressionStatistics.load(path)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda h: h | {"observables": "abc"}, "lists of text"),
        (lambda h: h | {"drives": [1, 2]}, "lists of text"),
        (lambda h: h | {"outputs": [1, 0]}, "increasing indices"),
        (lambda h: h | {"outputs": [0.5]}, "increasing indices"),
        (lambda h: h | {"ahead": h["ahead"] | {"horizons": [1.9]}}, "whole number"),
        (lambda h: h | {"ahead": h["ahead"] | {"horizons": [0]}}, "whole number"),
        (lambda h: h | {"ahead": h["ahead"] | {"horizons": []}}, "damaged"),
    ],
)
def test_statistics_with_a_header_that_does_not_fit(change, message, tmp_path):
    save("statistics", path := tmp_path / "x.npz")
    changed(path, change)
    with pytest.raises(KoopsieveError, match=message):
        RegressionStatistics.load(path)


BAD_ARRAYS = {
    "column that is not there": {"0.columns": np.array([0, 2])},
    "column from the end": {"0.columns": np.array([-1, 0])},
    "columns that are no whole numbers": {"0.columns": np.array([0.0, 1.0])},
    "too many columns": {"0.columns": np.array([0, 1, 0])},
    "negative power": {"2.powers": np.array([[2, 0], [1, 1], [-1, 2]])},
    "power that would fill the memory": {"2.powers": np.array([[2, 0], [1, 1], [0, 10**9]])},
    "powers of other columns": {"2.powers": np.ones((3, 7), dtype=int)},
    "centre that is not there": {"3.center": np.array([0, 1, 3])},
    "centres of other states": {"3.centers": np.zeros((3, 5))},
    "centres that are not finite": {"3.centers": np.full((3, 2), np.nan)},
    "scale of zero": {"3.scale": np.zeros(2)},
    "coefficients too many": {"3.coefficient": np.ones(9)},
    "coefficients of 32 bits": {"3.coefficient": np.ones(3, dtype=np.float32)},
    "frequencies too many": {"4.frequency": np.ones(9)},
    "waves of other states": {"5.frequencies": np.zeros((4, 3))},
    "phases too few": {"5.phases": np.zeros(1)},
    "factor that is not there": {"drive.1.second": np.array([0, 2])},
    "factor from the end": {"drive.1.first": np.array([-1, 0])},
    "points too wide": {"drive.1.widths": np.array([9, 2])},
    "array too many": {"extra": np.ones(3)},
    "array missing": {"3.scale": None},
}


@pytest.mark.parametrize("change", BAD_ARRAYS.values(), ids=BAD_ARRAYS)
@pytest.mark.parametrize("kind", ["dictionary", "model"])
def test_a_dictionary_that_does_not_fit_together(kind, change, tmp_path):
    save(kind, path := tmp_path / "x.npz")
    prefix = "dictionary." if kind == "model" else ""
    changed(path, **{prefix + name: values for name, values in change.items()})
    with pytest.raises(KoopsieveError):
        LOADERS[kind](path)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d | {"families": [{"kind": "os.system", "names": ["x"]}]},
        lambda d: d | {"families": [d["families"][0] | {"names": "ab"}, *d["families"][1:]]},
        lambda d: d | {"families": [d["families"][0] | {"names": [1, 2]}, *d["families"][1:]]},
        lambda d: d | {"families": [d["families"][0] | {"names": ["x1"]}, *d["families"][1:]]},
        lambda d: d | {"families": d["families"][:-1]},
        lambda d: d | {"families": None},
        lambda d: d | {"drives": [{**d["drives"][1], "left": {"kind": "Nothing", "names": []}}]},
        lambda d: d | {"signals": d["signals"] | {"inputs": []}},
        lambda d: {name: value for name, value in d.items() if name != "signals"},
    ],
)
def test_a_description_that_does_not_fit(change, tmp_path):
    save("dictionary", path := tmp_path / "x.npz")
    changed(path, lambda h: h | {"dictionary": change(h["dictionary"])})
    with pytest.raises(KoopsieveError):
        Dictionary.load(path)


def test_the_bound_is_about_the_size_of_the_file():
    _archive.refuse_oversized(unpacked=_archive.ALWAYS_ALLOWED_BYTES, on_disk=10, ratio=2)
    _archive.refuse_oversized(unpacked=200 * 2**20, on_disk=100 * 2**20, ratio=2)
    with pytest.raises(KoopsieveError, match="more than 2 times"):
        _archive.refuse_oversized(unpacked=201 * 2**20, on_disk=100 * 2**20, ratio=2)


@every_kind
def test_damage_anywhere_is_noticed(kind, tmp_path):
    """Every changed byte either leaves what is read as it was (padding, time stamps), or is refused with the path."""
    path, again = tmp_path / "x.npz", tmp_path / "again.npz"
    save(kind, path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for position in rng.choice(len(whole), size=250, replace=False):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            LOADERS[kind](path).save(again)
        except KoopsieveError as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
        else:
            assert again.read_bytes() == whole
    assert refused > 150


@every_kind
def test_every_cut_is_refused(kind, tmp_path):
    save(kind, path := tmp_path / "x.npz")
    whole = path.read_bytes()
    for length in (*range(0, len(whole), 997), 1, 10, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(KoopsieveError, match="damaged or not a file of koopsieve"):
            LOADERS[kind](path)


@every_kind
def test_other_files_are_refused(kind, tmp_path):
    path = tmp_path / "x.npz"
    for place, why in ((path, f"There is no file {path}. Check"), (tmp_path, f"{tmp_path} is a folder")):
        with pytest.raises(KoopsieveError, match=why):
            LOADERS[kind](place)
    zipped, numbers = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("hello.txt", "hello")
    np.save(numbers, np.ones(3))
    for foreign in (b"a,b\n1,2\n", zipped.getvalue(), numbers.getvalue(), b"\x80\x04K\x01.", b"PK\x03\x04 nothing"):
        path.write_bytes(foreign)
        with pytest.raises(KoopsieveError, match=f"damaged or not a file of koopsieve.* Expected a koopsieve {kind}"):
            LOADERS[kind](path)
    np.savez(path, a=np.ones(3))
    with pytest.raises(KoopsieveError, match="damaged or not a file of koopsieve"):
        LOADERS[kind](path)
    save(next(other for other in LOADERS if other != kind), path)
    with pytest.raises(KoopsieveError, match=f"cannot be read as koopsieve {kind}"):
        LOADERS[kind](path)


@pytest.mark.parametrize("delays", ["state_delays", "input_delays"])
@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
def test_absurd_counts_are_refused_before_anything_is_built(form, delays, tmp_path):
    path = tmp_path / "model.npz"
    least_squares_model(DATA, States() + Constant(), form=form).save(path)

    def absurd(header):
        header["dictionary"]["signals"]["embedding"][delays] = 300_000_000
        return header

    changed(path, absurd)
    tracemalloc.start()
    with pytest.raises(KoopsieveError, match=r"would have [36]0000000\d columns with these delays, more than 100000"):
        Model.load(path)
    assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["whitening", "limit", "region", "reach"])
def test_numbers_that_are_missing_in_the_support(name, tmp_path):
    path = tmp_path / "model.npz"
    phi = (States() + Constant()).fit(DATA)
    model = least_squares_model(DATA, States() + Constant())
    calibrate(model, DATA, 3, statistics=compress(DATA, phi)).save(path)
    with np.load(path) as archive:
        values = archive[f"calibration.support.{name}"].copy()
    values.flat[0] = np.nan
    changed(path, **{f"calibration.support.{name}": values})
    with pytest.raises(KoopsieveError, match=f"calibration holds NaN, in the array support.{name}"):
        Model.load(path)
    changed(path, **{f"calibration.support.{name}": np.empty(0) if name == "limit" else np.float64(1.0)})
    with pytest.raises(KoopsieveError, match=rf"should hold support\.{name} with other dimensions"):
        Model.load(path)
