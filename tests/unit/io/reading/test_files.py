"""Files: a round trip through every format, several files, and what is refused."""

import gc
import re
import struct
import tracemalloc
import warnings
import zipfile
import zlib

import h5py
import numpy as np
import openpyxl
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


NAMED = {
    ".npz": lambda path, arrays: np.savez(path, **arrays),
    ".mat": lambda path, arrays: io.savemat(path, arrays),
    "v7.3.mat": write_hdf5,
}


@pytest.mark.parametrize("suffix", NAMED)
def test_matrices_give_numbered_columns_that_may_be_named(tmp_path, suffix):
    Y, U, path = RNG.normal(size=(9, 3)), RNG.normal(size=(8, 2)), tmp_path / f"x{suffix}"
    NAMED[suffix](path, {"Y": Y, "U": U, "w": Y[:, 0]})
    for states, inputs, names, rows, columns in (
        ("Y", "U", (("Y_1", "Y_2", "Y_3"), ("U_1", "U_2")), slice(3), slice(2)),
        (["Y_3", "Y_1"], "U_2", (("Y_3", "Y_1"), ("U_2",)), [2, 0], [1]),
    ):
        found = Trajectories.from_file(path, states, inputs, dt=0.1)
        assert ((found.state_names, found.input_names), found.dt) == (names, 0.1)
        np.testing.assert_array_equal(found.states[0], Y[:, rows])
        np.testing.assert_array_equal(found.inputs[0], U[:, columns])
    for states, message in (
        ("Y_4", r"has no 'Y_4': 'Y' there has shape \(9, 3\)"),
        ("v_1", r"Not in .*: 'v_1'\. The columns there are: '[YUw]', '[YUw]', '[YUw]'"),
        (["Y", "Y_1"], "gives two columns named 'Y_1'"),
    ):
        with pytest.raises(KoopsieveError, match=message):
            Trajectories.from_file(path, states)


def test_several_files_are_several_episodes_whatever_their_kind(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.parquet"
    FRAME[:6].to_csv(one)
    FRAME[6:].to_parquet(two)
    trajectories = Trajectories.from_file([one, str(two)], "y", "u", time="t")
    assert [x.ravel().tolist() for x in trajectories.states] == [FRAME["y"][:6].tolist(), FRAME["y"][6:].tolist()]
    FRAME.assign(run=FRAME["run"] + "2").to_parquet(two)
    FRAME.to_csv(one)
    assert [len(x) for x in Trajectories.from_file([one, two], "y", episode="run").states] == [6, 4, 6, 4]
    (tmp_path / "y=3").mkdir()  # as in a partitioned folder, whose name is no column
    FRAME.to_parquet(tmp_path / "y=3" / "x.parquet")
    found = Trajectories.from_file(tmp_path / "y=3" / "x.parquet", "y")
    np.testing.assert_array_equal(found.states[0].ravel(), FRAME["y"])


def csv(text):
    return "x.csv", lambda path: path.write_text(text)


def npz(**arrays):
    return "x.npz", lambda path: np.savez(path, **arrays)


def mat(**arrays):
    return "x.mat", lambda path: io.savemat(path, arrays)


def save_struct(path):
    with h5py.File(path, "w") as file:
        file.create_group("y")["field"] = np.ones(3)


def save_npy(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))


