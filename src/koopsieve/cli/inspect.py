"""`koopsieve inspect`: what is in a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from koopsieve.cli.naming import measured_names
from koopsieve.cli.table import number
from koopsieve.model import LiftedModel


def inspect(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve reduce.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show the observables, eigenvalues and condition number of a saved model.

    Example: koopsieve inspect result/model.npz
    """
    lifted = LiftedModel.load(model)
    if as_json:
        import json

        from koopsieve.io import plain

        typer.echo(json.dumps(plain(facts(lifted)), indent=2, ensure_ascii=False))
        return
    _show(lifted)


def facts(model: LiftedModel) -> dict[str, Any]:
    """Return what there is to know about a model, for machines."""
    measured, delays, input_delays = measured_names(model)
    values = model.eigenvalues
    return {
        "observables": model.names,
        "outputs": model.output_names,
        "inputs": model.input_names,
        "measured": measured,
        "delays": delays,
        "input_delays": input_delays,
        "sample_time": model.dt,
        "condition_number": model.condition_number,
        "spectral_radius": model.spectral_radius,
        "eigenvalues": [[float(v.real), float(v.imag)] for v in values],
    }


def _show(model: LiftedModel) -> None:
    known = facts(model)
    console = Console()
    head = Table(show_header=False, box=None, pad_edge=False)
    for name, value in (
        ("observables", str(len(model.A))),
        ("outputs", ", ".join(known["outputs"])),
        ("inputs", ", ".join(known["inputs"]) or "none"),
        ("delays", f"{known['delays']} of outputs, {known['input_delays']} of inputs"),
        ("sample time", f"{model.dt:g}"),
        ("condition number of A", number(known["condition_number"])),
        ("spectral radius", f"{known['spectral_radius']:.6f}"),
    ):
        head.add_row(name, _plain(value))
    console.print(head)
    console.print(_observables(model))
    console.print(_eigenvalues(model))


def _observables(model: LiftedModel) -> Table:
    table = Table(title="Observables", caption="how strongly each acts on the outputs one step ahead")
    table.add_column("name", overflow="fold")
    for output in model.output_names:
        table.add_column(_plain(f"→ {output}"), justify="right")
    for name, column in zip(model.names, (model.C @ model.A).T, strict=True):
        table.add_row(_plain(name), *(f"{value:.4g}" for value in column))
    for name, column in zip(model.input_names, (model.C @ model.B).T, strict=True):
        table.add_row(_plain(f"{name} (input)"), *(f"{value:.4g}" for value in column))
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


def _plain(name: str) -> str:
    from rich.markup import escape

    return escape(name)
