"""What drives the outputs, and through what: every observable with its strongest chain of dependencies to an output."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from koopsieve._words import probability
from koopsieve.model import ReprojectedModel
from koopsieve.sieve import strength
from koopsieve.sieve.result import SieveResult


@dataclass(frozen=True)
class Row:
    """One observable; `acts` sums its inclusion over the targets that an output depends on."""

    index: int
    name: str
    strength: float
    acts: float
    path: tuple[tuple[str, str], ...]
    output: bool
    retained: bool


def chains(result: SieveResult) -> list[Row]:
    """Return the observables of the explanation, the strongest first, each with its strongest path to an output.

    Of equally strong ones those nearer to an output come first, then those that act on more. In the reprojected form
    terms drive the outputs directly, and there are no chains.
    """
    if result.form == ReprojectedModel.form:
        return []
    names, inclusion = result.explanation.targets, result.explanation.inclusion
    found, kept = strength(inclusion, result.reduction.outputs), set(result.reduction.retained.tolist())
    outputs = set(result.reduction.outputs)
    acts = inclusion[: len(names), result.reduction.retained].sum(axis=1)
    rank = [(i not in outputs, -found.value[i], len(found.path(i)), -acts[i], i) for i in range(len(names))]
    rows = []
    for *_, i in sorted(rank):
        steps = found.path(i)
        path = tuple((names[b], probability(inclusion[a, b])) for a, b in pairwise(steps))
        rows.append(Row(i, names[i], float(found.value[i]), float(acts[i]), path, i in outputs, i in kept))
    return rows
