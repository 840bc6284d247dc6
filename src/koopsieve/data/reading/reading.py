"""How data were read, as a value that travels with them into the model file: nobody has to say it twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from koopsieve._types import KoopsieveError, whole_number

REFUSE, SPLIT, INTERPOLATE = GAPS = ("raise", "split", "interpolate")


@dataclass(frozen=True)
class Reading:
    """The columns that place a sample, and what was done about missing samples and uneven times.

    Parameters
    ----------
    episode, time : str, optional
        The columns that tell episodes apart and hold the times.
    gaps : {"raise", "split", "interpolate"}
    max_gap : int, optional
    resample : float, optional
        As for `Trajectories.from_file`.
    """

    episode: str | None = None
    time: str | None = None
    gaps: str = REFUSE
    max_gap: int | None = None
    resample: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for files."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Reading:
        """Return what `to_dict` described.

        Raises
        ------
        KoopsieveError
            If it is nothing that could have been written.
        """
        found = cls(**values)
        for name in (found.episode, found.time):
            if name is not None and (not isinstance(name, str) or not name):
                raise KoopsieveError(f"Columns must be named by text. Got {name!r}.")
        if found.gaps not in GAPS:
            raise KoopsieveError(f"gaps must be one of {', '.join(GAPS)}. Got {found.gaps!r}.")
        if found.max_gap is not None:
            whole_number("max_gap", found.max_gap, 1)
        step = found.resample
        if step is not None and not (isinstance(step, int | float) and 0 < step < float("inf")):
            raise KoopsieveError(f"resample must be a positive number. Got {step!r}.")
        return found
