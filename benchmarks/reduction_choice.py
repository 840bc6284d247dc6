"""The automatic choice of the horizon sieve's path, against models on all candidates that learned from the same."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from reduction_systems import Case, Problem

from koopsieve import LiftedModel, SievePath, horizon_nmse, sift
from koopsieve.evaluate import free_run
from koopsieve.sieve.forms.refits import LONG_RUN

ALLOWED = 1.1


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen and how it compares; every ratio is error over error at the shown horizons, on test data.

    Parameters
    ----------
    plain, refitted : array
        The choice as it was judged, learned from the training data, over everything, learned from the same: by least
        squares, and by the same refit as the choice (everything is the last point of the path).
    final : array
        The model that the path hands out, learned from training and validation data, over least squares on everything
        that learned from both.
    words : str
        What the path says of a choice that keeps more than a quarter.
    finite : bool
        Whether a prediction over 1000 steps stays finite.
    """

    system: str
    noise: str
    seed: int
    kept: int
    full: int
    plain: np.ndarray
    refitted: np.ndarray
    final: np.ndarray
    words: str
    finite: bool
    seconds: float

    @property
    def keeps_to_the_error(self) -> bool:
        return bool(np.all(self.plain <= ALLOWED))

    def markdown(self) -> str:
        ratios = (" / ".join(f"{value:.2f}" for value in part) for part in (self.plain, self.refitted, self.final))
        noise = self.noise if self.noise == "measured" else f"{self.noise}, seed {self.seed}"
        return (
            f"| {self.system} | {noise} | {self.kept} | {self.full} | {100 * self.kept / self.full:.0f} % | "
            f"{' | '.join(ratios)} | {self.seconds:.0f} |"
        )


def chosen(problem: Problem, seed: int) -> tuple[Choice, SievePath]:
    """Return the choice on one problem, and the path that it was made on."""
    begun = time.process_time()
    settings = {"validation": problem.validation, "horizons": problem.shown, "form": "linear"}
    result = sift(problem.train, problem.recipe(), **settings)
    seconds = time.process_time() - begun
    path = result.path
    plain, final = result.outcome.everything
    choice, everything = path.choice.model, path.points[-1].model
    error = test_error(choice, problem)
    return Choice(
        system=problem.name,
        noise=problem.noise,
        seed=seed,
        kept=path.choice.size,
        full=path.candidates,
        plain=error / test_error(plain, problem),
        refitted=error / test_error(everything, problem),
        final=test_error(result.model, problem) / test_error(final, problem),
        words=path.why_large,
        finite=all(stays_finite(model, problem) for model in (choice, result.model)),
        seconds=seconds,
    ), path


def choice_of(case: Case) -> Choice:
    """Return the choice on one case."""
    return chosen(case.problem(), case.seed)[0]


def test_error(model: LiftedModel, problem: Problem) -> np.ndarray:
    """Return the NMSE at the shown horizons, averaged over the outputs."""
    return np.mean(list(horizon_nmse(model, problem.test, problem.shown, truth=problem.truth).values()), axis=0)


def stays_finite(model: LiftedModel, problem: Problem) -> bool:
    """Tell whether a prediction over 1000 steps with the test inputs stays finite."""
    test = problem.test
    inputs = np.resize(test.inputs[0], (LONG_RUN, test.n_inputs)) if test.n_inputs else np.zeros((LONG_RUN, 0))
    return bool(np.isfinite(free_run(model, test.states[0][0], inputs)).all())


def choice_table(choices: list[Choice]) -> str:
    """Return the table of the choices, and in words where they miss what is promised of them."""
    lines = [
        "Automatic choice against everything (error over error on test data, by shown horizon; 0.00 where everything "
        "diverges):",
        "",
        "| system | noise | kept | of | share | against least squares | against the same refit | "
        "final, against least squares on all data | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
        *(choice.markdown() for choice in choices),
        "",
    ]
    good = sum(choice.keeps_to_the_error for choice in choices)
    lines.append(
        f"At most {ALLOWED} times the error of least squares on everything, at every horizon: {good} of {len(choices)}."
    )
    few = [choice for choice in choices if choice.kept <= choice.full / 4]
    lines.append(f"At most a quarter kept: {len(few)} of {len(choices)}.")
    lines += [
        f"- {choice.system}, {choice.noise}, seed {choice.seed}, kept {choice.kept}. The path says: {choice.words}"
        for choice in choices
        if choice.words
    ]
    finite = sum(choice.finite for choice in choices)
    lines.append(f"Predictions over 1000 steps that stay finite: {finite} of {len(choices)}.")
    return "\n".join(lines)
