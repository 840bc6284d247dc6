"""`koopsieve demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from koopsieve.cli.table import show_result
from koopsieve.execution.bar import bar

STORY = "Learned from six simulated seconds with noise; errors are against another trajectory, known without noise."


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Another seed is another trajectory and other noise.")] = 0,
    snr: Annotated[float, typer.Option(help="Signal-to-noise ratio of the measurements in dB.")] = 20.0,
) -> None:
    """Sift a Lorenz dictionary of 23 observables and show what it does to four methods.

    Example: koopsieve demo --out demo
    """
    from koopsieve.experiments.demo import demo as run
    from koopsieve.io import check_writable, whole_folder, write_run
    from koopsieve.plots import plot_error_against_horizon, plot_inclusion, save_figure
    from koopsieve.report import write_report

    title = f"Lorenz attractor, 1 kHz, {snr:g} dB"
    check_writable(out)
    result = run(seed=seed, snr_db=snr, progress=bar)
    with whole_folder(out) as folder:
        write_run(result, folder)
        write_report(result, folder / "report.html", title=title, story=STORY)
        save_figure(plot_inclusion(result), folder / "inclusion.png")
        save_figure(plot_error_against_horizon(result), folder / "error.png")
    show_result(result, title)
    for remark in result.remarks:
        typer.echo(remark)
    typer.echo(f"Report: {out}/report.html (beside it summary.json, model.npz, inclusion.csv, two figures)")
