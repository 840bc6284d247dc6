"""Searching every plan in its forms, and which of the outcomes to take.

In come the plans and the divided data; out come the attempts, each with its parts, outcome and row of the table.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from koopsieve._types import KoopsieveError
from koopsieve.automatic import AUTO, Plan, Planned
from koopsieve.dictionary import Block
from koopsieve.identify import Identifier
from koopsieve.parts import Parts
from koopsieve.sieve import (
    BilinearSearch,
    FormSearch,
    GraphSieve,
    LinearSearch,
    Outcome,
    ReprojectedSearch,
    Sieve,
    SievePath,
    SimulationSieve,
    Task,
)
from koopsieve.sieve.choice import preferring_in_range, simplest_as_good
from koopsieve.sieve.forms.refits import default_refits
from koopsieve.sieve.horizon import HorizonSieve
from koopsieve.sieve.tried import SEARCH, Tried

FORMS = ("linear", "bilinear", "reprojected")  # the simplest first


def searches_for(
    form: str,
    sieve: Sieve | SimulationSieve | None,
    refits: Mapping[str, Identifier] | None,
    stable: bool,
    with_inputs: bool,
) -> dict[str, FormSearch]:
    """Return the searches to run, the simplest form first."""
    simulated = sieve if isinstance(sieve, SimulationSieve) else SimulationSieve()
    wanted = HorizonSieve() if sieve is None or isinstance(sieve, SimulationSieve) else sieve
    known: dict[str, FormSearch] = {
        "linear": LinearSearch(wanted, default_refits() if refits is None else refits, stable),
        "bilinear": BilinearSearch(wanted),
        "reprojected": ReprojectedSearch(simulated),
    }
    if form not in (*known, AUTO):
        raise KoopsieveError(f"form must be one of {', '.join(known)} or auto. Got {form!r}.")
    if form != AUTO:
        return {form: known[form]}
    if isinstance(sieve, GraphSieve):
        return {"linear": known["linear"]}
    return known if with_inputs else {name: known[name] for name in ("linear", "reprojected")}


@dataclass(frozen=True, eq=False)
class Attempt:
    """One search of one dictionary in one form."""

    parts: Parts
    outcome: Outcome
    tried: Tried

    @property
    def complexity(self) -> tuple[int, int]:
        """By the form first, then by the number of terms."""
        return FORMS.index(self.outcome.path.form), self.outcome.path.choice.size


def attempts(
    plan: Planned,
    searches: Mapping[str, FormSearch],
    divided: Parts,
    horizons: tuple[int, ...],
    budget: float,
    settings: Mapping[str, Any],
) -> tuple[list[Attempt], tuple[str, ...]]:
    """Search every plan, and say in words which were left out because the time limit was reached."""
    begun = time.perf_counter()
    found: list[Attempt] = []
    left_out: list[str] = []
    for one in plan.plans:
        parts = phi = None
        for form in one.forms:
            if found and time.perf_counter() - begun > budget:
                left_out.append(f"{form} form of {one.dictionary!r}")
                continue
            if parts is None or phi is None:
                parts = divided.embedded(one.embedding, plan.deepest)
                recipe = one.dictionary
                phi = recipe.fit(parts.learn, seed=settings["seed"]) if isinstance(recipe, Block) else recipe
            task = Task(parts.learn, parts.validation, parts.windows, phi, horizons, **settings)
            start = time.perf_counter()
            outcome = searches[form].search(task)
            found.append(Attempt(parts, outcome, _tried(one, outcome, time.perf_counter() - start)))
    return found, tuple(left_out)


def _tried(plan: Plan, outcome: Outcome, seconds: float) -> Tried:
    choice, path = outcome.path.choice, outcome.path
    return Tried(
        SEARCH,
        path.form,
        plan.embedding,
        repr(plan.dictionary),
        path.candidates,
        choice.size,
        choice.errors,
        choice.runs,
        seconds,
    )


def simplest(made: Sequence[Attempt]) -> int:
    """Return the index of the simplest that is as good as the best on the validation windows."""
    order = sorted(range(len(made)), key=lambda i: made[i].complexity)
    choices = [made[i].outcome.path.choice for i in order]
    blocks, runs = [one.errors.blocks for one in choices], [one.runs for one in choices]

    def of(rows: list[int]) -> int:
        return rows[simplest_as_good([blocks[i] for i in rows], [runs[i] for i in rows])]

    return order[preferring_in_range(of, blocks, [one.in_range for one in choices])]


def paths_of(made: Sequence[Attempt], chosen: Attempt) -> dict[str, SievePath]:
    """Return the path of each form: where several dictionaries were searched, that of the best one."""
    forms = dict.fromkeys(one.outcome.path.form for one in made)
    found = {}
    for form in forms:
        of_form = [one for one in made if one.outcome.path.form == form]
        best = chosen if chosen in of_form else of_form[simplest(of_form)]
        found[form] = best.outcome.path
    return found
