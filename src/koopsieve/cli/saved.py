"""Commands for what a run has left: `koopsieve inspect`, `koopsieve export`, `koopsieve compare`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from koopsieve._display import number, steps
from koopsieve._exchange import check_folder, whole_folder
from koopsieve._types import KoopsieveError
from koopsieve._written import check_file, plain
from koopsieve.cli.options import Overwrite, chosen, write_rows
from koopsieve.forms import Model
from koopsieve.forms.spectra import Spectrum
from koopsieve.uncertainty.certificates import Certificate

_CAPTION = "modulus above 1 grows"
_ABOUT_RESIDUALS = "; residual: near 0 the eigenvalue is the plant's, near 1 it is not"


def inspect(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    bands: Annotated[Path | None, typer.Option(help="Also write the half-widths of the bands to a CSV file.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show the terms of a saved model and, where it has a matrix A, the eigenvalues with their residuals.

    Example: koopsieve inspect result/model.npz
    """
    if bands is not None:
        check_file(bands, overwrite)
    loaded = Model.load(model)
    if bands is not None:
        _write_bands(loaded, bands, overwrite)
    if as_json:
        typer.echo(json.dumps(plain(facts(loaded)), indent=2, ensure_ascii=False))
        return
    _show(loaded)


def facts(model: Model) -> dict[str, Any]:
    """Return what there is to know about a model, for machines."""
    embedding = model.signals.embedding
    known = {
        "form": model.form,
        "observables": model.names,
        "hidden_states": _hidden(model),
        "input_terms": model.dictionary.input_term_names,
        "outputs": model.output_names,
        "inputs": model.input_names,
        "embedding": embedding.to_dict(),
        "history": model.history,
        "sample_time": model.dt,
    }
    if model.bands is not None:
        known |= {"bands": {"steps_ahead": model.bands.longest}}
    if (certificate := _certificate(model)) is not None:
        known |= {
            "certificate": {
                "eigenvalues": [[float(v.real), float(v.imag)] for v in certificate.eigenvalues],
                "residuals": certificate.residuals,
                "invariance_error": certificate.invariance_error,
            }
        }
    if np.isnan(model.condition_number):
        return known
    return known | {
        "condition_number": model.condition_number,
        "spectral_radius": model.spectral_radius,
        "eigenvalues": [[float(v.real), float(v.imag)] for v in model.eigenvalues],
    }


def _show(model: Model) -> None:
    embedding = model.signals.embedding
    head = Table(show_header=False, box=None, pad_edge=False)
    lines = [
        ("form", model.form),
        *_size(model),
        ("outputs", ", ".join(model.output_names)),
        ("inputs", ", ".join(model.input_names) or "none"),
        ("delays", f"{embedding.state_delays} of outputs, {embedding.input_delays} of inputs"),
        *([("dead time", f"{embedding.dead_time} samples")] if embedding.dead_time else []),
        ("input that acts on the next output", f"u[{embedding.inputs_at}]"),
        ("sample time", f"{model.dt:g}"),
    ]
    if not np.isnan(model.condition_number):
        lines += [
            ("condition number of A", number(model.condition_number)),
            ("spectral radius", f"{model.spectral_radius:.6f}"),
        ]
    if (certificate := _certificate(model)) is not None:
        lines.append(("largest one-step error of any combination", f"{certificate.invariance_error:.3g}"))
    if model.bands is not None:
        lines.append(("bands", f"up to {steps(model.bands.longest)} ahead"))
    for name, value in lines:
        head.add_row(name, escape(value))
    console = Console()
    console.print(head)
    console.print(_terms(model))
    if len(model.eigenvalues):
        console.print(_eigenvalues(model))


def _hidden(model: Model) -> tuple[str, ...]:
    """Return the names of states that are not measured."""
    return tuple(name for name in model.driven_names if name not in model.output_names)


def _size(model: Model) -> list[tuple[str, str]]:
    if hidden := _hidden(model):
        return [("hidden states", ", ".join(hidden)), (model.counted, str(len(model.term_names)))]
    return [("observables", str(len(model.names)))]


def _terms(model: Model) -> Table:
    driven = "states and outputs" if _hidden(model) else "outputs"
    table = Table(title="Terms", caption=f"how strongly each acts on the {driven} one step ahead")
    table.add_column("name", overflow="fold")
    for output in model.driven_names:
        table.add_column(escape(f"→ {output}"), justify="right")
    terms = model.output_terms()
    for name, row in zip(terms.names, terms.coef, strict=True):
        table.add_row(escape(name), *(f"{value:.4g}" for value in row))
    return table


