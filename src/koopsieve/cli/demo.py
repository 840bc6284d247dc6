"""`koopsieve demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from koopsieve.cli.progress import bar
from koopsieve.cli.table import show_result


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Another seed is another trajectory and other noise.")] = 0,
    snr: Annotated[float, typer.Option(help="Signal-to-noise ratio of the measurements in dB.")] = 20.0,
) -> None:
    """Sift a Lorenz dictionary of 23 observables and show what it does to four methods.

    Example: koopsieve demo --out demo
    """
    from koopsieve.experiments.demo import demo as run
    from koopsieve.io import write_run
    from koopsieve.plots import plot_error_against_horizon, plot_inclusion, save_figure

    result = run(seed=seed, snr_db=snr, progress=bar)
    write_run(result, out)
    save_figure(plot_inclusion(result), out / "inclusion.png")
    save_figure(plot_error_against_horizon(result), out / "error.png")
    show_result(result, f"Lorenz attractor, 1 kHz, {snr:g} dB")
    typer.echo(f"Written to {out}/: summary.json, model.npz, inclusion.csv, inclusion.png, error.png")
