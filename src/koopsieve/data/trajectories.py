"""Stage one: measured trajectories, checked once at the border.

In come arrays, lists of arrays, frames or files; out comes one frozen `Trajectories`. Nothing after it checks shapes
or finiteness again. In the paper's notation (Section 2) an episode is x[0..T-1], u[0..T-2].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.data.episodes import Episode, check_alike, episodes_from_arrays
from koopsieve.data.gaps import handle_gaps
from koopsieve.data.names import check_names, complete_names, longest_delay
from koopsieve.data.warn import warn_user


@dataclass(frozen=True, eq=False)
class Trajectories:
    """One or many episodes of states and inputs; no transition crosses from one episode to the next.

    Build it with `from_arrays`, `from_frame` or `from_file`, which check the samples; the constructor takes arrays that
    are already in the form below and checks that form only.

    Parameters
    ----------
    states : tuple of array, each of shape (T, n)
        One per episode, rows are samples. Read-only.
    inputs : tuple of array, each of shape (T-1, l)
        Row k is what acted between sample k and k+1. Without inputs l is 0. Read-only.
    dt : float
        Sample time.
    state_names, input_names : tuple of str
        One per column.
    outputs : tuple of int
        Which state columns are the measured outputs: all of them, until delays are embedded.
    """

    states: tuple[FloatArray, ...]
    inputs: tuple[FloatArray, ...]
    dt: float
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        check_names(self.state_names, self.input_names)
        if not isinstance(self.dt, Real) or not 0 < self.dt < np.inf:
            raise KoopsieveError(f"dt, the sample time, must be a positive number. Got {self.dt!r}.")
        n, width = len(self.state_names), len(self.input_names)
        expected = [((len(x), n), (len(x) - 1, width)) for x in self.states]
        came = [(np.shape(x), np.shape(u)) for x, u in zip(self.states, self.inputs, strict=False)]
        if not expected or expected != came or len(self.inputs) != len(self.states):
            raise KoopsieveError(
                f"Trajectories takes as many state arrays (T, {n}) as input arrays (T-1, {width}), at least one each. "
                f"Got states {[np.shape(x) for x in self.states]} and inputs {[np.shape(u) for u in self.inputs]}. "
                "Use Trajectories.from_arrays, which says what is wrong."
            )

    @classmethod
    def from_arrays(
        cls,
        states: Any,
        inputs: Any = None,
        *,
        dt: float = 1.0,
        state_names: str | Sequence[str] | None = None,
        input_names: str | Sequence[str] | None = None,
        gaps: str = "raise",
    ) -> Trajectories:
        """Build from an array, or from a list of arrays with one per episode.

        Parameters
        ----------
        states : array of shape (T, n), or list of them
            Rows are samples. One dimension is taken as one column.
        inputs : array of shape (T-1, l), or list of them, optional
            Inputs of shape (T, l) are taken too; their last row, which nothing follows, is dropped.
        dt : float
            Sample time.
        state_names, input_names : sequence of str, optional
            By default x1, x2, … and u1, u2, … .
        gaps : {"raise", "split"}
            What to do with missing samples (NaN, masked): refuse them, or cut the episode there.

        Returns
        -------
        Trajectories
            Arrays that already are float64 and C-contiguous are not copied, so do not write to them afterwards.

        Raises
        ------
        KoopsieveError
            If anything cannot be used; the message says where and what to do.

        Examples
        --------
        >>> import numpy as np
        >>> x = np.arange(10.0).reshape(5, 2)
        >>> Trajectories.from_arrays([x, x[:3]], [x[:, :1], x[:3, :1]], dt=0.1)
        Trajectories(2 episodes, 8 samples, states x1, x2, inputs u1, dt=0.1)
        """
        episodes = episodes_from_arrays(states, inputs)
        check_alike(episodes)
        return cls._from_episodes(
            episodes,
            dt,
            complete_names(state_names, episodes[0].states.shape[1], "state", "x"),
            complete_names(input_names, episodes[0].inputs.shape[1], "input", "u"),
            gaps,
        )

    @classmethod
    def _from_episodes(
        cls,
        episodes: Sequence[Episode],
        dt: float,
        state_names: tuple[str, ...],
        input_names: tuple[str, ...],
        gaps: str,
    ) -> Trajectories:
        check_names(state_names, input_names)
        pieces = handle_gaps(episodes, state_names, input_names, gaps)
        trajectories = cls(
            states=tuple(piece.states for piece in pieces),
            inputs=tuple(piece.inputs for piece in pieces),
            dt=dt,
            state_names=state_names,
            input_names=input_names,
            outputs=tuple(range(len(state_names))),
        )
        _warn_of_constants(trajectories)
        return trajectories

    @property
    def n_states(self) -> int:
        """Number of state columns n."""
        return len(self.state_names)

    @property
    def n_inputs(self) -> int:
        """Number of input columns l; 0 without inputs."""
        return len(self.input_names)

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.states)

    @property
    def n_transitions(self) -> int:
        """Number of pairs of a sample and the next one in the same episode."""
        return sum(len(x) - 1 for x in self.states)

    @property
    def n_samples(self) -> int:
        """Number of samples in all episodes together."""
        return sum(len(x) for x in self.states)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the measured outputs."""
        return tuple(self.state_names[i] for i in self.outputs)

    def __len__(self) -> int:
        return self.n_episodes

    def __getitem__(self, episode: int) -> Trajectories:
        return self.subset(int(episode))

    @classmethod
    def join(cls, parts: Sequence[Trajectories]) -> Trajectories:
        """Return the episodes of all parts together, in order.

        Raises
        ------
        KoopsieveError
            If there are no parts, or they differ in names, outputs or sample time.
        """
        if not parts:
            raise KoopsieveError("There is nothing to join. Expected at least one Trajectories.")
        first = parts[0]
        for part in parts[1:]:
            for what in ("state_names", "input_names", "outputs", "dt"):
                if getattr(part, what) != getattr(first, what):
                    raise KoopsieveError(
                        f"Trajectories to join must have the same {what}. Expected {getattr(first, what)}, "
                        f"got {getattr(part, what)}."
                    )
        states = tuple(x for part in parts for x in part.states)
        return replace(first, states=states, inputs=tuple(u for part in parts for u in part.inputs))

    def subset(self, episodes: int | Iterable[int]) -> Trajectories:
        """Return only some episodes, in the order given; an episode may be named more than once.

        Parameters
        ----------
        episodes : int, iterable of int, or array of bool
            Positions from 0 (negative ones count from the end), or one flag per episode.
        """
        chosen = _positions(episodes, len(self))
        return replace(self, states=tuple(self.states[i] for i in chosen), inputs=tuple(self.inputs[i] for i in chosen))

    def split(self, fraction: float) -> tuple[Trajectories, Trajectories]:
        """Return the first part, about `fraction` of the data, and the rest, for example to validate on.

        Of several episodes each goes whole to one side, in order. A single episode is cut in time; the transition over
        the cut is left out and, if delays were embedded, so are the rows of the second part that reach back over it.

        Raises
        ------
        KoopsieveError
            If fraction is not inside (0, 1), or a single episode is too short to give both parts a transition.
        """
        if not 0 < fraction < 1:
            raise KoopsieveError(f"fraction must lie between 0 and 1, both excluded. Got {fraction}.")
        if len(self) > 1:
            share = np.cumsum([len(x) - 1 for x in self.states]) / self.n_transitions
            cut = 1 + int(np.argmin(np.abs(share[:-1] - fraction)))
            return self.subset(range(cut)), self.subset(range(cut, len(self)))
        return self._cut_in_time(fraction)

    def _cut_in_time(self, fraction: float) -> tuple[Trajectories, Trajectories]:
        x, u = self.states[0], self.inputs[0]
        reach = longest_delay(self.state_names[len(self.outputs) :])
        if len(x) < 4 + reach:
            raise KoopsieveError(
                f"One episode of {len(x)} samples is too short to be split in two. Expected at least {4 + reach} "
                "samples: two on either side, and those that the delays reach back over."
            )
        cut = min(max(round(fraction * len(x)), 2), len(x) - reach - 2)
        first = replace(self, states=(x[:cut],), inputs=(u[: cut - 1],))
        return first, replace(self, states=(x[cut + reach :],), inputs=(u[cut + reach :],))

    def __repr__(self) -> str:
        episodes = "1 episode" if len(self) == 1 else f"{len(self)} episodes"
        parts = [episodes, f"{self.n_samples} samples", f"states {_shorten(self.state_names)}"]
        if self.n_inputs:
            parts.append(f"inputs {_shorten(self.input_names)}")
        if len(self.outputs) < self.n_states:
            parts.append(f"outputs {_shorten(self.output_names)}")
        return f"Trajectories({', '.join(parts)}, dt={self.dt:g})"


