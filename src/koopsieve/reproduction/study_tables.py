"""Tables of a study, as text, CSV, Markdown, LaTeX or HTML; the paper's number beside ours where it prints one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koopsieve._display import csv_text, html_grid, number
from koopsieve._written import write_text

Summary = Mapping[str, Any]
FULL, REDUCED = "full", "reduced"  # which dictionary a model has
_LATEX = {"κ": r"$\kappa$", "Aᵀ": "$A^T$", "K̂": r"$\hat{K}$", "ε": r"$\epsilon$", "φ": r"$\phi$", "±": r"$\pm$"}
_LATEX |= {"—": "---", "–": "--", "∞": r"$\infty$", "−": "$-$"}
_STATISTICS = {"": "", "_ci95": "± 95 %", "_median": "median"}  # of a mean over runs, and their headings
_KAPPAS = {"condition_number": "κ(Aᵀ)", "coef_condition_number": "κ(K̂)"}


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


def noise_study_tables(summary: Summary) -> list[StudyTable]:
    """Return sizes, one-step errors, errors at horizons and condition numbers of a simulated system."""
    about = f"{summary['title']}, {summary['runs']} runs per level"
    return [_sizes(summary, about), _one_step(summary, about), _horizons(summary, about), _conditioning(summary, about)]


def _sizes(summary: Summary, about: str) -> StudyTable:
    rows = [
        (
            snr,
            *(summary["reduced_size" + key][t][i] for t in summary["reduced_size"] for key in _STATISTICS),
            summary["unsettled_targets"][i],
            summary["diverged_targets"][i],
        )
        for i, snr in enumerate(summary["snr_db"])
    ]
    columns = [head or f"size at ε = {t}" for t in summary["reduced_size"] for head in _STATISTICS.values()]
    paper = summary["paper"]
    smallest = f"; paper: as few as {paper['smallest_size']}" if "smallest_size" in paper else ""
    caption = f"{about}: observables kept of {summary['full_size']} (paper: {paper['full_size']}{smallest})"
    header = ("SNR (dB)", *columns, "targets not settled", "targets diverged")
    return StudyTable("reduced_size", caption, header, tuple(rows))


def _one_step(summary: Summary, about: str) -> StudyTable:
    columns = {(part, key): head or f"{part} NMSE" for part in ("train", "test") for key, head in _STATISTICS.items()}
    rows = _per_level(
        summary,
        lambda size, method, i: [summary["one_step" + key][size][method][part][i] for part, key in columns],
    )
    caption = f"{about}: one-step NMSE of {summary['state']} (the paper shows curves, no numbers)"
    return StudyTable("one_step", caption, ("SNR (dB)", "dictionary", "method", *columns.values()), rows)


def _conditioning(summary: Summary, about: str) -> StudyTable:
    columns = {key + kind: name if not kind else "median" for key, name in _KAPPAS.items() for kind in ("", "_median")}
    rows = _per_level(summary, lambda size, method, i: [summary[key][size][method][i] for key in columns])
    caption = f"{about}: condition numbers (the paper shows curves, no numbers)"
    return StudyTable("condition_number", caption, ("SNR (dB)", "dictionary", "method", *columns.values()), rows)


def _per_level(summary: Summary, cells: Callable[[str, str, int], Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    """Return a row for every level of noise, dictionary and method."""
    return tuple(
        (snr, size, method, *cells(size, method, i))
        for i, snr in enumerate(summary["snr_db"])
        for size in (FULL, REDUCED)
        for method in summary["one_step"][size]
    )


def _horizons(summary: Summary, about: str) -> StudyTable:
    kinds = [summary["long_term" + kind] for kind in ("", "_median")]
    rows = [
        (size, method, *(kind[size][method][i] for i in range(len(errors)) for kind in kinds))
        for size in (FULL, REDUCED)
        for method, errors in summary["long_term"][size].items()
        if errors
    ]
    columns = [text for h in summary["horizons"] for text in (f"h = {h}", "median")]
    caption = (
        f"{about}: NMSE of {summary['state']} h steps ahead on test data at {summary['horizon_snr_db']:g} dB, mean and "
        "median over runs (the paper shows curves, no numbers)"
    )
    return StudyTable("long_term", caption, ("dictionary", "method", *columns), tuple(rows))


def circuit_tables(summary: Summary) -> list[StudyTable]:
    """Return the paper's three Wiener–Hammerstein tables, each number with the paper's beside it."""
    about = f"{summary['title']} – {summary['source']}"
    paper, whole, none = summary["paper"], summary["coef_condition_number"], [None] * len(summary["horizons"])
    kept = f"{summary['full_size']} observables reduced to {summary['reduced_size']} (paper: {paper['reduced_size']})"
    one_step = [
        (*model, *(cell for part in ("train", "test") for cell in (ours[part], (theirs or {}).get(part))))
        for *model, ours, theirs in _models(summary, "one_step")
    ]
    ahead = [
        (*model, *(cell for pair in zip(ours, theirs or none, strict=True) for cell in pair))
        for *model, ours, theirs in _models(summary, "long_term")
    ]
    kappa = [
        (size, method, ours, whole[size][method], theirs)
        for size, method, ours, theirs in _models(summary, "condition_number")
    ]
    horizons = [text for h in summary["horizons"] for text in (f"h = {h}", "paper")]
    tables = [
        ("one_step", f"one-step NMSE; {kept}", ("train NMSE", "paper", "test NMSE", "paper"), one_step),
        ("long_term", "NMSE h steps ahead", horizons, ahead),
        ("condition_number", "condition numbers", (*_KAPPAS.values(), "paper"), kappa),
    ]
    return [
        *(
            StudyTable(name, f"{about}: {of}", ("dictionary", "method", *head), tuple(rows))
            for name, of, head, rows in tables
        ),
        *_readings(summary, about),
    ]


def _readings(summary: Summary, about: str) -> list[StudyTable]:
    """Return what the readings of Algorithm 1 keep at several dampings, if they were tried."""
    rows = [
        (name, damping, found["kept"], found["settled"])
        for name, each in summary["readings"].items()
        for damping, found in each.items()
    ]
    header = ("reading", "damping", "observables kept", "targets settled")
    return [StudyTable("readings", f"{about}: readings of Algorithm 1", header, tuple(rows))] if rows else []


def _models(summary: Summary, key: str) -> list[tuple[str, str, Any, Any]]:
    paper = summary["paper"][key]
    return [
        (size, method, ours, paper[size].get(method))
        for size in (FULL, REDUCED)
        for method, ours in summary[key][size].items()
    ]
