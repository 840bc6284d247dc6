"""The Monte Carlo engine: independent tasks, one file each, on all cores, resumable after any kind of end.

Every task names its file and computes its content from its own arguments and seed. A finished task is a complete file,
so whatever was interrupted, the same command computes exactly what is missing. Each worker computes with one thread, so
that the numbers do not depend on the number of cores.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from koopsieve._types import KoopsieveError
from koopsieve._written import plain, read_json, write_json
from koopsieve.execution import Progress, silent

SETTINGS = "settings.json"


@dataclass(frozen=True)
class RunTask:
    """A file to be made and the function that makes its content; all of it can be sent to another process."""

    name: str
    function: Callable[..., Mapping[str, Any]]
    arguments: tuple[Any, ...]

    def path(self, folder: Path) -> Path:
        """Return where the result goes."""
        return folder / f"{self.name}.json"


def run_tasks(
    tasks: Sequence[RunTask],
    folder: Path,
    fingerprint: Mapping[str, Any],
    *,
    workers: int,
    progress: Progress = silent,
    description: str = "Running",
) -> list[Any]:
    """Compute what is missing in `folder` and return all results in the order of the tasks.

    The folder holds one file per finished task, and the `fingerprint`: what all results in it depend on; one of other
    settings is refused. The work is done by `workers` processes, here if that is 1. `progress` wraps the tasks that are
    still to be done.
    """
    claim(folder, fingerprint)
    missing = [task for task in tasks if not _is_there(task.path(folder))]
    for _ in progress(_compute(missing, folder, workers), description, len(missing)):
        pass
    return [read_json(task.path(folder)) for task in tasks]


def _is_there(path: Path) -> bool:
    """Return whether a result is on disk, and whole; one that was cut off is computed again."""
    if not path.is_file():
        return False
    try:
        found = read_json(path)
    except KoopsieveError:
        return False
    return isinstance(found, dict) and bool(found)


def claim(folder: Path, fingerprint: Mapping[str, Any]) -> None:
    """Write down the settings of the folder's results, after checking that it was not made with others."""
    folder.mkdir(parents=True, exist_ok=True)
    path, mine = folder / SETTINGS, plain(fingerprint)
    if not path.is_file():
        write_json(path, mine)
        return
    theirs = read_json(path)
    if theirs != mine:
        differing = ", ".join(_differences(mine, theirs)) or "something"
        raise KoopsieveError(
            f"{folder} holds runs made with other settings ({differing}). "
            "Give another --out folder, or remove this one to start anew."
        )


def _differences(mine: Any, theirs: Any, where: str = "") -> list[str]:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        keys = sorted({*mine, *theirs})
        return [found for key in keys for found in _differences(mine.get(key), theirs.get(key), f"{where}.{key}")]
    return [] if mine == theirs else [f"{where.lstrip('.')}: asked {_short(mine)}, found {_short(theirs)}"]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _compute(tasks: Sequence[RunTask], folder: Path, workers: int) -> Iterator[Path]:
    if workers <= 1 or len(tasks) <= 1:
        for task in tasks:
            yield _finish(task, folder)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context, initializer=_watch_parent) as pool:
        futures = [pool.submit(_finish, task, folder) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool as error:
            raise KoopsieveError(
                "A worker process died, perhaps for lack of memory. What it had finished is on disk: "
                "give the same command again, with --workers 1 if it dies again."
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _finish(task: RunTask, folder: Path) -> Path:
    with threadpool_limits(1):
        result = task.function(*task.arguments)
    write_json(task.path(folder), result)
    return task.path(folder)


def _watch_parent() -> None:
    """End this worker when its parent is gone, also after kill -9."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(process: BaseProcess) -> None:
    process.join()
    os._exit(1)
