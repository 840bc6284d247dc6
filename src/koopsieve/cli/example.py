"""`koopsieve example`: a file of measurements to try the other commands on."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from koopsieve.cli.options import Overwrite, chosen


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
    from koopsieve._written import check_file, written_whole
    from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record

    out = chosen(out, "bench.csv", overwrite)
    check_file(out, overwrite)
    u, y = bench_record(samples, seed=seed)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["t", "u", "y"])
    writer.writerows([f"{k * BENCH_SAMPLE_TIME:.2f}", f"{u[k]:.6f}", f"{y[k]:.6f}"] for k in range(samples))
    with written_whole(out, overwrite) as stream:
        stream.write(text.getvalue().encode())
    typer.echo(f"Written to {out}: {samples} samples, columns t, u, y. Now: koopsieve sift {out} --help")
