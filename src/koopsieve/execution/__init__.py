"""Who does the work and who watches it: executors (threads, or a Dask cluster on demand), progress, and a clock."""

from koopsieve.execution.blas import one_blas_thread
from koopsieve.execution.clock import Clock
from koopsieve.execution.cluster import DaskExecutor
from koopsieve.execution.executors import Executor, Serial, Threads
from koopsieve.execution.progress import Progress, silent

__all__ = ["Clock", "DaskExecutor", "Executor", "Progress", "Serial", "Threads", "one_blas_thread", "silent"]
