"""The values that the page's script reads; from every observable the strongest chain of dependencies to an output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from koopsieve._display import probability
from koopsieve._written import plain
from koopsieve.forms import Model
from koopsieve.forms.path import SievePath
from koopsieve.forms.spectra import Responses, responses, spectrum
from koopsieve.plots.time_plots import Example, examples
from koopsieve.report.record import packed, record, rounded, spectra
from koopsieve.sieve import strength
from koopsieve.sifting.judge import EVERYTHING
from koopsieve.sifting.result import SieveResult
from koopsieve.sifting.tables import contenders

MAX_MATRIX = 60_000  # numbers of the model's matrices that the page holds; larger models are in model.npz only
MAX_SHOWN = 200  # observables in the inclusion matrix


def content(result: SieveResult, rows: Sequence[ChainRow]) -> dict[str, Any]:
    """Return the run as the page's script reads it; `rows` are those of `chains`."""
    label = result.model.signals.label
    return {
        "dt": result.model.dt,
        "outputs": result.model.output_names,
        "inputs": result.model.input_names,
        "labels": {name: label(name) for name in (*result.model.output_names, *result.model.input_names)},
        "horizons": result.horizons,
        "judgedOn": result.evaluation.on,
        "record": record(result),
        "spectra": spectra(result),
        "models": [
            {"name": one.name, "label": one.label, "terms": one.terms, "kept": one.of_kept, "error": one.errors.mean}
            for one in contenders(result)
        ],
        "examples": [_stretch(example) for example in examples(result)],
        "names": result.outcome.candidates,
        "path": _path(result.path),
        "drives": _drives(result, rows),
        "everything": _eigenvalues(result.baselines[EVERYTHING].model, result),
        "matrices": _matrices(result.model),
        "responses": _responses(responses(result.judged_model, result.evaluation.data)),
    }


def script_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element, whatever names the user's columns have.

    Examples
    --------
    >>> script_json({"name": "</script><b>"})
    '{"name":"\\u003c/script\\u003e\\u003cb\\u003e"}'
    """
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _stretch(example: Example) -> dict[str, Any]:
    return {
        "kind": example.kind,
        "episode": example.episode,
        "start": example.start,
        "measured": rounded(example.measured.T),
        "predicted": {name: rounded(values.T) for name, values in example.predicted.items()},
        "band": None if example.band is None else [rounded(limit.T) for limit in example.band],
    }


def _path(path: SievePath) -> dict[str, Any]:
    return {
        "chosen": path.chosen,
        "points": [
            {
                "retained": point.retained,
                "error": rounded(point.errors.error),
                "spread": rounded(point.errors.standard_error),
            }
            for point in path.points
        ],
    }


def _drives(result: SieveResult, rows: Sequence[ChainRow]) -> dict[str, Any]:
    """Return the explanation's matrix; of very many observables the strongest, and then without a threshold to move."""
    found, reduction = result.explanation, result.reduction
    targets = np.array([row.index for row in rows][:MAX_SHOWN] or range(len(found.targets)), dtype=np.intp)
    count = len(found.targets) if rows else 0  # the first regressors are the targets, the others are input terms
    regressors = np.concatenate([targets if rows else [], np.arange(count, len(found.regressors))[:MAX_SHOWN]])
    order = regressors.astype(np.intp)
    return {
        "regressors": [found.regressors[i] for i in order],
        "targets": [found.targets[i] for i in targets],
        "inclusion": packed(found.inclusion[np.ix_(order, targets)]),
        "outputs": [place for place, i in enumerate(targets) if i in reduction.outputs],
        "threshold": reduction.threshold,
        "movable": result.outcome.graph_decides and 0 < len(rows) <= MAX_SHOWN,
    }


def _eigenvalues(model: Model, result: SieveResult) -> list[list[float]]:
    values = spectrum(model, result.evaluation.data, residuals=False).values
    found: list[list[float]] = rounded(np.column_stack([values.real, values.imag]))
    return found


def _responses(found: Responses | None) -> dict[str, Any] | None:
    """Return step and frequency responses per output and input; phases in degrees, unwrapped."""
    if found is None:
        return None
    phase = np.degrees(np.unwrap(np.angle(found.gain), axis=0))
    return {
        "time": rounded(found.time),
        "frequency": rounded(found.frequency),
        "step": rounded(found.step.transpose(1, 2, 0)),
        "gain": rounded(np.abs(found.gain).transpose(1, 2, 0)),
        "phase": rounded(phase.transpose(1, 2, 0)),
        "outputs": rounded(found.outputs),
        "inputs": rounded(found.inputs),
        "stable": found.stable,
    }


def _matrices(model: Model) -> dict[str, Any] | None:
    """Return the model's numbers with names of rows and columns; none where they would fill the page."""
    found = model.matrices()
    if sum(one.values.size for one in found.values()) > MAX_MATRIX:
        return None
    return {
        name: {"rows": one.rows, "columns": one.columns, "values": packed(one.values)} for name, one in found.items()
    }


@dataclass(frozen=True)
class ChainRow:
    """One observable; `acts` sums its inclusion over the targets that an output depends on."""

    index: int
    name: str
    strength: float
    acts: float
    path: tuple[tuple[str, str], ...]
    output: bool
    retained: bool


def chains(result: SieveResult) -> list[ChainRow]:
    """Return the observables of the explanation, the strongest first, each with its strongest path to an output.

    Of equally strong ones those nearer to an output come first, then those that act on more. Where no
    observables are carried, terms drive the outputs directly, and there are no chains.
    """
    if not result.model.carries_observables:
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
        rows.append(ChainRow(i, names[i], float(found.value[i]), float(acts[i]), path, i in outputs, i in kept))
    return rows
