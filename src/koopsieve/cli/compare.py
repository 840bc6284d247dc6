"""`koopsieve compare`: several runs on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from koopsieve.cli.options import Overwrite, chosen


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more folders that koopsieve sift wrote.", metavar="DIRS")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file to write (default: a new one, comparison.html).")
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Runs side by side",
    overwrite: Overwrite = False,
) -> None:
    """Put several runs side by side on one page: settings, errors, sizes, terms kept.

    For example:

    koopsieve compare result1 result2 --out comparison.html
    """
    from koopsieve._written import check_file
    from koopsieve.report import write_comparison

    out = chosen(out, "comparison.html", overwrite)
    check_file(out, overwrite)
    write_comparison(runs, out, title, overwrite)
    typer.echo(f"Written to {out}: {len(runs)} runs side by side.")
