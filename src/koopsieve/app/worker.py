"""The process that a run is: `python -m koopsieve.app.worker settings.toml`; a line of JSON for every step it makes."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from koopsieve._types import KoopsieveError
from koopsieve.cli.app import as_options
from koopsieve.cli.settings import gather
from koopsieve.cli.sift import run_and_write
from koopsieve.sifting.preliminary import SearchSummary

Item = TypeVar("Item")


class Lines:
    """Progress as lines of JSON on standard output, and every search that ended with what it found."""

    def __call__(self, items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
        """Pass items on; a line before each of them."""
        for done, item in enumerate(items):
            write({"doing": description, "done": done, "total": total})
            yield item

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
