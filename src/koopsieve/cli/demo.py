"""`koopsieve demo`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from koopsieve._types import NotInstalledError
from koopsieve.cli.options import Overwrite, chosen
from koopsieve.cli.table import show_result
from koopsieve.execution.progress import bar

if TYPE_CHECKING:
    from koopsieve.sifting.result import SieveResult

TITLE = "A spring that hardens, pushed by a force"
FIGURES = ("demo.png", "error.png")
STORY = (
    "Only the position is measured, with noise. Candidates are all products, up to degree three, of the last three "
    "samples of position and force. Errors are on another record."
)


def demo(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the files (default: a new one, demo).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed is another pair of records of the same plant.", min=0)] = 0,
    noise: Annotated[float, typer.Option(help="Standard deviation of the measurement noise.", min=0.0)] = 0.01,
    overwrite: Overwrite = False,
) -> None:
    """Sift 84 candidate terms for a driven spring of which only the position is measured.

    Writes a report, two figures and the model, beside a linear model and one with all candidates.

    Example: koopsieve demo --out demo
    """
    from koopsieve._exchange import check_folder, whole_folder
    from koopsieve.cli.demonstration import demo as run
    from koopsieve.io.run import RUN_FILES, write_run
    from koopsieve.report import write_report

    out = chosen(out, "demo", overwrite)
    check_folder(out, (*RUN_FILES, "report.html", *FIGURES), overwrite)
    result = run(seed=seed, noise=noise, progress=bar)
    command = shlex.join(["koopsieve", "demo", "--out", str(out), "--seed", str(seed), "--noise", f"{noise:g}"])
    with whole_folder(out, overwrite) as folder:
        write_run(result, folder, {"story": STORY, "command": command})
        write_report(result, folder / "report.html", title=TITLE, story=STORY, command=command)
        drawn = _draw(result, folder, out)
    show_result(result, TITLE)
    for remark in result.remarks:
        typer.echo(remark)
    typer.echo(drawn)
    typer.echo(f"Report: {out}/report.html (beside it summary.json, model.npz, inclusion.csv)")


def _draw(result: SieveResult, folder: Path, shown: Path) -> str:
    """Draw both figures, if matplotlib is installed, and return what to say about it."""
    from koopsieve.cli.demonstration import draw_demo
    from koopsieve.plots import plot_error_against_horizon, save_figure

    try:
        for name, axes in zip(FIGURES, (draw_demo(result).axes[0], plot_error_against_horizon(result)), strict=True):
            save_figure(axes, folder / name)
    except NotInstalledError as error:
        return f"The figures were not drawn. {error}"
    return f"Figures: {shown}/demo.png and error.png"
