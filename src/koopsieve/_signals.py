"""A few steps that belong together, between which no request to end the program comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Ctrl-C last: once it is held as well, no handler can raise any more
_NAMES = ("SIGHUP", "SIGTERM", "SIGINT")


@contextmanager
def held_signals() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP wait until the block is done; then the first that came does what it always does.

    Handlers belong to the main thread, and only there can they raise; in other threads there is nothing to hold.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    came: list[int] = []
    try:
        for number, handler in before.items():
            if handler is not None:  # None: not installed from Python, so that it could not be put back
                signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)
