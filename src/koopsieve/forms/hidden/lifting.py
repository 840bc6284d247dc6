"""The exact finite lifting of a hidden model, where it has one: linear in products of states, whatever the input.

Products of states evolve among themselves if every state that is multiplied is driven by lower ones only, as in a chain
of filter, polynomial and filter. Then φ[k+1] = Σ_b v^b N_b φ[k] with φ the products, exactly, as long as no state is
held at its limit. Comes in: a `HiddenModel`. Goes out: the products and the matrices N_b, or an error that says which
product leads out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary.monomials import monomial_name
from koopsieve.forms.hidden.power_table import PowerTable

if TYPE_CHECKING:
    from koopsieve.forms.hidden.model import HiddenModel

Powers = tuple[int, ...]
Polynomial = dict[Powers, float]


@dataclass(frozen=True, eq=False)
class ExactLifting:
    """A model that is linear in lifted states, its matrices polynomials of the input.

    Parameters
    ----------
    names : tuple of str
        Of the lifted states: products of hidden states, "1" the first.
    powers : array of int, shape (L, n)
        Of the hidden states in each.
    step : mapping from input powers to array, shape (L, L)
        N_b: the lifted states one step later, times v^b.
    read : mapping from input powers to array, shape (n_outputs, L)
        C_b: the outputs one step later, times v^b.
    center, scale : array, shape (l,)
        Of the inputs: v = (u − center) / scale.
    """

    names: tuple[str, ...]
    powers: IndexArray
    step: Mapping[Powers, FloatArray]
    read: Mapping[Powers, FloatArray]
    center: FloatArray
    scale: FloatArray

    @property
    def bilinear(self) -> bool:
        """Whether no input is squared or multiplied by another."""
        return all(sum(powers) <= 1 for powers in (*self.step, *self.read))

    def lift(self, hidden: FloatArray) -> FloatArray:
        """Return the lifted states of hidden states (samples, n), shape (samples, L)."""
        table = PowerTable(self.powers, self.powers.shape[1])
        return table.values(hidden.T)[table.columns].T

    def advance(self, lifted: FloatArray, acting: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lifted states and outputs one step later, under inputs (samples, l)."""
        v = (acting - self.center) / self.scale
        found = (
            sum(np.prod(v ** np.array(powers), axis=1)[:, None] * (lifted @ matrix.T) for powers, matrix in of.items())
            for of in (self.step, self.read)
        )
        following, outputs = (np.asarray(one, dtype=float) for one in found)
        return following, outputs


def exact_lifting(model: HiddenModel, most: int) -> ExactLifting:
    """Return the lifting of a model where it has one that is small enough; see `HiddenModel.lifted`."""
    n, rows = model.states, _rows(model)
    waiting: list[Powers] = [tuple(int(i == j) for j in range(n)) for i in range(n)]
    waiting += [powers[:n] for row in rows[n:] for powers in row]
    found: dict[Powers, Polynomial] = {(0,) * n: {(0,) * (n + len(model.input_names)): 1.0}}
    while waiting:
        product = waiting.pop(0)
        if product in found:
            continue
        following = None if len(found) >= most else _next(product, rows[:n], most)
        if following is None:
            raise KoopsieveError(
                f"The model has no exact lifting with at most {most} products of its states: a product drives a state "
                "that it is made of, so that higher and higher ones follow "
                f"({monomial_name(product, model.state_labels)} is one of them). Use the model itself, or its "
                "linearisation."
            )
        found[product] = following
        waiting += [powers[:n] for powers in following]
    order = sorted(found, key=lambda one: (sum(one), tuple(-power for power in one)))
    place = {one: i for i, one in enumerate(order)}
    names = tuple(monomial_name(one, model.state_labels) for one in order)
    step, read = _matrices([found[one] for one in order], place, n), _matrices(rows[n:], place, n)
    powers = np.array(order, dtype=np.intp).reshape(len(order), n)
    return ExactLifting(names, powers, step, read, model.center, model.scale)


def _rows(model: HiddenModel) -> list[Polynomial]:
    """Return every row of the model as a polynomial of states and inputs."""
    powers = [tuple(row) for row in model.powers.astype(int).tolist()]
    return [{powers[j]: float(row[j]) for j in np.flatnonzero(row)} for row in model.coef]


def _next(product: Powers, rows: list[Polynomial], most: int) -> Polynomial | None:
    """Return a product of states one step later, multiplied out; none if it has more than `most` products of states."""
    found: Polynomial | None = None
    for row, power in zip(rows, product, strict=True):
        for _ in range(power):
            found = row if found is None else _times(found, row)
            if len({powers[: len(rows)] for powers in found}) > most:
                return None
    return found or {}


def _times(first: Polynomial, second: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for a, p in first.items():
        for b, q in second.items():
            powers = tuple(i + j for i, j in zip(a, b, strict=True))
            found[powers] = found.get(powers, 0.0) + p * q
    return found


def _matrices(rows: list[Polynomial], place: Mapping[Powers, int], states: int) -> dict[Powers, FloatArray]:
    """Return a matrix per product of inputs."""
    found: dict[Powers, FloatArray] = {}
    for i, row in enumerate(rows):
        for powers, value in row.items():
            matrix = found.setdefault(powers[states:], np.zeros((len(rows), len(place))))
            matrix[i, place[powers[:states]]] += value
    return found
