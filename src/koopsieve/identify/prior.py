"""The prior of the paper's hierarchy (equations 10 to 14) and what each of its numbers does.

p(ρ) = Gamma(a, b), p(α_i) = Gamma(c_i, d_i), p(π_i) = Beta(e_i, f_i). `SpikeSlabPrior` is what a user states;
`ProblemPrior` is the same written out for the regressors of one problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from koopsieve._types import NOT_NEGATIVE, FloatArray, IndexArray, KoopsieveError, Range, check_fields, real_number

PerRegressor = float | Mapping[str, float]
_NAMED = ("c", "d", "e", "f")
SHAPES = Range(1e-100, 1e100)  # of shapes and rates; beyond, the bound leaves the range of floats


@dataclass(frozen=True, eq=False)
class Slab:
    """Gamma(c, d), the prior of the weights' precisions: one pair for all regressors, or one for each."""

    # c, d: shape and rate
    c: float | FloatArray
    d: float | FloatArray
    constant: float | FloatArray  # ½ + log Γ(c + ½) − log Γ(c) + c log d: the part of (D9) that no weight changes

    @classmethod
    def of(cls, c: float | FloatArray, d: float | FloatArray) -> Slab:
        """Return the slab of given shapes and rates."""
        if np.ndim(c) or np.ndim(d):
            c, d = np.broadcast_arrays(c, d)
        return cls(c, d, 0.5 + gammaln(np.add(c, 0.5)) - gammaln(c) + c * np.log(d))

    def at(self, regressors: IndexArray) -> Slab:
        """Return the slab of some regressors, in the shape of their indices."""
        if not isinstance(self.constant, np.ndarray):
            return self
        return Slab(np.take(self.c, regressors), np.take(self.d, regressors), np.take(self.constant, regressors))

    def expanded(self, axis: int) -> Slab:
        """Return the slab with one axis more."""
        if not isinstance(self.constant, np.ndarray):
            return self
        return Slab(*(np.expand_dims(values, axis) for values in (self.c, self.d, self.constant)))

    @property
    def column(self) -> Slab:
        """The slab for arrays of shape (regressors, targets)."""
        return self.at(np.arange(np.size(self.constant))[:, None])


@dataclass(frozen=True, eq=False)
class ProblemPrior:
    """The prior of one problem, regressor by regressor."""

    # a, b: shape and rate of the noise precision
    a: float
    b: float
    slab: Slab  # of the weights' precisions
    # e, f: float or array (p,): shapes of the inclusion probabilities
    e: float | FloatArray
    f: float | FloatArray
    # (p,): prior log odds of each regressor, `worth` and single regressors' odds counted; inf for those always in
    log_odds: FloatArray

    @cached_property
    def finite_log_odds(self) -> FloatArray:
        """Log odds with zero for the regressors that are always in, whose flags are no random variables."""
        return np.where(np.isinf(self.log_odds), 0.0, self.log_odds)

    @cached_property
    def log_none_in(self) -> float:
        """Log prior probability that none is in but those that are always in."""
        return -float(np.sum(np.logaddexp(0, self.finite_log_odds), where=np.isfinite(self.log_odds)))


