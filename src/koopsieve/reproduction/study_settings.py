"""Settings of the experiments: the TOML files next to this one, read into frozen values.

Options of the command line (number of runs, quick, as published) are applied here, once; everything after this takes
the settings as they are. `fingerprint` is what must be equal for two runs to belong together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from typing import Any, TypeVar

from koopsieve._types import KoopsieveError
from koopsieve.identify import SpikeSlabPrior

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
