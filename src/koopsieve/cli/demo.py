"""`koopsieve demo` and `koopsieve example`: a spring that hardens, pushed by a force; only its position is measured."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from koopsieve._display import number
from koopsieve._exchange import check_folder, whole_folder
from koopsieve._types import NotInstalledError
from koopsieve._written import check_file, written_whole
from koopsieve.cli.options import Overwrite, chosen
from koopsieve.cli.sift import show_result
from koopsieve.data import Embedding, Trajectories
from koopsieve.dictionary import Constant, Inputs, Monomials, States
from koopsieve.dictionary.recipes import STATES_AND_INPUTS
from koopsieve.execution import Progress, silent
from koopsieve.execution.executors import bar
from koopsieve.io.run import RUN_FILES, write_run
from koopsieve.plots import plot_error_against_horizon, plot_simulation, save_figure
from koopsieve.plots.figure import MODELS, as_text, new_figure
from koopsieve.plots.time_plots import shown_models
from koopsieve.report import write_report
from koopsieve.sifting.judge import EVERYTHING, LINEAR, SIFTED
from koopsieve.sifting.pipeline import sift
from koopsieve.sifting.result import SieveResult
from koopsieve.sifting.tables import contenders
from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "A spring that hardens, pushed by a force"
FIGURES = ("demo.png", "error.png")
STORY = (
    "Only the position is measured, with noise. Candidates are all products, up to degree three, of the last three "
    "samples of position and force. Errors are on another record."
)
HORIZONS = (1, 10, 50)
SAMPLES, TEST_SAMPLES = 2400, 2000
NOISE = 0.01  # of the position, which moves by about 0.6
DRAWN_SECONDS = 40.0  # length of the record that the figure shows
FIGURE_TITLE = "A spring that hardens, pushed by a force. Only its position is measured, with noise."


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
    out = chosen(out, "demo", overwrite)
    check_folder(out, (*RUN_FILES, "report.html", *FIGURES), overwrite)
    result = sift_demo(seed=seed, noise=noise, progress=bar)
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
    try:
        for name, axes in zip(FIGURES, (draw_demo(result).axes[0], plot_error_against_horizon(result)), strict=True):
            save_figure(axes, folder / name)
    except NotInstalledError as error:
        return f"The figures were not drawn. {error}"
    return f"Figures: {shown}/demo.png and error.png"


def sift_demo(
    seed: int = 0,
    noise: float = NOISE,
    progress: Progress = silent,
    *,
    samples: int = SAMPLES,
    form: str = "auto",
    delays: int = 2,
) -> SieveResult:
    """Sift all products, up to degree three, of the last samples of position and force; judge on another record.

    Another seed is another pair of records of the same plant, `samples` the length of the training record, `delays` the
    past samples among the candidates. Without `form` all are searched.
    """
    train, test = record(samples, 2 * seed, noise), record(TEST_SAMPLES, 2 * seed + 1, noise)
    return sift(
        train,
        States() + Constant() + Inputs() + Monomials(3, of=STATES_AND_INPUTS),
        form=form,
        delays=Embedding(delays, delays),
        horizons=HORIZONS,
        test=test,
        seed=seed,
        progress=progress,
    )


def record(samples: int, seed: int, noise: float) -> Trajectories:
    """Return one record of the bench."""
    force, position = bench_record(samples, seed=seed, noise=noise)
    return Trajectories.from_arrays(position, force, dt=BENCH_SAMPLE_TIME, state_names="position", input_names="force")


def draw_demo(result: SieveResult) -> Figure:
    """Draw the record with free runs of the models, and beside it the errors over the whole record."""
    from koopsieve.export.formulas import formulas  # SymPy is loaded where it is used

    figure = new_figure(11.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[2.6, 1.0])
    plot_simulation(result, left, seconds=DRAWN_SECONDS)
    handles, labels = left.get_legend_handles_labels()
    plain = [labels[0], *shown_models(result)]  # how many terms they have stands on the right
    left.legend(handles, plain, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=9)
    left.set_xlabel("time / s; each model is given the first samples and the force, and nothing else")
    draw_errors_of_runs(result, right)
    texts = formulas(result.model.dictionary)
    kept = ",  ".join(as_text(texts.get(name, name)) for name in result.retained_names)
    figure.suptitle(
        f"{FIGURE_TITLE}\nOf {result.path.candidates} candidate terms {len(result.retained)} are kept: {kept}"
    )
    return figure


def draw_errors_of_runs(result: SieveResult, ax: Axes) -> None:
    """Draw the root mean square error of free runs, one bar per model; a model that diverged is labelled so."""
    output = result.model.output_names[0]
    shown = [one for one in contenders(result) if one.label in (LINEAR, EVERYTHING, SIFTED)]
    errors = np.array([one.errors.simulation_rmse[output] for one in shown])
    widths = np.where(np.isfinite(errors), errors, 0.0)
    ax.barh(np.arange(len(shown)), widths, color=[MODELS[one.label]["color"] for one in shown], height=0.6)
    for place, (error, width) in enumerate(zip(errors, widths, strict=True)):
        text = number(float(error)) if np.isfinite(error) else "diverged"
        ax.annotate(text, (width, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
    labels = [f"{one.label}\n{one.terms} terms" for one in shown]
    ax.set_yticks(np.arange(len(shown)), labels)
    ax.set_xlim(0, 1.25 * max(float(widths.max()), 1e-12))
    ax.invert_yaxis()
    ax.set_title("error of the free run", fontsize=10)
    ax.set_xlabel(f"RMSE of the {as_text(output)}, whole record")
    ax.grid(alpha=0.25, axis="x")


def example(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file to write (default: a new one, bench.csv).")
    ] = None,
    samples: Annotated[int, typer.Option(help="Length of the record.", min=100)] = 4000,
    seed: Annotated[int, typer.Option(help="Another seed is another experiment on the same plant.", min=0)] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Write the record of a test bench to try koopsieve on: columns t, u (force) and y (position).

    The plant is a spring that hardens, pushed by random steps of force; only its position is measured, with noise.

    Example: koopsieve example --out bench.csv
    """
    out = chosen(out, "bench.csv", overwrite)
    check_file(out, overwrite)
    u, y = bench_record(samples, seed=seed)
    columns = np.column_stack([BENCH_SAMPLE_TIME * np.arange(samples), u, y])
    with written_whole(out, overwrite) as stream:
        np.savetxt(stream, columns, ["%.2f", "%.6f", "%.6f"], ",", header="t,u,y", comments="")
    typer.echo(f"Written to {out}: {samples} samples, columns t, u, y.")
    typer.echo(f"Next: koopsieve sift {out} --states y --inputs u --time t")
