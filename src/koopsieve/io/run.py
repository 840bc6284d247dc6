"""What a run leaves behind: `summary.json`, the run in numbers under names that other programs rely on, and the model.

Everything that the report shows as a number is here, because the report takes it from here.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from koopsieve._display import csv_text
from koopsieve._exchange import whole_folder
from koopsieve._types import FloatArray
from koopsieve._version import __version__
from koopsieve._written import write_json, write_text
from koopsieve.evaluate import Errors
from koopsieve.evaluate.residuals import Correlation, ResidualTests, residual_tests
from koopsieve.forms.path import SievePath
from koopsieve.forms.spectra import Spectrum, spectrum
from koopsieve.identify import Estimate
from koopsieve.sifting.judge import LINEAR, PERSISTENCE
from koopsieve.sifting.preliminary import SearchSummary
from koopsieve.sifting.result import SieveResult, Sifted, result_of
from koopsieve.sifting.tables import Contender, contenders, probabilities, term_rows
from koopsieve.uncertainty.coverage import Coverage

RUN_FILES = ("summary.json", "model.npz", "inclusion.csv")


def write_run(given: Sifted, folder: str | os.PathLike[str], more: Mapping[str, Any] | None = None) -> None:
    """Write the run into `folder`, which is made if it is missing; the files appear together or not at all.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    folder : path
    more : mapping, optional
        Further entries of `summary.json`: see `summarise`.
    """
    result = result_of(given)
    with whole_folder(folder) as out:
        result.model.save(out / "model.npz")
        write_text(out / "inclusion.csv", inclusion_table(result.explanation))
        write_json(out / "summary.json", summarise(result, more))


def inclusion_table(found: Estimate) -> str:
    """Return the inclusion probabilities as CSV: a row per regressor, a column per target."""
    rows = zip(found.regressors, found.inclusion, strict=True)
    table = ([name, *(float(f"{value:.6g}") for value in row)] for name, row in rows)
    return csv_text([["regressor", *found.targets], *table])


def summarise(given: Sifted, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the run in numbers, with further entries `more`."""
    result = result_of(given)
    found = contenders(result)
    return {
        **_what_was_kept(result),
        **_errors(result, found),
        "cautions": result.cautions,
        "remarks": result.remarks,
        "judged_on": result.evaluation.on,
        "data": _data(result),
        "residuals": _residuals(residual_tests(result.judged_model, result.evaluation.data)),
        "eigenvalues": _eigenvalues(spectrum(result.judged_model, result.evaluation.data)),
        "path": path_entry(result.path),
        "paths": {form: path_entry(path) for form, path in result.paths.items()},
        "searches": [_search_entry(one) for one in result.searches],
        "not_searched": result.left_out,
        **_explanation(result.explanation, result.reduction.threshold),
        "seconds": result.seconds,
        "version": __version__,
        "environment": _environment(),
        "seed": result.seed,
        **(more or {}),
    }


def _search_entry(one: SearchSummary) -> dict[str, Any]:
    return {
        "stage": one.stage,
        "form": one.form,
        "embedding": one.embedding.to_dict(),
        "dictionary": one.dictionary,
        "candidates": one.candidates,
        "kept": one.kept,
        "nmse": one.errors.error,
        "free_runs": one.run,
        "seconds": one.seconds,
    }


def fit_per_cent(nmse: FloatArray) -> FloatArray:
    """Return 100·(1 − ‖e‖/‖y − mean‖) from the NMSE, which is the square of that ratio.

    Examples
    --------
    >>> fit_per_cent(np.array([0.0, 0.25, 4.0]))
    array([ 100.,   50., -100.])
    """
    return np.asarray(100.0 * (1.0 - np.sqrt(nmse)))


def _what_was_kept(result: SieveResult) -> dict[str, Any]:
    return {
        "form": result.form,
        "observables": {
            "full": result.path.candidates,
            "reduced": len(result.retained),
            "retained": result.retained_names,
        },
        "terms": result.n_terms,
        "coefficients": term_rows(result),
        "interchangeable": _interchangeable(result),
        "embedding": result.embedding.to_dict(),
        "horizons": result.horizons,
        "dt": result.model.dt,
    }


def _interchangeable(result: SieveResult) -> list[dict[str, Any]]:
    """Return groups of terms that could stand for one another, and how many of each drive each output on average."""
    probability, outputs = probabilities(result.explanation), result.model.driven_names
    return [
        {
            "terms": group,
            "expected_number": {o: sum(probability[o][name] for name in group) for o in outputs if o in probability},
        }
        for group in result.interchangeable
    ]


