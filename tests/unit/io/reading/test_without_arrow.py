"""What works where pyarrow is not installed, and what says which extra to install."""

import subprocess
import sys
from pathlib import Path

import pytest

import koopsieve

SOURCE = Path(koopsieve.__file__).parents[1]
BLOCKED = "import sys; sys.modules['pyarrow'] = None\n"  # importing it is an ImportError from here on
READING = """
import numpy as np, pandas as pd, polars as pl
from scipy.io import savemat
from koopsieve import Trajectories
rng = np.random.default_rng(0)
columns = {
    "run": ["a"] * 20 + ["b"] * 20, "t": np.tile(0.5 * np.arange(20), 2),
    "y": rng.normal(size=40), "u": rng.normal(size=40),
}
pd.DataFrame(columns).to_csv("x.csv")
np.savez("x.npz", **columns)
savemat("x.mat", {name: columns[name] for name in ("t", "y", "u")})
asked = {"states": "y", "inputs": "u", "episode": "run", "time": "t"}
found = [Trajectories.from_frame(make(columns), **asked) for make in (pd.DataFrame, pl.DataFrame, dict)]
found += [Trajectories.from_file(name, **asked) for name in ("x.csv", "x.npz")]
assert all(np.array_equal(np.concatenate(one.states).ravel(), columns["y"]) for one in found)
assert all((one.dt, len(one)) == (0.5, 2) for one in found)
assert Trajectories.from_file("x.mat", "y", "u").n_samples == 40
index = pd.date_range("2024-05-01", periods=40, freq="250ms", tz="UTC")
assert Trajectories.from_frame(pd.DataFrame(columns, index=index), "y").dt == 0.25
print("read")
"""
REFUSED = """
import koopsieve
from koopsieve import Stream, Trajectories
for read in (Trajectories.from_file, Stream.from_parquet):
    try:
        read("x.parquet", "y")
    except koopsieve.KoopsieveError as error:
        print(error)
"""
EVERYTHING = """
import importlib, pkgutil, koopsieve
for one in pkgutil.walk_packages(koopsieve.__path__, "koopsieve."):
    if not one.name.endswith("__main__"):
        importlib.import_module(one.name)
print("imported")
"""


COMMAND = """
sys.argv = ["koopsieve", "sift", "x.parquet", "--states", "y"]
sys.stderr = sys.stdout
from koopsieve.cli import main
try:
    main()
except SystemExit as end:
    assert end.code
"""
WORDS = "needs pyarrow, which is not installed. Install it with: pip install 'koopsieve[parquet]'"
SAID = {
    EVERYTHING: "imported",
    READING: "read",
    REFUSED: f"Reading Parquet {WORDS} Stream.from_parquet {WORDS}",
    COMMAND: f"koopsieve: Reading Parquet {WORDS}",
}


@pytest.mark.parametrize("code", SAID, ids=["import", "read", "refuse", "command"])
def test_what_is_said_without_it(code, tmp_path):
    (tmp_path / "x.parquet").write_text("anything")
    here = {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    command = [sys.executable, "-c", BLOCKED + code]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=here, cwd=tmp_path).stdout
    assert " ".join(printed.split()) == SAID[code]
