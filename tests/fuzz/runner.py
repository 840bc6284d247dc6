"""Run seeded fuzzers of every entry and print one line for each: `python -m tests.fuzz.runner --cases 10000`.

An entry, one way in for data or settings, is a module of this folder with a function `case(rng, folder)`. A finding is
an exception that is not ours, a case that takes more than a minute, memory above two gigabytes, or an assertion of the
entry itself: a silent wrong result, a file left half written. `--entry NAME --case N` runs one case again,
with its traceback.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from koopsieve import KoopsieveError, KoopsieveWarning

ENTRIES = (
    "files",
    "frames",
    "logs",
    "streams",
    "facade",
    "stages",
    "models",
    "archives",
    "exports",
    "kills",
    "settings",
    "options",
    "report",
    "metamorphic",
)
MAX_SECONDS = 60  # of this process's own time
MAX_BYTES = 2 * 2**30


class HangError(Exception):
    """A case took too long."""


@dataclass
class Outcome:
    """What one entry gave."""

    entry: str
    cases: int = 0
    refused: int = 0
    seconds: float = 0.0
    findings: list[tuple[int, str]] = field(default_factory=list)

    def line(self) -> str:
        """Return the outcome in one line."""
        found = f"{len(self.findings)} finding{'s'[: len(self.findings) != 1]}"
        return f"{self.entry}: {self.cases} cases, {self.refused} refused in words, {found}, {self.seconds:.0f} s"


def run(entry: str, cases: int, seed: int, first: int = 0) -> Outcome:
    """Run cases first … first+cases−1 of an entry."""
    module = importlib.import_module(f"tests.fuzz.{entry}")
    outcome, begun = Outcome(entry), time.perf_counter()
    folder = Path(tempfile.mkdtemp(prefix="fuzz."))
    try:
        for number in range(first, first + cases):
            outcome.cases += 1
            problem = attempt(module.case, np.random.default_rng([seed, ENTRIES.index(entry), number]), folder)
            if problem == "":
                outcome.refused += 1
            elif problem is not None:
                outcome.findings.append((number, problem))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    outcome.seconds = time.perf_counter() - begun
    return outcome


def attempt(case, rng, folder) -> str | None:
    """Return None for a case that passed, empty text for one that was refused in words, or what was found."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _hang)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    signal.alarm(10 * MAX_SECONDS)  # on a busy machine a case waits for others; one that waits for nothing ends here
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", KoopsieveWarning)
            case(rng, folder)
        problem = None
    except KoopsieveError:
        problem = ""
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        problem = "".join(traceback.format_exception(error)[-4:]).strip()
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return f"The memory grew by {grown / 2**20:.0f} MiB." if grown > MAX_BYTES else problem


def _hang(*_) -> None:
    raise HangError(f"more than {MAX_SECONDS} s")


def main() -> int:
    """Run the entries that were asked for; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="cases per entry")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--entry", choices=ENTRIES, action="append", help="only this one; may be repeated")
    parser.add_argument("--case", type=int, help="run this one case and show what it finds")
    asked = parser.parse_args()
    worst = 0
    for entry in asked.entry or ENTRIES:
        cases, first = (asked.cases, 0) if asked.case is None else (1, asked.case)
        outcome = run(entry, cases, asked.seed, first)
        sys.stdout.write(outcome.line() + "\n")
        sys.stdout.flush()
        kinds = {problem.splitlines()[-1][:70]: (number, problem) for number, problem in reversed(outcome.findings)}
        for number, problem in list(kinds.values())[:10]:
            sys.stdout.write(f"  case {number}: {problem}\n")
        worst = max(worst, bool(outcome.findings))
    return worst


if __name__ == "__main__":
    sys.exit(main())
