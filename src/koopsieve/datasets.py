"""Benchmark records with their usual splits and scores: measured ones from a folder or downloaded, simulated ones made.

Measured records are not part of the package. They are read from a folder that holds their files, named by `folder=` or
by the environment variable `KOOPSIEVE_DATA`; without one, the package `nonlinear-benchmarks` downloads those it knows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray, KoopsieveError, needed
from koopsieve.data import Signals, Trajectories
from koopsieve.forms import Model
from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record, random_drive, two_tanks

FOLDER_VARIABLE = "KOOPSIEVE_DATA"
_SITE = "nonlinearbenchmark.org"


@dataclass(frozen=True, eq=False, repr=False)
class Record(Shown):
    """One record, outputs and inputs side by side.

    Parameters
    ----------
    outputs, inputs : array, shape (samples, n) and (samples, l)
    """

    outputs: FloatArray
    inputs: FloatArray

    def _facts(self) -> Facts:
        return {"samples": str(len(self.outputs)), "outputs": str(self.outputs.shape[1])}


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Shown):
    """Data to learn from, records to be judged on, and the score that others publish.

    Parameters
    ----------
    name : str
    train : Trajectories
    records : mapping from name to Record
        The test records.
    window : int
        Outputs at the start of a test record that a model is given and that are not scored.
    unit, factor : str and float
        Of the score, and what outputs are multiplied by to have it.
    source : str
        Where the record comes from.
    """

    name: str
    train: Trajectories
    records: Mapping[str, Record]
    window: int
    unit: str
    factor: float
    source: str

    @property
    def tests(self) -> dict[str, Trajectories]:
        """The test records as trajectories."""
        return {name: _trajectories([one], self.train.signals) for name, one in self.records.items()}

    @property
    def test(self) -> Trajectories:
        """The first test record."""
        return next(iter(self.tests.values()))

    def score(self, model: Model, window: int | None = None) -> dict[str, float]:
        """Return the root mean square error of simulations of whole test records, in the unit of the benchmark.

        Parameters
        ----------
        model : Model
            Given the first outputs of a record and its inputs, and nothing else.
        window : int, optional
            Number of those outputs; by default the official one. They are not scored.
        """
        given = self.window if window is None else window
        found = {}
        for name, one in self.records.items():
            first = max(given, model.history)
            simulated = model.simulate(one.outputs[:first], one.inputs)
            with np.errstate(over="ignore", invalid="ignore"):
                error = float(np.sqrt(np.mean((simulated - one.outputs[first:]) ** 2)))
            found[name] = self.factor * error
        return found

    def _facts(self) -> Facts:
        return {
            "name": self.name,
            "train": f"{self.train.n_samples} samples",
            "tests": ", ".join(self.records),
            "score": f"RMSE in {self.unit} after {self.window} outputs",
        }


Reader = Callable[[Path], Benchmark]


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Benchmark:
    """Return a benchmark by its name.

    Parameters
    ----------
    name : str
        One of `names()`.
    folder : path, optional
        Holds the files of measured records; by default the environment variable KOOPSIEVE_DATA. Without a folder they
        are downloaded by `nonlinear-benchmarks`, as far as it has them. Simulated ones need neither.

    Raises
    ------
    KoopsieveError
        If there is no such benchmark, or its data cannot be had.

    Examples
    --------
    >>> data = load("spring")
    >>> data.train.output_names, list(data.records)
    (('position',), ['test'])
    """
    if name in _SIMULATED:
        return _SIMULATED[name]()
    if name not in names():
        near = get_close_matches(str(name), names(), 1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise KoopsieveError(f"There is no benchmark {name!r}. {hint}Expected one of {', '.join(names())}.")
    reader = _FILES.get(name)
    place = folder or (os.environ.get(FOLDER_VARIABLE) if reader else None)
    if place is None:
        return _downloaded(name)
    if reader is None:
        raise KoopsieveError(f"{name} is not read from a folder; {', '.join(_FILES)} are. Leave folder out.")
    try:
        return reader(Path(place))
    except FileNotFoundError as error:
        raise KoopsieveError(
            f"{name} needs the file {error.filename}. Get it from {_SITE}, or leave folder out (and {FOLDER_VARIABLE} "
            "unset) to download it."
        ) from error


def names() -> tuple[str, ...]:
    """Return the names of all benchmarks: the simulated ones first."""
    return tuple(_KNOWN)


def spring() -> Benchmark:
    """Return the demonstration: a spring that hardens, pushed by a force, its position measured with noise."""
    parts = []
    for samples, seed in ((2400, 0), (2000, 1)):
        force, position = bench_record(samples, seed=seed)
        parts.append(Record(position.reshape(-1, 1), force.reshape(-1, 1)))
    return _built("spring", parts[:1], {"test": parts[1]}, BENCH_SAMPLE_TIME, 10, (["position"], ["force"]))


def two_tanks_record() -> Benchmark:
    """Return two tanks in a row, the upper one overflows; the level of the lower one is measured with noise."""
    parts, dt = [], 5.0
    for samples, seed in ((3000, 0), (1500, 1)):
        rng = np.random.default_rng(seed)
        voltage = 3.5 + random_drive(samples, 12, 2.5, rng)
        level = two_tanks(voltage[:-1], dt)[:, 1:] + 1e-3 * rng.normal(size=(samples, 1))
        parts.append(Record(level, voltage))
    return _built("two_tanks", parts[:1], {"test": parts[1]}, dt, 10, (["level"], ["pump"]))


def _silverbox(folder: Path) -> Benchmark:
    from scipy.io import loadmat

    file = loadmat(str(folder / "silverbox.mat"))
    u, y = file["V1"].T.astype(float), file["V2"].T.astype(float)
    first, last = 40650, 127400
    cut = first + int(0.75 * (last - first))
    parts = {"multisine": slice(cut, last), "arrow": slice(100, 40575), "no extrapolation": slice(100, 32100)}
    tests = {name: Record(y[part], u[part]) for name, part in parts.items()}
    return _built("silverbox", [Record(y[first:cut], u[first:cut])], tests, 1 / 610.35, 50)


def _tanks(folder: Path) -> Benchmark:
    from scipy.io import loadmat

    file = loadmat(str(folder / "cascaded_tanks.mat"))
    train, test = (Record(*(np.asarray(file[name + part], float) for name in "yu")) for part in ("Est", "Val"))
    return _built("tanks", [train], {"test": test}, 4.0, 50)


def _wiener_hammerstein_2009(folder: Path) -> Benchmark:
    with np.load(folder / "wiener_hammerstein_2009.npz") as file:
        u, y, rate = (np.asarray(file[key], dtype=float) for key in ("u", "y", "fs"))
    u, y = u.reshape(-1, 1), y.reshape(-1, 1)
    train, test = (Record(y[part], u[part]) for part in (slice(5200, 105200), slice(105200, 184000)))
    return _built("wiener_hammerstein_2009", [train], {"test": test}, 1 / float(rate), 50)


@dataclass(frozen=True)
class _Known:
    """Unit and factor of the score, units of outputs and inputs, the name in the package, the source."""

    unit: str
    factor: float
    channels: tuple[str, str] = ("", "")
    package_name: str = ""
    source: str = _SITE


_VOLTS = "V", "V"
_KNOWN = {
    "spring": _Known("-", 1.0, source="simulated: koopsieve.systems.bench_record"),
    "two_tanks": _Known("mm", 1e3, ("m", "V"), source="simulated: koopsieve.systems.two_tanks"),
    "silverbox": _Known("mV", 1e3, _VOLTS, package_name="Silverbox"),
    "tanks": _Known("V", 1.0, _VOLTS, "Cascaded_Tanks"),
    "wiener_hammerstein_2009": _Known("mV", 1e3, _VOLTS, package_name="WienerHammerBenchMark"),
    "coupled_drives": _Known("-", 1.0, ("", "V"), "CED"),
    "emps": _Known("mm", 1e3, ("m", "V"), package_name="EMPS"),
    "parallel_wiener_hammerstein": _Known("mV", 1e3, _VOLTS, package_name="ParWH"),
    "f16": _Known("m/s²", 1.0, ("m/s²", "N"), package_name="F16"),
}
_SIMULATED: dict[str, Callable[[], Benchmark]] = {"spring": spring, "two_tanks": two_tanks_record}
_FILES: dict[str, Reader] = {
    "silverbox": _silverbox,
    "tanks": _tanks,
    "wiener_hammerstein_2009": _wiener_hammerstein_2009,
}


def _downloaded(name: str) -> Benchmark:
    package = needed("nonlinear_benchmarks", f"Downloading {name!r}", "datasets")
    try:
        read = getattr(package, _KNOWN[name].package_name)
        train, test = read(atleast_2d=True, always_return_tuples_of_datasets=True)
    except Exception as error:  # the package lets every fault of the network and of the archives through
        folder = f", or give the folder that holds its file: load({name!r}, folder=…)" if name in _FILES else ""
        raise KoopsieveError(
            f"{name} could not be downloaded ({type(error).__name__}: {error}). Try again with a network{folder}."
        ) from error
    records = {one.name or f"test {i + 1}": Record(one.y, one.u) for i, one in enumerate(test)}
    window = int(test[0].state_initialization_window_length or 50)
    return _built(name, [Record(one.y, one.u) for one in train], records, float(train[0].sampling_time), window)


def _built(
    name: str,
    train: list[Record],
    records: Mapping[str, Record],
    dt: float,
    window: int,
    names: tuple[list[str], list[str]] | None = None,
) -> Benchmark:
    known = _KNOWN[name]
    outputs, inputs = names or (_numbered("y", train[0].outputs), _numbered("u", train[0].inputs))
    units = {one: unit for some, unit in zip((outputs, inputs), known.channels, strict=True) for one in some if unit}
    signals = Signals(tuple(outputs), tuple(inputs), dt, units=units)
    learned = _trajectories(train, signals)
    return Benchmark(name, learned, records, window, known.unit, known.factor, known.source)


def _trajectories(records: list[Record], signals: Signals) -> Trajectories:
    states, acting = [one.outputs for one in records], [one.inputs for one in records]
    outputs, inputs = list(signals.outputs), list(signals.inputs)
    made = Trajectories.from_arrays(states, acting, dt=signals.dt, state_names=outputs, input_names=inputs)
    return replace(made, signals=replace(made.signals, units=signals.units))


def _numbered(letter: str, values: FloatArray) -> list[str]:
    count = values.shape[1]
    return [letter] if count == 1 else [f"{letter}{i + 1}" for i in range(count)]
