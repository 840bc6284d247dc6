"""Preliminary searches: fast fits of many delays and dictionaries to a part of the data.

Where no dictionary is given, polynomials, kernels and kinks that suit any delays are offered. Plain linear models tell
delays apart, and small reprojected models tell dictionaries apart. In come the divided data, out comes a row for every
combination. All are compared on the validation data, from the same starts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from koopsieve._display import Facts, Shown, number
from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data import Embedding, Signals, Trajectories, embedded
from koopsieve.data.splitting import sample, thinned
from koopsieve.dictionary import (
    Block,
    Constant,
    Dictionary,
    HardNonlinearities,
    Inputs,
    Monomials,
    SquaredExponential,
    States,
)
from koopsieve.dictionary.recipes import STATES, STATES_AND_INPUTS
from koopsieve.evaluate import WindowErrors
from koopsieve.forms import ReprojectedForm, Task
from koopsieve.forms.linear.plain import acting
from koopsieve.sieve import SimulationSieve
from koopsieve.sifting.choose import chosen_point
from koopsieve.sifting.folds import fold_errors
from koopsieve.sifting.judge import linear_baseline
from koopsieve.sifting.parts import Parts

MAX_NEWEST_PRODUCTS = 1000  # of degree two, where more signals than that would fill the memory
MAX_PRODUCTS = 150  # monomials of states and inputs: of a longer delay line only the newest samples are multiplied
MAX_KERNELS = 100
SAMPLES_PER_KERNEL = 10


@dataclass(frozen=True)
class Family:
    """A kind of dictionary that suits any delays: polynomials up to a degree, kernels, or kinks and friction.

    Parameters
    ----------
    degree : int
        Of the polynomials; 0 for the others.
    kernels : int
        Number of kernels; 0 for the others.
    """

    degree: int = 0
    kernels: int = 0

    def recipe(self, signals: Signals, embedding: Embedding, sees_inputs: bool) -> Block | None:
        """Return the recipe, with functions of the inputs too or of the state alone; None if it would be too large."""
        joint = sees_inputs and bool(signals.inputs)
        states = States(acting=joint) + Constant()
        of, plain = (STATES_AND_INPUTS, states + Inputs()) if joint else (STATES, states)
        if self.kernels:
            return None if embedding.dead_time else plain + SquaredExponential(self.kernels, standardize=True, of=of)
        if not self.degree:
            return plain + HardNonlinearities(of=of)
        depth = affordable_depth(signals, embedding, self.degree, joint)
        return None if depth is None else plain + Monomials(self.degree, of=of, depth=depth)


def families(samples: int | None) -> tuple[Family, ...]:
    """Return what is offered: polynomials of degree two and three, kernels as many as the samples allow, kinks."""
    count = MAX_KERNELS if samples is None else min(MAX_KERNELS, max(samples // SAMPLES_PER_KERNEL, 1))
    return Family(degree=2), Family(degree=3), Family(kernels=count), Family()


def affordable_depth(signals: Signals, embedding: Embedding, degree: int, joint: bool) -> int | None:
    """Return how far back products reach so that there are at most `MAX_PRODUCTS`.

    None where even those of the newest samples are more; but of degree two up to `MAX_NEWEST_PRODUCTS` of these are
    offered.
    """
    depths = embedding.depths(len(signals.outputs), len(signals.inputs))
    depths = depths if joint else depths[: len(depths) - len(signals.inputs)]
    for depth in range(embedding.lost, -1, -1):
        coordinates = int(((depths >= 0) & (depths <= depth)).sum())
        if comb(coordinates + degree, degree) <= MAX_PRODUCTS:
            return depth
    newest = int((depths == 0).sum())
    return 0 if degree == 2 and comb(newest + 2, 2) <= MAX_NEWEST_PRODUCTS else None


PRELIMINARY, FULL = "preliminary", "full"
CLEARLY_UNSTABLE = 1.05  # absolute value of a pole; noise moves those of an integrator less
MAX_CANDIDATES = 400  # of a dictionary that is tried with several delays
LEARN_ROWS, WINDOW_ROWS, FIT_ROWS = 20_000, 4_000, 8_000  # to learn from, to compare on, and to simulate
SHIFT_ROWS = 4_000  # to tell the dead time from
MAX_DEAD_TIME = 200
MOST_OF_GAIN = 0.9  # of what the best shift explains; the shortest that explains so much is the dead time
INPUT_MEMORY, OUTPUT_MEMORY = 20, 4  # past samples that an input is predicted from
MIN_UNPREDICTABLE = 0.01  # of an input's variance that its own past must leave, to tell anything of feedback
FEEDBACK_GAIN, CLEAR_PER_OUTPUT = 1.02, 6.0  # by which outputs reduce that; logarithm of the likelihood per past output
CLEAR_GAIN = 10.0  # of the logarithm of the likelihood over no dead time, for every input and output


@dataclass(frozen=True, eq=False, repr=False)
class SearchSummary(Shown):
    """One search of a dictionary with some delays in one form, as a row of the table in the report.

    Parameters
    ----------
    stage : {"preliminary", "full"}
        A preliminary search fits a few sets to part of the data; a full one goes through the whole path.
    form : str
    embedding : Embedding
    dictionary : str
        The candidates as they are written.
    candidates, kept : int
        How many regressors there were, and how many the best set of them has.
    errors : WindowErrors
        On the validation windows.
    runs : array
        Errors of free runs along the validation data.
    seconds : float
    bounded : bool
        Whether long free runs stay bounded.
    unstable : bool
        Whether it is a linear model with inputs and a pole well outside the unit circle.
    """

    stage: str
    form: str
    embedding: Embedding
    dictionary: str
    candidates: int
    kept: int
    errors: WindowErrors
    runs: FloatArray
    seconds: float
    bounded: bool = True
    unstable: bool = False

    @property
    def run(self) -> float:
        """Error of the median free run, relative to the variance of the outputs."""
        return float(np.median(self.runs))

    def _facts(self) -> Facts:
        kept, errors = f"{self.kept} of {self.candidates}", ", ".join(map(number, self.errors.error))
        return {"stage": self.stage, "form": self.form, "kept": kept, "validation NMSE": errors}


@dataclass(frozen=True, eq=False)
class PreliminarySearch:
    """A part of the data, and what all preliminary searches share.

    Parameters
    ----------
    parts : Parts
    deepest : Embedding
        All predictions start where these delays could.
    seed : int
    """

    parts: Parts
    deepest: Embedding
    seed: int

    @classmethod
    def on_sample(cls, parts: Parts, deepest: Embedding, seed: int) -> PreliminarySearch:
        """Take a part of the data, spread over all of them; no folds of a part, whose samples stand elsewhere."""
        stretch = 4 * (parts.horizons[-1] + deepest.lost + 1)
        learn = thinned(sample(parts.learn, LEARN_ROWS, stretch), LEARN_ROWS, stretch)
        cuts = parts.cuts if learn.n_samples == parts.learn.n_samples else ()
        windows = thinned(parts.windows, WINDOW_ROWS, stretch)
        held = parts.validation if parts.lead else windows
        part = replace(parts, learn=learn, validation=held, windows=windows, validated=True, given=(), cuts=cuts)
        return cls(part, deepest, seed)

    def linear(self, embedding: Embedding) -> SearchSummary:
        """Fit the linear model of states and a constant."""
        begun, parts = time.perf_counter(), self._embedded(embedding)
        model, _ = linear_baseline(parts.learn, parts.validation, None, merge=False)
        of_folds = (linear_baseline(fold.learn, fold.learn, None, merge=False)[0] for fold in parts.folds)
        errors, runs = fold_errors([model, *of_folds], parts)
        task = Task(parts.learn, parts.validation, parts.windows, model.dictionary, parts.horizons)
        bounded, size = task.stays_bounded(model), int(acting(model.dictionary).sum())
        unstable = bool(parts.learn.signals.inputs) and model.spectral_radius > CLEARLY_UNSTABLE
        seconds, recipe = time.perf_counter() - begun, repr(States() + Constant())
        return SearchSummary(
            PRELIMINARY, model.form, embedding, recipe, size, size, errors, runs, seconds, bounded, unstable
        )

    def reprojected(self, embedding: Embedding, recipe: Block) -> SearchSummary | None:
        """Fit a few sets of a dictionary in the reprojected form; None if it is too large for that."""
        begun, parts = time.perf_counter(), self._embedded(embedding)
        phi = self.fitted(embedding, recipe)
        if phi is None:
            return None
        task = Task(parts.learn, parts.validation, parts.windows, phi, parts.horizons, seed=self.seed)
        points = ReprojectedForm(SimulationSieve(rows=FIT_ROWS)).rough_candidates(task)
        point = points[chosen_point(points)]
        size, seconds = len(phi.regressors), time.perf_counter() - begun
        return SearchSummary(
            PRELIMINARY, point.model.form, embedding, repr(recipe), size, point.size, point.errors, point.runs, seconds
        )

    def fitted(self, embedding: Embedding, recipe: Block) -> Dictionary | None:
        """Return the dictionary of a recipe; None if it would be too large for a preliminary search."""
        try:
            phi = recipe.fit(self._embedded(embedding).learn, seed=self.seed)
        except KoopsieveError:
            return None
        return phi if len(phi.regressors) <= MAX_CANDIDATES else None

    def _embedded(self, embedding: Embedding) -> Parts:
        return self.parts.embedded(embedding, self.deepest)


def dead_time(data: Trajectories, most: int) -> int:
    """Return after how many samples, up to `most`, the inputs begin to act, as second-order linear models tell it.

    It is the shortest shift that explains nearly as much as the best, or 0 where none explains clearly more than no
    shift at all. The data are without delays.
    """
    most = min(most, MAX_DEAD_TIME)
    if most < 1 or not data.signals.inputs:
        return 0
    some = thinned(data, SHIFT_ROWS, 4 * most)
    long = some.subset([e for e, x in enumerate(some.states) if len(x) > 2 * most])
    line = embedded(long, Embedding(1, most + 1))
    n, width = len(line.output_names), line.n_inputs
    own = np.concatenate([np.insert(x[:-1, : 2 * n], 0, 1.0, axis=1) for x in line.states])
    inputs = np.concatenate([np.hstack([u, x[:-1, 2 * n :]]) for x, u in zip(line.states, line.inputs, strict=True)])
    following = np.concatenate([x[1:, :n] for x in line.states])
    basis = np.linalg.qr(own)[0]
    rest, inputs = (values - basis @ (basis.T @ values) for values in (following, inputs))
    left = np.stack([_unexplained(rest, inputs[:, width * shift : width * (shift + 2)]) for shift in range(most + 1)])
    gain = len(rest) * np.log(left[0] / left).mean(axis=1)
    clear = gain.max() > CLEAR_GAIN * width
    return int(np.argmax(gain >= MOST_OF_GAIN * gain.max())) if clear else 0


def under_feedback(data: Trajectories, most: int) -> bool:
    """Tell whether past outputs help to predict an input beyond its own past, as they do while a controller acts.

    An input that its own past predicts to a hundredth of its variance, as that of a multisine does, does not count.

    Parameters
    ----------
    data : Trajectories
        Without delays.
    most : int
        Past samples of the inputs that are used, at most.
    """
    past = min(most, INPUT_MEMORY)
    if past < OUTPUT_MEMORY or not data.signals.inputs:
        return False
    some = thinned(data, LEARN_ROWS, 10 * past)
    long = some.subset([e for e, x in enumerate(some.states) if len(x) > 2 * past])
    line = embedded(long, Embedding(OUTPUT_MEMORY, past))
    now, before = len(line.output_names), len(line.output_names) * (OUTPUT_MEMORY + 1)
    inputs, states = np.concatenate(line.inputs), np.concatenate([x[:-1] for x in line.states])
    varies = np.ptp(states, axis=0) > 0
    states = np.where(varies, (states - states.mean(axis=0)) / np.where(varies, states.std(axis=0), 1.0), 1.0)
    outputs, own = states[:, now:before], np.insert(states[:, before:], 0, 1.0, axis=1)
    alone, together = _unexplained(inputs, own), _unexplained(inputs, np.hstack([own, outputs]))
    unpredictable = alone > MIN_UNPREDICTABLE * len(inputs) * inputs.var(axis=0)
    gain = len(inputs) * np.log(alone / together) / outputs.shape[1]
    return bool((unpredictable & (alone > FEEDBACK_GAIN * together) & (gain > CLEAR_PER_OUTPUT)).any())


def _unexplained(targets: FloatArray, regressors: FloatArray) -> FloatArray:
    """Return the sum of squares of every target that least squares leave, at least what rounding makes of none."""
    residual = targets - regressors @ np.linalg.lstsq(regressors, targets, rcond=None)[0]
    rounding = np.finfo(float).eps * np.sum(targets**2, axis=0) + np.finfo(float).tiny
    left: FloatArray = np.sum(residual**2, axis=0) + rounding
    return left
