"""Who does the work and who watches it: executors, serial by default, and progress."""

from koopsieve.execution.executors import Executor, Serial
from koopsieve.execution.progress import Progress, silent

__all__ = ["Executor", "Progress", "Serial", "silent"]
