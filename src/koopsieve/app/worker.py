"""The process that a run is, given its settings file: the lines of JSON that it writes, and what they say."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koopsieve._types import KoopsieveError
from koopsieve.cli.settings import gather
from koopsieve.execution.progress import WholeJob, time_left

if TYPE_CHECKING:
    from koopsieve.sifting.preliminary import SearchSummary


class RunState(Enum):
    """How far a run is."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class RunStatus:
    """What is known of a run while it goes on.

    Parameters
    ----------
    state : RunState
    doing : str
        What it does now.
    share : float
        How much of the whole job is done, from 0 to 1.
    left : str
        How long it still takes, in words.
    best : str
        The best model so far, in words.
    notes : tuple of str
        Warnings.
    error : str
        Why it failed.
    """

    state: RunState = RunState.RUNNING
    doing: str = "Starting"
    share: float = 0.0
    left: str = ""
    best: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""
    lowest: float = field(default=float("inf"), repr=False)

    def after(self, line: Mapping[str, Any]) -> RunStatus:
        """Return the status after a line that the process wrote."""
        if "doing" in line:
            return replace(
                self, doing=str(line["doing"]) or self.doing, share=float(line["share"]), left=str(line["left"])
            )
        if "found" in line and line["error"] < self.lowest:
            words = f"{line['found']} form, {line['kept']} of {line['candidates']} terms, NMSE {line['error']:.2g}"
            return replace(self, best=words, lowest=float(line["error"]))
        if "note" in line:
            return replace(self, notes=(*self.notes, str(line["note"])))
        if "finished" in line:
            return replace(self, state=RunState.FINISHED, share=1.0)
        return replace(self, state=RunState.FAILED, error=str(line["error"])) if "error" in line else self


class Lines(WholeJob):
    """Progress of the whole job as lines of JSON on standard output, and every search that ended with what it found."""

    def __init__(self) -> None:
        super().__init__(self._moved)
        self._begun = time.monotonic()

    def _moved(self, share: float, description: str) -> None:
        left = time_left(share, time.monotonic() - self._begun)
        write({"doing": description, "share": round(share, 3), "left": left})

    def found(self, summary: SearchSummary) -> None:
        """Write what a search found."""
        error = float(summary.errors.error[-1])
        write({"found": summary.form, "kept": summary.kept, "candidates": summary.candidates, "error": error})


def write(line: dict[str, Any]) -> None:
    """Write one line at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the settings; an error of the user's is a line, and the exit code 2."""
    from koopsieve.cli.app import as_options  # the page, which reads the lines, needs none of this
    from koopsieve.cli.sift import run_and_write

    warnings.showwarning = lambda message, *_, **__: write({"note": as_options(str(message))})
    try:
        run_and_write(gather(Path(sys.argv[1]), {}), as_json=False, overwrite=False, progress=Lines())
    except (KoopsieveError, OSError) as error:
        write({"error": str(error)})
        sys.exit(2)
    write({"finished": True})
