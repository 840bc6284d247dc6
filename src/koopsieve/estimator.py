"""`KoopmanSieve`: the whole method as scikit-learn's users write it; it calls `koopsieve.sift`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import validate_data

from koopsieve._types import FloatArray, KoopsieveError, KoopsieveWarning, real_array
from koopsieve.data import Embedding, Stream, Trajectories, embedded
from koopsieve.dictionary import Block
from koopsieve.dictionary.parameters import parameters, with_parameters
from koopsieve.estimator_checks import (
    belongs_to_rows,
    checked_rows,
    dimensions,
    refuse_inputs_as_target,
    require_fitted,
)
from koopsieve.evaluate import horizon_nmse
from koopsieve.model.histories import checked_horizon, finite_array, starts
from koopsieve.pipeline import sift
from koopsieve.sieve import Sieve

_DICTIONARY = "dictionary__"  # what names of settings of the dictionary's blocks begin with


class KoopmanSieve(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A Koopman model on the observables of a dictionary that drive the measured states.

    Parameters
    ----------
    dictionary : Block or "auto"
        The candidates; "auto" looks at polynomials and kernels and takes what predicts best on validation data.
    form : {"auto", "linear", "bilinear", "reprojected"}
        How the model predicts; "auto" takes the simplest that is as good as the best on validation data.
    horizons : sequence of int
        Steps ahead that matter: the dictionary is chosen, and the model judged, by its errors there. Those longer than
        the data allow are left out with a warning.
    state_delays, input_delays : int
        Delayed copies of states and inputs to add to the state before the dictionary.
    sieve : Sieve, optional
        Gives the sets to choose from: `HorizonSieve()`, the default, or the paper's `GraphSieve()`.
    steps : int
        How many sets there are to choose from, about.
    stable : bool
        Whether to move eigenvalues outside the unit circle onto it where that costs no accuracy.
    validation : float
        Share of the data (whole episodes, or stretches of a single one) on which sets are compared.
    dt : float
        Sample time, where `X` does not carry its own.
    seed : int
        For the parts of the dictionary that are drawn or searched.

    Attributes
    ----------
    result_ : SieveResult
        Everything that `koopsieve.sift` returns: path, baselines, explanation, errors; `result_.describe()` says it in
        words.
    model_ : Model
        On the retained observables, learned from all the data.
    retained_names_ : tuple of str
        The observables of the smallest set within one standard error of the best.

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
        dictionary: Block | str = "auto",
        *,
        form: str = "auto",
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
        self.form = form
        self.horizons = horizons
        self.state_delays = state_delays
        self.input_delays = input_delays
        self.sieve = sieve
        self.steps = steps
        self.stable = stable
        self.validation = validation
        self.dt = dt
        self.seed = seed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings, and with `deep` those of the dictionary's blocks: `dictionary__monomials__degree`."""
        found: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.dictionary, Block):
            found |= {f"{_DICTIONARY}{name}": value for name, value in parameters(self.dictionary).items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set settings; those of the dictionary's blocks give a new dictionary, because blocks are frozen.

        Raises
        ------
        KoopsieveError
            If the dictionary has no such block or setting.
        ValueError
            If there is no such setting.
        """
        changes = {
            key.removeprefix(_DICTIONARY): params.pop(key) for key in list(params) if key.startswith(_DICTIONARY)
        }
        super().set_params(**params)
        if changes:
            if not isinstance(self.dictionary, Block):
                raise KoopsieveError(
                    f"The dictionary is {self.dictionary!r}, which has no blocks to set parameters of."
                )
            self.dictionary = with_parameters(self.dictionary, changes)
        return self

    def fit(self, X: Any, y: Any = None, *, u: Any = None) -> Self:
        """Sift the dictionary on trajectories and fit the model.

        Parameters
        ----------
        X : array (T, n), list of such arrays, data frame, Trajectories, list of Trajectories, or Stream
            One or many episodes of states.
        y : ignored
            There is no target. What looks like inputs is refused: they go to `u`.
        u : array (T-1, l) or (T, l), or a list of them, optional
            Inputs of each episode; not used when `X` is made of Trajectories, which hold their own.
        """
        data = self._data(X, u, reset=True)
        refuse_inputs_as_target(X, y)
        embedding = Embedding(self.state_delays, self.input_delays)
        self.result_ = sift(
            data,
            self.dictionary,
            form=self.form,
            delays=data.embedding if embedding.trivial else embedding,
            sieve=self.sieve,
            horizons=self.horizons,
            validation=self.validation,
            steps=self.steps,
            stable=self.stable,
            seed=self.seed,
        )
        self.model_ = self.result_.model
        self.retained_names_ = self.result_.retained_names
        for message in self.result_.diagnostics.warnings:
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
        require_fitted(self)
        steps = 1 if horizon is None else checked_horizon(horizon)
        one = horizon is not None and dimensions(X) == 1
        rows = checked_rows(self, real_array("X", X)[None] if one else X, reset=False)
        histories, inputs = self._histories(rows, u, steps)
        predicted = self.model_.predict(histories, inputs, steps)
        if horizon is None:
            return predicted[:, 0]
        return predicted[0] if one else predicted

    def fit_transform(self, X: Any, y: Any = None, *, u: Any = None) -> FloatArray:
        """Fit, then return the retained observables; `y` is what later steps of a pipeline are to learn."""
        if y is not None and not belongs_to_rows(X, y):
            refuse_inputs_as_target(X, y)
        return self.fit(X, u=u).transform(X, u=u)

    def transform(self, X: Any, *, u: ArrayLike | None = None) -> FloatArray:
        """Return the retained observables of every row of X (after the history that delays need)."""
        require_fitted(self)
        rows = checked_rows(self, X, reset=False)
        signals, kept = self.model_.signals, self.result_.dictionary.select(self.result_.retained)
        past = np.zeros((len(rows), len(signals.inputs)))
        if signals.embedding.input_delays:
            if u is None:
                raise KoopsieveError("The model uses delayed inputs; give the inputs along the rows of X as u.")
            given = finite_array("u", u)
            if given.shape not in ((len(rows) - 1, past.shape[1]), past.shape):
                raise KoopsieveError(f"u must be read along the rows of X. Expected {past.shape}, got {given.shape}.")
            past[:-1] = given[: len(rows) - 1]
        histories, inputs = self._histories(rows, past if signals.inputs else None, 1)
        return np.ascontiguousarray(kept(starts(signals, histories, inputs, 1).states))

    def score(self, X: Any, y: Any = None, *, u: Any = None) -> float:
        """Return minus the mean NMSE over states and horizons; higher is better, above −1 beats the mean."""
        require_fitted(self)
        data = self._data(X, u, reset=False)
        refuse_inputs_as_target(X, y)
        if isinstance(data, Stream):
            raise KoopsieveError("score takes data in memory. Give Trajectories or arrays.")
        longest = max(map(len, embedded(data, self.model_.signals.embedding).states)) - 1
        horizons = [h for h in self.result_.horizons if h <= longest] or [1]
        error = horizon_nmse(self.model_, data, horizons)
        worst = np.finfo(float).max  # model selection must be able to rank a model that diverges
        return -float(np.mean(np.minimum(list(error.values()), worst)))

    def get_feature_names_out(self, input_features: Any = None) -> FloatArray:
        """Return the names of the retained observables, which are the columns of `transform`."""
        require_fitted(self)
        return np.asarray(self.retained_names_, dtype=object)

    def _data(self, X: Any, u: Any, reset: bool) -> Trajectories | Stream:
        if isinstance(X, Trajectories | Stream) or _holds(X, Trajectories):
            if u is not None:
                raise KoopsieveError("u must be left out when X is made of Trajectories, which hold their own inputs.")
            data = X if isinstance(X, Trajectories | Stream) else Trajectories.join(X)
            first = next(data.state_blocks())
            validate_data(self, first, reset=reset, ensure_min_samples=0)
            return data
        if isinstance(X, (list, tuple)) and len(X) and dimensions(X[0]) == 2:
            arrays = [checked_rows(self, x, reset=reset, least=2, where=f"episode {i}") for i, x in enumerate(X)]
        else:
            arrays = [checked_rows(self, X, reset=reset, least=2)]
            u = None if u is None else [u]
        return Trajectories.from_arrays(arrays, u, dt=self.dt, state_names=getattr(self, "feature_names_in_", None))

    def _histories(self, rows: FloatArray, u: ArrayLike | None, steps: int) -> tuple[FloatArray, FloatArray | None]:
        """Return a stack of histories, one per row that has all its delays, and the inputs of each."""
        signals, length = self.model_.signals, self.model_.history
        if len(rows) < length:
            raise KoopsieveError(
                f"X must hold more rows than the longest delay. Expected {length} or more, got {len(rows)}."
            )
        count, width = len(rows) - length + 1, len(signals.inputs)
        histories = np.stack([rows[k : k + length] for k in range(count)])
        if u is None and not width:
            return histories, None
        if not width:
            raise KoopsieveError("The model has no inputs, but u was given. Leave it out, or fit with inputs.")
        if u is None:
            raise KoopsieveError(f"The model has inputs ({', '.join(signals.inputs)}); give them as u.")
        given, wanted = finite_array("u", u), (len(rows) - 1 + steps, width)
        if given.shape == (count, steps, width) and not signals.embedding.input_delays:
            return histories, given
        if given.shape != wanted:
            raise KoopsieveError(
                f"u must be read along the rows of X and beyond. Expected {wanted}"
                f"{'' if signals.embedding.input_delays else f' or {(count, steps, width)}'}, got {given.shape}."
            )
        return histories, np.stack([given[k : k + length - 1 + steps] for k in range(count)])


def _holds(X: Any, kind: type) -> bool:
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(x, kind) for x in X)
