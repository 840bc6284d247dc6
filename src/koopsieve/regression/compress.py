"""The one place that touches data: lift chunk by chunk and fold each chunk into the statistics by QR."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, require_kind, sorted_horizons, whole_number
from koopsieve.data import Stream, Trajectories
from koopsieve.data.delays import require_dataset
from koopsieve.data.streaming.blocks import Chunk, Origin, cut
from koopsieve.dictionary import Dictionary
from koopsieve.execution import Executor, Progress, Threads, silent
from koopsieve.regression.factor import PendingRows, TriangularFactor, refuse_too_large, refuse_vanishing
from koopsieve.regression.statistics import HorizonStatistics, RegressionStatistics, widest

BYTES_PER_THREAD = 64 * 2**20
ROWS_PER_REGRESSOR = 3  # in a chunk, at least: with each the factor is updated, which costs about as many rows' work
_CHUNKS_PER_PART = 10  # a part begins with a Householder QR and ends with a merge; both are small beside ten chunks
_MAX_PARTS_PER_WORKER = 32
_MIN_PARTS_PER_REMOTE_WORKER = 4  # more than two are handed out as the workers of a cluster come free


def compress(
    trajectories: Trajectories | Stream,
    dictionary: Dictionary,
    *,
    horizons: Sequence[int] = (),
    chunk_rows: int | None = None,
    max_bytes: int | None = None,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> RegressionStatistics:
    """Compress trajectories, seen through a dictionary, into the statistics every later stage works from.

    Parameters
    ----------
    trajectories : Trajectories or Stream
        In memory, or read block by block from wherever they are.
    dictionary : Dictionary
        Fitted; its states must be those of the trajectories.
    horizons : sequence of int
        Also keep the regressions of the outputs this many steps ahead (for the horizon sieve).
    chunk_rows : int, optional
        Transitions lifted at a time, instead of `max_bytes`; by default chunks that fit the cache.
    max_bytes : int, optional
        Bound on the memory that lifted samples take in one process, by default 64 MiB per thread, or more where
        that is less than three rows per regressor. Peak memory does not depend on the number of samples.
    executor : Executor, optional
        What runs the work; by default one thread per core.
    progress : Progress
        Wraps the iteration over chunks, or over parts where several workers each take one.

    Returns
    -------
    RegressionStatistics
        Equal, to rounding, to those of one QR of all data at once, whatever the chunks.

    Raises
    ------
    KoopsieveError
        If the dictionary was fitted to other states, or a horizon is not a positive whole number that fits the data.
    """
    _check_kinds(trajectories, dictionary)
    dictionary.signals.require_same(trajectories.signals, "Data and the data that the dictionary was fitted to")
    steps = _check_horizons(horizons, trajectories)
    engine: Executor = Threads() if executor is None else executor
    require_kind("an executor", engine, Executor, "Use Serial(), Threads() or DaskExecutor(client).")
    if chunk_rows is not None and max_bytes is not None:
        raise KoopsieveError("chunk_rows and max_bytes both say how much is lifted at a time. Give one of the two.")
    if chunk_rows is not None:
        chunk_rows = whole_number("chunk_rows, the transitions lifted at a time,", chunk_rows, 1)
    source = Stream.of(trajectories)
    start = _empty(dictionary, steps)
    rows = chunk_rows or _rows_within(None if max_bytes is None else max_bytes // engine.sharing, start)
    folding = Folding(dictionary, start, rows, reach=max(steps, default=1))
    chunks = None if source.n_samples is None else -(-source.n_samples // rows)
    parts = source.parts(_part_count(chunks, engine), folding.reach)
    if len(parts) == 1:
        found = folding.fold(progress(folding.chunks(parts[0]), "Compressing", chunks))
    else:
        found = engine.map_reduce(
            folding, parts, RegressionStatistics.merge, progress=progress, description="Compressing"
        )
    return _check_found(found)


@dataclass(frozen=True)
class Folding:
    """Fold what a part of the data holds into statistics; a value, so that it can be sent to other processes."""

    dictionary: Dictionary
    start: RegressionStatistics  # of no data
    rows: int  # transitions per chunk
    reach: int  # number of samples from a start to its furthest target

    def __call__(self, part: Origin) -> RegressionStatistics:
        """Return the statistics of one part."""
        return self.fold(self.chunks(part))

    def chunks(self, part: Origin) -> Iterable[Chunk]:
        """Return the chunks of one part."""
        return cut(part.pieces(self.rows), self.rows, self.reach)

    def fold(self, chunks: Iterable[Chunk]) -> RegressionStatistics:
        """Return the statistics of all chunks."""
        multistep, region, L = self.start.multistep, self.start.region, self.dictionary.size
        one_step = PendingRows.under(self.start.factor, following=True)
        pending = None if multistep is None else PendingRows.under(multistep.factor)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflowed is named at the end
            for chunk in chunks:
                rows = self._lifted(chunk)
                one_step = one_step.absorb(rows[:-1], rows[1:, :L])
                if multistep is not None and pending is not None:
                    pending = pending.absorb(*self._multistep_rows(multistep, chunk, rows[:, :L]))
                region = widest(region, _region(chunk))
            if multistep is not None and pending is not None:
                multistep = replace(multistep, factor=pending.folded())
            return replace(self.start, factor=one_step.folded(), multistep=multistep, region=region)

    def _lifted(self, chunk: Chunk) -> FloatArray:
        """Return observables and input terms of every sample, one more than transitions; design and targets view it."""
        L = self.dictionary.size
        rows = np.zeros((chunk.rows + 1, len(self.dictionary.regressors)), order="F")
        with np.errstate(all="ignore"):  # what is not finite is refused below
            self.dictionary.lift(chunk.states[: chunk.rows + 1], out=rows[:, :L])
            self.dictionary.evaluate_input_terms(
                chunk.states[: chunk.rows], chunk.inputs[: chunk.rows], out=rows[:-1, L:]
            )
        finite = np.isfinite(rows)
        if not finite.all():
            row, column = (int(i) for i in np.argwhere(~finite)[0])
            raise KoopsieveError(
                f"The observable {self.dictionary.regressors[column]} is not finite ({rows[row, column]}) at "
                f"{chunk.source.describe(row)}. Scale the data, repair the sample, or leave the observable out."
            )
        return rows

    def _multistep_rows(
        self, multistep: HorizonStatistics, chunk: Chunk, lifted: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return design and targets of the regressions several steps ahead."""
        longest, outputs = multistep.horizons[-1], len(multistep.outputs)  # the first columns of the state
        rows = max(min(chunk.rows, len(chunk.states) - longest), 0)
        between = [chunk.inputs[lag : lag + rows] for lag in range(longest)]
        targets = [chunk.states[h : h + rows, :outputs] for h in multistep.horizons]
        return np.concatenate([lifted[:rows], *between], axis=1), np.concatenate(targets, axis=1)


