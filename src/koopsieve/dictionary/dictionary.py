"""The fitted dictionary: observables φ(x) and input terms ψ(x, u), ordered families of each (Section 2)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._archive import read_archive, write_archive
from koopsieve._display import Facts, Shown, shorten
from koopsieve._types import FloatArray, IndexArray, KoopsieveError, increasing_indices, real_array
from koopsieve.data.signals import Dataset, Signals
from koopsieve.dictionary.observables import Observables, Program, evaluate_families, joined, offsets, selected
from koopsieve.dictionary.recipes import Block
from koopsieve.dictionary.registry import from_parts, to_parts
from koopsieve.dictionary.states import Coordinates, Inputs, Ones, Pairs

KIND = "koopsieve dictionary"
VERSION = 2
_INPUT_TERMS, _PREFIX = "drives", "drive."  # as files of version 0.2.0 call them, and their arrays


@dataclass(frozen=True, eq=False, repr=False)
class Dictionary(Shown):
    """A frozen, memoryless map from states (samples, n) to observables (samples, L), and with inputs to input terms.

    Parameters
    ----------
    families : tuple of Observables
        Functions φ(x) of the state, in the order of the columns.
    signals : Signals
        What it was fitted to: names, sample time, delays.
    input_families : tuple of Observables
        Functions ψ(x, u) that see the input acting in the step; the inputs themselves, unless a block says more.
    """

    families: tuple[Observables, ...]
    signals: Signals
    input_families: tuple[Observables, ...] = ()

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.regressors).items() if count > 1]
        if twice:
            raise KoopsieveError(
                f"Observables must have different names. {', '.join(twice[:5])} came more than once; "
                "remove the duplicate block or give it another `label`."
            )

    @classmethod
    def fitted(cls, recipes: Sequence[Block], samples: Dataset, rng: np.random.Generator) -> Dictionary:
        """Fit the blocks in order; without a block that sees the inputs, the inputs themselves are the input terms."""
        found = [recipe.fit_block(samples, rng) for recipe in recipes]
        observables = tuple(one.observables for one in found if one.observables is not None and one.observables.size)
        input_terms = tuple(one.input_terms for one in found if one.input_terms is not None and one.input_terms.size)
        if not input_terms and samples.signals.inputs:
            plain = Inputs().fit_block(samples, rng).input_terms
            input_terms = () if plain is None else (plain,)
        return cls(observables, samples.signals, input_terms)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the observables."""
        return tuple(name for family in self.families for name in family.names)

    @cached_property
    def input_term_names(self) -> tuple[str, ...]:
        """Names of the input terms."""
        return tuple(name for family in self.input_families for name in family.names)

    @cached_property
    def regressors(self) -> tuple[str, ...]:
        """Names of observables and input terms together: the columns of the regressions."""
        return self.names + self.input_term_names

    @property
    def size(self) -> int:
        """Number of observables, L."""
        return len(self.names)

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the states it takes."""
        return self.signals.state_names

    @cached_property
    def state_positions(self) -> IndexArray:
        """For each state, the index of the observable that is this state itself; −1 where there is none."""
        positions = np.full(len(self.state_names), -1, dtype=np.intp)
        for family, columns, _ in self._placed(0)[: len(self.families)]:
            if isinstance(family, Coordinates):
                positions[family.columns] = np.arange(columns.start, columns.stop)
        return positions

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Indices of the observables that are the measured outputs themselves."""
        return tuple(int(i) for i in self.state_positions[: len(self.signals.outputs)] if i >= 0)

    @property
    def linear_in_inputs(self) -> bool:
        """True if the input terms are the inputs themselves, all of them and nothing else."""
        plain = all(isinstance(family, Coordinates) for family in self.input_families)
        return plain and self.input_term_names == self.signals.acting

    @cached_property
    def varying(self) -> IndexArray:
        """Indices of the observables that are not the constant one."""
        flags = [not isinstance(family, Ones) for family in self.families for _ in range(family.size)]
        return np.flatnonzero(np.array(flags, dtype=bool))

    @property
    def constant(self) -> str | None:
        """Name of the constant observable; None if there is none."""
        others = set(range(self.size)) - set(self.varying.tolist())
        return self.names[min(others)] if others else None

    def __call__(self, states: ArrayLike) -> FloatArray:
        """Lift states (samples, n), or one state (n,), to observables (samples, L) or (L,).

        The result is in column order (Fortran), which is what the factorisations after it want.
        """
        x = real_array("states", states)
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
        evaluate_families(self.families, states, out)

    def evaluate_input_terms(self, states: FloatArray, inputs: FloatArray, out: FloatArray) -> None:
        """Write the input terms of states (samples, n) and acting inputs (samples, l) into `out`, a column each."""
        if self.linear_in_inputs:
            out[:] = inputs
        else:
            evaluate_families(self.input_families, np.concatenate([states, inputs], axis=1), out)

    def evaluate(self, points: FloatArray) -> FloatArray:
        """Return observables and input terms at points (x, u), shape (samples, L + input terms)."""
        out = np.empty((len(points), len(self.regressors)), order="F")
        for family, columns, width in self._placed(points.shape[1]):
            family.evaluate(points[:, :width], out[:, columns])
        return out

    def _placed(self, width: int) -> list[tuple[Observables, slice, int]]:
        """Return every family with its columns and how many of the `width` coordinates of a point (x, u) it takes."""
        families = (*self.families, *self.input_families)
        ends, n = offsets(families), len(self.state_names)
        taken = [n] * len(self.families) + [width] * len(self.input_families)
        return [(family, slice(*ends[i : i + 2]), taken[i]) for i, family in enumerate(families)]

    @cached_property
    def program(self) -> Program | None:
        """Observables and input terms as one flat program of points (x, u); None where a family is code."""
        width = len(self.state_names) + len(self.signals.acting)
        parts = [family.program(width) for family in (*self.families, *self.input_families)]
        found = [part for part in parts if part is not None]
        return joined(found) if found and len(found) == len(parts) else None

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the derivatives of all regressors at points (x, u), shape (samples, regressors, n + l)."""
        gradient = np.zeros((len(points), len(self.regressors), points.shape[1]))
        for family, columns, width in self._placed(points.shape[1]):
            gradient[:, columns, :width] = family.gradient(points[:, :width])
        return gradient

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the derivatives of weighted sums of observables and input terms at points (x, u).

        Weights have shape (sums, L + input terms), the derivatives (samples, sums, n + l).
        """
        slope = np.zeros((len(points), len(weights), points.shape[1]))
        for family, columns, width in self._placed(points.shape[1]):
            slope[:, :, :width] += family.slope_of_sums(points[:, :width], weights[:, columns])
        return slope

    def select(self, retained: ArrayLike, input_terms: ArrayLike | None = None) -> Dictionary:
        """Return the dictionary cut to the given observables, and input terms if given; both keep their order."""
        families = selected(self.families, increasing_indices("retained", retained, self.size))
        if input_terms is None:
            return replace(self, families=families)
        kept = increasing_indices("input_terms", input_terms, len(self.input_term_names))
        return replace(self, families=families, input_families=selected(self.input_families, kept))

    def bilinear(self) -> Dictionary:
        """Return the same observables with the input terms of the bilinear form.

        These are u_j, then u_j·φ_i for every `varying` observable. The product with the constant is left out: it would
        be the input once more.
        """
        acting = self._inputs()
        if acting is None:
            return self
        widths = (len(self.state_names) + len(self.signals.acting), len(self.state_names))
        single = [acting.select(np.array([j])) for j in range(acting.size)]
        varying = [family for family in self.families if not isinstance(family, Ones)]
        products = tuple(Pairs.of(one, family, widths) for one in single for family in varying)
        return replace(self, input_families=(acting, *products))

    def linear(self) -> Dictionary:
        """Return the same observables with the inputs themselves as input terms."""
        acting = self._inputs()
        return self if acting is None else replace(self, input_families=(acting,))

    def _inputs(self) -> Coordinates | None:
        names = self.signals.acting
        return Coordinates(names, len(self.state_names) + np.arange(len(names))) if names else None

    def to_parts(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """Return what a file must hold to make this dictionary again, plain values and arrays; code is refused."""
        config, arrays = to_parts(self.families)
        input_terms, more = to_parts(self.input_families, _PREFIX)
        return {"families": config, _INPUT_TERMS: input_terms, "signals": self.signals.to_dict()}, {**arrays, **more}

    @classmethod
    def from_parts(
        cls, config: Mapping[str, Any], arrays: Mapping[str, FloatArray], functions_from: Sequence[str] = ()
    ) -> Dictionary:
        """Return the dictionary that `to_parts` took apart; one that does not fit together is refused."""
        signals = Signals.from_dict(config["signals"])
        states, both = len(signals.state_names), len(signals.state_names) + len(signals.inputs)
        extra = dict(arrays)
        families = from_parts(config["families"], extra, states, "", functions_from)
        found = cls(families, signals, from_parts(config[_INPUT_TERMS], extra, both, _PREFIX, functions_from))
        if extra:
            raise KoopsieveError(f"It has arrays that do not belong to it: {', '.join(sorted(extra)[:5])}.")
        with np.errstate(all="ignore"):  # what does not fit together shows here, not at the first prediction
            found.evaluate(np.ones((1, both)))
        return found

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
    def load(cls, path: str | os.PathLike[str], functions_from: Sequence[str] = ()) -> Dictionary:
        """Read a dictionary that `save` wrote; functions by import path are taken only from the modules named.

        Raises
        ------
        KoopsieveError
            If the file is not there, damaged, or something else.
        """
        return read_archive(
            path, KIND, VERSION, lambda h, arrays: cls.from_parts(h["dictionary"], arrays, functions_from)
        )

    def _facts(self) -> Facts:
        return {
            "observables": shorten(self.names),
            "input terms": shorten(self.input_term_names) or "none",
            "of states": shorten(self.state_names),
        }
