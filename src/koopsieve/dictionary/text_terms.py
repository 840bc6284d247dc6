"""Terms that a user writes as text: `Terms("y[k-1]*u[k]^2", "abs(v)*v", "sqrt(h)")`.

`HardNonlinearities` are those that plants have and polynomials have not: dead zone, saturation, friction, outflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, whole_number
from koopsieve.data import Signals
from koopsieve.data.embedding import sample_name
from koopsieve.data.signals import Dataset
from koopsieve.dictionary.centers import draw_rows
from koopsieve.dictionary.observables import NODE, Observables, Program, indices_below, program
from koopsieve.dictionary.recipes import STATES, Block, Domain, Fitted


@dataclass(frozen=True, eq=False)
class TextTerms(Observables):
    """Functions that are given by their names: each name is the text of the term."""

    variables: tuple[str, ...]  # the names of signals that may occur in the texts
    columns: IndexArray  # (variables,): the coordinate of the point that each stands for

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Evaluate all texts together."""
        used, values = self._compiled(slopes=False)
        with np.errstate(all="ignore"):  # what is not finite is named by whoever uses it
            for column, value in enumerate(values(*points[:, used].T)):
                out[:, column] = value

    def gradient(self, points: FloatArray) -> FloatArray:
        """Evaluate the derivatives: at a kink the mean of both sides, zero at a jump and where a root begins."""
        used, slopes = self._compiled(slopes=True)
        gradient = np.zeros((len(points), self.size, points.shape[1]))
        with np.errstate(all="ignore"):
            for place, value in enumerate(slopes(*points[:, used].T)):
                gradient[:, place // len(used), used[place % len(used)]] = value
        return gradient

    def _compiled(self, slopes: bool) -> _Compiled:
        return _compiled(self.names, self.variables, tuple(self.columns.tolist()), slopes)

    def program(self, width: int) -> Program | None:
        """Return the nodes of all expressions; None where one holds a function without an operation."""
        from koopsieve.dictionary.expressions import program_nodes, real_symbols

        point = real_symbols("p", width)
        nodes, terms = program_nodes([self.expression(i, point) for i in range(self.size)], point, NODE)
        return None if terms is None else program(width, [[term] for term in terms], nodes=nodes)

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return the expression that the text describes."""
        from koopsieve.dictionary.grammar import parsed

        symbols = [point[i] for i in self.columns]
        return parsed(self.names[column], dict(zip(self.variables, symbols, strict=True)))

    def fits(self, width: int) -> bool:
        """Tell whether every variable is a coordinate; a text that cannot be read is refused with its reason."""
        inside = indices_below(self.columns, (len(self.variables),), width)
        return inside and self._compiled(slopes=True) is not None


_Compiled = tuple[list[int], Callable[..., Any]]


@lru_cache(maxsize=256)
def _compiled(texts: tuple[str, ...], variables: tuple[str, ...], columns: tuple[int, ...], slopes: bool) -> _Compiled:
    """Return which coordinates the texts hold, and a function of these: all values, or all derivatives text by text.

    They are kept here and not in the family, so that a family can be sent to other processes.
    """
    from koopsieve.dictionary.expressions import derivative, numpy_function, real_symbols
    from koopsieve.dictionary.grammar import parsed

    used = sorted(set(columns))
    symbols = real_symbols("p", len(used))
    names = {name: symbols[used.index(column)] for name, column in zip(variables, columns, strict=True)}
    expressions = [parsed(text, names) for text in texts]
    if slopes:
        expressions = [derivative(expression, symbol) for expression in expressions for symbol in symbols]
    return used, numpy_function(symbols, expressions)


@dataclass(frozen=True, repr=False, init=False)
class Terms(Block):
    """Terms written as text, for what an engineer knows of the plant: friction, outflow, saturation.

    Parameters
    ----------
    *texts : str
        Each one term: numbers, names of signals, + - * / ^, brackets, and the functions abs, sign, sqrt, exp, log, sin,
        cos, tan, sinh, cosh, tanh, atan, min and max. A past sample is written as y[k-1], which needs that many delays;
        y[k] is y. A name with other letters stands between backquotes: `pump 1 [V]`. Terms that hold an input which
        acts in the step are input terms.

    Notes
    -----
    Nothing is evaluated as Python. The square root, or any broken power, of a negative number is taken as that of zero,
    so that a level which a prediction lets fall below zero does no harm. Slopes at a kink are the mean of both sides,
    those of a jump zero.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> from koopsieve.dictionary import States
    >>> data = Trajectories.from_arrays([[4.0], [-9.0], [1.0]], [[1.0], [2.0]], state_names="v", input_names="u")
    >>> phi = (States() + Terms("abs(v)*v", "v*u[k]^2")).fit(data)
    >>> phi.names, phi.input_term_names
    (('v', 'abs(v)*v'), ('v*u[k]^2',))
    >>> phi([[-9.0]]).tolist()
    [[-9.0, -81.0]]
    """

    texts: tuple[str, ...] = field(init=False)

    def __init__(self, *texts: str) -> None:
        if not texts or not all(isinstance(text, str) for text in texts):
            raise KoopsieveError(f'Terms takes texts, such as Terms("abs(v)*v", "sqrt(h)"). Got {texts!r}.')
        object.__setattr__(self, "texts", tuple(text.strip() for text in texts))
        from koopsieve.dictionary.expressions import real_symbols
        from koopsieve.dictionary.grammar import names_in, parsed

        for text in self.texts:  # what is no term under any names is refused at once
            names = [token.text for token in names_in(text)]
            parsed(text, dict(zip(names, real_symbols("v", len(names)), strict=True)))

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Find the signals that the texts name; nothing depends on the data."""
        known, states = _columns(samples.signals), len(samples.signals.state_names)
        found = [_variables(text, known, samples.signals) for text in self.texts]
        with_input = [max(columns.values()) >= states for columns in found]
        observables, input_terms = (
            [i for i, sees_input in enumerate(with_input) if sees_input == wanted] for wanted in (False, True)
        )
        return Fitted(self._family(observables, found), self._family(input_terms, found))

    def _family(self, chosen: Sequence[int], found: Sequence[Mapping[str, int]]) -> TextTerms | None:
        variables = {name: column for i in chosen for name, column in found[i].items()}
        texts = tuple(self.texts[i] for i in chosen)
        return TextTerms(texts, tuple(variables), np.array([*variables.values()], dtype=np.intp)) if texts else None

    def __repr__(self) -> str:
        return f"Terms({', '.join(map(repr, self.texts))})"


def _columns(signals: Signals) -> dict[str, int]:
    """Return the coordinate of every name that a text may use: the columns' own names, and y[k] for y and back."""
    names = signals.state_names + signals.acting
    known = {name: column for column, name in enumerate(names)}
    for column, (signal, steps) in enumerate(signals.samples):
        for name in (sample_name(signal, steps), f"{signal}[k]" if steps == 0 else ""):
            known.setdefault(name, column)
    known.pop("", None)
    return known


def _variables(text: str, known: Mapping[str, int], signals: Signals) -> dict[str, int]:
    """Return the names in a text with their coordinates."""
    from koopsieve.dictionary.expressions import real_symbols
    from koopsieve.dictionary.grammar import names_in, parsed

    names = {token.text: token.position for token in names_in(text)}
    for name, position in names.items():
        signal = name.partition("[k")[0]
        if name not in known and signal in signals.outputs + signals.inputs:
            held = ", ".join((signals.state_names + signals.acting)[:8])
            raise KoopsieveError(
                f'The term "{text}" needs {name} (position {position}), which is not among the samples that a step '
                f"sees: {held}. Ask for more delays, or for another timing of the inputs."
            )
    if not names.keys() <= known.keys():
        parsed(text, dict(zip(known, real_symbols("p", len(known)), strict=True)))  # raises: names what is not known
    return {name: known[name] for name in names}


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

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Find the range of every signal, and how much outputs change from sample to sample."""
        domain = Domain(samples, self.of)
        rows = draw_rows(domain, MAX_ROWS, rng)
        texts = list(self._texts(domain, rows))
        if not texts:
            raise KoopsieveError("No signal changes, so there is nothing to put kinks into. Give data that change.")
        return Terms(*texts).fit_block(samples, rng)

    def _texts(self, domain: Domain, rows: FloatArray) -> Iterator[str]:
        from koopsieve.dictionary.grammar import quoted  # SymPy is loaded where it is used

        signals = domain.samples.signals
        names = [quoted(name) for name in domain.names]
        for column, name in enumerate(names):
            if 0 <= signals.depths[column] <= self.depth:
                yield from (f"max({_less(name, knot)}, 0)" for knot in _knots(rows[:, column], self.knots))
        for column, output in enumerate(signals.outputs):
            if rows[:, column].min() >= 0 and np.ptp(rows[:, column]) > 0:
                yield f"sqrt({names[column]})"
            if (output, -1) in signals.samples:
                other = signals.samples.index((output, -1))
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