@dataclass(frozen=True)
class SpikeSlabPrior:
    """Hyperparameters of spike and slab, in standard units (regressors and targets of unit mean square).

    c, d, e and f are numbers, the same for all regressors, or mappings that give every regressor its own by name.

    Parameters
    ----------
    a, b : float
        Shape and rate of the noise precision ρ. Raising `b` puts a floor of 2b/rows under the noise variance, as a
        fraction of the target's power: effects smaller than that are not seen. Raising `a` draws the noise down.
    c, d : float, or mapping from regressor name to float
        Shape and rate of each weight's precision α. A weight that is in has a Student prior with 2c degrees of freedom
        and scale √(d/c). The default is a Cauchy prior of scale one, which found best what is truly in on seven kinds
        of regressions (`benchmarks/slabs.py`). A smaller `c` makes the tails heavier, so that very large weights cost
        nothing extra, and makes every inclusion cost about log(1/c) more. Raising `d` widens the centre: small weights
        cost more.
    e, f : float, or mapping from regressor name to float
        Shapes of the inclusion probability π. Without data, the odds that a regressor is in are e to f:
        raising `f` gives sparser models, e = f = 1 is the flat prior of the paper's IV*.
    worth : float
        Share of a target's noise power that a regressor must explain to be worth having: prior odds are multiplied by
        exp(−½·worth·rows), see (D25). Zero, the default, is the paper's prior. No finite dictionary is exact, so
        with enough rows every overlapping kernel becomes significant; raising this asks for relevance, whatever the
        number of rows. It judges one-step predictions: what explains a hundredth of the noise there may decide the
        error at fifty steps.
    odds : mapping from regressor name to float
        Prior odds of single regressors, instead of e/f and `worth`: 4 is four to one that it is in.
    always : tuple of str
        Regressors known to be in: their inclusion is one, only their weight is inferred.
    expected_size : float, optional
        If given, e/f is chosen for each dictionary such that this many regressors are expected in (see `expecting`).
    """

    a: float = 1e-3
    b: float = 1e-10
    c: PerRegressor = 0.5
    d: PerRegressor = 0.5
    e: PerRegressor = 0.5
    f: PerRegressor = 20.0
    worth: float = 0.0
    odds: Mapping[str, float] = field(default_factory=dict)
    always: tuple[str, ...] = ()
    expected_size: float | None = None

    def __post_init__(self) -> None:
        check_fields(self, ranges={"worth": NOT_NEGATIVE, "a": SHAPES, "b": SHAPES})
        for name in _NAMED:
            value = getattr(self, name)
            for number in value.values() if isinstance(value, Mapping) else (value,):
                real_number(name, number, SHAPES)
        for name, odds in self.odds.items():
            real_number(f"The prior odds of {name!r}, 1 for even ones,", odds, Range(0, open_low=True))
        if self.expected_size is not None:
            real_number("expected_size", self.expected_size, Range(0, open_low=True))

    @classmethod
    def expecting(cls, size: float) -> SpikeSlabPrior:
        """Return the prior of a user who expects about `size` regressors to drive each observable."""
        return cls(expected_size=size)

    @classmethod
    def strict(cls) -> SpikeSlabPrior:
        """Return a prior with tails so heavy that the size of a weight costs next to nothing, and every inclusion much.

        Searches that compare whole sets use it: they rank sets by how well they predict, and certainty about single
        regressors plays no part.
        """
        return cls(c=1e-3, d=1e-6, e=0.5, f=20.0)

    def flat(self) -> SpikeSlabPrior:
        """Return the same prior with even odds for every regressor, as the paper's IV* refits a reduced dictionary."""
        return replace(self, e=1.0, f=1.0, worth=0.0, odds={}, expected_size=None)

    def among(self, names: tuple[str, ...]) -> SpikeSlabPrior:
        """Return the prior without entries for single regressors that are not among `names`."""

        def cut(value: PerRegressor) -> PerRegressor:
            return {name: value[name] for name in value if name in names} if isinstance(value, Mapping) else value

        odds = {name: value for name, value in self.odds.items() if name in names}
        always = tuple(name for name in self.always if name in names)
        c, d, e, f = cut(self.c), cut(self.d), cut(self.e), cut(self.f)
        return replace(self, c=c, d=d, e=e, f=f, odds=odds, always=always)

    def on(self, names: tuple[str, ...], rows: float) -> ProblemPrior:
        """Return the prior written out for the regressors of a problem.

        Raises
        ------
        KoopsieveError
            If it names regressors that are not there, gives some of them no value, or expects more than there are.
        """
        self._require_known(names)
        c, d, e, f = (_per_regressor(name, getattr(self, name), names) for name in _NAMED)
        if self.expected_size is not None:
            share = _expected_share(self.expected_size, len(names))
            e, f = (e + f) * share, (e + f) * (1 - share)
        log_odds = np.full(len(names), np.log(e) - np.log(f) - 0.5 * self.worth * rows)
        for name, value in self.odds.items():
            log_odds[names.index(name)] = np.log(value)
        log_odds[[names.index(name) for name in self.always]] = np.inf
        return ProblemPrior(self.a, self.b, Slab.of(c, d), e, f, log_odds)

    def _require_known(self, names: tuple[str, ...]) -> None:
        mappings = [value for name in _NAMED if isinstance(value := getattr(self, name), Mapping)]
        stated = dict.fromkeys((*self.odds, *self.always, *(name for mapping in mappings for name in mapping)))
        unknown = [name for name in stated if name not in names]
        if unknown:
            raise KoopsieveError(
                f"The prior names {unknown[:8]}, which are not regressors here. Regressors are {list(names)[:8]}…. "
                "For a reduced dictionary use prior.among(statistics.regressors)."
            )


def _expected_share(expected: float, regressors: int) -> float:
    if expected >= regressors:
        raise KoopsieveError(
            f"Expected {expected} regressors per target, but there are only {regressors}. "
            "Expect fewer, or use SpikeSlabPrior().flat()."
        )
    return expected / regressors


def _per_regressor(name: str, value: PerRegressor, regressors: tuple[str, ...]) -> float | FloatArray:
    """Return a number as it is, a mapping as one value per regressor."""
    if not isinstance(value, Mapping):
        return value
    missing = [regressor for regressor in regressors if regressor not in value]
    if missing:
        raise KoopsieveError(
            f"{name} is given regressor by regressor, but not for {missing[:8]}. Give every regressor a value, or one "
            "number for all."
        )
    return np.array([value[regressor] for regressor in regressors], dtype=float)
