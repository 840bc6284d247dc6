"""What a user should know of a result, in words: cautions before any number is read, and remarks on the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from koopsieve._display import number, steps

if TYPE_CHECKING:
    from koopsieve.sifting.result import SieveResult

MUCH_WORSE = 10.0  # times the error on the validation data that an error on test data is worth a word
MIN_SAMPLES_PER_STEP = 10  # of the longest horizon; with fewer, little is known of errors there
MIN_SAMPLES = 100  # with fewer, little is known of any error


def cautions(result: SieveResult) -> tuple[str, ...]:
    """Return what to know before any number: test data outside what was learned from, or predicted far worse."""
    if result.evaluation.on == "validation":
        return ()
    support = None if result.model.calibration is None else result.model.calibration.support
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
    bands = None if result.model.calibration is None else result.model.calibration.bands
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
    if first.better and last.worse:
        yield f"Validation and {last.on} data disagree: on validation data its NMSE is less than that model's."
    if not result.errors.mean[-1] < 1:
        yield f"At {steps(result.horizons[-1])} it predicts worse than the mean of the outputs would."
    learned = result.samples["learn"] + result.samples["validation"]
    if 0 < learned < max(MIN_SAMPLES_PER_STEP * result.horizons[-1], MIN_SAMPLES):
        instead = ", or ask for shorter horizons" if learned >= MIN_SAMPLES else ""
        yield (
            f"{learned} samples are few for predictions {steps(result.horizons[-1])} ahead: what is said here of "
            f"accuracy is uncertain. Give more data{instead}."
        )
