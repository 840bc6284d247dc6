"""`koopsieve sift`: read, sift, write the folder, print one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
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
from koopsieve.cli.command_settings import ALIKE, METHODS, OUTPUT, Settings, gather, to_command, to_toml
from koopsieve.cli.options import chosen, with_options
from koopsieve.cli.reading import read
from koopsieve.data import Embedding
from koopsieve.dictionary import Block, Constant, Inputs, Monomials, SquaredExponential, States
from koopsieve.dictionary.recipes import STATES, STATES_AND_INPUTS
from koopsieve.execution import DaskExecutor, Executor, Progress
from koopsieve.forms import FORMS
from koopsieve.io.run import RUN_FILES, write_run
from koopsieve.report import write_report
from koopsieve.sieve import GraphSieve, HorizonSieve, Sieve, SimulationSieve
from koopsieve.sifting.pipeline import sift_with
from koopsieve.sifting.result import SieveResult
from koopsieve.sifting.settings import SiftSettings
from koopsieve.sifting.tables import Contender, contenders


@with_options(Settings)
def sift(
    flags: Mapping[str, Any],
    config: Annotated[
        Path | None,
        typer.Option(help="TOML file with any of these; a flag replaces what it says.", rich_help_panel=OUTPUT),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print summary.json instead of a table.", rich_help_panel=OUTPUT)
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files of an earlier run in --out.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Learn a small model from your measurements, with a report that shows how good it is and why.

    Writes summary.json, model.npz, inclusion.csv and report.html into the folder --out, or into a new one.

    For example:

    koopsieve sift bench.csv --states y --inputs u --time t --delays 2 --polynomials 3 --out result

    koopsieve sift run1.mat run2.mat --states y --inputs u --dt 1e-3 --test run3.mat --horizons 1,20,100
    """
    run_and_write(gather(config, flags), as_json, overwrite)


def run_and_write(settings: Settings, as_json: bool, overwrite: bool, progress: Progress | bool = True) -> None:
    """Run the sieve, write the folder, print the table (or the JSON)."""
    out = chosen(None if settings.out is None else Path(settings.out), "result", overwrite)
    check_folder(out, (*RUN_FILES, "report.html"), overwrite)
    executor = None if settings.scheduler is None else DaskExecutor.connect(settings.scheduler)
    result = run(settings, executor, progress)
    words = story(result, settings)
    command = to_command(settings)
    more = {"settings": {**asdict(settings), "out": str(out)}, "story": words, "command": command}
    with whole_folder(out, overwrite) as folder:
        write_run(result, folder, more)
        report = {"title": _title(settings), "story": words, "command": command, "settings": to_toml(settings)}
        write_report(result, folder / "report.html", **report)
    if as_json:
        typer.echo((out / "summary.json").read_text(encoding="utf-8"), nl=False)
        return
    show_result(result, _title(settings))
    typer.echo(result.provenance.describe())
    for remark in result.remarks:
        typer.echo(remark)
    typer.echo(words if settings.test else f"{words} Judge on another file with --test.")
    typer.echo(f"Report: {out}/report.html (beside it summary.json, model.npz, inclusion.csv)")


def run(settings: Settings, executor: Executor | None = None, progress: Progress | bool = True) -> SieveResult:
    """Read the files and sift."""
    data = read(settings, settings.files)
    asked = SiftSettings(
        dictionary=recipe(settings, data.n_inputs),
        delays=delays(settings, data.n_inputs),
        sieve=sieve(settings),
        test=read(settings, settings.test) if settings.test else settings.holdout,
        compare={name.replace("-", " "): METHODS[name] for name in settings.compare},
        executor=executor,
        progress=progress,
        **{name: getattr(settings, name) for name in ALIKE},
    )
    return sift_with(data, asked)


def sieve(settings: Settings) -> Sieve | None:
    """Return the sieve that was asked for; None for what suits the form."""
    if settings.sieve == "graph":
        return GraphSieve(threshold=settings.threshold)
    if settings.sieve == "simulation":
        return SimulationSieve()
    return HorizonSieve() if settings.sieve == "horizon" else None


