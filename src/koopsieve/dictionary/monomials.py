"""Monomials: products of powers of states and inputs, about zero or, where zero is far from the data, about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, whole_number
from koopsieve.data import Signals
from koopsieve.data.signals import Dataset
from koopsieve.dictionary.centers import moments
from koopsieve.dictionary.observables import NODE, Observables, Program, indices_below, program
from koopsieve.dictionary.recipes import STATES, STATES_AND_INPUTS, Block, Domain, Fitted

MAX_DEGREE = 100
MAX_MONOMIALS = 50_000  # their regression alone would take 20 GB
FAR = 10.0  # standard deviations between zero and the mean of a signal, from which on powers are taken about the mean


@dataclass(frozen=True, eq=False)
class Products(Observables):
    """Monomials ∏ x_d^powers[i, d] of the first coordinates of the point."""

    powers: IndexArray
    per_column = ("powers",)

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Multiply up each monomial from the coordinates it holds."""
        _multiply(self._of_points(points), out)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return, per factor of a monomial, the product of the others, added up where its coordinate stands."""
        gradient = np.zeros((len(points), self.size, points.shape[1] + 1))
        column = np.arange(self.size)
        for where, others in self._without_one_factor(points):
            gradient[:, column, where] += others
        return gradient[:, :, :-1]

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the same, each product already weighted and added up: one matrix product per factor."""
        sums, d = len(weights), points.shape[1]
        slope = np.zeros((len(points), sums * (d + 1)))
        for where, others in self._without_one_factor(points):
            placed = np.zeros((self.size, sums, d + 1))
            placed[np.arange(self.size), :, where] = weights.T
            slope += others @ placed.reshape(self.size, -1)
        return slope.reshape(len(points), sums, d + 1)[:, :, :d]

    def _of_points(self, points: FloatArray) -> list[FloatArray]:
        """Return the factors of all monomials at the points, one array (samples, size) per place in the product."""
        extended = padded(points[:, : self.powers.shape[1]])
        return [extended[:, row] for row in self._factors.T]

    def _without_one_factor(self, points: FloatArray) -> Iterator[tuple[IndexArray, FloatArray]]:
        """Yield per place in the product which coordinate stands there (d: none), and the product of the others."""
        held, none = self._of_points(points), self.powers.shape[1]
        for place, row in enumerate(self._factors.T):
            others = np.empty((len(points), self.size))
            _multiply(held[:place] + held[place + 1 :], others)
            yield np.where(row == none, points.shape[1], row), others

    @cached_property
    def _factors(self) -> IndexArray:
        """The coordinates that each monomial multiplies, (size, highest degree); the last stands for one."""
        degree, d = int(self.powers.sum(axis=1).max(initial=0)), self.powers.shape[1]
        factors = np.full((self.size, degree), d, dtype=np.intp)
        for i, powers in enumerate(self.powers):
            held = np.repeat(np.arange(d), powers)
            factors[i, : len(held)] = held
        return factors

    def program(self, width: int) -> Program:
        """Return the coordinates that each monomial multiplies."""
        return program(width, [np.repeat(np.arange(len(row)), row) for row in self.powers])

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return the product of powers."""
        from sympy import Mul

        return Mul(*(x ** int(power) for x, power in zip(point, self.powers[column], strict=False) if power))

    def fits(self, width: int) -> bool:
        """Tell whether there is a row of powers per name, and none is beyond reason."""
        powers = self.powers
        fits = powers.ndim == 2 and powers.shape[1] <= width
        fits = fits and indices_below(powers, (self.size, powers.shape[1]), MAX_DEGREE + 1)
        return fits and bool((powers.sum(axis=1) <= MAX_DEGREE).all())


def _multiply(factors: Sequence[FloatArray], out: FloatArray) -> None:
    """Write the product of arrays of the same shape; of none it is one."""
    out[:] = 1.0
    for factor in factors:
        out *= factor


def padded(points: FloatArray) -> FloatArray:
    """Return the points with a last coordinate that is one."""
    return np.concatenate([points, np.ones((len(points), 1))], axis=1)


@dataclass(frozen=True, eq=False)
class ScaledProducts(Observables):
    """Monomials ∏ ((x_d − center_d) / scale_d)^powers[i, d] of the first coordinates of the point."""

    powers: IndexArray  # (size, d)
    center: FloatArray  # (d,)
    scale: FloatArray  # (d,)
    per_column = ("powers",)

    @cached_property
    def _plain(self) -> Products:
        return Products(self.names, self.powers)

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Scale the point and multiply."""
        self._plain.evaluate(self._moved(points), out)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Apply the chain rule."""
        gradient = np.zeros((len(points), self.size, points.shape[1]))
        gradient[:, :, : len(self.scale)] = self._plain.gradient(self._moved(points)) / self.scale
        return gradient

    def _moved(self, points: FloatArray) -> FloatArray:
        moved: FloatArray = (points[:, : len(self.scale)] - self.center) / self.scale
        return moved

    def program(self, width: int) -> Program:
        """Return the coordinates, moved and scaled, that each monomial multiplies."""
        nodes: list[tuple[str, int, int, float]] = []
        atoms = list(range(self.powers.shape[1]))
        for j, (center, scale) in enumerate(zip(self.center.tolist(), self.scale.tolist(), strict=True)):
            for operation, number, changes in (("add", -center, center != 0), ("multiply", 1 / scale, scale != 1)):
                if changes:
                    place = NODE + len(nodes)
                    nodes += [("number", 0, 0, number), (operation, atoms[j], place, 0.0)]
                    atoms[j] = place + 1
        return program(width, [np.repeat(atoms, row) for row in self.powers], nodes=nodes)

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return the product of powers; what is neither moved nor scaled stays as it is."""
        return self._plain.expression(column, [self._scaled(p, j) for j, p in enumerate(point[: len(self.scale)])])

    def _scaled(self, coordinate: Any, j: int) -> Any:
        center, scale = float(self.center[j]), float(self.scale[j])
        moved = coordinate - center if center else coordinate
        return moved if scale == 1 else moved / scale

    def fits(self, width: int) -> bool:
        """Tell whether there is a row of powers per name, and a centre and a scale per coordinate."""
        shape = self.powers.shape[1:]
        return self._plain.fits(width) and self.center.shape == self.scale.shape == shape and bool(self.scale.all())


