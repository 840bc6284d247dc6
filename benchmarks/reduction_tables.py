"""The tables of the reduction benchmark: one line per method and size, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIEVE = "horizon sieve"
HEAD = """| system | noise | size asked | method | kept | NMSE, 1st horizon | 2nd | longest | κ(A) | seconds |
|---|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, eq=False)
class Row:
    """One line of the table."""

    system: str
    noise: str
    asked: str
    method: str
    size: int
    error: np.ndarray
    condition: float
    seconds: float
    finite: bool

    def markdown(self) -> str:
        errors = " | ".join(_number(value) for value in self.error)
        mark = "" if self.finite else " (1000 steps overflow)"
        return (
            f"| {self.system} | {self.noise} | {self.asked} | {self.method}{mark} | {self.size} | {errors} | "
            f"{_number(self.condition)} | {self.seconds:.1f} |"
        )


def equal_size_table(rows: list[Row]) -> str:
    """Return the geometric means at equal size, and where a rival is lowest at the longest horizon."""
    sized = [row for row in rows if row.asked.isdigit()]
    cases = sorted({(row.system, row.noise, row.asked) for row in sized})
    methods = list(dict.fromkeys(row.method for row in sized))
    error = {(row.system, row.noise, row.asked, row.method): row.error for row in sized}
    winner = {case: min(methods, key=lambda m: _worst(error[(*case, m)][2])) for case in cases}
    lines = [f"Geometric mean NMSE over {len(cases)} cases at equal size, by shown horizon:", ""]
    lines += ["| method | first | second | longest | lowest at the longest in |", "|---|---|---|---|---|"]
    for method in methods:
        table = np.array([[_worst(value) for value in error[(*case, method)]] for case in cases])
        means = " | ".join(_number(value) for value in np.exp(np.mean(np.log(table), axis=0)))
        lines.append(f"| {method} | {means} | {sum(winner[case] == method for case in cases)} |")
    lost = [case for case in cases if winner[case] != SIEVE]
    lines += ["", "A rival is lowest at the longest horizon in:" if lost else "No rival is lowest anywhere.", ""]
    lines += [f"- {system}, {noise}, {size} kept: {winner[(system, noise, size)]}" for system, noise, size in lost]
    return "\n".join([*lines, "", _against_random(cases, error)])


def _against_random(cases: list[tuple[str, str, str]], error: dict) -> str:
    longest = {case: [error[(*case, method)][2] for method in ("random subset (median)", SIEVE)] for case in cases}
    ratios = [
        f"{size} kept at {noise}: {longest[system, noise, size][0] / longest[system, noise, size][1]:.1f}"
        for system, noise, size in cases
        if system == "lorenz"
    ]
    told = "The random subset's median error over the horizon sieve's on Lorenz, longest horizon"
    return f"{told}: {', '.join(ratios)}." if ratios else ""


def _worst(value: float) -> float:
    return float(min(value, 1e6)) if np.isfinite(value) else 1e6  # a model that diverges is as bad as can be


def _number(value: float) -> str:
    return f"{value:.2e}" if np.isfinite(value) else str(value)