def _write_bands(model: Model, out: Path, overwrite: bool) -> None:
    """Write the half-widths of the bands as CSV."""
    if model.bands is None:
        raise KoopsieveError("The model has no bands. Those that sift writes have, unless nothing was held out.")
    rows = model.bands.table(model.output_names)
    write_rows(list(rows[0]), (list(row.values()) for row in rows), out, overwrite)


def _certificate(model: Model) -> Certificate | None:
    return None if model.calibration is None else model.calibration.certificate


def _eigenvalues(model: Model) -> Table:
    """Return the eigenvalues of A with their residuals on the learned data, where these are known."""
    held = _certificate(model)
    table = Table(title="Eigenvalues of A", caption=_CAPTION + (_ABOUT_RESIDUALS if held is not None else ""))
    for heading in ("eigenvalue", "modulus", "frequency", "time constant", *(["residual"] if held else [])):
        table.add_column(heading, justify="right")
    found = Spectrum(model.eigenvalues, None, model.dt)
    if held is not None:
        found = Spectrum(held.eigenvalues, held.residuals, model.dt)
    for i, value in enumerate(found.values):
        if value.imag < 0:
            continue  # shown with its conjugate
        sign = f" ± {value.imag:.4f}i" if value.imag else ""
        constant = found.time_constants[i]
        decay = f"{constant:.4g}" if np.isfinite(constant) and constant > 0 else "–"
        cells = [f"{value.real:.4f}{sign}", f"{abs(value):.4f}", f"{found.frequencies[i]:.4g}", decay]
        table.add_row(*cells, *([] if found.residuals is None else [number(found.residuals[i])]))
    return table


class Target(StrEnum):
    """What a model can be written for."""

    C = "c"
    CASADI = "casadi"
    MAT = "mat"
    M = "m"
    FMU = "fmu"
    SYMPY = "sympy"


def export(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")],
    to: Annotated[Target, typer.Option("--to", help="C99, CasADi functions, MATLAB data or function, FMU, SymPy.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to; made if it is not there.")],
    name: Annotated[str, typer.Option(help="Of the files, and of the functions in C and MATLAB.")] = "model",
    overwrite: Overwrite = False,
) -> None:
    """Write a saved model for other programs.

    C: a header, a source file without dependencies, and a program that compares it with Python (run make there).
    Filter and controller, with their weights and limits: Controller.to_c in Python.

    CasADi: lift, start, step and read, for casadi.Function.load. FMU: FMI 2.0.

    mat: matrices and names for MATLAB. m: a function for MATLAB and Octave that steps the model. SymPy: equations.

    Example: koopsieve export result/model.npz --to c --out controller
    """
    if Path(name).name != name or not name.strip(" ."):
        raise KoopsieveError(f"--name must be the name of a file, without folders. Got {name!r}; folders go to --out.")
    if to is Target.CASADI and name != "model":
        raise KoopsieveError(
            "--name has no effect with --to casadi, whose files have names of their own. Leave it out."
        )
    check_folder(out, [f"{name}.{to}"] if to in (Target.FMU, Target.MAT) else [], overwrite)
    loaded = Model.load(model)
    with whole_folder(out, overwrite) as folder:  # the names of the others are known when they are made, in no time
        paths = written(loaded, to, folder, name)
    for path in paths:
        typer.echo(f"Written: {out / path.name}")


def written(model: Model, to: Target, out: Path, name: str) -> tuple[Path, ...]:
    """Write the files and return their paths."""
    from koopsieve.export.c.literals import identifier

    if to is Target.C:
        return model.to_c(out, name)
    if to is Target.CASADI:
        return model.to_casadi().save(out)
    if to is Target.FMU:
        return (model.to_fmu(out / f"{name}.fmu"),)
    if to is Target.M:
        return (model.to_m(out / f"{identifier(name)}.m"),)
    if to is Target.SYMPY:
        return (model.to_sympy().save(out / f"{name}.txt"),)
    path = out / f"{name}.mat"
    model.to_mat(path)
    return (path,)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more folders that koopsieve sift wrote.", metavar="DIRS")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file to write (default: a new one, comparison.html).")
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Runs side by side",
    overwrite: Overwrite = False,
) -> None:
    """Put several runs side by side on one page: settings, errors, sizes, terms kept.

    For example:

    koopsieve compare result1 result2 --out comparison.html
    """
    from koopsieve.report import write_comparison

    out = chosen(out, "comparison.html", overwrite)
    check_file(out, overwrite)
    write_comparison(runs, out, title, overwrite)
    typer.echo(f"Written to {out}: {len(runs)} runs side by side.")
