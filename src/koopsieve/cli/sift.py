"""`koopsieve sift`: from a file of measurements to a small model and a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from koopsieve.cli.options import with_settings
from koopsieve.cli.settings import OUTPUT, gather


@with_settings
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
    """Sift a dictionary on your measurements: a small model, and a report that shows why.

    Writes summary.json, model.npz, inclusion.csv and report.html into the folder --out, or into a new one.

    For example:

    koopsieve sift bench.csv --states y --inputs u --time t --delays 2 --polynomials 3 --out result

    koopsieve sift run1.mat run2.mat --states y --inputs u --dt 1e-3 --test run3.mat --horizons 1,20,100
    """
    from koopsieve.cli.run import run_and_write

    run_and_write(gather(config, flags), as_json, overwrite)
