"""What the reduction benchmark measures, one JSON line each: written as they come, so that a run can be stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ONE_STEP, HORIZONS = "one step", "horizons"
ALL = "all"
WORST = 10.0  # a larger error counts as this in means: such a model is of no use, however far it diverges


@dataclass(frozen=True)
class Row:
    """One model of one case.

    Parameters
    ----------
    system, noise, seed, samples
        The case.
    asked : str
        The size asked for, or "all".
    method, refit : str
        How the observables were chosen, and how the model on them was fitted.
    kept : int
        How many the method kept.
    error : tuple of float
        NMSE on test data at the shown horizons, mean over the outputs.
    score : float
        Mean logarithm of the error on validation data, long horizons weighted: what a user could choose by.
    condition : float
        Of the Koopman matrix.
    seconds : float
        CPU time of the choice, without the refit.
    """

    system: str
    noise: str
    seed: int
    samples: int
    asked: str
    method: str
    refit: str
    kept: int
    error: tuple[float, ...]
    score: float
    condition: float
    seconds: float


@dataclass(frozen=True)
class Choice:
    """What the path chose and how it compares; ratios are error over error at the shown horizons, on test data.

    Parameters
    ----------
    plain, refitted : tuple of float
        The choice as it was judged, learned from the training data, over everything, learned from the same: by least
        squares, and by the same refit as the choice (everything is the last point of the path).
    final : tuple of float
        The model that the path hands out, learned from training and validation data, over least squares on everything
        that learned from both.
    error, best_error : tuple of float
        Test errors of the choice, and of the point of the path that has the least test error (geometric mean over the
        horizons). `best` is how many that one keeps.
    validation : float
        Validation error of the choice over that of the best point, geometric mean over the horizons.
    words : str
        What the path says of a choice that keeps more than a quarter.
    finite : bool
        Whether a prediction over 1000 steps stays finite.
    """

    system: str
    noise: str
    seed: int
    samples: int
    kept: int
    full: int
    plain: tuple[float, ...]
    refitted: tuple[float, ...]
    final: tuple[float, ...]
    error: tuple[float, ...]
    best: int
    best_error: tuple[float, ...]
    regret: float
    validation: float
    words: str
    finite: bool
    seconds: float


Found = Row | Choice


def case_of(found: Found) -> tuple[str, tuple[str, str, int, int]]:
    """Return which part of the benchmark this belongs to, and the key of its case."""
    return type(found).__name__, (found.system, found.noise, found.seed, found.samples)


def read_rows(path: Path) -> list[Found]:
    """Return what was written; nothing where there is no file. A last line that was cut off is left out."""
    if not path.exists():
        return []
    whole = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [_from(json.loads(line)) for line in whole]


def write_rows(path: Path, rows: Iterable[Found]) -> None:
    """Append rows in one piece, so that a case is there whole or not at all."""
    text = "".join(json.dumps({"kind": type(row).__name__, **asdict(row)}) + "\n" for row in rows)
    with path.open("ab", buffering=0) as file:
        file.write(text.encode())


def _from(fields: dict) -> Found:
    kind = {"Row": Row, "Choice": Choice}[fields.pop("kind")]
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})