def _empty(dictionary: Dictionary, horizons: tuple[int, ...]) -> RegressionStatistics:
    L, signals = dictionary.size, dictionary.signals
    multistep = None
    if horizons:
        inputs, outputs = signals.acting, signals.outputs
        factor = TriangularFactor.empty(L + len(inputs) * horizons[-1], len(outputs) * len(horizons))
        multistep = HorizonStatistics(factor, dictionary.names, inputs, outputs, horizons)
    factor = TriangularFactor.empty(len(dictionary.regressors), L)
    nothing = np.repeat([[np.inf], [-np.inf]], len(signals.state_names) + len(signals.inputs), axis=1)
    return RegressionStatistics(
        factor, dictionary.names, dictionary.input_term_names, multistep, dictionary.outputs, signals, nothing
    )


def _region(chunk: Chunk) -> FloatArray:
    """Return least and largest values of the states and inputs of the transitions in a chunk."""
    x, u = chunk.states[: chunk.rows + 1], chunk.inputs[: chunk.rows]
    return np.stack([np.concatenate([bound(x, axis=0), bound(u, axis=0)]) for bound in (np.min, np.max)])


def _rows_within(max_bytes: int | None, start: RegressionStatistics) -> int:
    """Return the number of transitions to lift at a time within `max_bytes`; default: chunks that fit the cache."""
    # a chunk is held as lifted samples with inputs, and twice more while its first rows are factored
    columns = len(start.R) + 2 * sum(start.S.shape)
    columns += 2 * sum(start.multistep.factor.S.shape) if start.multistep else 0
    if max_bytes is None:
        max_bytes = max(BYTES_PER_THREAD, 8 * columns * ROWS_PER_REGRESSOR * len(start.R))
    rows = max_bytes // (8 * columns)
    if rows < 1:
        raise KoopsieveError(
            f"max_bytes is too small for one sample of {len(start.observables)} observables. "
            f"Expected at least {8 * columns}, got {max_bytes}."
        )
    return min(rows, max(4096, 8 * len(start.R)))


def _part_count(chunks: int | None, executor: Executor) -> int:
    """Return the number of parts to divide the data into: a multiple of the workers, each of several chunks."""
    workers = executor.workers
    if executor.here and workers == 1:
        return 1
    if chunks is None:  # a Dask data frame has as many parts as partitions, at the most
        return workers * _MAX_PARTS_PER_WORKER
    if chunks < 2 * workers:
        return 1
    fewest = 1 if executor.here else _MIN_PARTS_PER_REMOTE_WORKER
    return workers * min(max(fewest, chunks // (_CHUNKS_PER_PART * workers)), _MAX_PARTS_PER_WORKER)


def _check_kinds(trajectories: object, dictionary: object) -> None:
    require_dataset(trajectories)
    if not isinstance(dictionary, Dictionary):
        raise KoopsieveError(
            f"Expected a fitted dictionary, got {dictionary!r}. Fit it to data first, for example "
            "(States() + Monomials()).fit(train)."
        )


def _check_found(found: RegressionStatistics) -> RegressionStatistics:
    if found.rows == 0:
        raise KoopsieveError("There are no transitions in these data. Expected an episode of two samples or more.")
    if found.multistep is not None and found.multistep.factor.rows == 0:
        raise KoopsieveError(
            f"No episode is long enough for the horizon {found.multistep.horizons[-1]}. Ask for shorter horizons."
        )
    if found.region is not None:
        refuse_vanishing(np.abs(found.region).max(axis=0), (*found.signals.state_names, *found.signals.acting))
    refuse_too_large(found.factor, found.regressors + found.observables)
    if found.multistep is not None:
        refuse_too_large(found.multistep.factor, ("the outputs several steps ahead",))
    return found


def _check_horizons(horizons: Sequence[int], trajectories: Trajectories | Stream) -> tuple[int, ...]:
    steps = sorted_horizons(horizons)
    if isinstance(trajectories, Trajectories):  # a stream is measured while it is read
        longest = max(len(x) for x in trajectories.states) - 1
        if steps and steps[-1] > longest:
            raise KoopsieveError(
                f"horizons must be at most {longest}, the transitions of the longest episode. Got {list(horizons)}."
            )
    return steps
