"""`koopsieve compare`: several runs on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more folders that koopsieve sift wrote.", metavar="DIRS")],
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("comparison.html"),
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Runs side by side",
) -> None:
    """Put several runs side by side on one page: settings, errors, sizes, terms kept.

    For example:

    koopsieve compare result1 result2 --out comparison.html
    """
    from koopsieve.report import write_comparison

    write_comparison(runs, out, title)
    typer.echo(f"Written to {out}: {len(runs)} runs side by side.")
