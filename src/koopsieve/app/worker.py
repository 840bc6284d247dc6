"""The process that a run is: `python -m koopsieve.app.worker settings.toml`; a line of JSON for every step it makes."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from koopsieve._types import KoopsieveError
from koopsieve.cli.app import as_options
from koopsieve.cli.settings import gather
from koopsieve.cli.sift import run_and_write
from koopsieve.execution.progress import WholeJob, time_left
from koopsieve.sifting.preliminary import SearchSummary


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


def main() -> int:
    """Run the settings; an error of the user's is a line, and the exit code 2."""
    warnings.showwarning = lambda message, *_, **__: write({"note": as_options(str(message))})
    try:
        run_and_write(gather(Path(sys.argv[1]), {}), as_json=False, overwrite=False, progress=Lines())
    except (KoopsieveError, OSError) as error:
        write({"error": str(error)})
        return 2
    write({"finished": True})
    return 0


if __name__ == "__main__":
    sys.exit(main())
