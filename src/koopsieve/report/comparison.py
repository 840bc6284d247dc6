"""Several runs side by side on one page, from what they left in their `summary.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from koopsieve._display import number, per_cent, steps
from koopsieve._types import KoopsieveError
from koopsieve._written import json_number, plain, read_json, write_text
from koopsieve.io.run import summarise
from koopsieve.report.html import rendered
from koopsieve.sifting.judge import LINEAR, SIFTED
from koopsieve.sifting.result import Sifted

SCRIPTS = ("values", "chart", "compare")
Summary = Mapping[str, Any]
_NEEDED = (
    *("form", "observables", "terms", "embedding", "horizons", "models", "path", "residuals", "condition_number"),
    *("spectral_radius", "beats_linear", "judged_on", "seconds", "version", "seed", "dt", "data"),
)


def write_comparison(
    runs: Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    title: str = "Runs side by side",
    overwrite: bool = True,
) -> None:
    """Write a page that compares runs, whole or not at all.

    Parameters
    ----------
    runs : sequence of path
        Folders that `write_run` or `koopsieve sift` wrote, or their `summary.json`.
    path : path
        Where to.
    title : str
    overwrite : bool
        Whether a file of that name is replaced.

    Raises
    ------
    KoopsieveError
        If there are fewer than two runs, or one is not there or not of a run, or the file is there and stays.
    """
    found = {name: read_summary(run) for name, run in zip(run_names(runs), runs, strict=True)}
    write_text(path, render_comparison(found, title), overwrite)


def render_comparison(runs: Mapping[str, Summary | Sifted], title: str = "Runs side by side") -> str:
    """Return the page that compares runs, given by name as summaries, results or fitted estimators, as HTML."""
    if len(runs) < 2:
        raise KoopsieveError(f"Compare two runs or more. Got {len(runs)}.")
    summaries = {name: plain(run if isinstance(run, Mapping) else summarise(run)) for name, run in runs.items()}
    return rendered(
        "comparison.html",
        SCRIPTS,
        {"runs": [_curves(name, summary) for name, summary in summaries.items()]},
        title=title,
        runs=summaries,
        facts=facts(summaries),
        same=judged_alike(summaries),
        terms=kept_terms(summaries),
    )


def read_summary(run: str | os.PathLike[str]) -> Summary:
    """Return the summary in a run's folder."""
    place = Path(run)
    place = place / "summary.json" if place.is_dir() else place
    try:
        found = read_json(place)
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise KoopsieveError(
            f"{place} cannot be read: {error}. Expected the folder of a run, with its summary.json."
        ) from error
    missing = [key for key in _NEEDED if not isinstance(found, dict) or key not in found]
    if missing:
        raise KoopsieveError(
            f"{place} is not the summary of a run: it lacks {', '.join(missing[:4])}. Run `koopsieve sift` again to "
            "write it."
        )
    return dict(found)


