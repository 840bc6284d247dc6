"""Squared-exponential kernels, plain and periodic, with centres from k-means (Section 5 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray, check_fields, positive_numbers
from koopsieve.data.signals import Dataset
from koopsieve.dictionary.centers import coordinate_scale, find_centers, median_coefficient
from koopsieve.dictionary.observables import KERNEL, Observables, Program, frozen, indices_below, program
from koopsieve.dictionary.recipes import STATES, Block, Domain, Fitted

_NUMBERS_AT_A_TIME = 32_768  # numbers that are worked on at a time: a quarter of a megabyte


@dataclass(frozen=True, eq=False)
class Kernels(Observables):
    """exp(−c_i·‖(x − z_i)/scale‖²): one centre and one coefficient per column."""

    centers: FloatArray  # (number of distinct centres, n): in units of `scale`
    # (n,): what the coordinates are divided by; ones when coefficients are meant in the data's own units
    scale: FloatArray
    center: IndexArray  # (size,): which centre each column belongs to
    coefficient: FloatArray  # (size,)
    per_column: ClassVar[tuple[str, ...]] = ("coefficient",)

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Evaluate the exponent −c(‖x‖² − 2x·z + ‖z‖²) by one product, a few columns at a time to stay in the cache.

        It is taken about the middle of the centres, so that an offset of the points costs no digits.
        """
        middle, right = self._about_the_middle
        x = points / self.scale - middle
        left = np.concatenate([x, np.einsum("ij,ij->i", x, x)[:, None], np.ones((len(x), 1))], axis=1)
        width = max(1, _NUMBERS_AT_A_TIME // len(x)) if len(x) else self.size
        for first in range(0, self.size, width):
            columns = out[:, first : first + width]
            np.matmul(left, right[:, first : first + width], out=columns)
            np.minimum(columns, 0.0, out=columns)
            np.exp(columns, out=columns)

    @cached_property
    def _about_the_middle(self) -> tuple[FloatArray, FloatArray]:
        """The middle of the centres, and what (x, ‖x‖², 1) about it is multiplied with to give the exponents."""
        middle = self.centers.mean(axis=0)
        z, c = (self.centers - middle)[self.center], self.coefficient
        return middle, np.vstack([2.0 * c * z.T, -c, -c * np.einsum("ij,ij->i", z, z)])

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return −2c·φ·(x − z)/scale² per coordinate."""
        away = points[:, None, :] / self.scale - self.centers[self.center]
        slope = -2.0 * self.coefficient * self(points)
        away *= slope[:, :, None]
        away /= self.scale
        return away

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the same, weighted and added up by matrix products, about the middle of the centres."""
        middle, _ = self._about_the_middle
        values, pull = self(points), -2.0 * weights * self.coefficient
        toward = pull[:, :, None] * (self.centers - middle)[self.center]
        moved = np.tensordot(values, toward, axes=(1, 1))
        slope: FloatArray = (values @ pull.T)[:, :, None] * (points / self.scale - middle)[:, None] - moved
        return slope / self.scale

    def program(self, width: int) -> Program | None:
        """Return an atom per kernel, its centre in the units of the data."""
        kernels = (self.centers * self.scale)[self.center], self.coefficient[:, None] / self.scale**2
        return program(width, KERNEL + np.arange(self.size)[:, None], kernels)

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return exp(−Σ_d c/scale_d²·(x_d − z_d)²), the centre z in the units of the data."""
        from sympy import Add, exp

        steep = (self.coefficient[column] / self.scale / self.scale).tolist()
        squares = (-w * (x - z) ** 2 for w, x, z in zip(steep, point, self._center(column), strict=False))
        return exp(Add(*squares), evaluate=False)  # there is nothing to simplify, and looking for it takes long

    def _center(self, column: int) -> list[float]:
        """Return the centre of one kernel in the units of the data."""
        center: list[float] = (self.centers[self.center[column]] * self.scale).tolist()
        return center

    def fits(self, width: int) -> bool:
        """Tell whether there is a centre and a coefficient per name."""
        size, centers = self.size, self.centers
        shaped = centers.ndim == 2 and centers.shape[1:] == self.scale.shape == (width,)
        inside = shaped and indices_below(self.center, (size,), len(centers))
        return inside and self.coefficient.shape == (size,) and bool((self.scale > 0).all())

    def span(self) -> FloatArray:
        """Return the range of the centres."""
        centers = self.centers * self.scale
        return np.stack([centers.min(axis=0), centers.max(axis=0)])

    def select(self, columns: IndexArray) -> Self:
        """Keep some of the kernels, and only the centres they use."""
        used, center = np.unique(self.center[columns], return_inverse=True)
        return replace(super().select(columns), centers=self.centers[used], center=center)


@dataclass(frozen=True, eq=False)
class PeriodicKernels(Kernels):
    """exp(−c_i·‖sin(π·f_i·(x − z_i)/scale)‖²): as `Kernels`, with a frequency per column."""

    frequency: FloatArray
    per_column = ("coefficient", "frequency")

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Add up the squared sines one coordinate at a time."""
        x = points / self.scale
        out[:] = 0.0
        for column, z in zip(x.T, self.centers.T, strict=True):
            out += np.sin(np.pi * self.frequency * (column[:, None] - z[self.center])) ** 2
        out *= -self.coefficient
        np.exp(out, out=out)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return −c·φ·πf·sin(2πf(x − z)/scale)/scale per coordinate."""
        turn = np.pi * self.frequency[:, None]
        away = points[:, None, :] / self.scale - self.centers[self.center]
        slope = -(self.coefficient * self(points))[:, :, None]
        gradient: FloatArray = slope * turn * np.sin(2 * turn * away) / self.scale
        return gradient

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted sums of the gradient."""
        return weights @ self.gradient(points)

    def program(self, width: int) -> None:
        """Return none: there are no atoms of this kind."""

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return exp(−c·Σ_d sin(πf/scale_d·(x_d − z_d))²), the centre z in the units of the data."""
        from sympy import Add, exp, sin

        turn = (np.pi * self.frequency[column] / self.scale).tolist()
        c, center = float(self.coefficient[column]), self._center(column)
        angles = [a * (x - z) for a, x, z in zip(turn, point, center, strict=False)]
        return exp(Add(*(-c * sin(angle, evaluate=False) ** 2 for angle in angles)), evaluate=False)

    def fits(self, width: int) -> bool:
        """Tell whether there is a frequency per name too."""
        return super().fits(width) and self.frequency.shape == (self.size,)


@dataclass(frozen=True, repr=False)
class SquaredExponential(Block):
    """Kernels exp(−c·‖x − z‖²) for every centre z and every coefficient c.

    Parameters
    ----------
    centers : int or array, shape (k, n)
        The centres, or how many to find by k-means in the training states.
    coefficients : sequence of float, optional
        The values c, in the data's own units (one over length squared) unless `standardize` is set. Left out, one is
        chosen: the kernel falls to exp(−1/2) at the median distance between centres.
    standardize : bool
        Divide every state by its standard deviation first, so that coefficients mean the same in any units.
    label : str
        What the centres are called in names; give two blocks of kernels different labels.
    of : {"states", "states and inputs"}
        With the second the kernels see the present input too, and are input terms.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> data = Trajectories.from_arrays([[0.0], [1.0], [4.0]])
    >>> phi = SquaredExponential(centers=[[0.0], [1.0]], coefficients=[0.5]).fit(data)
    >>> phi.names
    ('exp(-0.5|x-z1|^2)', 'exp(-0.5|x-z2|^2)')
    >>> phi([[0.0]]).round(3).tolist()
    [[1.0, 0.607]]
    """

    centers: int | ArrayLike = 20
    coefficients: Sequence[float] | None = None
    standardize: bool = False
    label: str = "z"
    of: str = STATES

    def __post_init__(self) -> None:
        if self.coefficients is not None:
            positive_numbers("coefficients", self.coefficients)
        check_fields(self, flags=("standardize",))

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Find the centres and, if none were given, a coefficient."""
        domain = Domain(samples, self.of)
        scale = coordinate_scale(domain, self.standardize)
        centers = find_centers(self.centers, domain, scale, rng)
        values = median_coefficient(centers) if self.coefficients is None else frozen(self.coefficients)
        x = domain.symbol
        names = tuple(f"exp(-{c:.4g}|{x}-{self.label}{i + 1}|^2)" for c in values for i in range(len(centers)))
        center = np.tile(np.arange(len(centers)), len(values))
        return domain.fitted(Kernels(names, centers, scale, center, frozen(np.repeat(values, len(centers)))))


@dataclass(frozen=True, repr=False)
class PeriodicSquaredExponential(Block):
    """Kernels exp(−c·‖sin(π·f·(x − z))‖²) for every centre z, coefficient c and frequency f.

    Parameters
    ----------
    centers, coefficients, standardize, label, of
        As for `SquaredExponential`; the default coefficient is one, because a sine is at most one.
    frequencies : sequence of float
        The values f, in cycles of the squared sine per unit of the (standardised) state.
    """

    centers: int | ArrayLike = 20
    coefficients: Sequence[float] = (1.0,)
    frequencies: Sequence[float] = (1.0,)
    standardize: bool = False
    label: str = "p"
    of: str = STATES

    def __post_init__(self) -> None:
        positive_numbers("coefficients", self.coefficients)
        positive_numbers("frequencies", self.frequencies)
        check_fields(self, flags=("standardize",))

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Find the centres."""
        domain = Domain(samples, self.of)
        scale = coordinate_scale(domain, self.standardize)
        centers = find_centers(self.centers, domain, scale, rng)
        grid = [(c, f, i) for c in self.coefficients for f in self.frequencies for i in range(len(centers))]
        x = domain.symbol
        names = tuple(f"exp(-{c:.4g}|sin {f:.4g}pi({x}-{self.label}{i + 1})|^2)" for c, f, i in grid)
        coefficient, frequency, center = zip(*grid, strict=True)
        return domain.fitted(
            PeriodicKernels(
                names, centers, scale, np.array(center, dtype=np.intp), frozen(coefficient), frozen(frequency)
            )
        )
