"""The one table a run prints."""

from __future__ import annotations

import math

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from koopsieve.workflow import SieveResult

_MOST_NAMES = 20  # the report shows all


def show_result(result: SieveResult, title: str) -> None:
    """Print methods × all/kept observables: NMSE at each horizon, condition number; then what was kept."""
    table = Table(
        title=escape(title), caption=f"NMSE of linear predictions on {result.judged_on} trajectories, mean of states"
    )
    table.add_column("method")
    table.add_column("observables", justify="right")
    for horizon in result.horizons:
        table.add_column(f"{horizon} step{'s' if horizon > 1 else ''}", justify="right")
    table.add_column("cond(A)", justify="right")
    for name in result.full:
        for size, fit in (("all", result.full[name]), ("kept", result.reduced[name])):
            facts = fit.diagnostics
            errors = [number(error) for error in facts.mean_error]
            row = [name, f"{size} {len(fit.model.A)}", *errors, number(facts.condition_number)]
            table.add_row(*row, end_section=size == "kept")
    console = Console()
    console.print(table)
    names = result.retained_names
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    console.print(f"Kept: {', '.join(names[:_MOST_NAMES])}{more}", markup=False, highlight=False)


def number(value: float) -> str:
    """Return a number in a few digits, readable at any size."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.0e}"
