"""Frames of pandas, polars and Arrow with columns of every kind: finite samples in the right order, or words."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from koopsieve import Trajectories
from tests.fuzz.values import ODD, pick, record

KINDS = ("float", "int", "bool", "text", "dates", "zoned", "durations", "nullable", "category", "objects", "decimal")


def case(rng, folder):
    x, u = record(rng, rows=int(rng.integers(4, 25)), inputs=1)
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(x.T)})
    frame["u"] = np.append(u[:, 0], 0.0)
    frame["run"] = _column(rng, np.repeat(np.arange(2.0), [len(x) // 2, len(x) - len(x) // 2]), pick(rng, KINDS))
    frame["t"] = _column(rng, np.arange(len(x), dtype=float), pick(rng, KINDS))
    plain = rng.random() < 0.7
    if not plain:
        name = pick(rng, list(frame))
        frame[name] = _column(rng, frame[name].to_numpy(), pick(rng, KINDS))
    hole = rng.random() < 0.3 and frame["x0"].dtype.kind == "f"
    if hole:
        frame.loc[int(rng.integers(len(frame) - 1)), "x0"] = np.nan
    arguments = {"gaps": "split"} if rng.random() < 0.3 else {}
    arguments |= {"episode": "run"} if rng.random() < 0.4 else {}
    arguments |= {"time": "t"} if rng.random() < 0.4 else {}
    if rng.random() < 0.1:
        arguments[pick(rng, ("episode", "time", "dt", "gaps", "max_gap", "resample"))] = pick(rng, ODD)
    states = [f"x{i}" for i in range(x.shape[1])]
    data = Trajectories.from_frame(_as_given(rng, frame), states, "u", **arguments)
    assert all(np.isfinite(one).all() for one in (*data.states, *data.inputs))
    if plain and not hole and "resample" not in arguments:
        np.testing.assert_array_equal(np.concatenate(data.states), x)


def _column(rng, values, kind):
    """Return a column of another kind, as far as its values allow."""
    whole = np.nan_to_num(np.asarray(pd.to_numeric(pd.Series(values), errors="coerce"), dtype=float))
    whole = whole if np.abs(whole).max() < 1e6 else np.arange(float(len(whole)))
    made = {
        "float": lambda: values,
        "int": lambda: whole.astype(int),
        "bool": lambda: whole > 0,
        "text": lambda: [f"v{value:g}" for value in whole],
        "dates": lambda: pd.Timestamp("2024-01-01") + pd.to_timedelta(whole, unit="s"),
        "zoned": lambda: pd.Timestamp("2024-01-01", tz="Europe/Berlin") + pd.to_timedelta(whole, unit="s"),
        "durations": lambda: pd.to_timedelta(whole, unit="s"),
        "nullable": lambda: pd.array([None if rng.random() < 0.05 else int(value) for value in whole], dtype="Int64"),
        "category": lambda: pd.Categorical([f"v{value:g}" for value in whole]),
        "objects": lambda: [pick(rng, (value, str(value), None)) for value in whole],
        "decimal": lambda: whole.astype(np.float32),
    }
    return made[kind]()


def _as_given(rng, frame):
    how = pick(rng, ("pandas", "pandas", "polars", "arrow", "batch", "list", "index", "odd"))
    if how == "polars":
        return pl.from_pandas(frame) if not any(frame[c].dtype == object for c in frame) else frame
    if how in ("arrow", "batch") and not any(frame[c].dtype == object for c in frame):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        return table if how == "arrow" else table.combine_chunks().to_batches()[0]
    if how == "list":
        half = len(frame) // 2
        return [frame[:half], frame[half:]]
    if how == "index":
        return frame.set_index(pick(rng, ("t", "run")))
    return pick(rng, ODD) if how == "odd" and rng.random() < 0.2 else frame
