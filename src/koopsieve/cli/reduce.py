"""`koopsieve reduce`: from a file of measurements to a small model and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from koopsieve.cli.settings import gather

DATA, DICTIONARY, JUDGING, OUTPUT = "The data", "The dictionary", "Sifting and judging", "What comes out"


def reduce(
    files: Annotated[list[str] | None, typer.Argument(help="CSV, Parquet, .npz or .mat; several are episodes.")] = None,
    states: Annotated[
        list[str] | None,
        typer.Option(
            "--states",
            "-y",
            metavar="NAMES",
            help="Columns of the measured outputs: y or angle,speed.",
            rich_help_panel=DATA,
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--inputs", "-u", help="Columns of the inputs.", rich_help_panel=DATA),
    ] = None,
    episode: Annotated[str | None, typer.Option(help="Column that tells episodes apart.", rich_help_panel=DATA)] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of times; gives the sample time.", rich_help_panel=DATA)
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Sample time, without a time column.", rich_help_panel=DATA)] = None,
    gaps: Annotated[
        str | None,
        typer.Option(help="Missing samples: raise refuses them, split cuts there.", rich_help_panel=DATA),
    ] = None,
    delays: Annotated[
        int | None, typer.Option(help="Past samples of outputs and inputs to add.", rich_help_panel=DICTIONARY)
    ] = None,
    input_delays: Annotated[
        int | None, typer.Option(help="Past samples of inputs, if not as many.", rich_help_panel=DICTIONARY)
    ] = None,
    kernels: Annotated[
        int | None,
        typer.Option(help="Squared-exponential kernels; 0 for none. (default 100)", rich_help_panel=DICTIONARY),
    ] = None,
    polynomials: Annotated[
        int | None,
        typer.Option(help="Products of states up to this degree. (default 1)", rich_help_panel=DICTIONARY),
    ] = None,
    horizons: Annotated[
        str | None,
        typer.Option(help="Steps ahead to judge at. (default 1,10,50)", rich_help_panel=JUDGING),
    ] = None,
    sieve: Annotated[
        str | None,
        typer.Option(
            help="path: the size with the best error at the horizons. graph: the paper's. (default path)",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Probability from which a dependency counts. (default 0.1)", rich_help_panel=JUDGING),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="What to refit with: some of I,II,III,IV. (default I,IV)", rich_help_panel=JUDGING),
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(help="File to judge on; may be repeated.", rich_help_panel=JUDGING)
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(help="Share of the data held out without --test. (default 0.3)", rich_help_panel=JUDGING),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Places the kernels. (default 0)", rich_help_panel=JUDGING)] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Folder. (default result)", rich_help_panel=OUTPUT)
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with any of these; flags win.", rich_help_panel=OUTPUT)
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler to compute on: tcp://host:8786.", rich_help_panel=OUTPUT),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print summary.json instead of a table.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Sift a dictionary on your measurements: a small model, and a report that shows why.

    Writes summary.json, model.npz, inclusion.csv and report.html into the folder --out.

    For example:

    koopsieve reduce bench.csv --states y --inputs u --time t --delays 2 --polynomials 3 --out result

    koopsieve reduce run1.mat run2.mat --states y --inputs u --dt 1e-3 --test run3.mat --horizons 1,20,100
    """
    from koopsieve.cli.run import run_and_write

    flags: dict[str, Any] = {
        "files": files,
        "states": listed(states),
        "inputs": listed(inputs),
        "episode": episode,
        "time": time,
        "dt": dt,
        "gaps": gaps,
        "test": test,
        "holdout": holdout,
        "delays": delays,
        "input_delays": input_delays,
        "kernels": kernels,
        "polynomials": polynomials,
        "horizons": numbers(horizons),
        "sieve": sieve,
        "threshold": threshold,
        "methods": listed(methods),
        "seed": seed,
        "out": out,
        "scheduler": scheduler,
    }
    run_and_write(gather(config, flags), as_json)


def listed(given: list[str] | str | None) -> list[str] | None:
    """Return the names in what was given, once or several times, with commas between them."""
    if given is None:
        return None
    parts = [given] if isinstance(given, str) else given
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


def numbers(given: str | None) -> list[int | str] | None:
    """Return the whole numbers in a text like 1,10,50; what is none stays text, for the check to refuse."""
    parts = listed(given)
    return None if parts is None else [int(part) if part.isdecimal() else part for part in parts]
