"""What sifting gave: one frozen value that reports, plots and files take."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from koopsieve._archive import Arrays, from_plain, read_archive, to_plain, write_archive
from koopsieve._display import Facts, Shown, html_grid, html_table, number, shorten, steps
from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.data import Embedding
from koopsieve.data.provenance import Provenance
from koopsieve.dictionary import Dictionary
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.registry import require_named_modules
from koopsieve.evaluate import Diagnostics, Errors
from koopsieve.forms import Model, Outcome
from koopsieve.forms.path import SievePath
from koopsieve.identify import Estimate, interchangeable_groups
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.algorithm_2 import Reduction
from koopsieve.sifting.judge import SIFTED, Baseline, JudgedMethod, LinearComparison
from koopsieve.sifting.parts import EvaluationData
from koopsieve.sifting.preliminary import SearchSummary
from koopsieve.sifting.tables import cautions, remarks
from koopsieve.uncertainty import Coverage

if TYPE_CHECKING:
    from pandas import DataFrame

KIND = "koopsieve result"
VERSION = 2


@dataclass(frozen=True, eq=False, repr=False)
class SieveResult(Shown):
    """What sifting a dictionary gave.

    Parameters
    ----------
    outcome : Outcome
        The search in the form that was taken: path, model, statistics, explanation.
    paths : mapping from form to SievePath
        Every form that was tried; of several dictionaries the best one's.
    errors : Errors
        Of the model, on the evaluation data.
    diagnostics : Diagnostics
        Of the model.
    baselines : mapping from name to Baseline
        "persistence", "linear" (the best plain linear model: past samples and a constant) and "everything".
    beside_linear : tuple of LinearComparison
        The model and that linear one from the same starts: on what the choice was made on, then on the evaluation data.
    comparison : mapping from name to JudgedMethod
        Further methods that were asked for, on all observables and on those kept.
    reduction : Reduction
        The graph of the explanation.
    evaluation : EvaluationData
        What the errors are of.
    coverage : Coverage, optional
        How well the model's bands hold on the evaluation data, at the level asked for; not where these are what it was
        calibrated on.
    samples : mapping from part to int
        How many samples were learned from, validated on and judged on; and the number of folds that those learned from
        were cut into.
    seconds : mapping from stage to float
    seed, level : int and float
        As they were asked for.
    searches : tuple of SearchSummary
        Every preliminary and full search, in their order.
    left_out : tuple of str
        Searches that were not made because the time limit was reached.
    unstable : bool
        Whether the plant seems to be unstable, logged under feedback; then the shorter horizons decided.
    provenance : Provenance
        What was done to the data on the way in, with counts: gaps, resampling, samples left out.
    """

    outcome: Outcome
    paths: Mapping[str, SievePath]
    errors: Errors
    diagnostics: Diagnostics
    baselines: Mapping[str, Baseline]
    beside_linear: tuple[LinearComparison, ...]
    reduction: Reduction
    evaluation: EvaluationData
    samples: Mapping[str, int]
    seconds: Mapping[str, float]
    seed: int
    level: float = 0.9
    comparison: Mapping[str, JudgedMethod] = field(default_factory=dict)
    coverage: Coverage | None = None
    searches: tuple[SearchSummary, ...] = ()
    left_out: tuple[str, ...] = ()
    unstable: bool = False
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def model(self) -> Model:
        """The chosen model, learned from learning and validation data together."""
        return self.outcome.model

    @property
    def judged_model(self) -> Model:
        """The model that the errors are of: before it learned from the validation data, if they are on these."""
        return self.path.choice.model if self.evaluation.on == "validation" else self.model

    @property
    def learned_from_all(self) -> bool:
        """Whether the model has learned from the validation data too; it is not kept where that made it worse."""
        mine, judged = self.model.arrays(), self.path.choice.model.arrays()
        alike = mine.keys() == judged.keys() and all(np.array_equal(mine[name], judged[name]) for name in mine)
        return self.samples["validation"] > 0 and not alike

    @property
    def form(self) -> str:
        """The prediction form of the model."""
        return self.model.form

    @property
    def path(self) -> SievePath:
        """How the size was chosen, in the form that was taken."""
        return self.outcome.path

    @property
    def horizons(self) -> tuple[int, ...]:
        """Steps ahead at which errors are given."""
        return self.path.horizons

    @property
    def dictionary(self) -> Dictionary:
        """All candidates."""
        return self.outcome.dictionary

    @property
    def statistics(self) -> RegressionStatistics:
        """Of learning and validation data, for all candidates; enough to refit with anything else."""
        return self.outcome.statistics

    @property
    def explanation(self) -> Estimate:
        """Which regressor drives which target, with probabilities: of the kept set, or of all if the graph decided."""
        return self.outcome.explanation

    @property
    def interchangeable(self) -> tuple[tuple[str, ...], ...]:
        """Groups of explained regressors that could stand for one another, and share their probability."""
        explained = self.statistics if self.outcome.graph_decides else self.outcome.kept
        return interchangeable_groups(explained, self.explanation, constant=self.dictionary.constant)

    @property
    def retained(self) -> IndexArray:
        """Indices of the regressors kept."""
        return self.path.retained

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the regressors kept."""
        return self.path.retained_names

    @property
    def n_terms(self) -> int:
        """Number of regressors that the model uses, input terms included."""
        return len(self.retained) + len(self.outcome.always_kept)

    @property
    def terms(self) -> DataFrame:
        """The model's terms as a data frame: formula, coefficient and probability for every output.

        A coefficient is what the term adds to the output one step ahead; the probability, by spike and slab, is missing
        where the explanation has none.
        """
        from pandas import DataFrame, Index

        from koopsieve.sifting.tables import term_rows

        rows = term_rows(self)
        table: dict[str, list[Any]] = {"formula": [row["formula"] for row in rows]}
        for name in self.model.driven_names:
            table[f"coefficient of {name}"] = [row["coefficient"][name] for row in rows]
            table[f"probability for {name}"] = [row["probability"].get(name, np.nan) for row in rows]
        return DataFrame(table, index=Index([row["name"] for row in rows], name="term"))

    @property
    def embedding(self) -> Embedding:
        """The delays in the model's state."""
        return self.model.signals.embedding

    @property
    def gain_over_linear(self) -> FloatArray:
        """Best plain linear model's NMSE over the sifted one's on the evaluation data, per horizon (typical ratio)."""
        return self.beside_linear[-1].gain

    @property
    def beats_linear(self) -> bool:
        """Whether its error on the evaluation data is less than that of the best plain linear model, beyond doubt."""
        return self.beside_linear[-1].better

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before any number is read: test data outside what was learned from, or predicted far worse."""
        return cautions(self)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know, in words: the choice, the baseline, what is worrying about the model."""
        return remarks(self)

    def describe(self) -> str:
        """Say in words what was kept, how well it predicts and what to be careful about."""
        ahead = [*map(str, self.horizons[:-1]), steps(self.horizons[-1])]
        errors = ", ".join(f"{number(error)} at {h}" for error, h in zip(self.errors.mean, ahead, strict=True))
        done = [self.provenance.describe()] if self.provenance.changed else []
        remarks = [one for one in self.remarks if one not in self.cautions]
        folded = self.evaluation.on == "validation" and self.samples.get("folds")
        on = f"{self.evaluation.on} data{' alone, without the folds' if folded else ''}"
        return " ".join([*self.cautions, *done, *remarks, f"NMSE on {on}: {errors}."])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole result to one .npz file of arrays and JSON, whole or not at all; `load` reads it.

        Training data are not in it, the data that errors are of are.

        Raises
        ------
        KoopsieveError
            If it holds a user's own code, or the file could not be written.
        """
        header, arrays = to_plain(self)
        write_archive(path, KIND, VERSION, header, arrays)

    @staticmethod
    def load(path: str | os.PathLike[str], functions_from: Sequence[str] = ()) -> SieveResult:
        """Read a result that `save` wrote; nothing in the file is executed.

        Parameters
        ----------
        path : path
        functions_from : sequence of str
            Modules of yours that functions named by the file may be imported from: see `Model.load`.

        Raises
        ------
        KoopsieveError
            If the file is damaged, foreign, or of a version with other fields.
        """
        return read_archive(path, KIND, VERSION, lambda header, arrays: _built(header, arrays, functions_from))

    def _facts(self) -> Facts:
        error = f"{number(self.errors.mean[-1])} at {steps(self.horizons[-1])} on {self.evaluation.on} data"
        return {"form": self.form, "kept": f"{len(self.retained)} of {self.path.candidates}", "NMSE": error}

    def _repr_html_(self) -> str:
        facts = {**self._facts(), "terms": shorten(self.retained_names), "remarks": " ".join(self.remarks)}
        models = {SIFTED: self.errors, **{name: one.errors for name, one in self.baselines.items()}}
        rows = ([name, *map(number, errors.mean)] for name, errors in models.items())
        title = f"NMSE on {self.evaluation.on} data, mean of the outputs"
        return html_table("SieveResult", facts) + html_grid(title, ["", *map(steps, self.horizons)], rows)


def _built(header: Mapping[str, Any], arrays: Arrays, functions_from: Sequence[str]) -> SieveResult:
    def check(part: object) -> None:
        if isinstance(part, Observables):
            require_named_modules([part], functions_from)

    found = from_plain(header, arrays, check)
    if not isinstance(found, SieveResult):
        raise KoopsieveError(f"It holds {type(found).__name__}.")
    return found


@runtime_checkable
class FittedEstimator(Protocol):
    """An estimator after `fit`: `KoopmanSieve` is one."""

    result_: SieveResult


Sifted = SieveResult | FittedEstimator


def result_of(given: Sifted) -> SieveResult:
    """Return the result itself, or that of a fitted estimator."""
    found = given.result_ if isinstance(given, FittedEstimator) else given
    if not isinstance(found, SieveResult):
        raise KoopsieveError(
            f"Expected the result of sift(), or a KoopmanSieve after fit(). Got {type(given).__name__}; "
            "call sift(...) or fit(...) first."
        )
    return found
