"""Data files in every format and dialect, whole or damaged: what was written is read, or words say why not."""

import h5py
import numpy as np
import pandas as pd
from scipy import io

from koopsieve import KoopsieveError, Trajectories
from tests.fuzz.values import NAMES, ODD, pick, record

FORMATS = ("csv", "csv", "csv", "parquet", "npz", "mat", "xlsx")


def case(rng, folder):
    x, u = record(rng, rows=int(rng.integers(3, 30)))
    kind = pick(rng, FORMATS)
    known = [f"v{i}" for i in range(6)] if kind in ("mat", "npz", "xlsx") else NAMES
    names = [str(name) for name in rng.permutation(known)[: x.shape[1] + u.shape[1]]]
    frame = pd.DataFrame(np.column_stack([x, np.vstack([u, np.zeros((1, u.shape[1]))])]), columns=names)
    frame = _more_columns(rng, frame)
    path = folder / f"data.{kind}"
    path.write_bytes(_written(rng, frame, kind, folder))
    damaged = rng.random() < 0.6
    if damaged:
        path.write_bytes(_damaged(rng, path.read_bytes()))
    states, inputs = names[: x.shape[1]], names[x.shape[1] :]
    clock = "time" in frame and (frame["time"].dtype.kind == "f" or kind in ("csv", "parquet", "xlsx"))
    arguments = {"time": "time"} if clock and rng.random() < 0.7 else {}
    wrong = rng.random() < 0.2
    if wrong:
        name = pick(rng, ("episode", "time", "dt", "gaps", "max_gap", "resample"))
        arguments[name] = pick(rng, (*ODD, "split", "interpolate", "time", names[0]))
    try:
        data = Trajectories.from_file(path, states, inputs, **arguments)
    except KoopsieveError:
        assert damaged or wrong, "a good file was refused"
        raise
    assert all(np.isfinite(one).all() for one in (*data.states, *data.inputs))
    if not damaged and not wrong:
        np.testing.assert_allclose(data.states[0], x, rtol=1e-12)
        np.testing.assert_allclose(data.inputs[0], u, rtol=1e-12)


def _more_columns(rng, frame):
    """Add a clock, text, or columns that nobody asks for."""
    frame = frame.copy()
    if rng.random() < 0.4:
        start = pick(rng, (0, 1.7e9, -5.0))
        frame["time"] = start + pick(rng, (0.5, 0.25, 1.0)) * np.arange(len(frame))
    elif rng.random() < 0.3:
        frame["time"] = pd.Timestamp("2024-02-28 23:59:50") + pd.to_timedelta(np.arange(len(frame)) * 20, unit="ms")
    if rng.random() < 0.3:
        frame["remark"] = [pick(rng, ("ok", "a,b", 'say "x"', "", "ä;ö")) for _ in range(len(frame))]
    return frame[list(rng.permutation(frame.columns))]


def _written(rng, frame, kind, folder):
    path = folder / f"written.{kind}"
    if kind == "csv":
        return _dialect(rng, frame)
    if kind == "parquet":
        frame.to_parquet(path, row_group_size=int(rng.integers(1, 40)))
    elif kind == "xlsx":
        frame.to_excel(path, index=False, startrow=int(rng.integers(3)))
    else:
        arrays = {name: frame[name].to_numpy() for name in frame if frame[name].dtype.kind == "f"}
        if kind == "npz":
            np.savez(path, **arrays) if rng.random() < 0.5 else np.savez_compressed(path, **arrays)
        elif rng.random() < 0.3:
            with h5py.File(path, "w", userblock_size=512) as file:
                for name, array in arrays.items():
                    file[name] = array[None]
        else:
            io.savemat(path, arrays, do_compression=bool(rng.random() < 0.5), oned_as=pick(rng, ("row", "column")))
    return path.read_bytes()


def _dialect(rng, frame):
    separator = pick(rng, (",", ";", "\t", "|"))
    decimal = "," if separator != "," and rng.random() < 0.5 else "."
    ending = pick(rng, ("\n", "\r\n"))
    text = frame.to_csv(index=False, sep=separator, decimal=decimal, lineterminator=ending)
    if rng.random() < 0.2:
        text = f"# logger 3{ending}# second line{ending}{text}"
    return text.encode(pick(rng, ("utf-8", "utf-8-sig", "utf-16")))


def _damaged(rng, content):
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        if not changed:
            break
        place, size = int(rng.integers(len(changed))), int(rng.integers(1, 30))
        how = int(rng.integers(5))
        if how == 0:
            changed[place] = int(rng.integers(256))
        elif how == 1:
            del changed[place : place + size]
        elif how == 2:
            changed[place:place] = pick(rng, (b"nan", b",,", b"\n", b"\0", b"1e999", b"\xff\xfe", b'"', b";", b"inf"))
        elif how == 3:
            del changed[place:]
        else:
            changed[place:place] = changed[max(place - size, 0) : place]
    return bytes(changed)