def delays(settings: Settings, n_inputs: int) -> list[Embedding] | str:
    """Return the delays to choose from: those asked for, with the timing of the inputs asked for or with both."""
    if isinstance(settings.delays, str):
        if settings.input_delays is not None or settings.inputs_at != "auto":
            raise KoopsieveError("--input-delays and --inputs-at need --delays with a number, for example --delays 2.")
        return settings.delays
    past = settings.delays if settings.input_delays is None else settings.input_delays
    timings = ("k", "k+1") if settings.inputs_at == "auto" and n_inputs else (settings.inputs_at,)
    if not n_inputs:
        if settings.input_delays or settings.inputs_at != "auto":
            raise KoopsieveError("--input-delays and --inputs-at have no effect without --inputs. Leave them out.")
        past, timings = 0, ("k",)
    return [Embedding(settings.delays, past, timing) for timing in timings]


def recipe(settings: Settings, n_inputs: int) -> Block | str:
    """Return the dictionary's recipe: states, a constant, products, kernels on standardised states; or "auto".

    Products hold inputs too where the form takes functions of inputs.
    """
    if settings.polynomials is None and settings.kernels is None:
        return "auto"
    wanted = FORMS.values() if settings.form == "auto" else [FORMS[settings.form]]
    driven = n_inputs > 0 and any(form.uses_input_terms for form in wanted)
    blocks = States() + Constant()
    if driven:
        blocks = blocks + Inputs()
    if settings.polynomials is not None and settings.polynomials > 1:
        blocks = blocks + Monomials(settings.polynomials, of=STATES_AND_INPUTS if driven else STATES)
    if settings.kernels:
        blocks = blocks + SquaredExponential(centers=settings.kernels, standardize=True)
    return blocks


def story(result: SieveResult, settings: Settings) -> str:
    """Return a sentence on the data: what the model was learned from, chosen on and judged on."""
    counts = result.samples
    judged = f"on {', '.join(settings.test)}" if settings.test else f"on {counts['judged']} samples that were held out"
    parts = counts.get("folds")
    folds = f" and on each of {parts} parts of the {counts['learn']}, fitted without it" if parts else ""
    chosen = f", chosen on {counts['validation']} others{folds}" if counts["validation"] else ""
    final = "; the final model learned from both" if result.learned_from_all else ""
    return f"Learned from {counts['learn']} samples{chosen}{final}. Errors are {judged}."


def _title(settings: Settings) -> str:
    more = f" and {len(settings.files) - 1} more" if len(settings.files) > 1 else ""
    return f"{Path(settings.files[0]).name}{more}"


_MAX_NAMES = 20  # the report shows all


def show_result(result: SieveResult, title: str) -> None:
    """Print the baselines and the model: terms, NMSE at each horizon, condition number; then what was kept."""
    caption = f"NMSE on {result.evaluation.on} data, mean of the outputs\n1 is as good as predicting the mean"
    table = Table(title=escape(title), caption=caption)
    table.add_column("model")
    table.add_column("terms", justify="right")
    for horizon in result.horizons:
        table.add_column(steps(horizon), justify="right")
    lifted = bool(result.comparison) or not np.isnan(result.model.condition_number)  # else only the baseline has A
    if lifted:
        table.add_column("cond(A)", justify="right")
    sifted, *others = contenders(result)
    for one in others:
        table.add_row(escape(one.label), *_row(one, lifted), style="dim")
    table.add_section()
    table.add_row(f"sifted ({result.form})", *_row(sifted, lifted), style="bold")
    console = Console()
    console.print(table)
    names = result.retained_names
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    console.print(f"Kept: {', '.join(names[:_MAX_NAMES])}{more}", markup=False, highlight=False)


def _row(one: Contender, lifted: bool) -> list[str]:
    errors = [number(error) for error in one.errors.mean.tolist()]
    return [str(one.terms), *errors, *([number(one.model.condition_number)] if lifted else [])]
