"""The one table a run prints."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from koopsieve._display import number, steps
from koopsieve.sifting.result import SieveResult
from koopsieve.sifting.tables import Contender, contenders

_MAX_NAMES = 20  # the report shows all


def show_result(result: SieveResult, title: str) -> None:
    """Print the baselines and the model: terms, NMSE at each horizon, condition number; then what was kept."""
    table = Table(
        title=escape(title), caption=f"NMSE on {result.evaluation.on} data, mean of the outputs; 1 is the mean"
    )
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
    return [str(one.terms), *errors, *([number(one.condition_number)] if lifted else [])]