CELL = np.empty(2, dtype=object)
CELL[:] = [np.ones(3), np.ones(4)]
COLUMNS = "The columns there are: 'run', 't', 'y', 'z', 'u'."
REFUSED = [
    (("x.csv", lambda _: None), {}, "There is no file {path}. Check the path"),
    (("x.csv", lambda path: path.mkdir()), {}, "{path} is a folder. Pass the files in it"),
    (
        ("x.xls", lambda path: path.write_text("y")),
        {},
        "not known. Expected .csv, .xlsx, .parquet, .npz, .mat; rename text to .csv.",
    ),
    (("x", lambda path: path.write_text("y")), {}, "{path} has a suffix that is not known."),
    (csv(""), {}, "{path} is empty. Expected samples."),
    (("x.mat", lambda path: path.touch()), {}, "{path} is empty."),
    (csv("y,u\n"), {}, "There are no rows in {path}."),
    (csv("y,u\n1,2\n3\n"), {}, "{path} could not be read as .csv: row 3 has 1 fields, but there are 2 names"),
    (csv("y\n1\n2\nbroken\n4\n"), {}, "'y' of {path} must hold numbers. Got text, 'broken' at row 4. If it marks a"),
    (csv("y,u\n1,1\n2,2\n,3\n4,\n"), {}, "State 'y' at row 4 (as in a spreadsheet) of {path} is NaN"),
    (csv("y\n1\n-inf\n4\n"), {}, "State 'y' at row 3 (as in a spreadsheet) of {path} is infinite."),
    (csv("y,y\n1,2\n3,4\n"), {}, "{path} has several columns named 'y'."),
    (csv("run,t,y,z,u\n1,2,3,4,5\n"), {"states": "depth"}, f"Not in {{path}}: 'depth'. {COLUMNS}"),
    (("x.parquet", FRAME.to_parquet), {"inputs": "depth"}, f"Not in {{path}}: 'depth'. {COLUMNS}"),
    *(
        ((f"x.{end}", lambda path: path.write_text("no")), {}, f"could not be read as .{end}")
        for end in ("parquet", "npz", "mat", "xlsx")
    ),
    (("x.npz", save_npy), {}, "{path} could not be read as .npz"),
    (npz(y=np.array([{"a": 1}, None], dtype=object)), {}, "y.npy holds Python objects, which are never opened"),
    (npz(Y=np.ones(3)), {}, "Not in {path}: 'y'. The columns there are: 'Y'."),
    (mat(Y=np.ones(3)), {}, "Not in {path}: 'y'. The columns there are: 'Y'."),
    (("x.mat", lambda path: write_hdf5(path, {"Y": np.ones(3)})), {}, "Not in {path}: 'y'. The columns there are: 'Y'"),
    (mat(y=CELL), {}, "'y' of {path} is of kind cell. Save numeric arrays."),
    (("x.mat", save_struct), {}, "'y' of {path} is a structure, not an array."),
    (npz(y=np.ones(3) * 1j), {}, "got complex128."),
    (npz(w=np.ones(9)), {"states": "w_1"}, "{path} has no 'w_1': 'w' there has shape (9,)"),
    (
        npz(y=np.ones(9), z=np.ones(8)),
        {"states": ["y", "z"]},
        "same number of samples. Got {{'y': 9, 'z': 8}} in {path}.",
    ),
    (npz(y=np.ones(9), u=np.ones((7, 2))), {"inputs": "u"}, "Expected (8, 2), got (7, 2) in 'u' of {path}."),
    (npz(y=np.ones(9), t=np.arange(5)), {"time": "t"}, "one value per sample. Expected (9,), got (5,) in {path}."),
    (npz(y=np.ones((9, 2)), y_2=np.arange(9)), {"time": "y_2"}, "{path} gives two columns named 'y_2', one of them"),
]


@pytest.mark.parametrize("file, arguments, message", REFUSED)
def test_refused(tmp_path, file, arguments, message):
    path = tmp_path / file[0]
    file[1](path)
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


def matlab(path, *elements):
    path.write_bytes(b"".join([b"MATLAB 5.0".ljust(124), b"\x01\x00MI", *elements]))
    return Trajectories.from_file(path, "y")


def test_big_endian_matlab_files(tmp_path):
    found = matlab(tmp_path / "x.mat", element(14, flags(6) + SHAPE + NAME + Y))
    assert found.states[0].ravel().tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("array", DAMAGED.values(), ids=DAMAGED)
def test_damaged_matlab_files_are_refused(array, packed, tmp_path):
    """SciPy alone ends the process on some of them."""
    matrix = element(14, array)
    with pytest.raises(KoopsieveError, match=r"x\.mat could not be read as \.mat"):
        matlab(tmp_path / "x.mat", element(15, zlib.compress(matrix)) if packed else matrix)


