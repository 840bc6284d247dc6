"""The fitted dictionary φ: an ordered concatenation of families of observables (Section 2 of the paper)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._archive import read_archive, write_archive
from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.parts import from_parts, to_parts
from koopsieve.dictionary.states import StateColumns

KIND = "koopsieve dictionary"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Dictionary:
    """A frozen, memoryless map from states (samples, n) to observables (samples, L).

    Parameters
    ----------
    families : tuple of Observables
        In the order of the columns.
    state_names : tuple of str
        The states it was fitted to; `n` is their number.
    measured : tuple of int
        Which states are the measured outputs.
    """

    families: tuple[Observables, ...]
    state_names: tuple[str, ...]
    measured: tuple[int, ...]

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise KoopsieveError(
                f"Observables must have different names. {', '.join(twice[:5])} came more than once; "
                "remove the duplicate block or give it another `label`."
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the observables."""
        return tuple(name for family in self.families for name in family.names)

    @property
    def size(self) -> int:
        """Number of observables, L."""
        return len(self.names)

    @cached_property
    def state_positions(self) -> IndexArray:
        """For each state, the index of the observable that is this state itself; −1 where there is none."""
        positions = np.full(len(self.state_names), -1, dtype=np.intp)
        for family, first in zip(self.families, self._offsets, strict=False):
            if isinstance(family, StateColumns):
                positions[family.columns] = first + np.arange(family.size)
        return positions

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Indices of the observables that are the measured outputs themselves."""
        return tuple(int(i) for i in self.state_positions[list(self.measured)] if i >= 0)

    @cached_property
    def _offsets(self) -> IndexArray:
        return np.cumsum([0, *(family.size for family in self.families)])

    def __call__(self, states: ArrayLike) -> FloatArray:
        """Lift states (samples, n), or one state (n,), to observables (samples, L) or (L,).

        The result is in column order (Fortran), which is what the factorisations after it want.
        """
        x = np.asarray(states, dtype=float)
        n = len(self.state_names)
        if x.ndim not in (1, 2) or x.shape[-1] != n:
            raise KoopsieveError(
                f"states must have {n} columns ({', '.join(self.state_names[:6])}{', …' if n > 6 else ''}). "
                f"Expected (samples, {n}), got {x.shape}."
            )
        rows = np.atleast_2d(x)
        lifted = np.empty((len(rows), self.size), order="F")
        self.lift(rows, out=lifted)
        return lifted[0] if x.ndim == 1 else lifted

    def lift(self, states: FloatArray, out: FloatArray) -> None:
        """Write the observables of checked states (samples, n) into `out` (samples, L)."""
        for family, first in zip(self.families, self._offsets, strict=False):
            family.evaluate(states, out[:, first : first + family.size])

    def select(self, retained: ArrayLike) -> Dictionary:
        """Return the dictionary cut to the given observables, which keep their order."""
        kept = np.asarray(retained)
        if kept.size and (kept.min() < 0 or kept.max() >= self.size or (np.diff(kept) <= 0).any()):
            raise KoopsieveError(
                f"retained must be increasing indices below {self.size}, each once. Got {kept.tolist()[:10]}."
            )
        owner = np.searchsorted(self._offsets, kept, side="right") - 1
        families = tuple(
            family.select(kept[owner == i].astype(np.intp) - self._offsets[i])
            for i, family in enumerate(self.families)
            if (owner == i).any()
        )
        return Dictionary(families, self.state_names, self.measured)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """Return what a file must hold to make this dictionary again: plain values, and arrays.

        Raises
        ------
        KoopsieveError
            If a family holds code (a user's function or transformer), which a safe file cannot.
        """
        config, arrays = to_parts(self.families)
        return {"families": config, "state_names": self.state_names, "measured": self.measured}, arrays

    @classmethod
    def from_parts(cls, config: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> Dictionary:
        """Return the dictionary that `to_parts` took apart."""
        families = from_parts(config["families"], arrays)
        return cls(families, tuple(config["state_names"]), tuple(int(i) for i in config["measured"]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one .npz file of arrays and JSON, whole or not at all, to lift later data in the same way.

        Raises
        ------
        KoopsieveError
            If it could not be written, or a family holds code.
        """
        config, arrays = self.to_parts()
        write_archive(path, KIND, VERSION, {"dictionary": config}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dictionary:
        """Read a dictionary that `save` wrote.

        Raises
        ------
        KoopsieveError
            If the file is not there, damaged, or something else.
        """
        return read_archive(path, KIND, VERSION, lambda header, arrays: cls.from_parts(header["dictionary"], arrays))

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:4]) + (", …" if self.size > 4 else "")
        return f"Dictionary of {self.size} observables of {len(self.state_names)} states: {shown}"
