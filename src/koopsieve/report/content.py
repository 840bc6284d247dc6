"""The values that the page's script reads: the judged record, free runs, spectra, the path, matrices, and chains.

A chain is the strongest way of dependencies from an observable to an output.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from koopsieve._display import probability
from koopsieve._types import FloatArray
from koopsieve.forms import Model
from koopsieve.forms.path import SievePath
from koopsieve.forms.spectra import Responses, responses, spectrum
from koopsieve.plots.time_plots import Example, band_around, examples, shown_models, simulated_rows
from koopsieve.sieve import strength
from koopsieve.sifting.judge import EVERYTHING, SIFTED
from koopsieve.sifting.result import SieveResult
from koopsieve.sifting.tables import contenders

MAX_VALUES = 180_000  # numbers of all series together; four bytes each, that is about one megabyte of the page
MAX_SPECTRUM = 2**16  # samples that a spectrum is taken of
_MAX_BINS = 240  # frequencies of a spectrum
MAX_MATRIX = 60_000  # numbers of the model's matrices that the page holds; larger models are in model.npz only
MAX_SHOWN = 200  # observables in the inclusion matrix


class ShownPart(NamedTuple):
    """A part of one episode that the page holds: its first `rows` samples."""

    episode: int
    rows: int


def shown_parts(lengths: Sequence[int], values_per_row: int) -> tuple[ShownPart, ...]:
    """Return what fits on the page: whole episodes from the first on, and the beginning of the last of them.

    Examples
    --------
    >>> shown_parts([50_000, 50_000, 50_000], values_per_row=3)
    (ShownPart(episode=0, rows=50000), ShownPart(episode=1, rows=10000))
    """
    room, found = MAX_VALUES // max(1, values_per_row), []
    for episode, length in enumerate(lengths):
        if room < 2:
            break
        found.append(ShownPart(episode, min(length, room)))
        room -= length
    return tuple(found)


def record(result: SieveResult) -> dict[str, Any]:
    """Return the judged record for the script: per part of it, measured channels and free runs, packed."""
    data, models = result.evaluation.data, shown_models(result)
    outputs, truth = len(result.model.output_names), result.evaluation.truth
    width = outputs * (1 + len(models) + (truth is not None)) + data.n_inputs
    parts = shown_parts([len(x) for x in data.states], width)
    return {
        "first": result.embedding.lost,
        "complete": sum(part.rows for part in parts) == data.n_samples,
        "samples": data.n_samples,
        "shown": sum(part.rows for part in parts),
        "runs": list(models),
        "parts": [
            {
                "episode": part.episode,
                "rows": part.rows,
                "outputs": _columns(data.states[part.episode][: part.rows, :outputs]),
                "inputs": _columns(data.inputs[part.episode][: part.rows - 1]),
                "truth": None if truth is None else _columns(truth.states[part.episode][: part.rows, :outputs]),
                **_runs(result, models, part),
            }
            for part in parts
        ],
    }


def _runs(result: SieveResult, models: Mapping[str, Model], part: ShownPart) -> dict[str, Any]:
    """Return the free runs along a part, and the band around the sifted model's as far ahead as it has one."""
    data = result.evaluation.data
    runs = {name: simulated_rows(model, result, part.episode, part.rows) for name, model in models.items()}
    band = band_around(result, data.states[part.episode][0], runs[SIFTED])
    return {
        "runs": {name: _columns(run) for name, run in runs.items()},
        "band": None if band is None else [_columns(limit) for limit in band],
    }


def spectra(result: SieveResult) -> dict[str, dict[str, list[float]]]:
    """Return the amplitude spectrum of every channel of the longest judged episode, thinned to a few hundred points."""
    data = result.evaluation.data
    longest = int(np.argmax([len(x) for x in data.states]))
    x, u = data.states[longest][:, : data.n_outputs], data.inputs[longest]
    names = (*data.output_names, *data.input_names)
    columns = [*x[:MAX_SPECTRUM].T, *u[:MAX_SPECTRUM].T]
    found = {}
    for name, column in zip(names, columns, strict=True):
        frequency, amplitude = amplitude_spectrum(column, data.dt)
        found[name] = {"frequency": rounded(frequency), "amplitude": rounded(amplitude)}
    return found


def amplitude_spectrum(values: FloatArray, dt: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies and the amplitude of a sine that would show as much, without the mean.

    A Hann window is used. Neighbouring frequencies are gathered on a logarithmic grid, the largest of each kept.

    Examples
    --------
    >>> t = np.arange(1000) * 0.01
    >>> frequency, amplitude = amplitude_spectrum(3 + 2 * np.sin(2 * np.pi * 5 * t), 0.01)
    >>> float(frequency[amplitude.argmax()].round(1)), float(amplitude.max().round(2))
    (5.0, 2.0)
    """
    window = np.hanning(len(values))
    centred = (values - values.mean()) * window
    amplitude: FloatArray = 2 * np.abs(np.fft.rfft(centred))[1:] / max(window.sum(), 1e-300)
    frequency: FloatArray = np.fft.rfftfreq(len(values), dt)[1:].astype(float)
    if len(frequency) <= _MAX_BINS:
        return frequency, amplitude
    borders = np.unique(np.geomspace(1, len(frequency), _MAX_BINS + 1).astype(int)) - 1
    largest = [first + int(np.argmax(amplitude[first:last])) for first, last in pairwise(borders.tolist())]
    return frequency[largest], amplitude[largest]


def packed(values: FloatArray, kind: str = "<f8") -> str:
    """Return an array as base64 of little-endian floats, row by row; "<f8" is exact, "<f4" half as long."""
    with np.errstate(over="ignore"):
        return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode()


def rounded(values: FloatArray, digits: int = 6) -> Any:
    """Return plain floats in a few digits, nested as the array is."""
    if values.ndim > 1:
        return [rounded(row, digits) for row in values]
    return [float(f"{value:.{digits}g}") for value in values]


def _columns(values: FloatArray) -> list[str]:
    return [packed(column, "<f4") for column in values.T]


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
        "dependencies": _dependencies(result, rows),
        "everything": _eigenvalues(result.baselines[EVERYTHING].model, result),
        "matrices": _matrices(result.model),
        "responses": _responses(responses(result.judged_model, result.evaluation.data)),
    }


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


def _dependencies(result: SieveResult, rows: Sequence[ChainRow]) -> dict[str, Any]:
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
