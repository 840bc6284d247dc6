"""`koopsieve inspect`: what is in a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from koopsieve._types import FloatArray
from koopsieve._words import number
from koopsieve.model import BilinearModel, LiftedModel, Model, ReprojectedModel


def inspect(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show the terms of a saved model, and of a linear one its eigenvalues and condition number.

    Example: koopsieve inspect result/model.npz
    """
    loaded = Model.load(model)
    if as_json:
        import json

        from koopsieve.io import plain

        typer.echo(json.dumps(plain(facts(loaded)), indent=2, ensure_ascii=False))
        return
    _show(loaded)


def facts(model: Model) -> dict[str, Any]:
    """Return what there is to know about a model, for machines."""
    embedding = model.signals.embedding
    known = {
        "form": model.form,
        "observables": model.names,
        "drives": model.dictionary.drive_names,
        "outputs": model.output_names,
        "inputs": model.input_names,
        "embedding": embedding.to_dict(),
        "history": model.history,
        "sample_time": model.dt,
    }
    if not isinstance(model, LiftedModel):
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
        ("observables", str(len(model.names))),
        ("outputs", ", ".join(model.output_names)),
        ("inputs", ", ".join(model.input_names) or "none"),
        ("delays", f"{embedding.state_delays} of outputs, {embedding.input_delays} of inputs"),
        ("input that acts on the next output", f"u[{embedding.inputs_at}]"),
        ("sample time", f"{model.dt:g}"),
    ]
    if isinstance(model, LiftedModel):
        lines += [
            ("condition number of A", number(model.condition_number)),
            ("spectral radius", f"{model.spectral_radius:.6f}"),
        ]
    for name, value in lines:
        head.add_row(name, escape(value))
    console = Console()
    console.print(head)
    console.print(_terms(model))
    if isinstance(model, LiftedModel):
        console.print(_eigenvalues(model))


def one_step(model: Model) -> tuple[tuple[str, ...], FloatArray]:
    """Return the regressors and how strongly each acts on the outputs one step ahead, shape (regressors, outputs)."""
    if isinstance(model, ReprojectedModel):
        return model.dictionary.regressors, model.coef
    if isinstance(model, BilinearModel):
        products = [(model.C @ N).T for N in model.N]
        names = model.dictionary.bilinear().regressors
        return names, np.concatenate([(model.C @ model.A).T, (model.C @ model.B).T, *products])
    if isinstance(model, LiftedModel):
        return model.dictionary.regressors, np.concatenate([(model.C @ model.A).T, (model.C @ model.B).T])
    raise TypeError(f"Unknown form {type(model).__name__}.")


def _terms(model: Model) -> Table:
    table = Table(title="Terms", caption="how strongly each acts on the outputs one step ahead")
    table.add_column("name", overflow="fold")
    for output in model.output_names:
        table.add_column(escape(f"→ {output}"), justify="right")
    names, weights = one_step(model)
    for name, row in zip(names, weights, strict=True):
        table.add_row(escape(name), *(f"{value:.4g}" for value in row))
    return table


def _eigenvalues(model: LiftedModel) -> Table:
    table = Table(title="Eigenvalues of A", caption="modulus above 1 grows")
    for heading in ("eigenvalue", "modulus", "frequency", "time constant"):
        table.add_column(heading, justify="right")
    modes = model.modes
    for value, frequency, growth in zip(modes.eigenvalues, modes.frequencies, modes.growth_rates, strict=True):
        if value.imag < 0:
            continue  # shown with its conjugate
        sign = f" ± {value.imag:.4f}i" if value.imag else ""
        decay = "–" if not np.isfinite(growth) or growth >= 0 else f"{-1 / growth:.4g}"
        table.add_row(f"{value.real:.4f}{sign}", f"{abs(value):.4f}", f"{abs(frequency):.4g}", decay)
    return table
