"""Observables and drives as formulas that a person can read: a kernel by its centre, a wave by its frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from koopsieve._types import FloatArray
from koopsieve._words import number, superscript
from koopsieve.dictionary.dictionary import Dictionary
from koopsieve.dictionary.kernels import Kernels, PeriodicKernels
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.products import Pairs
from koopsieve.dictionary.states import Products
from koopsieve.dictionary.waves import Waves

Names = Sequence[str]


def formulas(dictionary: Dictionary) -> dict[str, str]:
    """Return for every observable and drive a formula that says all of it.

    Examples
    --------
    >>> from koopsieve import Monomials, SquaredExponential, States, Trajectories
    >>> data = Trajectories.from_arrays([[0.0], [1.0], [4.0]], state_names="y")
    >>> kernels = SquaredExponential(centers=[[0.25]], coefficients=[0.5])
    >>> formulas((States() + Monomials(degree=3) + kernels).fit(data))["exp(-0.5|x-z1|^2)"]
    'exp(−0.5·|x − z|²), z = (y 0.25)'
    """
    coordinates = (*dictionary.state_names, *dictionary.signals.acting)
    families = (*dictionary.families, *dictionary.drive_families)
    return {
        name: text for family in families for name, text in zip(family.names, written(family, coordinates), strict=True)
    }


@singledispatch
def written(family: Observables, coordinates: Names) -> list[str]:
    """Return the formulas of a family; what is not known better is written by its names."""
    return list(family.names)


@written.register
def _(family: Products, coordinates: Names) -> list[str]:
    return [
        "·".join(
            name if power == 1 else f"{name}{superscript(int(power))}"
            for name, power in zip(coordinates, powers, strict=False)
            if power
        )
        for powers in family.powers
    ]


@written.register
def _(family: Pairs, coordinates: Names) -> list[str]:
    left, right = written(family.left, coordinates), written(family.right, coordinates)
    return [f"{left[i]} · {right[j]}" for i, j in zip(family.first, family.second, strict=True)]


@written.register
def _(family: Kernels, coordinates: Names) -> list[str]:
    distance = _distance(family.scale)
    return [
        f"exp(−{c:.4g}·|{distance}|²), {_where(family, int(i), coordinates)}"
        for c, i in zip(family.coefficient, family.center, strict=True)
    ]


@written.register
def _(family: PeriodicKernels, coordinates: Names) -> list[str]:
    distance = _distance(family.scale)
    return [
        f"exp(−{c:.4g}·|sin({f:.4g}π·({distance}))|²), {_where(family, int(i), coordinates)}"
        for c, f, i in zip(family.coefficient, family.frequency, family.center, strict=True)
    ]


@written.register
def _(family: Waves, coordinates: Names) -> list[str]:
    return [_wave(omega, phase, coordinates) for omega, phase in zip(family.frequencies, family.phases, strict=True)]


def _distance(scale: FloatArray) -> str:
    return "x − z" if (scale == 1).all() else "(x − z)/s"


def _where(family: Kernels, center: int, coordinates: Names) -> str:
    told = f"z = {_point(family.centers[center] * family.scale, coordinates)}"
    return told if (family.scale == 1).all() else f"{told}, s = {_point(family.scale, coordinates)}"


def _point(values: FloatArray, coordinates: Names) -> str:
    return f"({', '.join(f'{name} {number(value)}' for name, value in zip(coordinates, values, strict=False))})"


def _wave(omega: FloatArray, phase: float, coordinates: Names) -> str:
    sine = bool(np.isclose(phase, -np.pi / 2))
    parts = [f"{w:.4g}·{name}" for w, name in zip(omega, coordinates, strict=False) if w]
    parts += [] if sine or phase == 0 else [f"{phase:.4g}"]
    return f"{'sin' if sine else 'cos'}({' + '.join(parts)})"