@dataclass(frozen=True, repr=False)
class Monomials(Block):
    """All products of states (or of states and inputs) with total degree from two up to `degree`.

    Degree one is `States()` and `Inputs()`, degree zero `Constant()`. Of a signal whose mean is more than ten standard
    deviations from zero, such as a temperature in kelvin, powers are taken about its mean; so add `States()` and
    `Constant()`, which make up for it.

    Parameters
    ----------
    degree : int
        Highest total degree, at least two.
    of : {"states", "states and inputs"}
        With the second, products that hold an input are input terms, the others observables.
    depth : int, optional
        Multiply only samples that lie at most this many steps back; left out, all delays.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> Monomials(degree=2).fit(Trajectories.from_arrays([[1.0, 2.0], [3.0, 5.0]])).names
    ('x1^2', 'x1 x2', 'x2^2')
    """

    degree: int = 2
    of: str = STATES
    depth: int | None = None

    def __post_init__(self) -> None:
        degree = whole_number("degree", self.degree)
        if self.depth is not None:
            whole_number("depth, the number of samples back,", self.depth)
        if not 2 <= degree <= MAX_DEGREE:
            raise KoopsieveError(
                f"degree must lie between 2 and {MAX_DEGREE}. Got {degree}; degree one is States(), degree zero is "
                "Constant()."
            )

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """List the powers, and find the signals that zero is far from."""
        domain, signals = Domain(samples, self.of), samples.signals
        d, n, used = len(domain.names), len(signals.state_names), self._columns(signals, len(domain.names))
        count = comb(len(used) + self.degree, self.degree) - len(used) - 1
        if count > MAX_MONOMIALS:
            raise KoopsieveError(
                f"{len(used)} coordinates have {count:.6g} products up to degree {self.degree}, more than "
                f"{MAX_MONOMIALS}. Ask for a lower degree or fewer delays, or use kernels."
            )
        factors = [c for total in range(2, self.degree + 1) for c in combinations_with_replacement(used, total)]
        powers = np.array([np.bincount(c, minlength=d) for c in factors], dtype=np.intp).reshape(-1, d)
        center, names = _centers(domain)
        if self.of == STATES_AND_INPUTS:
            with_input = powers[:, n:].any(axis=1)
            alone = _products(powers[~with_input, :n], names, center[:n])
            return Fitted(alone, _products(powers[with_input], names, center))
        return Fitted(observables=_products(powers, names, center))

    def _columns(self, signals: Signals, coordinates: int) -> list[int]:
        """Return the coordinates that are multiplied: those at most `depth` samples back, and the acting inputs."""
        depths = signals.depths[:coordinates]
        return np.flatnonzero((depths >= 0) & (depths <= (np.inf if self.depth is None else self.depth))).tolist()


def _centers(domain: Domain) -> tuple[FloatArray, list[str]]:
    """Return what is subtracted from every coordinate, zero or a mean that is far from it, and how that is written.

    All samples of a signal have the same. The mean is not rounded, so that units and the order of the data do not
    matter; its name is, to a thousandth of the deviation.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # whoever evaluates the products names what overflows
        mean, deviation = moments(domain.points(), len(domain.names))
        far = (deviation > 0) & (np.abs(mean) > FAR * deviation)
    newest: dict[str, int] = {}
    columns = [
        newest.setdefault(signal, i) for i, (signal, _) in enumerate(domain.samples.signals.samples[: len(mean)])
    ]
    center, deviation = np.where(far, mean, 0.0)[columns], deviation[columns]
    return center, [_moved_name(*one) for one in zip(domain.names, center.tolist(), deviation.tolist(), strict=True)]


def _products(powers: IndexArray, names: Sequence[str], center: FloatArray) -> Products | ScaledProducts:
    found = tuple(monomial_name(row, names) for row in powers)
    if not center.any():
        return Products(found, powers)
    return ScaledProducts(found, powers, center, np.ones(len(center)))


def _moved_name(name: str, center: float, deviation: float) -> str:
    if not center:
        return name
    digits = 4 + int(np.log10(abs(center) / deviation))
    return f"({name} {'+' if center < 0 else '-'} {abs(center):.{digits}g})"


def monomial_name(powers: Iterable[int], names: Sequence[str]) -> str:
    """Return how a product of powers is written; the constant is 1.

    Examples
    --------
    >>> monomial_name([2, 0, 1], ["x1", "x2", "u"]), monomial_name([0], ["x1"])
    ('x1^2 u', '1')
    """
    held = [(name, power) for name, power in zip(names, powers, strict=False) if power]
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in held) or "1"
