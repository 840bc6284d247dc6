"""What was kept and why: every observable with its strongest chain of dependencies to an output."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from koopsieve.report.words import probability
from koopsieve.sieve import strength
from koopsieve.workflow import SieveResult


@dataclass(frozen=True)
class Row:
    """One observable in the table of what was kept and why; `acts` sums its inclusion over the retained targets."""

    index: int
    name: str
    strength: float
    acts: float
    path: tuple[tuple[str, str], ...]
    output: bool
    retained: bool


def kept_and_why(result: SieveResult) -> list[Row]:
    """Return all observables, the most firmly kept first, each with its strongest path to an output.

    Of equally firm ones those nearer to an output come first, then those that act on more of what is kept.
    """
    names, inclusion = result.dictionary.names, result.found.inclusion
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