def _errors(result: SieveResult, found: Sequence[Contender]) -> dict[str, Any]:
    baselines = {name: one.errors for name, one in result.baselines.items()}
    spread = _spread(result)
    tested = {"test": _tested(result.errors, spread)} if result.evaluation.on != "validation" else {}
    return {
        "nmse": _by_size(found, lambda one: one.errors.nmse),
        "baselines": {name: errors.nmse for name, errors in baselines.items()},
        **tested,
        **({} if result.coverage is None else {"bands": _bands(result.coverage)}),
        "models": {one.label: {"terms": one.terms, **_tested(one.errors, spread)} for one in found},
        "beats_linear": result.beats_linear,
        "gain_over_linear": result.gain_over_linear,
        "condition_number": _by_size(found, lambda one: one.model.condition_number),
        "spectral_radius": _by_size(found, lambda one: one.model.spectral_radius),
    }


def _bands(found: Coverage) -> dict[str, Any]:
    return {
        "level": found.level,
        "coverage": dict(zip(found.outputs, found.share.T, strict=True)),
        "width": dict(zip(found.outputs, found.width.T, strict=True)),
        "joint_coverage": found.joint,
        "outside": found.outside,
    }


def _by_size(found: Sequence[Contender], value: Callable[[Contender], Any]) -> dict[str, dict[str, Any]]:
    """Return a number per model: of all candidates, and of those kept."""
    own = [one for one in found if one.name not in (LINEAR, PERSISTENCE)]
    return {
        size: {one.name: value(one) for one in own if one.of_kept == kept}
        for size, kept in (("full", False), ("reduced", True))
    }


def _tested(errors: Errors, spread: Mapping[str, float]) -> dict[str, Any]:
    return {
        "nmse": errors.nmse,
        "fit": {name: fit_per_cent(values) for name, values in errors.nmse.items()},
        "simulation_rmse": errors.simulation_rmse,
        "simulation_fit": {
            name: 100.0 * (1.0 - rmse / spread[name]) if spread[name] > 0 else np.nan
            for name, rmse in errors.simulation_rmse.items()
        },
    }


def _spread(result: SieveResult) -> dict[str, float]:
    """Return the standard deviation of each output over the samples that simulations are compared with."""
    reference = result.evaluation.data if result.evaluation.truth is None else result.evaluation.truth
    names = result.model.output_names
    seen = np.concatenate([x[1:, : len(names)] for x in reference.states])
    return dict(zip(names, map(float, seen.std(axis=0)), strict=True))


def _data(result: SieveResult) -> dict[str, Any]:
    judged = result.evaluation.data
    outputs = np.concatenate(judged.states)[:, : judged.n_outputs]
    inputs = np.concatenate(judged.inputs)
    channels = [*zip(judged.output_names, outputs.T, strict=True), *zip(judged.input_names, inputs.T, strict=True)]
    return {
        "in_words": result.provenance.describe(),
        **result.provenance.to_dict(),
        "samples": result.samples,
        "judged_episodes": judged.n_episodes,
        "channels": {
            name: {"least": column.min(), "mean": column.mean(), "largest": column.max(), "deviation": column.std()}
            for name, column in channels
            if len(column)
        },
    }


def _residuals(found: ResidualTests) -> dict[str, Any]:
    return {
        "samples": found.samples,
        "passed": found.passed,
        "words": found.words,
        "whiteness": {name: _correlation(one) for name, one in found.whiteness.items()},
        "inputs": {name: {u: _correlation(one) for u, one in each.items()} for name, each in found.inputs.items()},
    }


def _correlation(found: Correlation) -> dict[str, Any]:
    return {
        "passed": found.passed,
        "outside": found.outside,
        "tested": len(found.tested),
        "largest": found.largest,
        "lag": found.worst,
        "limit": found.limit,
        "lags": found.lags,
        "values": found.value,
    }


def _eigenvalues(found: Spectrum) -> dict[str, Any]:
    residuals = {} if found.residuals is None else {"residual": found.residuals}
    return {
        "of": found.of,
        "real": found.values.real,
        "imaginary": found.values.imag,
        "frequency": found.frequencies,
        "time_constant": found.time_constants,
        **residuals,
    }


def path_entry(path: SievePath) -> dict[str, Any]:
    """Return a path in numbers."""
    return {
        "sizes": path.sizes,
        "chosen": path.chosen,
        "nmse": path.error,
        "standard_error": path.standard_error,
        "free_runs": [np.median(point.runs) for point in path.points],
        "elbo": path.elbo,
        "refit": [point.refit for point in path.points],
        "status": [point.status for point in path.points],
        "words": path.describe(),
    }


def _explanation(found: Estimate, threshold: float) -> dict[str, Any]:
    return {
        "threshold": threshold,
        "elbo": dict(zip(found.targets, found.elbo, strict=True)),
        "status": {name: status.value for name, status in zip(found.targets, found.status, strict=True)},
    }


def _environment() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"python": platform.python_version(), **packages, "system": platform.platform()}