def run_names(runs: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return a short name per run, the shortest end of its path that no other has.

    Examples
    --------
    >>> run_names(["a/first", "a/second"]), run_names(["a/result", "b/result/summary.json"])
    (['first', 'second'], ['a/result', 'b/result'])
    """
    parts = [Path(run).parent.parts if Path(run).name == "summary.json" else Path(run).parts for run in runs]
    for length in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{number}: {'/'.join(part)}" for number, part in enumerate(parts, start=1)]


class Fact(NamedTuple):
    """A row of the table: what it is, its value in every run, which run is best where one can be.

    A short table has the rows that are `brief`.
    """

    what: str
    values: list[str]
    best: int | None = None
    brief: bool = False


def facts(runs: Mapping[str, Summary]) -> list[Fact]:
    """Return the rows of the table."""
    horizons = sorted({h for summary in runs.values() for h in summary["horizons"]})
    rows = [
        Fact("form", [s["form"] for s in runs.values()], brief=True),
        Fact(
            "kept", [f"{s['observables']['reduced']} of {s['observables']['full']}" for s in runs.values()], brief=True
        ),
        Fact("terms of the model", [str(s["terms"]) for s in runs.values()]),
        Fact("past samples of outputs, inputs", [_delays(s) for s in runs.values()]),
        Fact("judged on", [s["judged_on"] for s in runs.values()]),
    ]
    alike = judged_alike(runs)
    for h in horizons:
        errors = [mean_error(s, SIFTED, h) for s in runs.values()]
        best = _largest([-e for e in errors]) if alike else None
        rows.append(Fact(f"NMSE, {steps(h)}", list(map(number, errors)), best, brief=True))
    beside = [number(mean_error(s, LINEAR, horizons[-1])) for s in runs.values()]
    fits = [min(map(json_number, s["models"][SIFTED]["simulation_fit"].values())) for s in runs.values()]
    rows += [
        Fact(f"NMSE of the linear model, {steps(horizons[-1])}", beside),
        Fact("fit of the simulation, worst output", list(map(per_cent, fits)), _largest(fits) if alike else None, True),
        Fact("beats the linear model", ["yes" if s["beats_linear"] else "no" for s in runs.values()], brief=True),
        Fact("residual tests", ["passed" if s["residuals"]["passed"] else "not passed" for s in runs.values()]),
        Fact("condition number of A", [number(json_number(_sifted(s, "condition_number"))) for s in runs.values()]),
        Fact("spectral radius", [number(json_number(_sifted(s, "spectral_radius"))) for s in runs.values()]),
        Fact("seconds", [number(sum(map(json_number, s["seconds"].values()))) for s in runs.values()]),
        Fact("version, seed", [f"{s['version']}, {s['seed']}" for s in runs.values()]),
    ]
    return rows


def judged_alike(runs: Mapping[str, Summary]) -> bool:
    """Return whether the runs seem to be judged on the same data: the same channels, of nearly the same deviation."""
    seen = [{name: json_number(one["deviation"]) for name, one in s["data"]["channels"].items()} for s in runs.values()]
    first = seen[0]
    return len({s["judged_on"] for s in runs.values()}) == 1 and all(
        one.keys() == first.keys() and all(np.isclose(one[name], first[name], rtol=0.01) for name in first)
        for one in seen
    )


def mean_error(summary: Summary, model: str, horizon: int) -> float:
    """Return a model's NMSE at a horizon, mean of the outputs; nan where the run has no such horizon."""
    if horizon not in summary["horizons"]:
        return np.nan
    place = summary["horizons"].index(horizon)
    return float(np.mean([json_number(errors[place]) for errors in summary["models"][model]["nmse"].values()]))


def kept_terms(runs: Mapping[str, Summary]) -> list[tuple[str, list[bool]]]:
    """Return every term that some run kept, those that most runs kept first."""
    kept = [set(summary["observables"]["retained"]) for summary in runs.values()]
    every = dict.fromkeys(name for summary in runs.values() for name in summary["observables"]["retained"])
    rows = [(name, [name in one for one in kept]) for name in every]
    return sorted(rows, key=lambda row: -sum(row[1]))


def _largest(values: Sequence[float]) -> int | None:
    """Return which value is largest; none where there are not two to compare."""
    known = np.array(values)
    return int(np.nanargmax(known)) if np.isfinite(known).sum() > 1 else None


def _delays(summary: Summary) -> str:
    return f"{summary['embedding']['state_delays']}, {summary['embedding']['input_delays']}"


def _sifted(summary: Summary, what: str) -> Any:
    return summary[what]["reduced"][SIFTED]


def _curves(name: str, summary: Summary) -> dict[str, Any]:
    return {
        "name": name,
        "horizons": summary["horizons"],
        "dt": summary["dt"],
        "error": [mean_error(summary, SIFTED, h) for h in summary["horizons"]],
        LINEAR: [mean_error(summary, LINEAR, h) for h in summary["horizons"]],
        "sizes": summary["path"]["sizes"],
        "chosen": summary["path"]["chosen"],
        "path": [errors[-1] for errors in summary["path"]["nmse"]],
    }
