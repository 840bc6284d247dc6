"""Runs of the app: each is a process and a folder; one that crashes takes nothing with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from koopsieve._display import number, per_cent
from koopsieve._written import json_number, read_json
from koopsieve.cli.settings import Settings, gather, to_toml

SETTINGS, RESULT, REPORT = "settings.toml", "result", "report.html"
_STOP_SECONDS = 5.0  # that a process has to end by itself


class State(Enum):
    """How far a run is."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class Status:
    """What is known of a run while it goes on.

    Parameters
    ----------
    state : State
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

    state: State = State.RUNNING
    doing: str = "Starting"
    share: float = 0.0
    left: str = ""
    best: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""
    lowest: float = field(default=float("inf"), repr=False)

    def after(self, line: Mapping[str, Any]) -> Status:
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
            return replace(self, state=State.FINISHED, share=1.0)
        return replace(self, state=State.FAILED, error=str(line["error"])) if "error" in line else self


class Run:
    """One run: its settings, its folder, and the process while it goes on."""

    def __init__(self, folder: Path, settings: Settings, status: Status) -> None:
        self.folder, self.settings, self.status = folder, settings, status
        self.process: subprocess.Popen[str] | None = None
        self.threads: tuple[threading.Thread, ...] = ()

    @classmethod
    def begun(cls, folder: Path, settings: Settings) -> Run:
        """Start a run in a new folder."""
        folder.mkdir(parents=True)
        chosen = replace(settings, out=str(folder / RESULT))
        (folder / SETTINGS).write_text(to_toml(chosen), encoding="utf-8")
        run = cls(folder, chosen, Status())
        command = [sys.executable, "-m", "koopsieve.app.worker", str(folder / SETTINGS)]
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
        return cls(folder, gather(folder / SETTINGS, {}), Status(State.FINISHED, share=1.0))

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

    def row(self) -> dict[str, str]:
        """Return what a table of finished runs shows of it."""
        found = self.summary()
        mine = found["models"]["sifted"]
        errors = [json_number(values[-1]) for values in mine["nmse"].values()]
        return {
            "run": self.name,
            "form": found["form"],
            "terms": f"{found['observables']['reduced']} of {found['observables']['full']}",
            "fit of the simulation": per_cent(min(map(json_number, mine["simulation_fit"].values()))),
            f"NMSE, {found['horizons'][-1]} steps": number(sum(errors) / len(errors)),
            "better than linear": "yes" if found["beats_linear"] else "no",
        }

    def stop(self) -> None:
        """End the process; what it had begun to write is not there."""
        if self.process is None or self.status.state is not State.RUNNING:
            return
        self.status = replace(self.status, state=State.STOPPED, doing="Stopped")
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
        if self.status.state is State.RUNNING:
            killed = "It was killed, perhaps because memory ran out. " if code < 0 else ""
            words = f"The run ended with code {code}. {killed}{' '.join(errors[-3:]).strip()}"
            self.status = replace(self.status, state=State.FAILED, error=words)


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
        return [run for run in self.every.values() if run.status.state is State.FINISHED]

    def stop(self) -> None:
        """End every process."""
        for run in self.every.values():
            run.stop()

    def _taken(self) -> list[str]:
        return [path.name for path in self.folder.glob("run-*") if path.name.removeprefix("run-").isdecimal()]
