"""Weighted sums of terms of a point, what every form of model is made of; and delayed copies, known without learning.

A model's start is such a map of the state, its step one of what is carried and of the acting input, its outputs one of
what is carried. Whoever has these three can write the model in C, CasADi, MATLAB or SymPy, whatever its form.

The state is a delay line: y[k-1] becomes what y[k] was, u[k-1] what the input was. Where a dictionary holds a delayed
copy, its next value is therefore known exactly, provided that the copy one step younger is carried along too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.dictionary.dictionary import Dictionary
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.states import Coordinates


@dataclass(frozen=True, eq=False)
class TermMap:
    """A map from a point to numbers, each a weighted sum of terms or a copy of one coordinate."""

    coordinates: tuple[str, ...]  # names of the point's coordinates
    targets: tuple[str, ...]  # names of the numbers it gives
    families: tuple[Observables, ...]  # the terms, in order; each family takes the first `widths` coordinates
    widths: tuple[int, ...]
    weights: FloatArray  # (sums, terms)
    sources: IndexArray  # (targets,): the coordinate that a target copies, or −1 where it is the next of the sums
    bounds: FloatArray | None = None  # (2, sums): between which values the sums are held

    @classmethod
    def of_terms(cls, coordinates: tuple[str, ...], families: tuple[Observables, ...]) -> TermMap:
        """Return the map to the values of the terms themselves."""
        names = tuple(name for family in families for name in family.names)
        width, size = len(coordinates), len(names)
        return cls(coordinates, names, families, (width,) * len(families), np.eye(size), np.full(size, -1))

    @classmethod
    def linear(
        cls,
        coordinates: tuple[str, ...],
        targets: tuple[str, ...],
        matrix: FloatArray,
        products: tuple[Observables, ...] = (),
        product_weights: FloatArray | None = None,
    ) -> TermMap:
        """Return the map to `matrix` times the point, plus weighted products; rows that hold a single one are copies.

        `products` are further terms of the whole point, with weights (targets, products).
        """
        width = len(coordinates)
        weights = matrix if product_weights is None else np.hstack([matrix, product_weights])
        copies = ((weights != 0).sum(axis=1) == 1) & (matrix == 1).any(axis=1)
        sources = np.where(copies, matrix.argmax(axis=1) if width else -1, -1)
        families = (Coordinates(coordinates, np.arange(width)), *products)
        return cls(coordinates, targets, families, (width,) * len(families), weights[~copies], sources)

    @cached_property
    def sums(self) -> IndexArray:
        """Positions of the targets that are sums."""
        return np.flatnonzero(self.sources < 0)

    @cached_property
    def plain(self) -> bool:
        """True if the targets are the terms themselves."""
        square = self.weights.shape == (len(self.targets), len(self.targets)) and self.bounds is None
        return square and bool((self.weights == np.eye(len(self.targets))).all())

    def terms(self, points: FloatArray) -> FloatArray:
        """Return the values of the terms at points (samples, coordinates), shape (samples, terms)."""
        values = [family(points[:, :width]) for family, width in zip(self.families, self.widths, strict=True)]
        return np.concatenate([np.empty((len(points), 0)), *values], axis=1)

    def slopes(self, points: FloatArray) -> FloatArray:
        """Return the derivatives of the terms, shape (samples, terms, coordinates)."""
        slopes, first = np.zeros((len(points), self.weights.shape[1], points.shape[1])), 0
        for family, width in zip(self.families, self.widths, strict=True):
            slopes[:, first : first + family.size, :width] = family.gradient(points[:, :width])
            first += family.size
        return slopes

    def term_expressions(self, point: Sequence[Any]) -> list[Any]:
        """Return the terms as SymPy expressions of the coordinates' symbols."""
        return [family.expression(column, point) for family in self.families for column in range(family.size)]


@dataclass(frozen=True, eq=False)
class Shifts:
    """Observables whose next value is a copy."""

    targets: IndexArray  # the observables that are copied to
    sources: IndexArray  # what each is copied from: an observable, or an input counted on after the observables
    delays: IndexArray  # (L,): how many steps each observable lies back; 0 for everything that is not a delayed copy

    @property
    def free(self) -> BoolArray:
        """Which observables have to be predicted, shape (L,)."""
        free = np.ones(len(self.delays), dtype=bool)
        free[self.targets] = False
        return free


def with_delay_line(dictionary: Dictionary) -> Dictionary:
    """Return the dictionary with the delayed copies added that its own are copied from, as further last columns."""
    signals = dictionary.signals
    sources = signals.embedding.shift_sources(len(signals.outputs), len(signals.inputs))
    held = dictionary.state_positions >= 0
    wanted = held.copy()
    for column in range(len(sources) - 1, -1, -1):  # copies come from younger columns, which stand before
        if wanted[column] and 0 <= sources[column] < len(sources):
            wanted[sources[column]] = True
    missing = np.flatnonzero(wanted & ~held)
    if not missing.size:
        return dictionary
    links = Coordinates(tuple(dictionary.state_names[i] for i in missing), missing)
    return replace(dictionary, families=(*dictionary.families, links))


def shifts(dictionary: Dictionary) -> Shifts:
    """Return which observables of a dictionary are copies of others, or of inputs, one step earlier."""
    signals, position = dictionary.signals, dictionary.state_positions
    embedding = signals.embedding
    sources = embedding.shift_sources(len(signals.outputs), len(signals.inputs))
    where = np.concatenate([position, dictionary.size + np.arange(len(signals.inputs))])
    source = np.where(sources >= 0, where[sources], -1)
    known = (position >= 0) & (source >= 0)
    delays = np.zeros(dictionary.size, dtype=np.intp)
    past = np.repeat(np.arange(embedding.state_delays + 1), len(signals.outputs))
    past_inputs = np.repeat(np.arange(1, embedding.input_delays + 1), len(signals.inputs))
    delays[position[position >= 0]] = np.concatenate([past, past_inputs])[position >= 0]
    return Shifts(position[known], source[known], delays)
