"""The Wiener–Hammerstein records: measured ones from a folder or a package, otherwise simulated; `source` says which.

The measured records are not part of this project. They are read from the folder the user names, else from that
named by KOOPSIEVE_DATA, else through the package `nonlinear-benchmarks`, which downloads them (0.4 GB).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from koopsieve._archive import read_arrays
from koopsieve._types import FloatArray, KoopsieveError, real_array, warn_user
from koopsieve.data import Trajectories
from koopsieve.systems import wiener_hammerstein
from koopsieve.systems.differential_equations import SAMPLE_RATE

FILE = "wiener_hammerstein_process_noise.npz"
MAX_RATIO = 200  # bytes unpacked per byte on disk
MAX_SAMPLES = 16384  # of a record: the full set also holds some of a million samples, which the method does not need
VARIABLE = "KOOPSIEVE_DATA"
WHERE = (
    "The records are the benchmark of Schoukens and Noël, DOI 10.4121/12952124. Put them as arrays u_est, y_est, "
    f"u_test, y_test (records × samples) into {FILE} and name its folder with --data or {VARIABLE}, or install "
    "the package nonlinear-benchmarks, which downloads them."
)
Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Records:
    """Training and test records, where they came from, and a hash of their samples."""

    train: Trajectories
    test: Trajectories
    source: str
    measured: bool

    def digest(self) -> str:
        """Return a hash of all samples, so that results from different data are never mixed."""
        total = hashlib.sha256()
        for part in (self.train, self.test):
            for array in (*part.states, *part.inputs):
                total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()


def load_records(
    folder: str | os.PathLike[str] | None, data: Mapping[str, Any], simulated: Mapping[str, Any], seed: int
) -> Records:
    """Return the measured records if they can be found, otherwise the simulated circuit with a warning.

    Without `folder`, the environment variable KOOPSIEVE_DATA is asked; a folder that does not hold the records is
    refused. `data` says which records to train (`train`) and to test on (`test_record`), `simulated` number and length
    of simulated ones.
    """
    named = folder if folder is not None else os.environ.get(VARIABLE)
    if named:
        return _from_folder(Path(named), data)
    try:
        return _from_package(data)
    except ImportError:
        reason = "No folder was named and the package nonlinear-benchmarks is not installed."
    except Exception as error:  # the package raises whatever its download met
        reason = f"The package nonlinear-benchmarks could not provide them ({error})."
    warn_user(
        f"The measured Wiener-Hammerstein records were not found, so a simulated circuit is used. {reason} {WHERE}"
    )
    return _simulate(simulated, seed)


def _from_folder(folder: Path, data: Mapping[str, Any]) -> Records:
    path = folder / FILE
    if not path.is_file():
        raise KoopsieveError(f"{folder} does not hold {FILE}. {WHERE}")
    kinds = _kinds(data["train"])
    try:
        stored = read_arrays(path, MAX_RATIO, wanted=lambda name: name[2:] in (*kinds, "test"))
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
        raise KoopsieveError(f"{path} cannot be read ({error}). {WHERE}") from error
    pairs = {kind: _pair(stored, kind, path) for kind in kinds}
    u_test, y_test = _pair(stored, "test", path)
    row = data["test_record"]
    if row >= len(y_test):
        raise KoopsieveError(f"{path} has {len(y_test)} test records. Expected more than {row}. {WHERE}")
    return Records(
        _trajectories([record for u, y in pairs.values() for record in zip(u, y, strict=True)]),
        _trajectories([(u_test[row], y_test[row])]),
        f"measured records ({data['train']}) from {FILE}",
        measured=True,
    )


def _kinds(train: str) -> tuple[str, ...]:
    known = ("est", "fade", "sweep")
    if train not in (*known, "all"):
        raise KoopsieveError(f"train must be one of {', '.join(known)} or all. Got {train!r}.")
    return known if train == "all" else (train,)


def _pair(stored: Mapping[str, FloatArray], kind: str, path: Path) -> Pair:
    names = (f"u_{kind}", f"y_{kind}")
    missing = [name for name in names if name not in stored]
    if missing:
        raise KoopsieveError(f"{path} lacks the arrays {', '.join(missing)}. {WHERE}")
    u, y = (np.atleast_2d(real_array(f"{name} of {path}", stored[name])) for name in names)
    if u.shape != y.shape or u.ndim != 2:
        raise KoopsieveError(
            f"{names[0]} and {names[1]} of {path} must be records × samples. Got {u.shape}, {y.shape}."
        )
    return u, y


def _from_package(data: Mapping[str, Any]) -> Records:
    from nonlinear_benchmarks.not_splitted_benchmarks import WienerHammerstein_Process_Noise

    with contextlib.redirect_stdout(sys.stderr):  # the package prints
        train, test = WienerHammerstein_Process_Noise(train_test_split=True)
    chosen = [record for record in train if len(record.y) <= MAX_SAMPLES][:10]
    if not chosen or not test:
        raise KoopsieveError("Its files hold no training or no test records of the expected length.")
    row = data["test_record"]
    return Records(
        _trajectories([(record.u, record.y) for record in chosen]),
        _trajectories([(test[row].u, test[row].y)]),
        "measured records from the package nonlinear-benchmarks",
        measured=True,
    )


def _simulate(simulated: Mapping[str, Any], seed: int) -> Records:
    entropy = np.random.SeedSequence(seed, spawn_key=(99,)).spawn(simulated["records"] + 1)
    records = [wiener_hammerstein(simulated["samples"], seed=each) for each in entropy[:-1]]
    quiet = wiener_hammerstein(simulated["test_samples"], seed=entropy[-1], process_noise=0.0)
    return Records(
        _trajectories([(record.inputs, record.outputs) for record in records]),
        _trajectories([(quiet.inputs, quiet.outputs)]),
        "SIMULATED circuit, not the measured records",
        measured=False,
    )


def _trajectories(pairs: list[Pair]) -> Trajectories:
    return Trajectories.from_arrays(
        [y for _, y in pairs], [u[:, None] for u, _ in pairs], dt=1 / SAMPLE_RATE, state_names="y", input_names="u"
    )
