"""What a prediction form is: its models, and how one is searched for.

A form is a value. Its fields are the settings of its search; those that `sift` takes have the same names there. The
registry `koopsieve.forms.FORMS` holds one of each, with default settings. A new form is a folder with a `Model`, a
`Form` and its `Candidates`, and a line in the registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

from koopsieve._display import Facts, Shown
from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Block, Dictionary
from koopsieve.forms.model import Model
from koopsieve.forms.path import PathPoint, SievePath
from koopsieve.forms.task import Task
from koopsieve.identify import Estimate, Identifier, SpikeSlab
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.algorithm_2 import Sieve, sifted_by

SHORT_PATH = 5  # sets that tell whether a form is far behind another search


@dataclass(frozen=True, eq=False)
class Form(ABC):
    """How models of one kind predict and are searched for.

    Subclasses are frozen dataclasses.
    """

    model: ClassVar[type[Model]]
    sifts: ClassVar[type[Any]] = RegressionStatistics  # what its sieve must sift
    needs_inputs: ClassVar[bool] = False
    uses_input_terms: ClassVar[bool] = False  # whether candidates may be functions of the inputs too
    linear_in_delays: ClassVar[bool] = False  # whether the delays that suit a plain linear model suit it
    plain: ClassVar[bool] = False  # whether it is the plain linear model, which others are compared with
    recipe: ClassVar[Block | None] = None  # its dictionary, where it takes no other
    rows_needed: ClassVar[float] = 0  # samples to learn from below which it is searched only when asked for

    # whether no other form is searched; then terms that it does not use are refused
    alone: bool = field(default=False, kw_only=True)

    @property
    def name(self) -> str:
        """The name of the form."""
        return self.model.form

    @property
    def fits_per_set(self) -> int:
        """How many fits of each set are compared on the validation windows."""
        return 1

    @abstractmethod
    def candidates(self, task: Task) -> Candidates:
        """Compress and sieve; fit every set to the learning part, and judge it on the validation windows."""

    def promising(self, rivals: Sequence[PathPoint]) -> bool:
        """Tell whether a search is worth its time beside the best models of the searches before it."""
        return True

    def takes(self, setting: str) -> bool:
        """Tell whether the form has a setting of this name."""
        return setting in {one.name for one in fields(self)}

    def takes_sieve(self, sieve: Sieve | None) -> bool:
        """Tell whether a sieve sifts what the form has to sift."""
        return sieve is not None and self.takes("sieve") and sifted_by(sieve) is self.sifts

    def observables(self, dictionary: Dictionary) -> Dictionary:
        """Return the observables with the inputs themselves as input terms; refuse others that no form would use."""
        if self.alone and dictionary.input_families and not dictionary.linear_in_inputs:
            others = [name for name in dictionary.input_term_names if name not in dictionary.signals.acting]
            raise KoopsieveError(
                f"The dictionary has terms with inputs ({', '.join(others[:5])}), which have no effect in the "
                f'{self.name} form. Leave them out, or use form="auto".'
            )
        return dictionary.linear()

    def configured(
        self,
        sieve: Sieve | None = None,
        refits: Mapping[str, Identifier] | None = None,
        stable: bool = True,
        alone: bool = False,
    ) -> Self:
        """Return the form with those settings of `sift` that it takes."""
        given: dict[str, Any] = {"refits": refits, "stable": stable, "alone": alone}
        given["sieve"] = sieve if self.takes_sieve(sieve) else None
        taken = {name: value for name, value in given.items() if value is not None and self.takes(name)}
        return replace(self, **taken)


@dataclass(frozen=True, eq=False)
class Candidates(ABC):
    """The path of a search in one form: sets of terms, each fitted to the learning part and judged; nothing chosen.

    Which one to take is decided above the forms. Then `refined` and `relearn` go on with that one.
    """

    form: Form  # with the settings of the search
    task: Task  # what was searched
    dictionary: Dictionary  # the terms that there were to choose from
    points: tuple[PathPoint, ...]  # the smallest first

    @property
    def total(self) -> int:
        """How many terms there were to choose from: the observables, unless a form has others."""
        return self.dictionary.size

    @abstractmethod
    def refitted(self, chosen: Sequence[int], data: Trajectories) -> tuple[Model, ...]:
        """Fit some points of the path to other data in the same way, from their coefficients where a fit has a start.

        The data have the delays of the task. Models on folds of the data are compared so.
        """

    @abstractmethod
    def relearn(self, chosen: int) -> Outcome:
        """Learn one point of the path from learning and validation data together."""

    def refined(self, chosen: int) -> Candidates:
        """Return the path with one point fitted better, where a form has a fit that is too slow to try on all."""
        return self

    def path(self, chosen: int) -> SievePath:
        """Return the path with a choice."""
        return SievePath(self.form.name, self.points, self.task.horizons, chosen, self.total)


Found = TypeVar("Found", bound=Candidates)


def short_or_whole(task: Task, search: Callable[[int], Found]) -> Found:
    """Search a path of the length asked for; a short one where that is already beaten by another search."""
    if task.rivals:
        short = search(min(SHORT_PATH, task.path_length))
        if task.beaten(short.points):
            return short
    return search(task.path_length)


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Shown):
    """What the search in one form found."""

    path: SievePath  # every candidate with its validation errors, and the choice
    model: Model  # the chosen set, learned from learning and validation data together
    # all candidates, one-step least squares: learned from the learning part, and from both
    everything: tuple[Model, Model]
    dictionary: Dictionary  # the candidates
    # statistics, kept: of learning and validation data, for all candidates and for those kept
    statistics: RegressionStatistics
    kept: RegressionStatistics
    explain: Identifier = field(default_factory=SpikeSlab)  # says what drives what among those kept
    # regressors beside those kept: the inputs, and in the bilinear form their products with what is kept
    always_kept: tuple[str, ...] = ()
    decided: Estimate | None = None  # where a graph decided: what drives what among all candidates
    # what was done about the stability of the model, or how its fit ended; empty if there is nothing to say
    status: str = ""
    # what there was to choose from, where that is not the regressors of the dictionary
    candidate_names: tuple[str, ...] | None = None

    @property
    def candidates(self) -> tuple[str, ...]:
        """Names of everything that there was to choose from."""
        return self.dictionary.regressors if self.candidate_names is None else self.candidate_names

    @property
    def graph_decides(self) -> bool:
        """Whether the explanation is what decided."""
        return self.decided is not None

    @cached_property
    def explanation(self) -> Estimate:
        """What drives what, on the kept set, or on all candidates where the graph decided; computed when asked for."""
        return self.explain.identify(self.kept) if self.decided is None else self.decided

    def _facts(self) -> Facts:
        kept = f"{self.path.choice.size} of {self.path.candidates}"
        return {"form": self.path.form, "kept": kept, "graph decides": "yes" if self.graph_decides else "no"}
