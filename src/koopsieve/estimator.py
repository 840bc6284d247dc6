"""`KoopmanSieve`: the whole method as scikit-learn's users write it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from koopsieve._types import FloatArray, KoopsieveError, KoopsieveWarning
from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Block, SquaredExponential, States
from koopsieve.evaluate import diagnose, horizon_nmse
from koopsieve.sieve import Sieve, sieve_path


class KoopmanSieve(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A Koopman model on the observables of a dictionary that drive the measured states.

    Parameters
    ----------
    dictionary : Block, optional
        The candidates; by default the states and up to a hundred standardised squared-exponential kernels.
    horizons : sequence of int
        Steps ahead that matter: the dictionary is chosen, and the model judged, by its errors there. Those longer than
        the data allow are left out with a warning.
    state_delays, input_delays : int
        Delayed copies of states and inputs to add to the state before the dictionary.
    sieve : Sieve, optional
        Gives the family of dictionaries to choose from: `HorizonSieve()`, the default, or the paper's `GraphSieve()`.
    steps : int
        How many dictionaries the family has, about.
    stable : bool
        Whether to move eigenvalues outside the unit circle onto it where that costs no accuracy.
    validation : float
        Share of the data (whole episodes, or the end of a single one) on which dictionaries are compared.
    dt : float
        Sample time, where `X` does not carry its own.
    seed : int
        For the parts of the dictionary that are drawn or searched.

    Attributes
    ----------
    path_ : SievePath
        Every dictionary of the family with its model and errors; `path_.describe()` says what was chosen and why, and
        `path_.demand` which horizon asks for it if that is more than a quarter of the dictionary.
    retained_names_ : tuple of str
        The observables of the smallest dictionary within one standard error of the best.
    model_ : LiftedModel
        On the retained observables, learned from all the data.
    diagnostics_ : Diagnostics
        Of the model; its errors are those on the validation data before it had learned from these too.

    Examples
    --------
    >>> import numpy as np
    >>> from koopsieve import KoopmanSieve, Monomials, States
    >>> t = np.arange(200)
    >>> X = np.column_stack([0.9**t, 0.5**t])
    >>> sieve = KoopmanSieve(States() + Monomials(degree=2), horizons=[1, 5]).fit(X)
    >>> sieve.predict([[1.0, 1.0]]).round(3).tolist()
    [[0.9, 0.5]]
    """

    __metadata_request__fit: ClassVar = {"u": True}
    __metadata_request__predict: ClassVar = {"u": True}
    __metadata_request__transform: ClassVar = {"u": True}
    __metadata_request__score: ClassVar = {"u": True}

    def __init__(
        self,
        dictionary: Block | None = None,
        *,
        horizons: Sequence[int] = (1, 10, 50),
        state_delays: int = 0,
        input_delays: int = 0,
        sieve: Sieve | None = None,
        steps: int = 20,
        stable: bool = True,
        validation: float = 0.25,
        dt: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.dictionary = dictionary
        self.horizons = horizons
        self.state_delays = state_delays
        self.input_delays = input_delays
        self.sieve = sieve
        self.steps = steps
        self.stable = stable
        self.validation = validation
        self.dt = dt
        self.seed = seed

    def fit(self, X: Any, y: Any = None, *, u: Any = None) -> Self:
        """Sift the dictionary on trajectories and fit the model.

        Parameters
        ----------
        X : array (T, n), list of such arrays, data frame, Trajectories, or list of Trajectories
            One or many episodes of states.
        y : ignored
        u : array (T-1, l) or (T, l), or a list of them, optional
            Inputs of each episode; not used when `X` is made of Trajectories, which hold their own.
        """
        data = self._embed(self._trajectories(X, u, reset=True))
        learn, judge = data.split(1 - self.validation)
        self.horizons_ = _within(self.horizons, learn, judge)
        self.input_names_ = data.input_names
        self.path_ = sieve_path(
            self.sieve,
            learn,
            self._candidates(learn),
            validation=judge,
            horizons=self.horizons_,
            steps=self.steps,
            stable=self.stable,
            seed=self.seed,
        )
        self.model_ = self.path_.model
        self.retained_names_ = self.path_.retained_names
        error = horizon_nmse(self.path_.choice.model, judge, self.horizons_)
        kept = self.path_.statistics.select(self.path_.retained)
        self.diagnostics_ = diagnose(self.model_, kept, self.horizons_, error)
        for message in self.diagnostics_.warnings:
            warnings.warn(message, KoopsieveWarning, stacklevel=2)
        return self

    def predict(self, X: Any, *, u: ArrayLike | None = None, horizon: int | None = None) -> FloatArray:
        """Predict the states from every row of X.

        Parameters
        ----------
        X : array, shape (samples, n)
            States to start from. With delays, consecutive samples of one trajectory; the first rows, as many as the
            longest delay, only serve as history. With `horizon` given, one state (n,) is taken too.
        u : array, optional
            Inputs: (samples − 1 + horizon, l), read along the rows of X and beyond, or (starts, horizon, l). With one
            row in X that is (horizon, l).
        horizon : int, optional
            Steps ahead; left out, the state one step ahead is returned per row.

        Returns
        -------
        array, shape (starts, n); with `horizon` (starts, horizon, n), or (horizon, n) for one state
        """
        check_is_fitted(self)
        steps = 1 if horizon is None else int(horizon)
        one = horizon is not None and np.ndim(X) == 1
        rows = validate_data(self, np.asarray(X)[None] if one else X, dtype=np.float64, reset=False)
        starts, ahead = self._starts(rows, u, steps)
        predicted = self.model_.predict(starts, ahead, steps)
        if horizon is None:
            return predicted[:, 0]
        return predicted[0] if one else predicted

    def transform(self, X: Any, *, u: ArrayLike | None = None) -> FloatArray:
        """Return the retained observables of every row of X (after the history that delays need)."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        if self.input_delays and u is None:
            raise KoopsieveError("The model uses delayed inputs; give the inputs along the rows of X as u.")
        past = np.zeros((len(rows), len(self.input_names_)))
        if self.input_delays:
            past[:-1] = np.asarray(u, dtype=float)[: len(rows) - 1]
        starts, _ = self._starts(rows, past if self.input_names_ else None, 1)
        return np.ascontiguousarray(self.model_.dictionary(starts))

    def score(self, X: Any, y: Any = None, *, u: Any = None) -> float:
        """Return minus the mean NMSE over states and horizons; higher is better, above −1 beats the mean."""
        check_is_fitted(self)
        data = self._embed(self._trajectories(X, u, reset=False))
        error = horizon_nmse(self.model_, data, _within(self.horizons_, data))
        worst = np.finfo(float).max  # model selection must be able to rank a model that diverges
        return -float(np.mean(np.minimum(list(error.values()), worst)))

    def get_feature_names_out(self, input_features: Any = None) -> FloatArray:
        """Return the names of the retained observables, which are the columns of `transform`."""
        check_is_fitted(self)
        return np.asarray(self.retained_names_, dtype=object)

    def _candidates(self, data: Trajectories) -> Block:
        if self.dictionary is not None:
            return self.dictionary
        distinct = len(np.unique(np.concatenate(data.states), axis=0))
        return States() + SquaredExponential(centers=min(100, max(1, distinct // 5)), standardize=True)

    def _trajectories(self, X: Any, u: Any, reset: bool) -> Trajectories:
        if isinstance(X, Trajectories) or _holds(X, Trajectories):
            if u is not None:
                raise KoopsieveError("u must be left out when X is made of Trajectories, which hold their own inputs.")
            data = X if isinstance(X, Trajectories) else Trajectories.join(X)
            validate_data(self, data.states[0], reset=reset)
            return data
        if isinstance(X, (list, tuple)) and len(X) and np.ndim(X[0]) == 2:
            arrays = [validate_data(self, x, dtype=np.float64, ensure_min_samples=2, reset=reset) for x in X]
        else:
            arrays = [validate_data(self, X, dtype=np.float64, ensure_min_samples=2, reset=reset)]
            u = None if u is None else [u]
        return Trajectories.from_arrays(arrays, u, dt=self.dt, state_names=getattr(self, "feature_names_in_", None))

    def _embed(self, data: Trajectories) -> Trajectories:
        if self.state_delays or self.input_delays:
            return embed_delays(data, states=self.state_delays, inputs=self.input_delays)
        return data

    def _starts(self, rows: FloatArray, u: ArrayLike | None, steps: int) -> tuple[FloatArray, FloatArray | None]:
        """Return the states (delays embedded) to start from, and the inputs (starts, steps, l) after each."""
        names, history = self.input_names_, max(self.state_delays, self.input_delays)
        if len(rows) <= history:
            raise KoopsieveError(
                f"X must hold more rows than the longest delay. Expected over {history}, got {len(rows)}."
            )
        count, wanted = len(rows) - history, (len(rows) - 1 + steps, len(names))
        if not names and u is not None:
            raise KoopsieveError("The model has no inputs, but u was given. Leave it out, or fit with inputs.")
        if names and u is None:
            raise KoopsieveError(f"The model has inputs ({', '.join(names)}); give them as u.")
        given = np.zeros(wanted) if u is None else np.asarray(u, dtype=float)
        if given.shape == (count, steps, len(names)) and not self.input_delays:
            return self._histories(rows, np.zeros(wanted)), given
        if given.shape != wanted:
            raise KoopsieveError(
                f"u must be read along the rows of X and beyond. Expected {wanted}"
                f"{'' if self.input_delays else f' or {(count, steps, len(names))}'}, got {given.shape}."
            )
        ahead = np.stack([given[history + h : history + h + count] for h in range(steps)], axis=1)
        return self._histories(rows, given), ahead

    def _histories(self, rows: FloatArray, inputs: FloatArray) -> FloatArray:
        history = max(self.state_delays, self.input_delays)
        columns = [rows[history - d : len(rows) - d] for d in range(self.state_delays + 1)]
        columns += [inputs[history - d : len(rows) - d] for d in range(1, self.input_delays + 1)]
        return np.concatenate(columns, axis=1)


def _holds(X: Any, kind: type) -> bool:
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(x, kind) for x in X)


def _within(horizons: Sequence[int], *parts: Trajectories) -> tuple[int, ...]:
    longest = min(max(len(x) for x in part.states) for part in parts) - 1
    kept = tuple(int(h) for h in horizons if h <= longest)
    if len(kept) < len(tuple(horizons)):
        warnings.warn(
            f"Horizons beyond {longest}, the transitions of the longest episode there is, are left out.",
            KoopsieveWarning,
            stacklevel=3,
        )
    return kept or (1,)
