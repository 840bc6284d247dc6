"""Executors (threads, or a Dask cluster on demand), progress, and a stopwatch."""

from koopsieve.execution.cluster import DaskExecutor
from koopsieve.execution.executors import (
    Executor,
    Progress,
    Serial,
    Stopwatch,
    Threads,
    in_this_process,
    one_blas_thread,
    silent,
)

__all__ = [
    "DaskExecutor",
    "Executor",
    "Progress",
    "Serial",
    "Stopwatch",
    "Threads",
    "in_this_process",
    "one_blas_thread",
    "silent",
]
