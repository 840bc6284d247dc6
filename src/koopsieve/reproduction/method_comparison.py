"""The paper's comparison on any data: every method on the full and on the reduced dictionary, over horizons.

In come training and test data and a dictionary. Stage by stage as in the paper: statistics, inclusion by method IV,
graph and reduction (Algorithm 2), refit of every method on what is left, NMSE at horizons and condition numbers
(Section 5). Out goes a `MethodComparison`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, require_kind, sorted_horizons
from koopsieve._written import write_text
from koopsieve.data import Trajectories
from koopsieve.data.delays import require_dataset
from koopsieve.dictionary import Block, Dictionary
from koopsieve.evaluate import horizon_nmse
from koopsieve.forms import LinearModel
from koopsieve.identify import STLSQ, Estimate, Identifier, LeastSquares, SparseBayes, SpikeSlab
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.reproduction.study_tables import FULL, REDUCED, StudyTable
from koopsieve.sieve.algorithm_2 import Reduction, reduce

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIEVE = "IV"  # the method that reduces the dictionary
Errors = Mapping[str, FloatArray]


def paper_methods(stlsq_threshold: float = 0.05, sieve: Identifier | None = None) -> dict[str, Identifier]:
    """Return the paper's methods I to IV: pseudo-inverse, thresholded least squares, sparse Bayes, spike and slab.

    Parameters
    ----------
    stlsq_threshold : float
        The paper's λ of method II, in the units of the coefficients.
    sieve : Identifier, optional
        Method IV; by default `SpikeSlab()`. `SpikeSlab.published(prior)` is the paper's Algorithm 1.
    """
    return {
        "I": LeastSquares(),
        "II": STLSQ(threshold=stlsq_threshold),
        "III": SparseBayes(),
        SIEVE: SpikeSlab() if sieve is None else sieve,
    }


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """Every method on the full and on the reduced dictionary; prints as a table.

    Parameters
    ----------
    dictionary : Dictionary
        The full one.
    statistics : RegressionStatistics
        Of the training data.
    reduction : Reduction
        Which observables are left, and the graph that says so.
    estimates, models : mapping from "full" and "reduced" to mapping from method to Estimate and LinearModel
    horizons : tuple of int
    errors : mapping like `estimates`, to mapping from output to array
        NMSE on the test data at every horizon.
    """

    dictionary: Dictionary
    statistics: RegressionStatistics
    reduction: Reduction
    estimates: Mapping[str, Mapping[str, Estimate]]
    models: Mapping[str, Mapping[str, LinearModel]]
    horizons: tuple[int, ...]
    errors: Mapping[str, Mapping[str, Errors]]

    def errors_on(
        self, data: Trajectories, horizons: Sequence[int], truth: Trajectories | None = None
    ) -> dict[str, dict[str, Errors]]:
        """Return the NMSE of every model on other data, as `errors`."""
        return {
            size: {name: horizon_nmse(model, data, horizons, truth=truth) for name, model in models.items()}
            for size, models in self.models.items()
        }

    def table(self, output: str | None = None) -> StudyTable:
        """Return the errors of one output, or their mean over outputs, and κ of Aᵀ and of K̂, one row per model."""
        known = self.dictionary.signals.outputs
        if output is not None and output not in known:
            raise KoopsieveError(f"There is no output {output!r}. Outputs are {', '.join(known)}.")
        rows = []
        for size, models in self.models.items():
            for name, model in models.items():
                errors = self._errors(size, name, output)
                kappa = model.condition_number, model.coef_condition_number
                rows.append((size, len(model.A), name, *map(float, errors), *kappa))
        of = output or (known[0] if len(known) == 1 else f"{len(known)} outputs, mean")
        caption = f"NMSE of {of} h steps ahead on test data, and condition numbers"
        header = ("dictionary", "size", "method", *(f"h = {h}" for h in self.horizons), "κ(Aᵀ)", "κ(K̂)")
        return StudyTable("methods", caption, header, tuple(rows))

    def _errors(self, size: str, method: str, output: str | None) -> FloatArray:
        if not self.horizons:
            return np.empty(0)
        found = self.errors[size][method]
        mean: FloatArray = found[output] if output else np.mean(list(found.values()), axis=0)
        return mean

    def to_csv(self, path: str | os.PathLike[str], output: str | None = None) -> None:
        """Write the table as CSV with full precision, whole or not at all."""
        write_text(path, self.table(output).to_csv())

    def to_latex(self, output: str | None = None) -> str:
        """Return the table as LaTeX (package booktabs)."""
        return self.table(output).to_latex()

    def plot(self, output: str | None = None) -> Figure:
        """Draw the errors against the horizon, full left and reduced right; save it with `figure.savefig(…)`."""
        from koopsieve.reproduction.study_figures import draw_method_errors, styled

        chosen = {size: {name: self._errors(size, name, output) for name in each} for size, each in self.errors.items()}
        with styled():
            return draw_method_errors(self.horizons, chosen, output or ", ".join(self.dictionary.signals.outputs))

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def compare_methods(
    train: Trajectories,
    test: Trajectories,
    dictionary: Block | Dictionary,
    *,
    horizons: Sequence[int] = (1, 5, 20),
    threshold: float = 0.1,
    methods: Mapping[str, Identifier] | None = None,
    flat: bool = True,
    truth: Trajectories | None = None,
    seed: int = 0,
) -> MethodComparison:
    """Reduce a dictionary by the paper's method, refit every method on what is left, and compare all of them.

    Parameters
    ----------
    train, test : Trajectories
        With delays embedded, where there are some (`embed_delays`).
    dictionary : Block or Dictionary
        A recipe to fit to the training data, or a fitted dictionary.
    horizons : sequence of int
        Numbers of steps ahead on the test data.
    threshold : float
        The paper's ε.
    methods : mapping from name to Identifier, optional
        By default `paper_methods()`. The last one reduces the dictionary.
    flat : bool
        Also refit the reduced dictionary by the last method with a flat prior (the paper's IV*), if it has a prior.
    truth : Trajectories, optional
        The test data without noise, to compare with.
    seed : int
        Of the dictionary's k-means.

    Returns
    -------
    MethodComparison

    Raises
    ------
    KoopsieveError
        If data, dictionary and horizons do not fit together.
    """
    require_dataset(train)
    require_kind(
        "a dictionary", dictionary, (Block, Dictionary), "Use a recipe such as States() + Monomials(degree=2)."
    )
    known = paper_methods() if methods is None else dict(methods)
    if not known:
        raise KoopsieveError("methods is empty. Expected at least one, the last of which reduces the dictionary.")
    phi = dictionary.fit(train, seed=seed) if isinstance(dictionary, Block) else dictionary
    statistics = compress(train, phi)
    full = {name: method.identify(statistics) for name, method in known.items()}
    sieve = list(known)[-1]
    reduction = reduce(full[sieve].inclusion, phi.outputs, threshold)
    kept, smaller = statistics.select(reduction.retained), phi.select(reduction.retained)
    refits = {**known, **(_with_flat_prior(sieve, known[sieve]) if flat else {})}
    estimates = {FULL: full, REDUCED: {name: method.identify(kept) for name, method in refits.items()}}
    models = {
        size: {name: LinearModel.from_estimate(each, fitted) for name, each in estimates[size].items()}
        for size, fitted in ((FULL, phi), (REDUCED, smaller))
    }
    steps = sorted_horizons(horizons)
    found = MethodComparison(phi, statistics, reduction, estimates, models, steps, {})
    return replace(found, errors=found.errors_on(test, steps, truth) if steps else {})


def _with_flat_prior(name: str, method: Any) -> dict[str, Identifier]:
    """Return the method with e = f = 1, under its name with a star; nothing if it has no prior."""
    prior = getattr(method, "prior", None)
    return {} if prior is None else {f"{name}*": replace(method, prior=prior.flat())}
