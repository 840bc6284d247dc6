"""The one place that touches data: lift chunk by chunk and fold each chunk into the statistics by QR."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.execution import Executor, Progress, Serial, silent
from koopsieve.regression.chunks import Chunk, cut
from koopsieve.regression.factor import TriangularFactor
from koopsieve.regression.statistics import HorizonStatistics, RegressionStatistics

DEFAULT_BYTES = 128 * 2**20


def compress(
    trajectories: Trajectories,
    dictionary: Dictionary,
    *,
    horizons: Sequence[int] = (),
    chunk_rows: int | None = None,
    max_bytes: int = DEFAULT_BYTES,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> RegressionStatistics:
    """Compress trajectories, seen through a dictionary, into the statistics every later stage works from.

    Parameters
    ----------
    trajectories : Trajectories
    dictionary : Dictionary
        Fitted; its states must be those of the trajectories.
    horizons : sequence of int
        Also keep the regressions of the outputs this many steps ahead (for the horizon sieve).
    chunk_rows : int, optional
        Transitions lifted at a time; left out, as many as `max_bytes` allows.
    max_bytes : int
        Bound on the memory taken by lifted samples. Peak memory does not depend on the number of samples.
    executor : Executor, optional
        Who does the work; serial by default.
    progress : Progress
        Wraps the iteration over chunks.

    Returns
    -------
    RegressionStatistics
        Equal, to rounding, to those of one QR of all data at once, whatever the chunks.

    Raises
    ------
    KoopsieveError
        If the dictionary was fitted to other states, or a horizon is not a positive whole number that fits the data.
    """
    _check_states(trajectories, dictionary)
    steps = _check_horizons(horizons, trajectories)
    engine: Executor = Serial() if executor is None else executor
    start = _empty(dictionary, trajectories.input_names, steps)
    rows = chunk_rows or _rows_within(max_bytes, start)
    chunks = list(cut(trajectories, rows, reach=max(steps, default=1)))
    share = -(-len(chunks) // engine.workers)
    parts = [chunks[i : i + share] for i in range(0, len(chunks), share)]
    if len(parts) == 1:
        return Folding(dictionary, start)(progress(chunks, "Compressing", len(chunks)))
    folded = engine.map(Folding(dictionary, start), parts)
    return reduce(RegressionStatistics.merge, progress(folded, "Compressing", len(parts)), start)


@dataclass(frozen=True)
class Folding:
    """Fold chunks into statistics, beginning with `start`; a value, so that it can be sent to other processes."""

    dictionary: Dictionary
    start: RegressionStatistics

    def __call__(self, chunks: Iterable[Chunk]) -> RegressionStatistics:
        """Return the statistics of all chunks."""
        return reduce(self.absorb, chunks, self.start)

    def absorb(self, statistics: RegressionStatistics, chunk: Chunk) -> RegressionStatistics:
        """Return the statistics with one more chunk."""
        lifted = self.dictionary(chunk.states[: chunk.rows + 1])
        design = np.concatenate([lifted[:-1], chunk.inputs[: chunk.rows]], axis=1)
        factor = statistics.factor.absorb(design, lifted[1:])
        if statistics.ahead is None:
            return replace(statistics, factor=factor)
        return replace(statistics, factor=factor, ahead=self._absorb_ahead(statistics.ahead, chunk, lifted))

    def _absorb_ahead(self, ahead: HorizonStatistics, chunk: Chunk, lifted: FloatArray) -> HorizonStatistics:
        longest = ahead.horizons[-1]
        rows = min(chunk.rows, len(chunk.states) - longest)
        if rows <= 0:
            return ahead
        outputs = list(self.dictionary.measured)
        between = [chunk.inputs[lag : lag + rows] for lag in range(longest)]
        targets = [chunk.states[h : h + rows, outputs] for h in ahead.horizons]
        factor = ahead.factor.absorb(np.concatenate([lifted[:rows], *between], axis=1), np.concatenate(targets, axis=1))
        return replace(ahead, factor=factor)


def _empty(dictionary: Dictionary, inputs: tuple[str, ...], horizons: tuple[int, ...]) -> RegressionStatistics:
    L, size = dictionary.size, dictionary.size + len(inputs)
    ahead = None
    if horizons:
        outputs = tuple(dictionary.state_names[i] for i in dictionary.measured)
        factor = TriangularFactor.empty(L + len(inputs) * horizons[-1], len(outputs) * len(horizons))
        ahead = HorizonStatistics(factor, dictionary.names, inputs, outputs, horizons)
    return RegressionStatistics(TriangularFactor.empty(size, L), dictionary.names, inputs, ahead)


def _rows_within(max_bytes: int, start: RegressionStatistics) -> int:
    # a chunk is held as lifted samples, as design and as targets, and again as design and targets for the horizons
    columns = 3 * sum(start.S.shape) + (2 * sum(start.ahead.factor.S.shape) if start.ahead else 0)
    rows = max_bytes // (8 * columns)
    if rows < 1:
        raise KoopsieveError(
            f"max_bytes is too small for one sample of {len(start.observables)} observables. "
            f"Expected at least {8 * columns}, got {max_bytes}."
        )
    return rows


def _check_states(trajectories: Trajectories, dictionary: Dictionary) -> None:
    if trajectories.state_names != dictionary.state_names:
        raise KoopsieveError(
            f"The dictionary was fitted to the states {', '.join(dictionary.state_names)}; the trajectories have "
            f"{', '.join(trajectories.state_names)}. Embed the same delays, or fit the dictionary to these data."
        )


def _check_horizons(horizons: Sequence[int], trajectories: Trajectories) -> tuple[int, ...]:
    steps = tuple(sorted({int(h) for h in horizons}))
    longest = max(len(x) for x in trajectories.states) - 1
    if steps and (steps[0] < 1 or steps[-1] > longest or any(int(h) != h for h in horizons)):
        raise KoopsieveError(
            f"horizons must be whole numbers from 1 to {longest}, the transitions of the longest episode. "
            f"Got {list(horizons)}."
        )
    return steps
