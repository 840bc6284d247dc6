"""Measured benchmark records with their official splits, read from a folder or downloaded.

`RECORDS` are read from a folder. `DOWNLOADED` come through the package `nonlinear-benchmarks`, which downloads them;
where it is not installed or has no network they are left out with a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from koopsieve import Constant, Embedding, Inputs, Monomials, SquaredExponential, States, Trajectories

DOWNLOADED = {  # name there, unit, factor
    "EMPS": ("mm", 1e3),
    "CED": ("-", 1.0),
    "WienerHammerBenchMark": ("mV", 1e3),
    "ParWH": ("mV", 1e3),
    "F16": ("m/s2", 1.0),
}


@dataclass(frozen=True)
class Test:
    """A record to simulate, or to predict on.

    Parameters
    ----------
    y, u : array, shape (samples, n), (samples, l)
    warm_up : int
        Outputs at the start that are given and not scored.
    """

    y: np.ndarray
    u: np.ndarray
    warm_up: int


@dataclass(frozen=True)
class Record:
    """Data to learn from, data to be judged on, and how.

    Parameters
    ----------
    name : str
    train : Trajectories
    tests : mapping from name to Test
    unit, factor : str, float
        Of the root mean square error, and what the outputs are multiplied by to have it.
    hand_made : mapping
        Arguments of `sift` that an engineer who knows the plant would give; empty where there are none.
    ahead : tuple of int
        Steps ahead at which the NMSE is reported instead of a simulation; empty for a simulation.
    published : mapping from method to text
    """

    name: str
    train: Trajectories
    tests: dict[str, Test]
    unit: str
    factor: float
    hand_made: dict
    ahead: tuple[int, ...] = ()
    published: dict | None = None


def silverbox(folder: Path) -> Record:
    from scipy.io import loadmat

    file = loadmat(folder / "silverbox.mat")
    u, y = file["V1"].T, file["V2"].T
    cut = 40650 + int(0.75 * 86750)
    parts = {"multisine": slice(cut, 127400), "arrow": slice(100, 40575), "no extrapolation": slice(100, 32100)}
    return Record(
        "silverbox",
        _one(y[40650:cut], u[40650:cut], 1 / 610.35),
        {name: Test(y[part], u[part], 50) for name, part in parts.items()},
        "mV",
        1e3,
        {"dictionary": products(3), "delays": Embedding(2, 2, "k+1"), "form": "reprojected"},
        published={
            "linear": "6.96 / 14.4 / –",
            "polynomial NARX, sysidentpy's tutorial": "7.73 / 4.15 / 2.23",
            "SUBNET, neural state space, days of training": "0.36 / 1.4 / 0.32",
            "neural Koopman encoder": "0.363 / 1.48 / 0.294",
            "PNLSS": "– / 0.26 / –",
        },
    )


def tanks(folder: Path) -> Record:
    from scipy.io import loadmat

    file = loadmat(folder / "cascaded_tanks.mat")
    return Record(
        "tanks",
        _one(file["yEst"], file["uEst"], 4.0),
        {"test": Test(file["yVal"], file["uVal"], 5)},
        "V",
        1.0,
        {"dictionary": products(2), "delays": Embedding(2, 2), "form": "reprojected"},
        published={
            "linear": "0.588",
            "GRU": "0.396",
            "SUBNET, median of 17 seeds": "0.299",
            "grey box": "0.191",
        },
    )


def wiener_hammerstein(folder: Path) -> Record:
    with np.load(folder / "wiener_hammerstein_process_noise.npz") as file:
        u, y, u_test, y_test, rate = (file[key].astype(float) for key in ("u_est", "y_est", "u_test", "y_test", "fs"))
    train = Trajectories.from_arrays(
        [one[:, None] for one in y], [one[:, None] for one in u], dt=1 / float(rate), state_names="y", input_names="u"
    )
    tests = {
        name: Test(y_test[row][:, None], u_test[row][:, None], 50) for row, name in enumerate(("multisine", "sweep"))
    }
    kernels = States() + Constant() + SquaredExponential(100, coefficients=[0.03], standardize=True)
    hand_made = {"dictionary": kernels, "delays": Embedding(12, 12), "form": "linear"}
    return Record("wiener-hammerstein", train, tests, "V", 1.0, hand_made, ahead=(10, 20, 50))


def wiener_hammerstein_2009(folder: Path) -> Record:
    with np.load(folder / "wiener_hammerstein_2009.npz") as file:
        u, y, rate = (np.asarray(file[key], dtype=float) for key in ("u", "y", "fs"))
    u, y = u.reshape(-1, 1), y.reshape(-1, 1)
    test = Test(y[105200:184000], u[105200:184000], 50)
    return Record(
        "wh-2009",
        _one(y[5200:105200], u[5200:105200], 1 / float(rate)),
        {"test": test},
        "mV",
        1e3,
        {},
        published={
            "polynomial NARX, Champneys et al. 2024, arXiv 2405.10779": "27",
            "dynoNet, Forgione and Piga 2021, arXiv 2006.02250": "0.45",
            "PNLSS, Paduart et al. 2012, Control Eng. Practice 20": "0.42",
            "SUBNET, Beintema et al. 2021, arXiv 2012.07697": "0.24",
        },
    )


def drive(number: int) -> Callable[[Path], Record]:
    """Return the reader of one of the three records of the coupled electric drives."""

    def read(folder: Path) -> Record:
        from scipy.io import loadmat

        file = loadmat(folder / "drive.mat")
        return _halved(f"drive-{number}", file[f"z{number}"], file[f"u{number}"], 250, 0.02)

    return read


def matlab(name: str, train: int, dt: float) -> Callable[[Path], Record]:
    """Return the reader of a .mat file with the row vectors `X`, the input, and `y`."""

    def read(folder: Path) -> Record:
        from scipy.io import loadmat

        file = loadmat(folder / f"{name}.mat")
        return _halved(name, file["y"].T, file["X"].T, train, dt)

    return read


def text(name: str, inputs: tuple[str, ...], output: str, train: int | None, dt: float) -> Callable[[Path], Record]:
    """Return the reader of a file of delimited text; without `train` its first half is to learn from."""

    def read(folder: Path) -> Record:
        import pandas

        table = pandas.read_csv(folder / f"{name}.csv")
        cut = len(table) // 2 if train is None else train
        return _halved(name, table[[output]].to_numpy(float), table[list(inputs)].to_numpy(float), cut, dt)

    return read


RECORDS: dict[str, Callable[[Path], Record]] = {
    "silverbox": silverbox,
    "tanks": tanks,
    "wiener-hammerstein": wiener_hammerstein,
    "wh-2009": wiener_hammerstein_2009,
    "drive-1": drive(1),
    "drive-2": drive(2),
    "drive-3": drive(3),
    "dryer": matlab("dryer", 500, 0.08),
    "ballbeam": matlab("ballbeam", 500, 0.1),
    "damper": matlab("damper", 2000, 0.005),
    "exchanger": text("exchanger", ("q",), "th", 3000, 1.0),
    "bouc_wen": text("bouc_wen", ("v", "E"), "f", None, 0.002),
}


def records(names: list[str], folder: Path) -> Iterator[Record]:
    """Yield the records asked for that can be had."""
    for name in names:
        if name in RECORDS:
            yield RECORDS[name](folder)
        else:
            record = downloaded(name)
            if record is not None:
                yield record


def downloaded(name: str) -> Record | None:
    """Return a record of the package `nonlinear-benchmarks`, or None with a word where it cannot be had."""
    try:
        import nonlinear_benchmarks

        train, test = getattr(nonlinear_benchmarks, name)(atleast_2d=True, always_return_tuples_of_datasets=True)
    except Exception as error:
        print(f"Left out: {name} could not be downloaded ({type(error).__name__}).\n", flush=True)
        return None
    unit, factor = DOWNLOADED[name]
    data = Trajectories.from_arrays(
        [one.y for one in train],
        [one.u for one in train],
        dt=float(train[0].sampling_time),
        state_names=[f"y{i + 1}" for i in range(train[0].y.shape[1])],
        input_names=[f"u{i + 1}" for i in range(train[0].u.shape[1])],
    )
    tests = {
        one.name or f"test {i + 1}": Test(one.y, one.u, one.state_initialization_window_length or 50)
        for i, one in enumerate(test)
    }
    return Record(name, data, tests, unit, factor, {})


def products(degree: int):
    """States, inputs, a constant and all their products up to a degree."""
    return States() + Constant() + Inputs() + Monomials(degree, of="states and inputs")


def _one(y: np.ndarray, u: np.ndarray, dt: float) -> Trajectories:
    names = ["u"] if u.shape[1] == 1 else [f"u{i + 1}" for i in range(u.shape[1])]
    return Trajectories.from_arrays(y, u, dt=dt, state_names="y", input_names=names)


def _halved(name: str, y: np.ndarray, u: np.ndarray, train: int, dt: float) -> Record:
    """Return a record whose first rows are to learn from; 30 outputs of the rest are given."""
    return Record(name, _one(y[:train], u[:train], dt), {"test": Test(y[train:], u[train:], 30)}, "-", 1.0, {})
