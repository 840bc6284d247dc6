"""Settings of the experiments: the TOML files next to this one, read into frozen values.

Options of the command line (number of runs, quick, as published) are applied here, once; everything after this takes
the settings as they are. `fingerprint` is what must be equal for two runs to belong together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from typing import Any

from koopsieve._types import KoopsieveError

SYSTEMS = ("lorenz", "usv", "usv-quadratic", "wiener-hammerstein")


@dataclass(frozen=True)
class KernelSettings:
    """One block of kernels: squared-exponential, or periodic when frequencies are given."""

    centers: int
    coefficients: tuple[float, ...]
    frequencies: tuple[float, ...] = ()


@dataclass(frozen=True)
class PriorSettings:
    """The paper's six hyperparameters, and what a regressor must explain to be worth having (zero in the paper)."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    worth: float = 0.0


@dataclass(frozen=True)
class MethodSettings:
    """Settings of the methods I to IV and of the reduction."""

    pseudo_inverse_cutoff: float
    stlsq_threshold: float
    threshold: float
    thresholds: tuple[float, ...]
    prior: PriorSettings
    as_published: bool
    relaxation: float
    max_sweeps: int


@dataclass(frozen=True)
class NoiseStudy:
    """A simulated system under measurement noise: a Monte Carlo study over levels of noise (Sections 5.1 and 5.2)."""

    system: str
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
        del settings["runs"], settings["snr_db"]
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


def noise_study(system: str, *, runs: int | None = None, quick: bool = False, as_published: bool = False) -> NoiseStudy:
    """Read the settings of a simulated system.

    Raises
    ------
    KoopsieveError
        If fewer than one run is asked for.
    """
    table = read_table(system)
    short = table["quick"] if quick else {}
    count = runs if runs is not None else short.get("runs", table["runs"])
    if count < 1:
        raise KoopsieveError(f"runs must be at least 1. Got {count}.")
    return NoiseStudy(
        system=table["system"],
        title=table["title"],
        runs=int(count),
        report_state=table["report_state"],
        report_unit=table["report_unit"],
        horizons=tuple(table["horizons"]),
        horizon_snr_db=table["horizon_snr_db"],
        snr_db=tuple(short.get("snr_db", table["snr_db"])),
        data=table["data"],
        kernels=_kernels(table),
        methods=_methods(table, as_published),
    )


def circuit_study(*, as_published: bool = False) -> CircuitStudy:
    """Read the settings of the Wiener–Hammerstein system."""
    table = read_table("wiener-hammerstein")
    return CircuitStudy(
        system=table["system"],
        title=table["title"],
        horizons=tuple(table["horizons"]),
        data=table["data"],
        simulated=table["simulated"],
        kernels=_kernels(table),
        methods=_methods(table, as_published),
    )


def paper_numbers(system: str) -> dict[str, Any]:
    """Return what the paper's own tables print for a system (empty where it prints none)."""
    numbers: dict[str, Any] = read_table("paper").get(system, {})
    return numbers


def read_table(name: str) -> dict[str, Any]:
    """Return the TOML table next to this file."""
    text = (files("koopsieve.reproduction") / f"{name.replace('-', '_')}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _kernels(table: Mapping[str, Any]) -> tuple[KernelSettings, ...]:
    return tuple(
        KernelSettings(block["centers"], tuple(block["coefficients"]), tuple(block.get("frequencies", ())))
        for block in table["kernels"]
    )


_PRIOR = {field.name for field in fields(PriorSettings)}


def _methods(table: Mapping[str, Any], as_published: bool) -> MethodSettings:
    methods, published = table["methods"], table["published"]
    prior = published if as_published else table["prior"]
    return MethodSettings(
        pseudo_inverse_cutoff=methods["pseudo_inverse_cutoff"],
        stlsq_threshold=methods["stlsq_threshold"],
        threshold=methods["threshold"],
        thresholds=tuple(methods["thresholds"]),
        prior=PriorSettings(**{name: float(value) for name, value in prior.items() if name in _PRIOR}),
        as_published=as_published,
        relaxation=published["relaxation"],
        max_sweeps=published["max_sweeps"],
    )
