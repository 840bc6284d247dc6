"""The prior of the paper's hierarchy (Section 3) and what each of its numbers does.

p(ρ) = Gamma(a, b), p(α_i) = Gamma(c, d), p(π_i) = Beta(e, f).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError


@dataclass(frozen=True)
class SpikeSlabPrior:
    """Hyperparameters of spike and slab, in standard units (regressors and targets of unit mean square).

    Parameters
    ----------
    a, b : float
        Shape and rate of the noise precision ρ. Raising `b` puts a floor of 2b/rows under the noise variance, as a
        fraction of the target's power: effects smaller than that are not seen. Raising `a` draws the noise down.
    c, d : float
        Shape and rate of each weight's precision α. A weight that is in has a Student prior with 2c degrees of freedom
        and scale √(d/c). A smaller `c` makes the tails heavier, so that very large weights cost nothing extra, and
        makes every inclusion dearer by about log(1/c). Raising `d` widens the centre: small weights become dearer.
    e, f : float
        Shapes of the inclusion probability π. Before the data speak, the odds that a regressor is in are e to f:
        raising `f` gives sparser models, e = f = 1 is the flat prior of the paper's IV*.
    worth : float
        Share of a target's noise power that a regressor must explain to be worth having: prior odds are multiplied by
        exp(−½·worth·rows). Zero, the default, is the paper's prior. No finite dictionary is exact, so with enough rows
        every overlapping kernel becomes significant; raising this asks for relevance, whatever the number of rows. It
        judges one step ahead: what explains a hundredth of the noise there may decide the error at fifty steps.
    odds : mapping from regressor name to float
        Prior odds of single regressors, instead of e/f and `worth`: 4 says four to one that it is in.
    always : tuple of str
        Regressors known to be in: their inclusion is one, only their weight is inferred.
    expected_size : float, optional
        If given, e/f is chosen for each dictionary such that this many regressors are expected in (see `expecting`).
    """

    a: float = 1e-3
    b: float = 1e-10
    c: float = 1e-3
    d: float = 1e-6
    e: float = 0.5
    f: float = 20.0
    worth: float = 0.0
    odds: Mapping[str, float] = field(default_factory=dict)
    always: tuple[str, ...] = ()
    expected_size: float | None = None

    def __post_init__(self) -> None:
        for name in "abcdef":
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise KoopsieveError(f"{name} must be a positive number. Got {value}.")
        if not (np.isfinite(self.worth) and self.worth >= 0):
            raise KoopsieveError(f"worth must be zero or a positive number. Got {self.worth}.")
        for name, value in self.odds.items():
            if not value > 0:
                raise KoopsieveError(
                    f"Prior odds must be positive. Got {value} for {name!r}; use 1 for even odds, 1e-6 for unlikely."
                )
        if self.expected_size is not None and not self.expected_size > 0:
            raise KoopsieveError(f"The expected size must be positive. Got {self.expected_size}.")

    @classmethod
    def expecting(cls, size: float) -> SpikeSlabPrior:
        """Return the prior of a user who expects about `size` regressors to drive each observable."""
        return cls(expected_size=size)

    def flat(self) -> SpikeSlabPrior:
        """Return the same prior with even odds for every regressor, as the paper's IV* refits a reduced dictionary."""
        return replace(self, e=1.0, f=1.0, worth=0.0, odds={}, expected_size=None)

    def among(self, names: tuple[str, ...]) -> SpikeSlabPrior:
        """Return the prior with only those single regressors' odds and certainties that are among `names`."""
        odds = {name: value for name, value in self.odds.items() if name in names}
        return replace(self, odds=odds, always=tuple(name for name in self.always if name in names))

    def beta_shapes(self, regressors: int) -> tuple[float, float]:
        """Return (e, f) for a dictionary of the given size."""
        if self.expected_size is None:
            return self.e, self.f
        if self.expected_size >= regressors:
            raise KoopsieveError(
                f"Expected {self.expected_size} regressors per target, but there are only {regressors}. "
                "Expect fewer, or use SpikeSlabPrior().flat()."
            )
        total = self.e + self.f
        share = self.expected_size / regressors
        return total * share, total * (1 - share)

    def log_odds(self, names: tuple[str, ...], rows: float) -> FloatArray:
        """Return the prior log odds of every regressor, inf for those that are always in."""
        self._require_known(names)
        e, f = self.beta_shapes(len(names))
        usual = np.log(e) - np.log(f) - 0.5 * self.worth * rows
        own = {name: np.log(value) for name, value in self.odds.items()} | dict.fromkeys(self.always, np.inf)
        return np.array([own.get(name, usual) for name in names], dtype=float)

    def _require_known(self, names: tuple[str, ...]) -> None:
        unknown = [name for name in (*self.odds, *self.always) if name not in names]
        if unknown:
            raise KoopsieveError(
                f"The prior speaks of {unknown}, which are not regressors here. Regressors are {list(names)[:8]}…. "
                "For a reduced dictionary use prior.among(statistics.regressors)."
            )
