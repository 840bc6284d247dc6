"""The one table a run prints."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from koopsieve._types import FloatArray
from koopsieve._words import number
from koopsieve.model import LiftedModel, Model
from koopsieve.sieve.result import SieveResult

_MAX_NAMES = 20  # the report shows all


def show_result(result: SieveResult, title: str) -> None:
    """Print the baselines and the model: NMSE at each horizon, condition number; then what was kept."""
    table = Table(title=escape(title), caption=f"NMSE on {result.judged.on} data, mean of the outputs; 1 is the mean")
    table.add_column("model")
    table.add_column("size", justify="right")
    for horizon in result.horizons:
        table.add_column(f"{horizon} step{'s' if horizon > 1 else ''}", justify="right")
    lifted = isinstance(result.model, LiftedModel) or bool(result.comparison)  # else A is only that of the baseline
    if lifted:
        table.add_column("cond(A)", justify="right")
    for name, baseline in result.baselines.items():
        table.add_row(name, *_row(baseline.model, baseline.errors.mean, lifted), style="dim")
    for name, both in result.comparison.items():
        for word, fit in (("all", both.full), ("kept", both.reduced)):
            table.add_row(f"{name}, {word}", *_row(fit.model, fit.errors.mean, lifted), style="dim")
    table.add_section()
    table.add_row(f"sifted ({result.form})", *_row(result.model, result.errors.mean, lifted), style="bold")
    console = Console()
    console.print(table)
    names = result.retained_names
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    console.print(f"Kept: {', '.join(names[:_MAX_NAMES])}{more}", markup=False, highlight=False)


def _row(model: Model, errors: FloatArray, lifted: bool) -> list[str]:
    condition = number(model.condition_number) if isinstance(model, LiftedModel) else "–"
    size = len(model.names if isinstance(model, LiftedModel) else model.dictionary.regressors)
    return [str(size), *map(number, errors.tolist()), *([condition] if lifted else [])]
