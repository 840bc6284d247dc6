"""Runs of the app: each is a process and a folder; one that crashes takes nothing with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from koopsieve._written import read_json
from koopsieve.app.worker import RunState, RunStatus
from koopsieve.cli.settings import Settings, gather, to_toml
from koopsieve.report.comparison import facts

SETTINGS, RESULT, REPORT = "settings.toml", "result", "report.html"
_COLUMNS = ("form", "kept", "NMSE, ", "fit of the simulation", "beats")  # how those of the table begin
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
        command = [sys.executable, "-c", "from koopsieve.app.worker import main; main()", str(folder / SETTINGS)]
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
    shown = [(label, values) for label, values, _ in known if label.startswith(_COLUMNS)]
    return [{"run": run.name, **{label: values[i] for label, values in shown}} for i, run in enumerate(runs)]


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
