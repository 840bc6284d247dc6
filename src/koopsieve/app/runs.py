"""Runs of the app: each is a process and a folder; one that crashes takes nothing with it.

The process is given its settings file and writes lines of JSON, which are read here as well.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koopsieve._types import KoopsieveError
from koopsieve._written import read_json
from koopsieve.cli.command_settings import Settings, gather, to_toml
from koopsieve.execution.executors import WholeJob, time_left
from koopsieve.report.comparison import facts

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
    """What is known of a run while it goes on."""

    state: RunState = RunState.RUNNING
    doing: str = "Starting"  # what it does now
    share: float = 0.0  # how much of the whole job is done, from 0 to 1
    left: str = ""  # how long it still takes, in words
    best: str = ""  # the best model so far, in words
    notes: tuple[str, ...] = ()  # warnings
    error: str = ""  # why it failed
    lowest: float = field(default=float("inf"), repr=False)

    def after(self, line: Mapping[str, Any]) -> RunStatus:
        """Return the status after a line that the process wrote."""
        if "doing" in line:
            return replace(
                self, doing=str(line["doing"]) or self.doing, share=float(line["share"]), left=str(line["left"])
            )
        if "found" in line:
            if not line["error"] < self.lowest:
                return self
            words = f"{line['found']} form, {line['kept']} of {line['candidates']} terms, NMSE {line['error']:.2g}"
            return replace(self, best=words, lowest=float(line["error"]))
        if "note" in line:
            return replace(self, notes=(*self.notes, str(line["note"])))
        if "finished" in line:
            return replace(self, state=RunState.FINISHED, share=1.0)
        return replace(self, state=RunState.FAILED, error=str(line["error"])) if "error" in line else self


class JsonProgress(WholeJob):
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
        run_and_write(gather(Path(sys.argv[1]), {}), as_json=False, overwrite=False, progress=JsonProgress())
    except (KoopsieveError, OSError) as error:
        write({"error": str(error)})
        sys.exit(2)
    write({"finished": True})


SETTINGS, RESULT, REPORT = "settings.toml", "result", "report.html"
_STOP_SECONDS = 5.0  # that a process has to end by itself


class Run:
    """One run: its settings, its folder, and the process while it goes on."""

    def __init__(self, folder: Path, settings: Settings, status: RunStatus) -> None:
        self.folder, self.settings, self.status = folder, settings, status
        self.process: subprocess.Popen[str] | None = None
        self.threads: tuple[threading.Thread, ...] = ()

    @classmethod
    def begun(cls, folder: Path, settings: Settings) -> Run:
        """Start a run in a new folder."""
        folder.mkdir(parents=True)
        chosen = replace(settings, out=str(folder / RESULT))
        (folder / SETTINGS).write_text(to_toml(chosen), encoding="utf-8")
        run = cls(folder, chosen, RunStatus())
        command = [sys.executable, "-c", "from koopsieve.app.runs import main; main()", str(folder / SETTINGS)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8"}
        run.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=environment,
        )
        run.threads = (threading.Thread(target=run._listen, daemon=True),)
        run.threads[0].start()
        return run

    @classmethod
    def found(cls, folder: Path) -> Run:
        """Return a run of an earlier session."""
        return cls(folder, gather(folder / SETTINGS, {}), RunStatus(RunState.FINISHED, share=1.0))

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def result(self) -> Path:
        """The folder with its files."""
        return self.folder / RESULT

    def summary(self) -> dict[str, Any]:
        """Return what `summary.json` holds."""
        return dict(read_json(self.result / "summary.json"))

    def stop(self) -> None:
        """End the process; what it had begun to write is not there."""
        if self.process is None or self.status.state is not RunState.RUNNING:
            return
        self.status = replace(self.status, state=RunState.STOPPED, doing="Stopped")
        self.process.terminate()
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def wait(self, seconds: float) -> None:
        """Wait until the process has ended."""
        if self.process is not None:
            self.process.wait(seconds)

    def _listen(self) -> None:
        """Follow what the process writes until it ends."""
        process = self.process
        if process is None or process.stdout is None or process.stderr is None:
            return
        errors: list[str] = []
        reader = threading.Thread(target=lambda stream: errors.extend(stream), args=(process.stderr,), daemon=True)
        reader.start()
        for line in process.stdout:
            try:
                self.status = self.status.after(json.loads(line))
            except (json.JSONDecodeError, AttributeError, TypeError):
                continue  # the table that a run prints for people
        code = process.wait()
        reader.join(1.0)
        process.stdout.close()
        process.stderr.close()
        if self.status.state is RunState.RUNNING:
            killed = "It was killed, perhaps because memory ran out. " if code < 0 else ""
            words = f"The run ended with code {code}. {killed}{' '.join(errors[-3:]).strip()}"
            self.status = replace(self.status, state=RunState.FAILED, error=words)


def table_rows(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Return finished runs as rows of a table, in the words of the page that compares them."""
    known = facts({run.name: run.summary() for run in runs})
    shown = [fact for fact in known if fact.brief]
    return [{"run": run.name, **{fact.what: fact.values[i] for fact in shown}} for i, run in enumerate(runs)]


class Runs:
    """All runs of a folder, those of earlier sessions too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        earlier = sorted(folder.glob(f"run-*/{RESULT}/{REPORT}"), key=lambda path: path.stat().st_mtime)
        self.every = {path.parent.parent.name: Run.found(path.parent.parent) for path in earlier}

    def begin(self, settings: Settings) -> Run:
        """Start a run under the next free number."""
        number = 1 + max((int(name.removeprefix("run-")) for name in self._taken()), default=0)
        run = Run.begun(self.folder / f"run-{number}", settings)
        self.every[run.name] = run
        return run

    def finished(self) -> list[Run]:
        """Return the runs that have a result."""
        return [run for run in self.every.values() if run.status.state is RunState.FINISHED]

    def stop(self) -> None:
        """End every process."""
        for run in self.every.values():
            run.stop()

    def _taken(self) -> list[str]:
        return [path.name for path in self.folder.glob("run-*") if path.name.removeprefix("run-").isdecimal()]
