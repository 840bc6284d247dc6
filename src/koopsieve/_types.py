"""Names shared by every stage: array types, the error and the warning users see, files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class KoopsieveError(ValueError):
    """What was given cannot be used; the message says what was expected, what came and what to do."""


class KoopsieveWarning(UserWarning):
    """The answer stands, but the user should know something about it."""


def increasing_indices(what: str, indices: ArrayLike, size: int) -> IndexArray:
    """Return indices into `size` things, which must be whole, increasing and each once; `what` names them."""
    kept = np.asarray(indices)
    kept = kept.astype(np.intp) if kept.size == 0 else kept
    whole = kept.ndim == 1 and np.issubdtype(kept.dtype, np.integer)
    if not whole or (kept.size and (kept.min() < 0 or kept.max() >= size or (np.diff(kept) <= 0).any())):
        raise KoopsieveError(f"{what} must be increasing indices below {size}, each once. Got {kept.tolist()[:10]}.")
    return kept.astype(np.intp)


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open `path` for writing so that it appears complete or not at all.

    The bytes go to a temporary file in the same folder, which replaces `path` only after everything was written.
    """
    target = Path(path)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
