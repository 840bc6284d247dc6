"""A named table of text and numbers, to be read: as plain text, CSV, Markdown, LaTeX or HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koopsieve._display import csv_text, html_grid, number
from koopsieve._written import written_whole

FULL, REDUCED = "full", "reduced"  # which dictionary a model has
_LATEX = {"κ": r"$\kappa$", "Aᵀ": "$A^T$", "K̂": r"$\hat{K}$", "ε": r"$\epsilon$", "φ": r"$\phi$", "±": r"$\pm$"}
_LATEX |= {"—": "---", "–": "--", "∞": r"$\infty$", "−": "$-$"}


@dataclass(frozen=True)
class StudyTable:
    """A named table; `caption` says what it shows and from which data."""

    name: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __str__(self) -> str:
        cells = [list(self.header), *([_shown(cell, number) for cell in row] for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.header))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
        return "\n".join([self.caption, "", *lines])

    def _repr_html_(self) -> str:
        return html_grid(self.caption, self.header, [[_shown(cell, number) for cell in row] for row in self.rows])

    def to_csv(self) -> str:
        """Return the table with full precision."""
        rows = [["" if cell is None else cell for cell in row] for row in self.rows]
        return csv_text([self.header, *rows])

    def to_markdown(self) -> str:
        """Return the table with three significant digits."""
        lines = [f"**{self.caption}**", "", "| " + " | ".join(self.header) + " |"]
        lines.append("|" + "---|" * len(self.header))
        lines += ["| " + " | ".join(map(shown, row)) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        """Return the table as LaTeX (package booktabs), with three significant digits."""
        rows = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in self.rows]
        lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{'l' * len(self.header)}}}", r"\toprule"]
        lines += [" & ".join(map(_latex_text, self.header)) + r" \\", r"\midrule", *rows, r"\bottomrule"]
        lines += [r"\end{tabular}", rf"\caption{{{_latex_text(self.caption)}}}", r"\end{table}"]
        return "\n".join(lines) + "\n"


def shown(cell: Any) -> str:
    """Return a number with three significant digits, other things as they are, nothing as a dash."""
    return _shown(cell, lambda value: f"{value:.3g}").replace("|", "\\|")


def _shown(cell: Any, number_text: Callable[[float], str]) -> str:
    if cell is None:
        return "–"
    return number_text(cell) if isinstance(cell, float) else str(cell)


def _latex_cell(cell: Any) -> str:
    if not isinstance(cell, float):
        return _latex_text(_shown(cell, number))
    if not math.isfinite(cell):
        return {math.inf: r"$\infty$", -math.inf: r"$-\infty$"}.get(cell, "--")
    mantissa, _, exponent = f"{cell:.3g}".partition("e")
    return f"${mantissa}$" if not exponent else rf"${mantissa} \times 10^{{{int(exponent)}}}$"


def _latex_text(text: str) -> str:
    escaped = re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", r"\textbackslash ")).replace("^", r"\^{}")
    for symbol, command in _LATEX.items():
        escaped = escaped.replace(symbol, command)
    return escaped


def write_tables(tables: Sequence[StudyTable], folder: Path) -> None:
    """Write every table as CSV under a line with its caption, and all of them together as tables.md."""
    for table in tables:
        write_text(folder / f"{table.name}.csv", f"# {table.caption}\n{table.to_csv()}")
    write_text(folder / "tables.md", "\n".join(table.to_markdown() for table in tables))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with written_whole(path) as stream:
        stream.write(text.encode())
