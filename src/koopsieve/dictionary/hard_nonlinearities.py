"""Terms that plants have and polynomials have not: dead zone, saturation, friction, drag, outflow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, whole_number
from koopsieve.dictionary.centers import draw_rows
from koopsieve.dictionary.recipes import STATES, Block, Domain, Fitted, Samples
from koopsieve.dictionary.text_terms import Terms

MAX_ROWS = 20_000  # samples that knots and scales are found from
STEEPNESS = 4.0  # of tanh, which stands for a sign: standard deviations of a change over its width
DIGITS = 5  # of the range of a signal, to which knots are rounded: people read them, and other units move them little


@dataclass(frozen=True, repr=False)
class HardNonlinearities(Block):
    """Kinks of the newest samples, friction and drag of their changes, and roots of what is never negative.

    Parameters
    ----------
    knots : int
        Kinks max(x - c, 0) of every signal, spread evenly over its range: sums of them are dead zones, saturations and
        absolute values.
    of : {"states", "states and inputs"}
        With the second, terms that hold an input are input terms.
    depth : int
        Kinks of samples that lie at most this many steps back.

    Notes
    -----
    Of the change of an output from one sample to the next, which needs a delay, there are tanh, a smooth sign, and
    abs(v)*v; of an output that is never negative its square root. All are terms as text: see `Terms`.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> data = Trajectories.from_arrays([[-1.0], [0.0], [3.0]], state_names="v")
    >>> HardNonlinearities(knots=1).fit(data).names
    ('max(v - 1, 0)',)
    """

    knots: int = 5
    of: str = STATES
    depth: int = 1

    def __post_init__(self) -> None:
        whole_number("knots", self.knots)
        whole_number("depth, the number of samples back,", self.depth)

    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """Find the range of every signal, and how much outputs change from sample to sample."""
        domain = Domain(samples, self.of)
        rows = draw_rows(domain, MAX_ROWS, rng)
        texts = list(self._texts(domain, rows))
        if not texts:
            raise KoopsieveError("No signal changes, so there is nothing to put kinks into. Give data that change.")
        return Terms(*texts).fit_block(samples, rng)

    def _texts(self, domain: Domain, rows: FloatArray) -> Iterator[str]:
        signals = domain.samples.signals
        names = [_quoted(name) for name in domain.names]
        for column, name in enumerate(names):
            if 0 <= signals.depths[column] <= self.depth:
                yield from (f"max({_less(name, knot)}, 0)" for knot in _knots(rows[:, column], self.knots))
        for column, output in enumerate(signals.outputs):
            if rows[:, column].min() >= 0 and np.ptp(rows[:, column]) > 0:
                yield f"sqrt({names[column]})"
            before = f"{output}[k-1]"
            if before in domain.names:
                other = domain.names.index(before)
                yield from _of_change(f"{names[column]} - {names[other]}", rows[:, column] - rows[:, other])


def _knots(values: FloatArray, count: int) -> list[float]:
    """Return where the kinks are, spread evenly over the range."""
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return []
    unit = 10.0 ** (np.floor(np.log10(high - low)) - DIGITS + 1)
    inner = np.linspace(low, high, count + 2)[1:-1]
    return [float(np.round(knot / unit) * unit) for knot in inner]


def _of_change(change: str, values: FloatArray) -> Iterator[str]:
    """Yield the friction and the drag of a change."""
    width = float(np.std(values)) / STEEPNESS
    if width > 0:
        yield f"tanh(({change})/{width:.4g})"
        yield f"abs({change})*({change})"


def _less(name: str, knot: float) -> str:
    return name if knot == 0 else f"{name} {'-' if knot > 0 else '+'} {abs(knot):.12g}"


def _quoted(name: str) -> str:
    """Return a name as a text may hold it: between backquotes unless it is a plain one."""
    plain = name.partition("[k")[0]
    return name if plain.isidentifier() and plain.isascii() else "`" + name.replace("`", "``") + "`"
