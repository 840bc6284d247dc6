"""`koopsieve reproduce`: the paper's experiments."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from koopsieve._written import refuse_taken
from koopsieve.cli.options import Overwrite
from koopsieve.execution.progress import bar


class System(StrEnum):
    """What can be reproduced."""

    LORENZ = "lorenz"
    USV = "usv"
    WIENER_HAMMERSTEIN = "wiener-hammerstein"
    ALL = "all"


def reproduce(
    system: Annotated[System, typer.Argument(help="Which experiment of the paper.")],
    out: Annotated[Path, typer.Option(help="Folder for summaries, tables and figures; runs found there are kept.")],
    runs: Annotated[int | None, typer.Option(min=1, help="Monte Carlo runs per noise level (paper: 25).")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with the measured Wiener-Hammerstein records.", envvar="KOOPSIEVE_DATA"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides everything random.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="3 runs and fewer noise levels.")] = False,
    as_published: Annotated[bool, typer.Option("--as-published", help="Method IV by the paper's own updates.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Rerun the paper's experiments; tables and figures stand beside the paper's own numbers.

    Interrupted in any way, the same command goes on where it stopped. A finished reproduction is
    replaced only with --overwrite.
    """
    from koopsieve.reproduction.reproduce import reproduce as run
    from koopsieve.reproduction.reproduce import summaries

    refuse_taken(summaries(system.value, out), overwrite)
    found = run(
        system.value,
        out,
        runs=runs,
        data=data,
        seed=seed,
        quick=quick,
        as_published=as_published,
        workers=workers,
        progress=bar,
    )
    for name in found:
        typer.echo(f"{name}: {out / name / 'summary.json'}, tables.md and figures beside it")
