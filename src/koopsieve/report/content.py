"""What the page's script needs to know about a run, as plain values."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.io import plain
from koopsieve.plots.examples import Example, examples
from koopsieve.report.kept import kept_and_why
from koopsieve.sieve import SievePath
from koopsieve.workflow import SieveResult

_DIGITS = 6  # of curves and trajectories; probabilities are exact, because the page compares them


def content(result: SieveResult) -> dict[str, Any]:
    """Return the run as the page's script reads it."""
    return {
        "names": result.dictionary.names,
        "inputs": result.found.regressors[result.dictionary.size :],
        "outputs": result.reduction.outputs,
        "inclusion": packed(result.found.inclusion),
        "threshold": result.reduction.threshold,
        "order": [row.index for row in kept_and_why(result)],
        "horizons": result.horizons,
        "methods": {name: _errors(result, name) for name in result.reduced},
        "best": result.best,
        "eigenvalues": {size: _eigenvalues(result, size) for size in ("full", "reduced")},
        "sizes": {"full": result.dictionary.size, "reduced": len(result.retained)},
        "path": None if result.path is None else _path(result.path),
        "dt": result.model.dt,
        "judgedOn": result.judged_on,
        "outputNames": result.model.output_names,
        "examples": [_stretch(example) for example in examples(result)],
    }


def _path(path: SievePath) -> dict[str, Any]:
    return {
        "chosen": path.chosen,
        "points": [
            {"retained": point.retained, "error": _rounded(point.error), "spread": _rounded(point.standard_error)}
            for point in path.points
        ],
    }


def packed(values: FloatArray) -> str:
    """Return an array as base64 of little-endian 64-bit floats, row by row: exact, and of a known size."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()


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


def _errors(result: SieveResult, method: str) -> dict[str, Any]:
    return {
        size: _rounded(fits[method].diagnostics.mean_error)
        for size, fits in (("full", result.full), ("reduced", result.reduced))
    }


def _eigenvalues(result: SieveResult, size: str) -> list[list[float]]:
    fits = result.full if size == "full" else result.reduced
    values = fits[result.best].model.eigenvalues
    return [[float(f"{v.real:.{_DIGITS}g}"), float(f"{v.imag:.{_DIGITS}g}")] for v in values]


def _stretch(example: Example) -> dict[str, Any]:
    return {
        "kind": example.kind,
        "episode": example.episode,
        "start": example.start,
        **{name: _rounded(getattr(example, name).T) for name in ("measured", "full", "reduced")},
    }


def _rounded(values: FloatArray) -> Any:
    if values.ndim > 1:
        return [_rounded(row) for row in values]
    return [float(f"{value:.{_DIGITS}g}") for value in values]