def test_matlab_files_that_claim_what_they_do_not_hold(tmp_path):
    """A name of four bytes and minus three numbers, which SciPy would read for ever; a small array of large values."""
    (tmp_path / "x.mat").write_bytes(struct.pack("<5i", 0, -1, 3, 0, 4) + b"y\0\0\0" + bytes(24))
    with pytest.raises(KoopsieveError, match="negative size"):
        Trajectories.from_file(tmp_path / "x.mat", "y")
    bomb = flags(6) + SHAPE + NAME + struct.pack(">II", 9, 2**28) + bytes(2**28)
    with pytest.raises(KoopsieveError, match="longer than the array"):
        matlab(tmp_path / "x.mat", element(15, zlib.compress(struct.pack(">II", 14, 88) + bomb)))


BOMBS = {
    ".npz": lambda path, zeros: np.savez_compressed(path, y=zeros),
    ".mat": lambda path, zeros: io.savemat(path, {"y": zeros}, do_compression=True),
    ".parquet": lambda path, zeros: parquet.write_table(pa.table({"y": zeros}), path),
}


@pytest.mark.parametrize("suffix", BOMBS)
def test_a_small_file_does_not_fill_the_memory(suffix, tmp_path):
    path = tmp_path / f"x{suffix}"
    BOMBS[suffix](path, np.zeros(20_000_000))
    assert path.stat().st_size < 10**6
    with pytest.raises(KoopsieveError, match=r"would unpack from .* to 153 MiB, more than 200 times its size"):
        Trajectories.from_file(path, "y")
    if suffix == ".parquet":
        assert Stream.from_parquet(path, "y").n_samples == 20_000_000


