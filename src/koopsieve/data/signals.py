"""What was measured, as one value: names of outputs and inputs, the sample time, and the delays in the state.

Trajectories, streams, dictionaries, statistics and models all carry it: no later stage asks for it again or reads names
back.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._display import Shown, shorten
from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.data.embedding import Embedding
from koopsieve.io.reading.columns import Reading, check_dt, check_names

MAX_COLUMNS = 100_000  # of a state and its inputs: ten times what a regression can hold


@dataclass(frozen=True)
class Signals:
    """Names, sample time and embedding.

    Parameters
    ----------
    outputs, inputs : tuple of str
        The measured columns.
    dt : float
        Sample time.
    embedding : Embedding
        How the state is made of them; by default the state is the outputs.
    reading : Reading, optional
        How the data were read from a frame or file; signals that differ in it only are the same.
    units : mapping from name to str
        Units to show beside names, as far as they are known; they change no number.
    """

    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    dt: float = 1.0
    embedding: Embedding = field(default_factory=Embedding)
    reading: Reading | None = field(default=None, compare=False)
    units: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        check_names(self.outputs, self.inputs)
        past, acted = self.embedding.state_delays, self.embedding.input_delays
        columns = len(self.outputs) * (1 + past) + len(self.inputs) * (1 + acted)
        if columns > MAX_COLUMNS:  # before their names are made, which alone would fill the memory
            raise KoopsieveError(
                f"States and inputs would have {columns} columns with these delays, more than {MAX_COLUMNS}. "
                "Use fewer delays."
            )
        if not self.embedding.trivial:
            check_names(self.state_names, self.acting)
        check_dt(self.dt)

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """Names of the state's columns: the outputs first, then their delayed copies and those of the inputs."""
        return self.embedding.names(self.outputs, self.inputs)

    @cached_property
    def acting(self) -> tuple[str, ...]:
        """Names of the inputs that act in a step: u, or u[k+1]."""
        return self.embedding.acting(self.inputs)

    @property
    def samples(self) -> tuple[tuple[str, int], ...]:
        """Of which signal each column of a state and its acting inputs is a sample, and how many steps after k."""
        acting = tuple((name, self.embedding.input_lead) for name in self.inputs)
        return self.embedding.samples(self.outputs, self.inputs) + acting

    @cached_property
    def depths(self) -> IndexArray:
        """How many samples back each of these columns lies, counted from the inputs that act: see `Embedding`."""
        return self.embedding.depths(len(self.outputs), len(self.inputs))

    def label(self, name: str) -> str:
        """Return a signal's name with its unit, for axes and tables.

        Examples
        --------
        >>> Signals(("speed", "y"), units={"speed": "1/s"}).label("speed")
        'speed [1/s]'
        """
        return f"{name} [{self.units[name]}]" if name in self.units else name

    def renamed(self, *columns: Mapping[str, str]) -> Signals:
        """Return the signals under new names, given as mappings from name to column; see `unit_in` for their units."""
        names = {column: name for one in columns for name, column in one.items()}
        new = {name: unit for column, name in names.items() if (unit := unit_in(column)) and name != column}
        outputs, inputs = (tuple(names.get(one, one) for one in each) for each in (self.outputs, self.inputs))
        kept = tuple((name, column) for column, name in names.items() if name != column)
        reading = None if self.reading is None else replace(self.reading, columns=kept)
        return replace(self, outputs=outputs, inputs=inputs, reading=reading, units={**self.units, **new})

    def require_same(self, other: Signals, what: str) -> None:
        """Refuse data that were not measured and embedded alike, and say what differs; `what` names them."""
        for name, mine, theirs in (
            ("outputs", self.outputs, other.outputs),
            ("inputs", self.inputs, other.inputs),
            ("delays", self.embedding.to_dict(), other.embedding.to_dict()),
        ):
            if mine != theirs:
                order = "" if name == "delays" else " Give them the same names, columns in the same order."
                raise KoopsieveError(
                    f"{what} must have the same {name}. Expected {_listed(mine)}, got {_listed(theirs)}.{order}"
                )
        if not np.isclose(self.dt, other.dt, rtol=1e-3, atol=0.0):
            raise KoopsieveError(
                f"{what} must have the same sample time. Expected {self.dt:g}, got {other.dt:g}. "
                "Resample one of the two."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for files."""
        known: dict[str, Any] = {
            "outputs": self.outputs,
            "inputs": self.inputs,
            "dt": self.dt,
            "embedding": self.embedding.to_dict(),
        }
        known |= {"units": dict(self.units)} if self.units else {}
        return known if self.reading is None else {**known, "reading": self.reading.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Signals:
        """Return the signals that `to_dict` described."""
        outputs, inputs = values["outputs"], values["inputs"]
        if not isinstance(outputs, list | tuple) or not isinstance(inputs, list | tuple):
            raise KoopsieveError(f"outputs and inputs must be lists of names. Got {outputs!r} and {inputs!r}.")
        reading = values.get("reading")
        return cls(
            tuple(outputs),
            tuple(inputs),
            values["dt"],
            Embedding(**values["embedding"]),
            None if reading is None else Reading.from_dict(reading),
            {str(name): str(unit) for name, unit in values.get("units", {}).items()},
        )


class Measured:
    """Anything made of signals: trajectories, streams and models take their names and sample time from them."""

    if TYPE_CHECKING:  # a field or a property of the subclass

        @property
        def signals(self) -> Signals: ...  # noqa: D102

    @property
    def dt(self) -> float:
        """Sample time."""
        return self.signals.dt

    @property
    def embedding(self) -> Embedding:
        """Which delays the state holds."""
        return self.signals.embedding

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the state columns."""
        return self.signals.state_names

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.signals.inputs

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the measured outputs."""
        return self.signals.outputs


class Dataset(Measured, Shown, ABC):
    """Base of `Trajectories` and `Stream`, which declare `signals` as a field: what a dictionary is fitted to."""

    signals: Signals

    @property
    def n_states(self) -> int:
        """Number of state columns n."""
        return len(self.state_names)

    @property
    def n_inputs(self) -> int:
        """Number of input columns l; 0 without inputs."""
        return len(self.input_names)

    @property
    def n_outputs(self) -> int:
        """Number of measured outputs, the first columns of the state."""
        return len(self.output_names)

    @abstractmethod
    def state_blocks(self) -> Iterator[FloatArray]:
        """Yield all states, block by block, anew each time."""

    @abstractmethod
    def acted_blocks(self) -> Iterator[FloatArray]:
        """Yield all states that another follows, with the inputs that act on them beside, block by block."""

    @abstractmethod
    def _counts(self) -> Mapping[str, str]:
        """Return how much there is, as it is shown."""

    def _facts(self) -> Mapping[str, str]:
        """Return what there is to say, in order."""
        named = {"states": shorten(self.state_names), "inputs": shorten(self.signals.acting) or "none"}
        if not self.embedding.trivial:
            named["outputs"] = shorten(self.output_names)
        return {**self._counts(), **named, "dt": f"{self.dt:g}"}


def unit_in(column: str) -> str:
    """Return the unit at the end of a column's name, in square brackets; empty if there is none.

    Examples
    --------
    >>> unit_in("Drehzahl Last [1/s]"), unit_in("speed"), unit_in("y[k-1]")
    ('1/s', '', '')
    """
    found = re.fullmatch(r".*\s\[([^\[\]]{1,20})\]", column.strip())
    return found[1].strip() if found else ""


def complete_names(names: str | Sequence[str] | None, columns: int, what: str, prefix: str) -> tuple[str, ...]:
    """Return one name per column: those given, or `prefix` with a number."""
    if names is None:
        return tuple(f"{prefix}{i + 1}" for i in range(columns))
    given = (names,) if isinstance(names, str) else tuple(names)
    if len(given) != columns:
        raise KoopsieveError(
            f"{what}_names must have one name per {what} column. Expected {columns}, got {len(given)}: {list(given)}."
        )
    return given


def _listed(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)
