"""Files: a round trip through every format, several files, and what is refused."""

import re

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import io

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "run": ["b"] * 6 + ["a"] * 4,
        "t": [*(0.25 * np.arange(6)), *(0.25 * np.arange(4))],
        "y": RNG.normal(size=10),
        "z": RNG.normal(size=10),
        "u": RNG.normal(size=10),
    }
)
ARRAYS = {name: FRAME[name].to_numpy() for name in ("t", "y", "z", "u")} | {"run": np.repeat([7, 3], [6, 4])}


def write_hdf5(path, arrays):
    """Write as MATLAB does with -v7.3: column-major, so transposed as HDF5 sees it, behind a block of 512 bytes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            matrix = np.atleast_2d(array).T if np.ndim(array) == 1 else array
            file[name] = matrix.T
            file[name].attrs["MATLAB_class"] = np.bytes_("double")


WRITERS = {
    "pandas csv": ("x.csv", lambda path: FRAME.to_csv(path, index=False)),
    "pandas csv with index": ("x.csv", lambda path: FRAME.to_csv(path)),
    "polars csv": ("x.csv", lambda path: pl.DataFrame(dict(FRAME.items())).write_csv(path)),
    "csv in capitals": ("X.CSV", lambda path: FRAME.to_csv(path, index=False)),
    "pandas parquet": ("x.parquet", FRAME.to_parquet),
    "polars parquet": ("x.parquet", lambda path: pl.DataFrame(dict(FRAME.items())).write_parquet(path)),
    "arrow parquet": ("x.parquet", lambda path: parquet.write_table(pa.table(FRAME), path, row_group_size=3)),
    "npz": ("x.npz", lambda path: np.savez(path, **ARRAYS)),
    "compressed npz": ("x.npz", lambda path: np.savez_compressed(path, **ARRAYS)),
    "mat, rows": ("x.mat", lambda path: io.savemat(path, ARRAYS, oned_as="row")),
    "mat, columns": ("x.mat", lambda path: io.savemat(path, ARRAYS, oned_as="column", do_compression=True)),
    "mat v4": ("x.mat", lambda path: io.savemat(path, ARRAYS, format="4")),
    "mat v7.3": ("x.mat", lambda path: write_hdf5(path, ARRAYS)),
}


@pytest.mark.parametrize("name, write", WRITERS.values(), ids=WRITERS)
def test_round_trip(tmp_path, name, write):
    path = tmp_path / name
    write(path)
    from_file = Trajectories.from_file(path, ["y", "z"], "u", episode="run", time="t")
    from_frame = Trajectories.from_frame(FRAME, ["y", "z"], "u", episode="run", time="t")
    assert len(from_file) == 2
    for mine, theirs in zip(from_file.states + from_file.inputs, from_frame.states + from_frame.inputs, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert (from_file.dt, from_file.state_names, from_file.input_names) == (0.25, ("y", "z"), ("u",))


@pytest.mark.parametrize("suffix", [".npz", ".mat", "v7.3"])
def test_matrices_give_numbered_columns(tmp_path, suffix):
    Y, U = RNG.normal(size=(9, 3)), RNG.normal(size=(8, 2))
    path = tmp_path / ("x.mat" if suffix == "v7.3" else f"x{suffix}")
    write = {".npz": lambda: np.savez(path, Y=Y, U=U), ".mat": lambda: io.savemat(path, {"Y": Y, "U": U})}
    write.get(suffix, lambda: write_hdf5(path, {"Y": Y, "U": U}))()
    trajectories = Trajectories.from_file(path, "Y", "U", dt=0.1)
    assert trajectories.state_names == ("Y_1", "Y_2", "Y_3")
    assert trajectories.input_names == ("U_1", "U_2")
    assert trajectories.dt == 0.1
    np.testing.assert_array_equal(trajectories.states[0], Y)
    np.testing.assert_array_equal(trajectories.inputs[0], U)


def test_several_files_are_several_episodes_whatever_their_kind(tmp_path):
    FRAME[:6].to_csv(tmp_path / "one.csv")
    FRAME[6:].to_parquet(tmp_path / "two.parquet")
    trajectories = Trajectories.from_file([tmp_path / "one.csv", str(tmp_path / "two.parquet")], "y", "u", time="t")
    assert [x.ravel().tolist() for x in trajectories.states] == [FRAME["y"][:6].tolist(), FRAME["y"][6:].tolist()]


def test_several_files_with_episodes_in_them(tmp_path):
    FRAME.to_csv(tmp_path / "one.csv")
    FRAME.assign(run=FRAME["run"] + "2").to_csv(tmp_path / "two.csv")
    trajectories = Trajectories.from_file([tmp_path / "one.csv", tmp_path / "two.csv"], "y", episode="run")
    assert [len(x) for x in trajectories.states] == [6, 4, 6, 4]


def test_empty_fields_of_a_csv_are_gaps(tmp_path):
    (tmp_path / "x.csv").write_text("y,u\n1,1\n2,2\n,3\n4,\nNA,5\n6,1\n7,2\n8,3\n")
    with pytest.raises(KoopsieveError, match=r"State 'y' at row 2 \(counted from 0\) of .*x\.csv is NaN"):
        Trajectories.from_file(tmp_path / "x.csv", "y")
    with pytest.warns(UserWarning, match="lost 1 complete samples of 8"):
        trajectories = Trajectories.from_file(tmp_path / "x.csv", "y", "u", gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[1, 2], [6, 7, 8]]


def test_csv_of_dates_gives_seconds(tmp_path):
    stamps = pd.date_range("2024-05-01", periods=10, freq="50ms")
    FRAME.assign(t=stamps).to_csv(tmp_path / "x.csv", index=False)
    assert Trajectories.from_file(tmp_path / "x.csv", "y", time="t").dt == pytest.approx(0.05)


def test_a_parquet_file_in_a_partitioned_folder_has_its_own_columns_only(tmp_path):
    (tmp_path / "y=3").mkdir()
    FRAME.to_parquet(tmp_path / "y=3" / "x.parquet")
    np.testing.assert_array_equal(
        Trajectories.from_file(tmp_path / "y=3" / "x.parquet", "y").states[0].ravel(), FRAME["y"]
    )


def save_cell(path):
    cell = np.empty(2, dtype=object)
    cell[:] = [np.ones(3), np.ones(4)]
    io.savemat(path, {"y": cell})


def save_struct(path):
    with h5py.File(path, "w") as file:
        file.create_group("y")["field"] = np.ones(3)


def save_pickle(path):
    np.savez(path, y=np.array([{"a": 1}, None], dtype=object))


def save_npy(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))


REFUSED = {
    "no such file": ("x.csv", lambda path: None, {}, "There is no file {path}. Check the path"),
    "folder": ("x.csv", lambda path: path.mkdir(), {}, "{path} is a folder. Pass the files in it"),
    "unknown suffix": (
        *("x.xlsx", lambda path: path.write_text("y"), {}),
        "{path} has a suffix that is not known. Expected .csv, .parquet, .npz, .mat.",
    ),
    "no suffix": ("x", lambda path: path.write_text("y"), {}, "has a suffix that is not known."),
    "empty csv": ("x.csv", lambda path: path.touch(), {}, "{path} is empty. Expected samples."),
    "empty mat": ("x.mat", lambda path: path.touch(), {}, "{path} is empty."),
    "header only": ("x.csv", lambda path: path.write_text("y,u\n"), {}, "There are no rows in {path}."),
    "torn csv": (
        *("x.csv", lambda path: path.write_text("y,u\n1,2\n3\n"), {}),
        "{path} could not be read as .csv: row 1 (counted from 0) has 1 fields, but there are 2 names of columns.",
    ),
    "words in a csv": (
        *("x.csv", lambda path: path.write_text("y\n1\n2\nbroken\n4\n"), {}),
        "Column 'y' of {path} must hold numbers. Got text, 'broken' at row 2. Convert it first.",
    ),
    "infinite csv": (
        *("x.csv", lambda path: path.write_text("y\n1\n-inf\n4\n"), {}),
        "State 'y' at row 1 (counted from 0) of {path} is infinite.",
    ),
    "csv columns of one name": (
        *("x.csv", lambda path: path.write_text("y,y\n1,2\n3,4\n"), {}),
        "{path} has several columns named 'y'.",
    ),
    "unknown csv column": (
        *("x.csv", lambda path: FRAME.to_csv(path, index=False), {"states": "depth"}),
        "Not in {path}: 'depth'. The columns there are: 'run', 't', 'y', 'z', 'u'.",
    ),
    "unknown parquet column": (
        *("x.parquet", lambda path: FRAME.to_parquet(path), {"inputs": "depth"}),
        "Not in {path}: 'depth'. The columns there are: 'run', 't', 'y', 'z', 'u'.",
    ),
    "no parquet": ("x.parquet", lambda path: path.write_text("nonsense"), {}, "{path} could not be read as .parquet"),
    "no npz": ("x.npz", lambda path: path.write_text("nonsense"), {}, "{path} could not be read as .npz"),
    "no mat": ("x.mat", lambda path: path.write_text("nonsense"), {}, "{path} could not be read as .mat"),
    "npy called npz": ("x.npz", save_npy, {}, "{path} could not be read as .npz"),
    "pickle in npz": ("x.npz", save_pickle, {}, "y.npy holds Python objects, which are never opened"),
    "unknown npz array": (
        *("x.npz", lambda path: np.savez(path, Y=np.ones(3)), {}),
        "Not in {path}: 'y'. The columns there are: 'Y'.",
    ),
    "unknown mat array": (
        *("x.mat", lambda path: io.savemat(path, {"Y": np.ones(3)}), {}),
        "Not in {path}: 'y'. The columns there are: 'Y'.",
    ),
    "unknown v7.3 array": (
        *("x.mat", lambda path: write_hdf5(path, {"Y": np.ones(3)}), {}),
        "Not in {path}: 'y'. The columns there are: 'Y'.",
    ),
    "cell array": ("x.mat", save_cell, {}, "{path} could not be read as .mat: 'y' is no array of numbers."),
    "structure": ("x.mat", save_struct, {}, "'y' of {path} is a structure, not an array."),
    "complex npz": ("x.npz", lambda path: np.savez(path, y=np.ones(3) * 1j), {}, "got complex128."),
    "state arrays of two lengths": (
        *("x.npz", lambda path: np.savez(path, y=np.ones(9), z=np.ones(8)), {"states": ["y", "z"]}),
        "All state arrays must have the same number of samples. Got {{'y': 9, 'z': 8}} in {path}.",
    ),
    "inputs of another length": (
        *("x.npz", lambda path: np.savez(path, y=np.ones(9), u=np.ones((5, 2))), {"inputs": "u"}),
        "inputs must have one row fewer than states. Expected (8, 2), got (5, 2) in 'u' of {path}.",
    ),
    "times of another length": (
        *("x.npz", lambda path: np.savez(path, y=np.ones(9), t=np.arange(5)), {"time": "t"}),
        "'t' must have one value per sample. Expected (9,), got (5,) in {path}.",
    ),
    "arrays that clash": (
        *("x.npz", lambda path: np.savez(path, y=np.ones((9, 2)), y_2=np.arange(9)), {"time": "y_2"}),
        "{path} gives two columns named 'y_2', one of them from 'y'. Rename an array.",
    ),
}


@pytest.mark.parametrize("name, write, arguments, message", REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, name, write, arguments, message):
    path = tmp_path / name
    write(path)
    with pytest.raises(KoopsieveError, match=re.escape(message.format(path=path))):
        Trajectories.from_file(path, **{"states": "y", **arguments})


def test_no_files_are_refused():
    with pytest.raises(KoopsieveError, match="There are no files"):
        Trajectories.from_file([], "y")


def test_one_bad_file_spoils_all(tmp_path):
    FRAME.to_csv(tmp_path / "good.csv")
    with pytest.raises(KoopsieveError, match=r"There is no file .*bad\.csv"):
        Trajectories.from_file([tmp_path / "good.csv", tmp_path / "bad.csv"], "y")


def test_an_episode_in_two_files_is_refused(tmp_path):
    for name in ("one.csv", "two.csv"):
        FRAME.to_csv(tmp_path / name)
    with pytest.raises(KoopsieveError, match=r"episode 'b' is in two files, .*one\.csv and .*two\.csv"):
        Trajectories.from_file([tmp_path / "one.csv", tmp_path / "two.csv"], "y", episode="run")


def test_the_message_names_file_and_episode(tmp_path):
    frame = FRAME.copy()
    frame.loc[7, "y"] = np.nan
    frame.to_csv(tmp_path / "x.csv")
    with pytest.raises(
        KoopsieveError, match=r"State 'y' at row 1 \(counted from 0\) of episode 'a' of .*x\.csv is NaN"
    ):
        Trajectories.from_file(tmp_path / "x.csv", "y", episode="run")


def test_arrays_of_different_width_in_two_files_are_refused(tmp_path):
    np.savez(tmp_path / "one.npz", y=RNG.normal(size=(9, 2)))
    np.savez(tmp_path / "two.npz", y=RNG.normal(size=(9, 3)))
    with pytest.raises(
        KoopsieveError, match=r"Expected \['y_1', 'y_2'\] as in .*one\.npz, got \['y_1', 'y_2', 'y_3'\]"
    ):
        Trajectories.from_file([tmp_path / "one.npz", tmp_path / "two.npz"], "y")


def test_a_file_listed_twice_is_refused(tmp_path):
    FRAME.to_csv(tmp_path / "x.csv")
    with pytest.raises(KoopsieveError, match=r"x\.csv is listed twice"):
        Trajectories.from_file([tmp_path / "x.csv", tmp_path / "x.csv"], "y")


@pytest.mark.parametrize("version", ["4", "5"])
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", ["f8", "f4", "i2", "u1", "i4", "c16", "?"])
def test_matlab_arrays_are_those_that_scipy_wrote(version, compressed, kind, tmp_path):
    from koopsieve.data.reading.mat5 import variables

    if version == "4" and (compressed or kind == "?"):
        pytest.skip("version 4 has neither")
    rng = np.random.default_rng(0)
    y = (10 * rng.normal(size=(7, 3))).astype(kind) if kind != "u1" else rng.integers(0, 255, (7, 3)).astype("u1")
    arrays = {"y": y, "a_longer_name_than_four": y[:, :1], "one": y[:1, :1], "none": y[:0]}
    io.savemat(tmp_path / "x.mat", arrays, format=version, do_compression=compressed)
    found = {one.name: one.unpack() for one in variables((tmp_path / "x.mat").read_bytes())}
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def test_a_compressed_array_that_is_a_bomb(tmp_path):
    io.savemat(tmp_path / "x.mat", {"y": np.zeros(40_000_000)}, do_compression=True)
    with pytest.raises(KoopsieveError, match="would unpack from"):
        Trajectories.from_file(tmp_path / "x.mat", "y")
