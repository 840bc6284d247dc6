"""A result as rows of a table, its models side by side and its terms; and what a user should know of it, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from koopsieve._display import number, steps
from koopsieve.evaluate import Errors
from koopsieve.forms import Model
from koopsieve.identify import Estimate
from koopsieve.sifting.judge import EVERYTHING, LINEAR, PERSISTENCE, SIFTED

if TYPE_CHECKING:
    from koopsieve.sifting.result import SieveResult


@dataclass(frozen=True, eq=False)
class Contender:
    """One model in the table of all: the sifted one, a baseline, or a further method.

    Parameters
    ----------
    name : str
        Of the model or the method.
    label : str
        The name, and for a further method whether it uses all terms or those kept.
    model : Model
    errors : Errors
        On the evaluation data.
    terms : int
        Number of regressors, input terms included.
    of_kept : bool
        Whether it uses the kept terms only.
    """

    name: str
    label: str
    model: Model
    errors: Errors
    terms: int
    of_kept: bool


def contenders(result: SieveResult) -> tuple[Contender, ...]:
    """Return the sifted model, the baselines, then each further method on all candidates and on those kept."""
    found = [Contender(SIFTED, SIFTED, result.model, result.errors, result.n_terms, of_kept=True)]
    for name in (LINEAR, EVERYTHING, PERSISTENCE):
        baseline = result.baselines[name]
        terms = len(baseline.model.output_names) if name == PERSISTENCE else _regressors(baseline.model)
        found.append(Contender(name, name, baseline.model, baseline.errors, terms, of_kept=False))
    for name, one in result.comparison.items():
        for which, fit in (("all", one.full), ("kept", one.reduced)):
            label, terms = f"{name}, {which}", _regressors(fit.model)
            found.append(Contender(name, label, fit.model, fit.errors, terms, of_kept=which == "kept"))
    return tuple(found)


def _regressors(model: Model) -> int:
    return len(model.term_names)


def term_rows(result: SieveResult) -> list[dict[str, Any]]:
    """Return every term of the model with its formula, and what it adds to what it drives one step ahead."""
    from koopsieve.export.formulas import formulas  # SymPy is loaded where it is used

    model, terms = result.model, result.model.output_terms()
    texts = formulas(model.step_dictionary)
    probability = probabilities(result.explanation)
    return [
        {
            "name": name,
            "formula": texts.get(name, name),
            "coefficient": dict(zip(model.driven_names, map(float, row), strict=True)),
            "probability": {o: probability[o][name] for o in model.driven_names if name in probability.get(o, {})},
        }
        for name, row in zip(terms.names, terms.coef, strict=True)
    ]


def probabilities(found: Estimate) -> dict[str, dict[str, float]]:
    """Return the inclusion probabilities by target, then by regressor."""
    columns = zip(found.targets, found.inclusion.T, strict=True)
    return {target: dict(zip(found.regressors, map(float, column), strict=True)) for target, column in columns}


MUCH_WORSE = 10.0  # times the error on the validation data that an error on test data is worth a word
MIN_SAMPLES_PER_STEP = 10  # of the longest horizon; with fewer, little is known of errors there
MIN_SAMPLES = 100  # with fewer, little is known of any error
SLOW, WELL_SAMPLED = 250, 20  # samples in which outputs lose half of their correlation: too many, and enough


def cautions(result: SieveResult) -> tuple[str, ...]:
    """Return what to know before any number: test data outside what was learned from, or predicted far worse."""
    if result.evaluation.on == "validation":
        return ()
    support = result.model.support
    beyond = "" if support is None else support.exceeded_by(result.evaluation.data)
    found = [f"The {result.evaluation.on} data go beyond what was learned from: {beyond}."] if beyond else []
    before, now = result.path.choice.errors.error[-1], result.errors.mean[-1]
    if beyond or not now <= MUCH_WORSE * before:
        found.append(
            f"At {steps(result.horizons[-1])} the NMSE is {number(now)} on the {result.evaluation.on} data; on the "
            f"validation data it was {number(before)}."
        )
    return tuple(found)


def remarks(result: SieveResult) -> tuple[str, ...]:
    """Return the choice, the baseline, and what is worrying about the model."""
    found = [*result.cautions, result.path.describe(), *([result.outcome.status] if result.outcome.status else [])]
    found += [result.beside_linear[-1].describe(), *_doubts(result)]
    if result.left_out:
        found.append(f"Not searched, because the time limit was reached: {'; '.join(result.left_out)}.")
    bands = result.model.bands
    shortage = "" if bands is None else bands.shortage(result.horizons[-1], result.level)
    return (*found, *result.diagnostics.warnings, *([shortage] if shortage else []))


def _doubts(result: SieveResult) -> Iterator[str]:
    """Yield what speaks against the model on the evaluation data."""
    first, last = result.beside_linear[0], result.beside_linear[-1]
    if result.unstable:
        yield (
            "The plant seems to be unstable and was logged under feedback: models that stay bounded predict the "
            "next sample far worse. So the shorter horizons decided. Do not simulate this model without feedback."
        )
        if result.model.spectral_radius < 1:
            yield (
                f"Yet this model is stable, with a spectral radius of {number(result.model.spectral_radius)}: from "
                "noisy samples it predicts several steps better than one that grows as the plant does. Do not control "
                "the plant with it, and ask for shorter horizons."
            )
    if first.better and last.worse:
        yield f"Validation and {last.on} data disagree: on validation data its NMSE is less than that model's."
    errors = result.errors.nmse
    worse = [name for name, error in errors.items() if not error[-1] < 1]
    if worse:
        which = "" if len(worse) == len(errors) else f" {', '.join(worse)}"
        yield f"At {steps(result.horizons[-1])} it predicts{which} worse than the mean would."
    learned = result.samples["learn"] + result.samples["validation"]
    if 0 < learned < max(MIN_SAMPLES_PER_STEP * result.horizons[-1], MIN_SAMPLES):
        instead = ", or ask for shorter horizons" if learned >= MIN_SAMPLES else ""
        yield (
            f"{learned} samples are few for predictions {steps(result.horizons[-1])} ahead: the errors "
            f"given here are uncertain. Give more data{instead}."
        )
    memory = result.evaluation.data.memory
    if memory > SLOW:
        every = round(memory / WELL_SAMPLED)
        yield (
            f"The record is sampled much faster than its outputs change: they lose half of their correlation in "
            f"{memory} samples. One sample in {every} tells as much; models of those are found sooner, and are often "
            f"far better in long runs. For a file, ask for resample={every * result.model.signals.dt:.4g}."
        )
