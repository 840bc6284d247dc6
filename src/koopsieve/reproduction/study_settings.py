"""What a study is given: its settings, TOML files next to this one; and the Wiener–Hammerstein records.

Options of the command line (number of runs, quick, as published) are applied here, once; everything after this takes
the settings as they are. `fingerprint` is what must be equal for two runs to belong together.

The measured records are not part of this project. They are read from the folder the user names, else from that named
by KOOPSIEVE_DATA, else through the package `nonlinear-benchmarks`, which downloads them (0.4 GB); otherwise they are
simulated, and `source` says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from koopsieve._archive import read_arrays
from koopsieve._types import FloatArray, KoopsieveError, real_array, warn_user
from koopsieve.data import Trajectories
from koopsieve.datasets import FOLDER_VARIABLE
from koopsieve.identify import SpikeSlabPrior
from koopsieve.systems import wiener_hammerstein
from koopsieve.systems.differential_equations import SAMPLE_RATE

SYSTEMS = ("lorenz", "usv", "usv-quadratic", "wiener-hammerstein")


@dataclass(frozen=True)
class KernelSettings:
    """One block of kernels: squared-exponential, or periodic when frequencies are given."""

    centers: int
    coefficients: tuple[float, ...]
    frequencies: tuple[float, ...] = ()


@dataclass(frozen=True)
class MethodSettings:
    """Settings of the methods I to IV and of the reduction."""

    pseudo_inverse_cutoff: float
    stlsq_threshold: float
    threshold: float
    thresholds: tuple[float, ...]
    prior: SpikeSlabPrior
    as_published: bool
    relaxation: float
    max_sweeps: int


@dataclass(frozen=True)
class NoiseStudy:
    """A simulated system under measurement noise: a Monte Carlo study over levels of noise (Sections 5.1 and 5.2)."""

    system: str
    printed_as: str  # of the system in the paper's tables
    title: str
    runs: int
    report_state: str
    report_unit: str
    horizons: tuple[int, ...]
    horizon_snr_db: float
    snr_db: tuple[float, ...]
    data: Mapping[str, Any]
    kernels: tuple[KernelSettings, ...]
    methods: MethodSettings

    def fingerprint(self) -> dict[str, Any]:
        """Return what every single run depends on: all but the number of runs and levels."""
        settings = asdict(self)
        del settings["runs"], settings["snr_db"], settings["printed_as"]
        return settings


@dataclass(frozen=True)
class CircuitStudy:
    """The Wiener–Hammerstein records, measured or simulated (Section 5.3)."""

    system: str
    title: str
    horizons: tuple[int, ...]
    data: Mapping[str, Any]
    simulated: Mapping[str, Any]
    kernels: tuple[KernelSettings, ...]
    methods: MethodSettings

    def fingerprint(self) -> dict[str, Any]:
        """Return what the result depends on."""
        return asdict(self)


Study = TypeVar("Study", NoiseStudy, CircuitStudy)


def noise_study(system: str, *, runs: int | None = None, quick: bool = False, as_published: bool = False) -> NoiseStudy:
    """Read the settings of a simulated system."""
    table = read_table(system)
    short = table["quick"] if quick else {}
    count = runs if runs is not None else short.get("runs", table["runs"])
    if count < 1:
        raise KoopsieveError(f"runs must be at least 1. Got {count}.")
    return _study(NoiseStudy, {**table, **short, "runs": int(count)}, as_published)


def circuit_study(*, as_published: bool = False) -> CircuitStudy:
    """Read the settings of the Wiener–Hammerstein system."""
    return _study(CircuitStudy, read_table("wiener-hammerstein"), as_published)


def paper_numbers(system: str) -> dict[str, Any]:
    """Return what the paper's own tables print for a system (empty where it prints none)."""
    numbers: dict[str, Any] = read_table("paper").get(system, {})
    return numbers


def read_table(name: str) -> dict[str, Any]:
    """Return the TOML table next to this file."""
    text = (files("koopsieve.reproduction") / f"{name.replace('-', '_')}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _study(kind: type[Study], table: Mapping[str, Any], as_published: bool) -> Study:
    given = {one.name: table[one.name] for one in fields(kind) if one.name not in ("kernels", "methods")}
    kernels = tuple(KernelSettings(**_frozen(block)) for block in table["kernels"])
    return kind(**_frozen(given), kernels=kernels, methods=_methods(table, as_published))


def _methods(table: Mapping[str, Any], as_published: bool) -> MethodSettings:
    published = table["published"]
    damping = {name: published[name] for name in ("relaxation", "max_sweeps")}
    prior = table["published" if as_published else "prior"]
    numbers = {name: value for name, value in prior.items() if name not in damping}
    return MethodSettings(
        **_frozen(table["methods"]), prior=SpikeSlabPrior(**numbers), as_published=as_published, **damping
    )


def _frozen(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}


FILE = "wiener_hammerstein_process_noise.npz"
MAX_RATIO = 200  # bytes unpacked per byte on disk
MAX_SAMPLES = 16384  # of a record: the full set also holds some of a million samples, which the method does not need
WHERE = (
    "The records are the benchmark of Schoukens and Noël, DOI 10.4121/12952124. Put them as arrays u_est, y_est, "
    f"u_test, y_test (records × samples) into {FILE} and name its folder with --data or {FOLDER_VARIABLE}, or install "
    "the package nonlinear-benchmarks, which downloads them."
)
Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Records:
    """Training and test records, where they came from, and a hash of their samples."""

    train: Trajectories
    test: Trajectories
    source: str

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
    named = folder if folder is not None else os.environ.get(FOLDER_VARIABLE)
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
        f"measured records ({data['train']})",
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
        "measured records (package nonlinear-benchmarks)",
    )


def _simulate(simulated: Mapping[str, Any], seed: int) -> Records:
    entropy = np.random.SeedSequence(seed, spawn_key=(99,)).spawn(simulated["records"] + 1)
    records = [wiener_hammerstein(simulated["samples"], seed=each) for each in entropy[:-1]]
    quiet = wiener_hammerstein(simulated["test_samples"], seed=entropy[-1], process_noise=0.0)
    return Records(
        _trajectories([(record.inputs, record.outputs) for record in records]),
        _trajectories([(quiet.inputs, quiet.outputs)]),
        "SIMULATED circuit, not the measured records",
    )


def _trajectories(pairs: list[Pair]) -> Trajectories:
    return Trajectories.from_arrays(
        [y for _, y in pairs], [u[:, None] for u, _ in pairs], dt=1 / SAMPLE_RATE, state_names="y", input_names="u"
    )
