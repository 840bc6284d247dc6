"""Files: a round trip through every format, several files, and what is refused."""

import re
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import io

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Stream, Trajectories

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
    one, two = tmp_path / "one.csv", tmp_path / "two.parquet"
    FRAME[:6].to_csv(one)
    FRAME[6:].to_parquet(two)
    trajectories = Trajectories.from_file([one, str(two)], "y", "u", time="t")
    assert [x.ravel().tolist() for x in trajectories.states] == [FRAME["y"][:6].tolist(), FRAME["y"][6:].tolist()]
    FRAME.assign(run=FRAME["run"] + "2").to_parquet(two)
    FRAME.to_csv(one)
    assert [len(x) for x in Trajectories.from_file([one, two], "y", episode="run").states] == [6, 4, 6, 4]


def test_empty_fields_of_a_csv_are_gaps(tmp_path):
    (tmp_path / "x.csv").write_text("y,u\n1,1\n2,2\n,3\n4,\nNA,5\n6,1\n7,2\n8,3\n")
    with pytest.raises(KoopsieveError, match=r"State 'y' at row 4 \(as in a spreadsheet\) of .*x\.csv is NaN"):
        Trajectories.from_file(tmp_path / "x.csv", "y")
    with pytest.warns(UserWarning, match="lost 1 complete samples of 8"):
        trajectories = Trajectories.from_file(tmp_path / "x.csv", "y", "u", gaps="split")
    assert [x.ravel().tolist() for x in trajectories.states] == [[1, 2], [6, 7, 8]]


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
        *("x.xls", lambda path: path.write_text("y"), {}),
        "{path} has a suffix that is not known. Expected .csv, .xlsx, .parquet, .npz, .mat.",
    ),
    "no suffix": ("x", lambda path: path.write_text("y"), {}, "has a suffix that is not known."),
    "empty csv": ("x.csv", lambda path: path.touch(), {}, "{path} is empty. Expected samples."),
    "empty mat": ("x.mat", lambda path: path.touch(), {}, "{path} is empty."),
    "header only": ("x.csv", lambda path: path.write_text("y,u\n"), {}, "There are no rows in {path}."),
    "torn csv": (
        *("x.csv", lambda path: path.write_text("y,u\n1,2\n3\n"), {}),
        "{path} could not be read as .csv: row 3 has 1 fields, but there are 2 names of columns.",
    ),
    "words in a csv": (
        *("x.csv", lambda path: path.write_text("y\n1\n2\nbroken\n4\n"), {}),
        "Column 'y' of {path} must hold numbers. Got text, 'broken' at row 4. If it marks a missing value",
    ),
    "infinite csv": (
        *("x.csv", lambda path: path.write_text("y\n1\n-inf\n4\n"), {}),
        "State 'y' at row 3 (as in a spreadsheet) of {path} is infinite.",
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
    "cell array": ("x.mat", save_cell, {}, "'y' of {path} is of kind cell. Save numeric arrays."),
    "structure": ("x.mat", save_struct, {}, "'y' of {path} is a structure, not an array."),
    "complex npz": ("x.npz", lambda path: np.savez(path, y=np.ones(3) * 1j), {}, "got complex128."),
    "state arrays of two lengths": (
        *("x.npz", lambda path: np.savez(path, y=np.ones(9), z=np.ones(8)), {"states": ["y", "z"]}),
        "All state arrays must have the same number of samples. Got {{'y': 9, 'z': 8}} in {path}.",
    ),
    "inputs of another length": (
        *("x.npz", lambda path: np.savez(path, y=np.ones(9), u=np.ones((7, 2))), {"inputs": "u"}),
        "inputs must have one row fewer than states. Expected (8, 2), got (7, 2) in 'u' of {path}.",
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


@pytest.mark.parametrize(
    "names, arguments, message",
    [
        ([], {}, "There are no files"),
        (["x.csv", "gone.csv"], {}, r"There is no file .*gone\.csv"),
        (["x.csv", "x.csv"], {}, r"x\.csv is listed twice"),
        (["x.csv", "y.csv"], {"episode": "run"}, r"Episode 'b' is in two files, .*x\.csv and .*y\.csv"),
        (["2.npz", "3.npz"], {}, r"Expected \['y_1', 'y_2'\] as in .*2\.npz, got \['y_1', 'y_2', 'y_3'\]"),
    ],
)
def test_several_files_that_are_refused(names, arguments, message, tmp_path):
    for name in ("x.csv", "y.csv"):
        FRAME.to_csv(tmp_path / name)
    for width in (2, 3):
        np.savez(tmp_path / f"{width}.npz", y=RNG.normal(size=(9, width)))
    with pytest.raises(KoopsieveError, match=message):
        Trajectories.from_file([tmp_path / name for name in names], "y", **arguments)


@pytest.mark.parametrize("kind", ["f8", "f4", "i2", "u1", "i4", "?"])
@pytest.mark.parametrize("written", [{"format": "4"}, {"format": "5"}, {"format": "5", "do_compression": True}])
def test_matlab_arrays_of_every_kind(written, kind, tmp_path):
    if kind == "?" and written["format"] == "4":
        pytest.skip("version 4 has no flags")
    y = (np.arange(21).reshape(7, 3) * 11 % 8 - 4 * (kind == "?")).clip(0).astype(kind)
    io.savemat(tmp_path / "x.mat", {"y": y, "another_one": y[:, :1], "words": "some words"}, **written)
    data = Trajectories.from_file(tmp_path / "x.mat", "y", "another_one")
    np.testing.assert_array_equal(data.states[0], y)
    np.testing.assert_array_equal(data.inputs[0], y[:-1, :1])
    with pytest.raises(KoopsieveError, match=r"'words' of .*x\.mat is of kind char"):
        Trajectories.from_file(tmp_path / "x.mat", "words")


def test_big_endian_matlab_files(tmp_path):
    content = (
        b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + element(14, flags(6) + element(5, b"\0\0\0\3\0\0\0\1") + NAME + Y)
    )
    (tmp_path / "x.mat").write_bytes(content)
    assert Trajectories.from_file(tmp_path / "x.mat", "y").states[0].ravel().tolist() == [1.0, 2.0, 4.0]


def element(kind, data, size=None):
    return struct.pack(">II", kind, len(data) if size is None else size) + data + bytes(-len(data) % 8)


def flags(kind):
    return element(6, struct.pack(">II", kind, 0))


NAME, Y = element(1, b"y"), element(9, struct.pack(">3d", 1, 2, 4))
SHAPE = element(5, struct.pack(">ii", 3, 1))
DAMAGED = {
    "values of no known type": flags(6) + SHAPE + NAME + element(25, bytes(24)),
    "no imaginary part": flags(0x0806) + SHAPE + NAME + Y,
    "no values": flags(6) + SHAPE + NAME,
    "values longer than the file": flags(6) + SHAPE + NAME + element(9, bytes(24), size=2**31),
    "no name": flags(6) + SHAPE + Y,
    "too many dimensions": flags(6) + element(5, bytes(400)) + NAME + Y,
    "a negative dimension": flags(6) + element(5, struct.pack(">ii", -3, -1)) + NAME + Y,
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("array", DAMAGED.values(), ids=DAMAGED)
def test_damaged_matlab_files_are_refused(array, packed, tmp_path):
    """SciPy alone ends the process on some of them."""
    matrix = element(14, array)
    content = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + (element(15, zlib.compress(matrix)) if packed else matrix)
    (tmp_path / "x.mat").write_bytes(content)
    with pytest.raises(KoopsieveError, match=r"x\.mat could not be read as \.mat"):
        Trajectories.from_file(tmp_path / "x.mat", "y")


def test_a_matlab_file_that_leads_back_to_its_start_is_refused(tmp_path):
    """Twenty bytes of header, a name of four and minus three numbers: SciPy alone would read it for ever."""
    (tmp_path / "x.mat").write_bytes(struct.pack("<5i", 0, -1, 3, 0, 4) + b"y\0\0\0" + bytes(24))
    with pytest.raises(KoopsieveError, match="negative size"):
        Trajectories.from_file(tmp_path / "x.mat", "y")


def test_an_array_that_unpacks_to_more_than_it_claims(tmp_path):
    """The array says that it is small, its values that they are large."""
    bomb = flags(6) + SHAPE + NAME + struct.pack(">II", 9, 2**28) + bytes(2**28)
    content = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + element(15, zlib.compress(struct.pack(">II", 14, 88) + bomb))
    (tmp_path / "x.mat").write_bytes(content)
    with pytest.raises(KoopsieveError, match="longer than the array"):
        Trajectories.from_file(tmp_path / "x.mat", "y")


class TestNamedArrays:
    Y, U = np.random.default_rng(0).normal(size=(50, 3)), np.random.default_rng(1).normal(size=(49, 2))

    @pytest.mark.parametrize("suffix", [".npz", ".mat"])
    def test_columns_by_the_names_they_get(self, suffix, tmp_path):
        path = tmp_path / f"x{suffix}"
        np.savez(path, y=self.Y, u=self.U) if suffix == ".npz" else io.savemat(path, {"y": self.Y, "u": self.U})
        data = Trajectories.from_file(path, ["y_3", "y_1"], "u_2")
        assert (data.state_names, data.input_names) == (("y_3", "y_1"), ("u_2",))
        np.testing.assert_array_equal(data.states[0], self.Y[:, [2, 0]])
        np.testing.assert_array_equal(data.inputs[0], self.U[:, 1:])
        mixed = Trajectories.from_file(path, "y", "u_1")
        assert mixed.state_names == ("y_1", "y_2", "y_3")

    def test_columns_that_are_not_there(self, tmp_path):
        path = tmp_path / "x.npz"
        np.savez(path, y=self.Y, w=self.Y[:, 0])
        with pytest.raises(KoopsieveError, match=r"has no 'y_4': 'y' there has shape \(50, 3\)"):
            Trajectories.from_file(path, "y_4")
        with pytest.raises(KoopsieveError, match=r"has no 'w_1': 'w' there has shape \(50,\)"):
            Trajectories.from_file(path, "w_1")
        with pytest.raises(KoopsieveError, match=r"Not in .*: 'v_1'\. The columns there are: 'y', 'w'"):
            Trajectories.from_file(path, "v_1")
        with pytest.raises(KoopsieveError, match="gives two columns named 'y_1'"):
            Trajectories.from_file(path, ["y", "y_1"])

    @pytest.mark.parametrize("suffix", [".npz", ".mat", ".parquet"])
    def test_a_small_file_does_not_fill_the_memory(self, suffix, tmp_path):
        path, zeros = tmp_path / f"x{suffix}", np.zeros(20_000_000)
        if suffix == ".npz":
            np.savez_compressed(path, y=zeros)
        elif suffix == ".mat":
            io.savemat(path, {"y": zeros}, do_compression=True)
        else:
            parquet.write_table(pa.table({"y": zeros}), path)
        assert path.stat().st_size < 10**6
        with pytest.raises(KoopsieveError, match=r"would unpack from .* to 153 MiB, more than 200 times its size"):
            Trajectories.from_file(path, "y")

    def test_a_stream_reads_what_is_too_large_at_once(self, tmp_path):
        parquet.write_table(pa.table({"y": np.zeros(20_000_000)}), tmp_path / "x.parquet")
        assert Stream.from_parquet(tmp_path / "x.parquet", "y").n_samples == 20_000_000


class TestExcel:
    TIMES = pd.date_range("2024-05-01 12:00", periods=10, freq="500ms")

    def write(self, path, frame, **options):
        frame.to_excel(path, index=False, **options)
        return path

    def test_numbers_dates_and_episodes(self, tmp_path):
        path = self.write(tmp_path / "x.xlsx", FRAME.assign(when=self.TIMES))
        data = Trajectories.from_file(path, ["y", "z"], "u", episode="run", time="when")
        assert [len(x) for x in data.states] == [6, 4]
        np.testing.assert_allclose(np.concatenate(data.states), FRAME[["y", "z"]], rtol=1e-14)
        assert data.dt == 0.5
        assert data.provenance.sources[1].start == np.datetime64("2024-05-01T12:00:03")

    def test_rows_before_the_names_units_and_marks(self, tmp_path):
        cells = pd.DataFrame({"t": ["s", *range(6)], "y": ["bar", 1.5, "-", "2.5", 3, None, 4.5], "u": ["", *range(6)]})
        path = self.write(tmp_path / "x.xlsx", cells, startrow=3)
        arguments = {"time": "t", "gaps": "interpolate", "max_gap": 1}
        with pytest.warns(KoopsieveWarning, match=r"x\.xlsx: 3 lines before the names skipped, a row of units skipped"):
            data = Trajectories.from_file(path, "y", "u", missing="-", **arguments)
        assert data.states[0].ravel().tolist() == [1.5, 2.0, 2.5, 3.0, 3.75, 4.5]
        assert data.provenance.total.values_filled == 2
        with pytest.raises(KoopsieveError, match=r"Got text, '-' at row 7\. .* pass missing='-'"):
            Trajectories.from_file(path, "y", "u", **arguments)
        with (
            pytest.warns(KoopsieveWarning),
            pytest.raises(KoopsieveError, match=r"'y' at row 7 \(as in a spreadsheet\)"),
        ):
            Trajectories.from_file(path, "y", missing="-")

    def test_refused(self, tmp_path):
        path = self.write(tmp_path / "x.xlsx", FRAME.assign(y="word"))
        with pytest.raises(KoopsieveError, match=r"Not in .*: 'w'\. The columns there are: 'run', 't', 'y', 'z', 'u'"):
            Trajectories.from_file(path, "w")
        with pytest.raises(KoopsieveError, match=r"Got text, 'word' at row 2\."):
            Trajectories.from_file(path, "y")
        (tmp_path / "y.xlsx").write_text("nonsense")
        with pytest.raises(KoopsieveError, match=r"could not be read as \.xlsx"):
            Trajectories.from_file(tmp_path / "y.xlsx", "y")
        with zipfile.ZipFile(tmp_path / "z.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", bytes(10**8))
        with pytest.raises(KoopsieveError, match=r"would unpack from 0\.1 to 95 MiB"):
            Trajectories.from_file(tmp_path / "z.xlsx", "y")