def test_numbers_dates_and_episodes_of_a_workbook(tmp_path):
    times = pd.date_range("2024-05-01 12:00", periods=10, freq="500ms")
    FRAME.assign(when=times, word="word").to_excel(tmp_path / "x.xlsx", index=False)
    data = Trajectories.from_file(tmp_path / "x.xlsx", ["y", "z"], "u", episode="run", time="when")
    assert ([len(x) for x in data.states], data.dt) == ([6, 4], 0.5)
    np.testing.assert_allclose(np.concatenate(data.states), FRAME[["y", "z"]], rtol=1e-14)
    assert data.provenance.sources[1].stamps[0] == np.datetime64("2024-05-01T12:00:03")
    for name, message in (("w", r"Not in .*: 'w'\. The columns there are: 'run', 't',"), ("word", "'word' at row 2")):
        with pytest.raises(KoopsieveError, match=message):
            Trajectories.from_file(tmp_path / "x.xlsx", name)
    with zipfile.ZipFile(tmp_path / "z.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(10**8))
    with pytest.raises(KoopsieveError, match=r"would unpack from 0\.1 to 95 MiB"):
        Trajectories.from_file(tmp_path / "z.xlsx", "y")


def test_rows_before_the_names_units_and_marks_of_a_workbook(tmp_path):
    cells = pd.DataFrame({"t": ["s", *range(6)], "y": ["bar", 1.5, "-", "2.5", 3, None, 4.5], "u": ["", *range(6)]})
    cells.to_excel(path := tmp_path / "x.xlsx", index=False, startrow=3)
    arguments = {"time": "t", "gaps": "interpolate", "max_gap": 1}
    with pytest.warns(KoopsieveWarning, match=r"x\.xlsx: 3 lines before the names skipped, a row of units skipped"):
        data = Trajectories.from_file(path, "y", "u", missing="-", **arguments)
    assert data.states[0].ravel().tolist() == [1.5, 2.0, 2.5, 3.0, 3.75, 4.5]
    assert data.provenance.total.values_filled == 2
    with pytest.raises(KoopsieveError, match=r"Got text, '-' at row 7\. .* pass missing='-'"):
        Trajectories.from_file(path, "y", "u", **arguments)
    with pytest.warns(KoopsieveWarning), pytest.raises(KoopsieveError, match=r"'y' at row 7 \(as in a spreadsheet\)"):
        Trajectories.from_file(path, "y", missing="-")


def test_a_cell_far_off_does_not_fill_the_memory(tmp_path):
    """Padded to its column, all rows together would take a thousand times their size."""
    book = openpyxl.Workbook()
    for row in [("y", "u"), *((i * i, i) for i in range(2000))]:
        book.active.append(row)
    book.active.cell(1000, 16384, "note")
    book.save(path := tmp_path / "x.xlsx")
    tracemalloc.start()
    data = Trajectories.from_file(path, "y", "u")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (data.n_samples, data.states[0][-1].item()) == (2000, 1999**2)
    assert peak < 40 * 2**20


def changed_workbook(path, member, change):
    """Write FRAME as a workbook with one of its members changed."""
    FRAME.to_excel(path.with_stem("whole"), index=False)
    with zipfile.ZipFile(path.with_stem("whole")) as whole, zipfile.ZipFile(path, "w") as archive:
        for name in whole.namelist():
            archive.writestr(name, change(whole.read(name)) if name == member else whole.read(name))


def test_a_row_whose_number_is_beyond_a_sheet_is_refused(tmp_path):
    """Else all rows before it would be read as empty ones, for minutes."""
    far = lambda text: text.replace(b'<row r="3"', b'<row r="99999999"')  # noqa: E731
    changed_workbook(tmp_path / "x.xlsx", "xl/worksheets/sheet1.xml", far)
    with pytest.raises(KoopsieveError, match=r"could not be read as \.xlsx: a sheet has at most 1048576 rows\."):
        Trajectories.from_file(tmp_path / "x.xlsx", "y", episode="run")


def test_a_damaged_workbook_is_closed(tmp_path):
    changed_workbook(tmp_path / "x.xlsx", "xl/workbook.xml", lambda text: text[:100])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(KoopsieveError, match=r"x\.xlsx could not be read as \.xlsx"):
            Trajectories.from_file(tmp_path / "x.xlsx", "y")
        gc.collect()
    assert not caught


def test_warnings_about_the_looks_of_a_workbook_are_not_passed_on(tmp_path):
    plain = b'<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>'
    changed_workbook(tmp_path / "x.xlsx", "xl/styles.xml", lambda text: plain)
    assert Trajectories.from_file(tmp_path / "x.xlsx", "y", episode="run").n_samples == len(FRAME)


def test_a_column_of_a_workbook_may_be_called_like_a_mark_of_missing_values(tmp_path):
    FRAME.rename(columns={"y": "NA"}).to_excel(tmp_path / "x.xlsx", index=False)
    assert Trajectories.from_file(tmp_path / "x.xlsx", "NA", episode="run").n_samples == len(FRAME)


@pytest.mark.parametrize(
    "values, marks, message",
    [
        (np.array([[104, 105, 106]], "u2"), {"MATLAB_class": b"char"}, "'y' of .* is of kind char. Save numeric"),
        (np.array([0, 0], "u8"), {"MATLAB_class": b"double", "MATLAB_empty": 1}, "There are no rows in .*x.mat."),
        (h5py.Empty("f8"), {}, "There are no rows in .*x.mat."),
    ],
    ids=["text", "empty", "null"],
)
def test_what_matlab_marks_as_no_numbers_is_not_read_as_samples(values, marks, message, tmp_path):
    with h5py.File(tmp_path / "x.mat", "w", userblock_size=512) as file:
        file.create_dataset("y", data=values).attrs.update(marks)
    with pytest.raises(KoopsieveError, match=message):
        Trajectories.from_file(tmp_path / "x.mat", "y")


def test_an_array_without_rows_is_said_to_be_empty_beside_inputs(tmp_path):
    io.savemat(tmp_path / "x.mat", {"y": np.zeros((0, 0)), "u": np.ones(4)})
    with pytest.raises(KoopsieveError, match=r"There are no rows in .*x\.mat\. Expected at least two samples"):
        Trajectories.from_file(tmp_path / "x.mat", "y", "u")
