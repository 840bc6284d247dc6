"""`KoopmanSieve`: the whole method as scikit-learn's users write it; it calls `koopsieve.sift`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import validate_data

from koopsieve._types import FloatArray, KoopsieveError, KoopsieveWarning, real_array
from koopsieve.data import Stream, Trajectories, embedded
from koopsieve.dictionary import Block
from koopsieve.dictionary.recipes import parameters, with_parameters
from koopsieve.estimator_checks import (
    belongs_to_rows,
    checked_rows,
    column_names,
    dimensions,
    refuse_inputs_as_target,
    require_fitted,
    unnamed,
)
from koopsieve.evaluate import horizon_nmse
from koopsieve.evaluate.rollout import embedded_for
from koopsieve.forms.prediction import checked_horizon, finite_array, starts
from koopsieve.sifting.pipeline import sift_with
from koopsieve.sifting.settings import SiftSettings

_DICTIONARY = "dictionary__"  # what names of settings of the dictionary's blocks begin with
_SETTINGS = tuple(one.name for one in fields(SiftSettings))


def _signature() -> Signature:
    """Return the settings of `sift` as parameters, `dictionary` first, and `dt`."""
    own = [Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default) for one in fields(SiftSettings)]
    first = own[0].replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
    dt = Parameter("dt", Parameter.KEYWORD_ONLY, default=1.0)
    return Signature([Parameter("self", Parameter.POSITIONAL_ONLY), first, *own[1:], dt])


_SIGNATURE = _signature()


class KoopmanSieve(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A Koopman model on the observables of a dictionary that drive the measured states.

    Its parameters are the settings of `sift` with the same names and defaults, `dictionary` first, and `dt`, the sample
    time where `X` does not carry its own (1.0). So where neither dictionary nor delays are given, both are found.

    Attributes
    ----------
    result_ : SieveResult
        Everything that `koopsieve.sift` returns: path, baselines, explanation, errors; `result_.describe()` sums them
        up.
    model_ : Model
        On the retained observables, learned from all the data.
    retained_names_ : tuple of str
        The observables of the chosen set.

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

    dictionary: Any
    dt: float
    _columns: tuple[Sequence[str] | None, Sequence[str] | None]  # names of states and inputs where `fit` was given them

    __metadata_request__fit: ClassVar = {"u": True}
    __metadata_request__predict: ClassVar = {"u": True}
    __metadata_request__transform: ClassVar = {"u": True}
    __metadata_request__score: ClassVar = {"u": True}

    def __init__(self, *args: Any, **settings: Any) -> None:
        given = _SIGNATURE.bind(self, *args, **settings)
        given.apply_defaults()
        for name in (*_SETTINGS, "dt"):
            setattr(self, name, given.arguments[name])

    __init__.__signature__ = _SIGNATURE  # type: ignore[attr-defined]

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
            Inputs of each episode, frames with their names; left out when `X` is made of Trajectories, which hold their
            own.
        """
        data = self._data(X, u, reset=True)
        refuse_inputs_as_target(X, y)
        self.result_ = sift_with(data, SiftSettings(**{name: getattr(self, name) for name in _SETTINGS}))
        self.model_ = self.result_.model
        self.retained_names_ = self.result_.retained_names
        for message in self.result_.diagnostics.warnings:
            warnings.warn(message, KoopsieveWarning, stacklevel=2)
        return self

    def predict(self, X: Any, *, u: ArrayLike | None = None, horizon: int | None = None) -> FloatArray:
        """Predict the states from every row of X.

        Parameters
        ----------
        X : array, shape (samples, n), Trajectories, or list of Trajectories
            States to start from. With delays, consecutive samples of one trajectory; the first rows, as many as the
            longest delay, only serve as history. With `horizon` given, one state (n,) is taken too. Of Trajectories,
            which hold their inputs, every row is a start that has `horizon` samples after it, episode after episode.
        u : array, optional
            Inputs: (samples − 1 + horizon, l), read along the rows of X and beyond, one more where u[k+1] acts on
            y[k+1]; or (starts, horizon, l). With one row in X that is (horizon, l).
        horizon : int, optional
            Steps ahead; left out, the state one step ahead is returned per row.

        Returns
        -------
        array, shape (starts, n); with `horizon` (starts, horizon, n), or (horizon, n) for one state
        """
        require_fitted(self)
        steps = 1 if horizon is None else checked_horizon(horizon)
        if _is_trajectories(X):
            every = np.concatenate(self.model_.rollout(self._in_memory(X, u, "predict"), steps))
            return every[:, 0] if horizon is None else every
        one = horizon is not None and dimensions(X) == 1
        rows, u = self._rows(real_array("X", X)[None] if one else X), self._inputs(u)
        histories, inputs = self._histories(rows, u, steps)
        predicted = self.model_.predict(histories, inputs, steps)
        return predicted[:, 0] if horizon is None else predicted[0] if one else predicted

    def fit_transform(self, X: Any, y: Any = None, *, u: Any = None) -> FloatArray:
        """Fit, then return the retained observables; `y` is what later steps of a pipeline are to learn."""
        if y is not None and not belongs_to_rows(X, y):
            refuse_inputs_as_target(X, y)
        return self.fit(X, u=u).transform(X, u=u)

    def transform(self, X: Any, *, u: ArrayLike | None = None) -> FloatArray:
        """Return the retained observables of every row of X (after the history that delays need).

        Of Trajectories, which hold their inputs, the rows are those of all episodes, one after the other. Terms with
        the inputs, which the reprojected form has too, are not among them.
        """
        require_fitted(self)
        phi = self.model_.dictionary
        if _is_trajectories(X):
            data = embedded_for(self.model_, self._in_memory(X, u, "transform"))
            return np.concatenate([phi(x) for x in data.states])
        rows = self._rows(X)
        histories, inputs = self._histories(rows, self._past_inputs(rows, self._inputs(u)), 1)
        return np.ascontiguousarray(phi(starts(self.model_.signals, histories, inputs, 1).states))

    def score(self, X: Any, y: Any = None, *, u: Any = None) -> float:
        """Return minus the mean NMSE over states and horizons; higher is better, above −1 beats the mean."""
        require_fitted(self)
        data = self._in_memory(X, u, "score")
        refuse_inputs_as_target(X, y)
        longest = max(map(len, embedded(data, self.model_.signals.embedding).states)) - 1
        horizons = [h for h in self.result_.horizons if h <= longest] or [1]
        error = horizon_nmse(self.model_, data, horizons)
        worst = np.finfo(float).max  # model selection must be able to rank a model that diverges
        return -float(np.mean(np.minimum(list(error.values()), worst)))

    def get_feature_names_out(self, input_features: Any = None) -> FloatArray:
        """Return the names of the retained observables, which are the columns of `transform`."""
        require_fitted(self)
        return np.asarray(self.model_.names, dtype=object)

    def _data(self, X: Any, u: Any, reset: bool) -> Trajectories | Stream:
        if _is_trajectories(X):
            if u is not None:
                raise KoopsieveError("u must be left out when X is made of Trajectories, which hold their own inputs.")
            data: Trajectories | Stream = X if isinstance(X, Trajectories | Stream) else Trajectories.join(X)
            if self.dt not in (1.0, data.dt):
                raise KoopsieveError(f"dt={self.dt} has no effect: X has the sample time {data.dt:g}. Leave it out.")
            if reset:
                validate_data(self, next(data.state_blocks()), reset=True, ensure_min_samples=0)
                self._columns = data.state_names, data.signals.inputs
            return data
        if isinstance(X, (list, tuple)) and len(X) and dimensions(X[0]) == 2:
            arrays = [self._rows(x, reset=reset, least=2, where=f"episode {i}") for i, x in enumerate(X)]
        else:
            arrays = [self._rows(X, reset=reset, least=2)]
            u = None if u is None else [u]
        if reset:
            states, inputs = getattr(self, "feature_names_in_", None), column_names(u)
            self._columns = None, inputs
            return Trajectories.from_arrays(arrays, u, dt=self.dt, state_names=states, input_names=inputs)
        signals = self.model_.signals
        given, names = (None, None) if u is None else ([self._inputs(one) for one in u], signals.inputs or None)
        return Trajectories.from_arrays(arrays, given, dt=signals.dt, state_names=signals.outputs, input_names=names)

    def _rows(self, X: Any, *, reset: bool = False, least: int = 1, where: str = "X") -> FloatArray:
        """Return states as an array; later ones may name their columns as Trajectories did that the model is of."""
        given = X if reset else unnamed(where, X, self._columns[0])
        return checked_rows(self, given, reset=reset, least=least, where=where)

    def _inputs(self, u: Any) -> Any:
        """Return inputs without the names of their columns, which must be those of the inputs that were learned."""
        return unnamed("u", u, self._columns[1])

    def _in_memory(self, X: Any, u: Any, task: str) -> Trajectories:
        data = self._data(X, u, reset=False)
        if isinstance(data, Stream):
            raise KoopsieveError(f"{task} takes data in memory. Give Trajectories or arrays.")
        return data

    def _past_inputs(self, rows: FloatArray, u: ArrayLike | None) -> FloatArray | None:
        """Return inputs along the rows, as far as states hold them, and zeros beyond; None without inputs."""
        signals, count = self.model_.signals, len(rows)
        if not signals.inputs:
            return None
        past = np.zeros((count + signals.embedding.input_lead, len(signals.inputs)))
        if signals.embedding.input_delays:
            if u is None:
                raise KoopsieveError("The model uses delayed inputs; give the inputs along the rows of X as u.")
            given, known = finite_array("u", u), len(past) - 1  # states hold the inputs before the last of these rows
            shapes = {(known, past.shape[1]), (count, past.shape[1])}
            if given.shape not in shapes:
                expected = " or ".join(map(str, sorted(shapes)))
                raise KoopsieveError(f"u must be read along the rows of X. Expected {expected}, got {given.shape}.")
            past[:known] = given[:known]
        return past

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
        along = signals.embedding.input_lead + steps
        given, wanted = finite_array("u", u), (len(rows) - 1 + along, width)
        if given.shape == (count, steps, width) and not signals.embedding.input_delays:
            return histories, given
        if given.shape != wanted:
            raise KoopsieveError(
                f"u must be read along the rows of X and beyond. Expected {wanted}"
                f"{'' if signals.embedding.input_delays else f' or {(count, steps, width)}'}, got {given.shape}."
            )
        return histories, np.stack([given[k : k + length - 1 + along] for k in range(count)])


def _is_trajectories(X: Any) -> bool:
    """Tell whether these are Trajectories, a list of them, or a Stream."""
    several = isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(x, Trajectories) for x in X)
    return several or isinstance(X, Trajectories | Stream)
