"""What the page's script needs to know about a run, as plain values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from koopsieve._json import plain
from koopsieve._types import FloatArray
from koopsieve.evaluate.residuals import Correlation, residual_tests
from koopsieve.evaluate.spectra import spectrum
from koopsieve.model import Model
from koopsieve.plots.examples import Example, examples
from koopsieve.report.record import packed, record, rounded, spectra
from koopsieve.report.why import Row
from koopsieve.sieve import SievePath
from koopsieve.sieve.result import EVERYTHING, SieveResult
from koopsieve.sieve.views import contenders, judged_model

MAX_MATRIX = 60_000  # numbers of the model's matrices that the page holds; larger models are in model.npz only
MAX_SHOWN = 200  # observables in the inclusion matrix


def content(result: SieveResult, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the run as the page's script reads it; `rows` are the chains of `why`."""
    model = judged_model(result)
    return {
        "dt": result.model.dt,
        "outputs": result.model.output_names,
        "inputs": result.model.input_names,
        "horizons": result.horizons,
        "judgedOn": result.judged.on,
        "record": record(result),
        "spectra": spectra(result),
        "models": [
            {"name": one.name, "label": one.label, "terms": one.terms, "kept": one.of_kept, "error": one.errors.mean}
            for one in contenders(result)
        ],
        "examples": [_stretch(example) for example in examples(result)],
        "residuals": _residuals(result, model),
        "names": result.dictionary.regressors,
        "path": _path(result.path),
        "drives": _drives(result, rows),
        "eigenvalues": {
            "everything": _spectrum(result.baselines[EVERYTHING].model, result),
            "sifted": _spectrum(model, result),
        },
        "matrices": _matrices(result.model),
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


def _residuals(result: SieveResult, model: Model) -> list[dict[str, Any]]:
    found = residual_tests(model, result.judged.data)
    charts = []
    for output in result.model.output_names:
        charts.append({"of": output, "with": None, **_correlation(found.whiteness[output])})
        charts += [{"of": output, "with": name, **_correlation(one)} for name, one in found.inputs[output].items()]
    return charts


def _correlation(found: Correlation) -> dict[str, Any]:
    return {"lags": found.lags, "value": rounded(found.value), "limit": found.limit, "passed": found.passed}


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


def _drives(result: SieveResult, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the explanation's matrix; of very many observables the strongest, and then without a threshold to move."""
    found, reduction = result.explanation, result.reduction
    targets = np.array([row.index for row in rows][:MAX_SHOWN] or range(len(found.targets)), dtype=np.intp)
    count = len(found.targets) if rows else 0  # the first regressors are the targets, the others are drives
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


def _spectrum(model: Model, result: SieveResult) -> dict[str, Any]:
    found = spectrum(model, result.judged.data)
    values = np.column_stack([found.values.real, found.values.imag])
    residuals = None if found.residuals is None else rounded(found.residuals)
    return {"of": found.of, "values": rounded(values), "residuals": residuals}


def _matrices(model: Model) -> dict[str, Any] | None:
    """Return the model's numbers with names of rows and columns; none where they would fill the page."""
    arrays = {name: np.asarray(array) for name, array in model.arrays().items() if name in _LABELS}
    if sum(array.size for array in arrays.values()) > MAX_MATRIX:
        return None
    named = {"φ": model.names, "u": model.signals.acting, "y": model.output_names, "ψ": model.dictionary.regressors}
    found: dict[str, Any] = {}
    for name, array in arrays.items():
        rows, columns = (named[letter] for letter in _LABELS[name])
        pages = (
            [(name, array)]
            if array.ndim == 2
            else [(f"{name}_{u}", one) for u, one in zip(named["u"], array, strict=True)]
        )
        found |= {page: _matrix(values, rows, columns) for page, values in pages}
    return found


def _matrix(values: FloatArray, rows: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    return {"rows": rows, "columns": columns, "values": packed(values)}


_LABELS = {"A": "φφ", "B": "φu", "N": "φφ", "C": "yφ", "coef": "ψy"}  # what rows and columns of each array are
