"""Families of functions as CasADi expressions of a point."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import casadi
import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Observables
from koopsieve.dictionary.kernels import Kernels, PeriodicKernels
from koopsieve.dictionary.products import Pairs
from koopsieve.dictionary.states import Coordinates, Ones, Products
from koopsieve.dictionary.waves import Waves


@singledispatch
def expressions(family: Observables, point: Any) -> list[Any]:
    """Return one expression per function of the family, of the coordinates in the column `point`."""
    raise KoopsieveError(f"{type(family).__name__} has no form in CasADi. Use the built-in blocks.")


@expressions.register
def _(family: Coordinates, point: Any) -> list[Any]:
    return [point[int(column)] for column in family.columns]


@expressions.register
def _(family: Ones, point: Any) -> list[Any]:
    return [casadi.SX(1.0)] * family.size


@expressions.register
def _(family: Products, point: Any) -> list[Any]:
    found = []
    for powers in family.powers:
        product = casadi.SX(1.0)
        for column in np.repeat(np.arange(len(powers)), powers):
            product = product * point[int(column)]
        found.append(product)
    return found


@expressions.register
def _(family: Kernels, point: Any) -> list[Any]:
    return [
        casadi.exp(-float(c) * casadi.sumsqr(_away(family, int(center), point)))
        for center, c in zip(family.center, family.coefficient, strict=True)
    ]


@expressions.register
def _(family: PeriodicKernels, point: Any) -> list[Any]:
    columns = zip(family.center, family.coefficient, family.frequency, strict=True)
    return [
        casadi.exp(-float(c) * casadi.sumsqr(casadi.sin(np.pi * float(f) * _away(family, int(center), point))))
        for center, c, f in columns
    ]


@expressions.register
def _(family: Waves, point: Any) -> list[Any]:
    d = family.frequencies.shape[1]
    return [
        casadi.cos(casadi.dot(casadi.DM(omega), point[:d]) + float(phase))
        for omega, phase in zip(family.frequencies, family.phases, strict=True)
    ]


@expressions.register
def _(family: Pairs, point: Any) -> list[Any]:
    left, right = expressions(family.left, point), expressions(family.right, point)
    return [left[i] * right[j] for i, j in zip(family.first, family.second, strict=True)]


def _away(family: Kernels, center: int, point: Any) -> Any:
    """Return the scaled distance from a centre, coordinate by coordinate."""
    d = family.centers.shape[1]
    return point[:d] / casadi.DM(family.scale) - casadi.DM(family.centers[center])
