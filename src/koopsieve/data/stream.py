"""Trajectories too large for memory: the same values as `Trajectories`, read block by block each time they are needed.

Comes in: arrays on disk, Parquet files, Dask collections, or an iterator of chunks. Goes out: a frozen `Stream`, which
`embed_delays`, the fitting of a dictionary and `compress` take in place of `Trajectories`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.embedding import Embedding
from koopsieve.data.signals import Dataset, Signals, complete_names
from koopsieve.data.streaming.blocks import BLOCK_ROWS, ChangedOrigin, Check, Embed, Origin, Piece
from koopsieve.data.streaming.origins import ArraySegment, ChunkSegment, SegmentOrigin, as_chunk, sliceable
from koopsieve.data.streaming.stream_outliers import handle_stream_outliers
from koopsieve.data.trajectories import Trajectories
from koopsieve.io.reading.columns import KEEP, Columns, Reading, check_dt


@dataclass(frozen=True, eq=False, repr=False)
class Stream(Dataset):
    """Episodes of states and inputs that are read when needed and never all at once.

    Parameters
    ----------
    origin : Origin
        Where the samples come from.
    signals : Signals
        Names, sample time, and which delays the state holds.
    notes : tuple of str, optional
        What was found about single samples far outside the others; none before they were looked for.
    """

    origin: Origin
    signals: Signals
    notes: tuple[str, ...] | None = None

    @classmethod
    def of(cls, data: Trajectories | Stream) -> Stream:
        """Return the data as a stream; what is in memory is not copied."""
        if isinstance(data, Stream):
            return data
        rows = [one.samples(len(x)) for one, x in zip(data.provenance.sources, data.states, strict=True)]
        return cls(SegmentOrigin.of(ArraySegment.whole(data.states, data.inputs, rows)), data.signals)

    @classmethod
    def from_arrays(
        cls,
        states: Any,
        inputs: Any = None,
        *,
        dt: float = 1.0,
        state_names: str | Sequence[str] | None = None,
        input_names: str | Sequence[str] | None = None,
        outliers: str = KEEP,
    ) -> Stream:
        """Stream arrays that can be sliced: memory maps, Zarr, HDF5 or Dask arrays.

        Parameters
        ----------
        states : array of shape (T, n), or list of them
            One per episode. Nothing is read yet.
        inputs : array of shape (T-1, l) or (T, l), or list of them, optional
        dt, state_names, input_names
            As for `Trajectories.from_arrays`.
        outliers : {"keep", "drop", "refuse"}
            What to do with single samples far outside the others, see `Trajectories.from_frame`. To drop or to refuse
            them all data are read here, once or twice, in bounded memory. Left at "keep", nothing is read yet, and
            `sift` names them with their rows before it learns from them.

        Raises
        ------
        KoopsieveError
            If shapes do not go together. Samples are checked while they are read.

        Examples
        --------
        >>> Stream.from_arrays(np.zeros((1000, 2)), state_names=["p", "q"])
        Stream(samples 1000, states p, q, inputs none, dt 1)
        """
        x = sliceable(states, "States")
        u = [np.zeros((a.shape[0], 0)) for a in x] if inputs is None else sliceable(inputs, "Inputs")
        _check_shapes([tuple(a.shape) for a in x], [tuple(a.shape) for a in u])
        names = complete_names(state_names, x[0].shape[1], "state", "x")
        given = complete_names(input_names, u[0].shape[1], "input", "u")
        return cls._checked(SegmentOrigin.of(ArraySegment.whole(x, u)), Signals(names, given, dt), outliers)

    @classmethod
    def from_parquet(
        cls,
        files: Any,
        states: str | Sequence[str],
        inputs: str | Sequence[str] = (),
        *,
        episode: str | None = None,
        time: str | None = None,
        dt: float | None = None,
        outliers: str = KEEP,
    ) -> Stream:
        """Stream Parquet files.

        Parameters
        ----------
        files : path, list of paths, or pyarrow.dataset.Dataset
            A folder stands for the Parquet files in it, in the order of their names (numbers in them count as numbers).
        states, inputs : str or sequence of str
            Columns.
        episode : str, optional
            The column that tells episodes apart; an episode may go on in the next file. Left out, each file is one.
        time : str, optional
            The column with the time of each sample: its steps must be even, across files too.
        dt : float, optional
            Sample time; by default the step of `time`, or 1.
        outliers : {"keep", "drop", "refuse"}
            As for `from_arrays`.

        Raises
        ------
        KoopsieveError
            If a file lacks a column or differs from the first, or an episode's rows are not in order. To know that,
            the `episode` and `time` columns are read once, here; samples are checked while they are read.
        """
        from koopsieve.data.streaming.table_segments import parquet_tables

        columns = Columns.named(states, inputs, Reading(episode, time, outliers=outliers))
        check_dt(1.0 if dt is None else dt)
        origin = parquet_tables(files, columns, dt)
        signals = Signals(columns.states, columns.inputs, origin.dt or 1.0, reading=columns.reading)
        return cls._checked(origin, signals, outliers)

    @classmethod
    def from_dask(
        cls,
        frame: Any,
        states: str | Sequence[str],
        inputs: str | Sequence[str] = (),
        *,
        episode: str,
        time: str | None = None,
        dt: float = 1.0,
        outliers: str = KEEP,
    ) -> Stream:
        """Stream a Dask data frame, partition after partition; parameters as for `from_parquet`.

        Order is checked while the frame is read, in every part of it that one worker reads.
        """
        from koopsieve.data.streaming.table_segments import dask_tables

        columns = Columns.named(states, inputs, Reading(episode, time))
        signals = Signals(columns.states, columns.inputs, dt)
        return cls._checked(dask_tables(frame, columns, dt), signals, outliers)

    @classmethod
    def from_chunks(
        cls,
        chunks: Callable[[], Iterable[Any]] | Sequence[Any],
        *,
        dt: float = 1.0,
        state_names: str | Sequence[str] | None = None,
        input_names: str | Sequence[str] | None = None,
        outliers: str = KEEP,
    ) -> Stream:
        """Stream what an iterator yields.

        Parameters
        ----------
        chunks : callable, or sequence
            Called without arguments it returns a fresh iterator each time (a generator function does), because fitting
            a dictionary and compressing each read all data. Every chunk is (episode, states) or (episode, states,
            inputs); chunks with the same episode follow one another.
        dt, state_names, input_names, outliers
            As for `from_arrays`.

        Examples
        --------
        >>> def record():
        ...     for hour in range(3):
        ...         yield "ship 1", np.full((3600, 2), hour)
        >>> Stream.from_chunks(record, dt=1.0).state_names
        ('x1', 'x2')
        """
        if isinstance(chunks, Iterator):
            raise KoopsieveError(
                "chunks must be readable more than once. Got an iterator, which is used up after one pass: pass the "
                "function that makes it (for example the generator function itself, without calling it), or a list."
            )
        again = chunks if callable(chunks) else chunks.__iter__ if isinstance(chunks, Sequence) else None
        if again is None or isinstance(chunks, str | bytes | type):
            raise KoopsieveError(
                f"chunks must be a function that returns an iterator, or a list. Got {str(chunks)[:80]}."
            )
        first = next(iter(_called(again)), None)
        if first is None:
            raise KoopsieveError("There are no chunks. Expected at least one (episode, states).")
        _, x, u = as_chunk(first)
        names = complete_names(state_names, x.shape[1], "state", "x")
        given = complete_names(input_names, u.shape[1], "input", "u")
        return cls._checked(SegmentOrigin.of([ChunkSegment(again)]), Signals(names, given, dt), outliers)

    @classmethod
    def _checked(cls, origin: Origin, signals: Signals, outliers: str) -> Stream:
        """Return the stream of an origin whose samples are checked while they are read."""
        if not signals.outputs:
            raise KoopsieveError("The states have no columns. Expected (samples, columns), at least one column.")
        found = cls(ChangedOrigin(origin, Check(signals.outputs, signals.inputs)), signals)
        return found if Reading(outliers=outliers).outliers == KEEP else found.with_outliers(outliers)

    def with_outliers(self, what: str) -> Stream:
        """Return the stream with single samples far outside the others kept, dropped or refused.

        All data are read, unless that was done before; what is kept is named in a warning, and in `notes`.
        """
        if self.notes is not None:
            return self
        origin, notes = handle_stream_outliers(self.origin, (self.output_names, self.input_names), what)
        return replace(self, origin=origin, notes=notes)

    @property
    def n_samples(self) -> int | None:
        """How many samples there are (before delays cost some), if that is known without reading them."""
        return self.origin.n_samples

    def embedded(self, embedding: Embedding) -> Stream:
        """Return the stream with delays; use `embed_delays`, which checks."""
        signals = replace(self.signals, embedding=embedding)
        return replace(self, origin=ChangedOrigin(self.origin, Embed(embedding)), signals=signals)

    def state_blocks(self) -> Iterator[FloatArray]:
        """Yield all states, block by block."""
        for piece in self.pieces(BLOCK_ROWS):
            for block in piece:
                yield block.states

    def acted_blocks(self) -> Iterator[FloatArray]:
        """Yield all states that another follows, with the inputs that act on them beside, block by block."""
        for piece in self.pieces(BLOCK_ROWS):
            waiting = np.zeros((0, self.n_states + self.n_inputs))  # the last row, until another sample is seen
            for block in piece:
                rows = np.concatenate([block.states[: len(block.inputs)], block.inputs], axis=1)
                followed = len(block.states) - 1
                yield np.concatenate([waiting, rows[:followed]])
                waiting = rows[followed:]

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the pieces of all episodes, their samples checked."""
        return self.origin.pieces(rows)

    def parts(self, count: int, reach: int) -> Sequence[Origin]:
        """Return up to `count` parts that can be read independently; see `Origin.parts`."""
        return self.origin.parts(count, reach)

    def _counts(self) -> dict[str, str]:
        """Return how many samples there are, as it is shown."""
        return {"samples": "not known yet" if self.n_samples is None else str(self.n_samples)}


def _called(chunks: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    """Return what a function gives, or say that it is no iterable."""
    try:
        given = chunks()
    except TypeError as error:
        raise KoopsieveError(f"chunks must be callable without arguments. {error}.") from error
    if not isinstance(given, Iterable):
        raise KoopsieveError(f"chunks must return an iterator of chunks. Got {type(given).__name__}.")
    return given


def _check_shapes(states: Sequence[tuple[int, ...]], inputs: Sequence[tuple[int, ...]]) -> None:
    if not states or any(len(shape) != 2 for shape in (*states, *inputs)):
        raise KoopsieveError(f"Arrays must have shape (samples, columns), at least one. Got {[*states, *inputs]}.")
    alike = len(inputs) == len(states) and len({n for _, n in states}) == len({width for _, width in inputs}) == 1
    if not alike or any(rows not in (T, T - 1) for (T, _), (rows, _) in zip(states, inputs, strict=True)):
        raise KoopsieveError(
            f"Every episode needs states (T, {states[0][1]}) and inputs with T or T-1 rows, of the same columns as the "
            f"first. Got states {list(states)} and inputs {list(inputs)}."
        )