def _positions(episodes: int | Iterable[int], count: int) -> IndexArray:
    given: ArrayLike = episodes if isinstance(episodes, int | np.ndarray) else list(episodes)
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.dtype == bool and len(chosen) == count:
        chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        raise KoopsieveError("No episodes were chosen. Expected at least one position.")
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or chosen.min() < -count or chosen.max() >= count:
        raise KoopsieveError(
            f"Episodes are chosen by position, 0 to {count - 1}, or by one flag per episode. Got {chosen.tolist()}."
        )
    return chosen.astype(np.intp)


def _warn_of_constants(trajectories: Trajectories) -> None:
    constant = [
        f"{kind} {names[j]!r}"
        for kind, arrays, names in (
            ("state", trajectories.states, trajectories.state_names),
            ("input", trajectories.inputs, trajectories.input_names),
        )
        for j in np.flatnonzero(
            np.max([a.max(axis=0) for a in arrays], axis=0) == np.min([a.min(axis=0) for a in arrays], axis=0)
        )
    ]
    if constant:
        warn_user(
            f"These columns never change: {', '.join(constant)}. They are kept; nothing can be learnt about how the "
            "system depends on them."
        )


def _shorten(names: Sequence[str], most: int = 6) -> str:
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])}, … ({len(names)} in all)"
