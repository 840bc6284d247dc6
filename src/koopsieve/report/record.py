"""The judged record as the page draws it: every channel over time, free runs of the models, amplitude spectra."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.forms import Model
from koopsieve.plots.time_plots import band_around, run_along, shown_models
from koopsieve.sifting.judge import SIFTED
from koopsieve.sifting.result import SieveResult

MAX_VALUES = 180_000  # numbers of all series together; four bytes each, that is about one megabyte of the page
MAX_SPECTRUM = 2**16  # samples that a spectrum is taken of
_MAX_BINS = 240  # frequencies of a spectrum


@dataclass(frozen=True, eq=False)
class ShownPart:
    """A part of one episode that the page holds.

    Parameters
    ----------
    episode, rows : int
        The episode, and the number of its first samples.
    """

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
    runs = {name: run_along(model, result, part.episode, part.rows) for name, model in models.items()}
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
