"""Observables from elsewhere: a user's function, or any scikit-learn transformer (so a pysindy library too)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any, Self, cast

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.data.signals import Dataset
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.recipes import STATES, Block, Domain, Fitted

PointFunction = Callable[[FloatArray], Any]
_STEP = np.cbrt(np.finfo(float).eps)  # of a central difference, relative to the size of the coordinate


class _Packed:
    """A function as bytes where pickle cannot hold it by name, such as a lambda; when loaded it is the function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        import cloudpickle

        return cloudpickle.loads, (cloudpickle.dumps(self.function),)


class _HoldsFunctions:
    """A frozen value that holds functions of the user, lambdas too, and can be pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: _Packed(one) if _is_unnamed(one) else one for name, one in vars(self).items()}

    def __deepcopy__(self, memo: object) -> Self:
        return self  # frozen


def _is_unnamed(value: object) -> bool:
    """Tell whether a value is a function that no import finds again under its name."""
    if not isinstance(value, FunctionType):
        return False
    return value.__module__ == "__main__" or "<" in value.__qualname__  # "<lambda>", "make.<locals>.cube"


class Code(Observables):
    """Columns of what a callable returns for all points at once.

    A callable cannot be asked for a part of its columns, so it is called whole as long as one of them is kept.
    """

    columns: IndexArray
    per_column = ("columns",)

    @abstractmethod
    def functions(self) -> tuple[PointFunction, PointFunction | None]:
        """Return what computes the columns, and what computes their derivatives if the user gave it."""

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Call, check and cut."""
        values = _as_columns(self.functions()[0](points), len(points), self.names)
        out[:] = values[:, self.columns]

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the user's derivative, or central differences where there is none."""
        _, derivative = self.functions()
        if derivative is None:
            return self._differences(points)
        given = np.asarray(derivative(points), dtype=float)
        if given.ndim != 3 or len(given) != len(points) or given.shape[2] != points.shape[1]:
            raise KoopsieveError(
                "gradient must return the derivatives of every column with respect to every coordinate. Expected "
                f"({len(points)}, columns, {points.shape[1]}), got {given.shape} for {', '.join(self.names[:3])}."
            )
        return given[:, self.columns]

    def _differences(self, points: FloatArray) -> FloatArray:
        gradient = np.empty((len(points), self.size, points.shape[1]))
        for j in range(points.shape[1]):
            step = np.zeros_like(points)
            step[:, j] = _STEP * np.maximum(np.abs(points[:, j]), 1e-3)
            gradient[:, :, j] = (self(points + step) - self(points - step)) / (2 * step[:, j, None])
        return gradient

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Refuse: Python code has no expression."""
        raise KoopsieveError(f"{self.names[column]} is computed by {self.described()}, which has no formula.")

    def code(self) -> Iterator[Observables]:
        """Yield this family."""
        yield self


@dataclass(frozen=True, eq=False)
class Calls(_HoldsFunctions, Code):
    """Columns of a callable in this program, which no file can hold."""

    function: PointFunction
    columns: IndexArray
    slope: PointFunction | None = None

    def functions(self) -> tuple[PointFunction, PointFunction | None]:
        """Return the callables."""
        return self.function, self.slope

    def fits(self, width: int) -> bool:
        """Refuse: it cannot come out of a file."""
        return False

    def described(self) -> str:
        """Return the block as a user knows it: a Function with its callable, a Transformer with its class."""
        owner = getattr(self.function, "__self__", None)
        if owner is not None:
            return f"the Python code of Transformer({type(owner).__name__})"
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"the Python code of Function({name})"


@dataclass(frozen=True, eq=False)
class ImportedCalls(Code):
    """Columns of a function that is known by its import path; `paths` holds it, and that of its derivative or ""."""

    paths: tuple[str, ...]
    columns: IndexArray

    def functions(self) -> tuple[PointFunction, PointFunction | None]:
        """Import the functions when they are first called."""
        return imported(self.paths[0]), imported(self.paths[1]) if self.paths[1] else None

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that the functions are imported from."""
        return tuple(path.partition(":")[0] for path in self.paths if path)

    def fits(self, width: int) -> bool:
        """Tell whether the columns belong to the names, and the paths are paths."""
        paths = len(self.paths) == 2 and all(map(_is_path, (self.paths[0], self.paths[1] or self.paths[0])))
        return paths and self.columns.shape == (self.size,) and bool((self.columns >= 0).all())

    def described(self) -> str:
        """Return the block as a user wrote it."""
        return f"the Python code of Function({self.paths[0]!r})"


@cache
def imported(path: str) -> PointFunction:
    """Return the function at an import path, `module:name`."""
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name) if _is_path(path) else None
    except (ImportError, AttributeError) as error:
        raise KoopsieveError(f"{path!r} cannot be imported: {error}. Expected 'package.module:function'.") from error
    if not callable(found):
        raise KoopsieveError(f"{path!r} is no function. Expected 'package.module:function'.")
    return found  # type: ignore[no-any-return]


def _is_path(text: str) -> bool:
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


@dataclass(frozen=True, repr=False)
class Function(_HoldsFunctions, Block):
    """Observables computed by a user's function.

    Parameters
    ----------
    function : callable or str
        Takes states (samples, n), returns (samples,) or (samples, k). It must treat every row by itself. Given by its
        import path, such as "mypackage.terms:friction", a model that uses it can be saved.
    names : sequence of str
        One per column. Write several blocks if columns should be computed only when they are kept.
    gradient : callable or str, optional
        Takes the same states, returns the derivatives (samples, k, n). Left out, the multi-step fit takes central
        differences, which call the function 2n times.
    of : {"states", "states and inputs"}
        With the second the function is given states and inputs side by side, and its columns are input terms.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> phi = Function(lambda x: np.abs(x[:, 0]), names=["|x1|"]).fit(Trajectories.from_arrays([[-1.0], [2.0]]))
    >>> phi([[-3.0]]).tolist()
    [[3.0]]
    """

    function: PointFunction | str
    names: Sequence[str]
    gradient: PointFunction | str | None = None
    of: str = STATES

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Call the function once on a few rows to see that it fits its names."""
        domain = Domain(samples, self.of)
        names = tuple(str(name) for name in self.names)
        few = next(domain.blocks())[:3]
        function = imported(self.function) if isinstance(self.function, str) else self.function
        values = _as_columns(function(few), len(few), names)
        if values.shape[1] != len(names):
            raise KoopsieveError(
                f"Function must return one column per name. Expected {len(names)} ({', '.join(names[:4])}), "
                f"got {values.shape[1]}."
            )
        return domain.fitted(self._family(names))

    def _family(self, names: tuple[str, ...]) -> Code:
        columns = np.arange(len(names))
        if isinstance(self.function, str) and (self.gradient is None or isinstance(self.gradient, str)):
            return ImportedCalls(names, (self.function, self.gradient or ""), columns)
        function, slope = (imported(one) if isinstance(one, str) else one for one in (self.function, self.gradient))
        return Calls(names, cast("PointFunction", function), columns, slope)


@dataclass(frozen=True, repr=False)
class Transformer(Block):
    """Observables computed by a scikit-learn transformer; it is cloned, and fitted to all training states at once.

    Parameters
    ----------
    transformer : object
        With `fit` and `transform`; `get_feature_names_out` is used for names where there is one.
    names : sequence of str, optional
        One per column, when the transformer has no names of its own.
    of : {"states", "states and inputs"}
        Of what the transformer makes its columns.
    """

    transformer: Any
    names: Sequence[str] | None = None
    of: str = STATES

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Fit a clone."""
        from sklearn.base import clone

        domain = Domain(samples, self.of)
        fitted = clone(self.transformer, safe=False).fit(np.concatenate(list(domain.blocks())))
        few = next(domain.blocks())[:3]
        values = _as_columns(fitted.transform(few), len(few), (type(fitted).__name__,))
        names = self._names(fitted, domain.names, values.shape[1])
        if len(names) != values.shape[1]:
            raise KoopsieveError(f"names must be one per column. Expected {values.shape[1]}, got {len(names)}.")
        return domain.fitted(Calls(names, fitted.transform, np.arange(len(names))))

    def _names(self, fitted: Any, state_names: tuple[str, ...], columns: int) -> tuple[str, ...]:
        if self.names is not None:
            return tuple(str(name) for name in self.names)
        if hasattr(fitted, "get_feature_names_out"):
            return tuple(str(name) for name in fitted.get_feature_names_out(list(state_names)))
        return tuple(f"{type(fitted).__name__}{i + 1}" for i in range(columns))


def _as_columns(values: Any, rows: int, names: tuple[str, ...]) -> FloatArray:
    array = np.asarray(values, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != rows:
        raise KoopsieveError(
            f"A function of states must return one row per sample. Expected {rows} rows, got shape {array.shape} "
            f"for {', '.join(names[:3])}."
        )
    if not np.isfinite(array).all():
        raise KoopsieveError(
            f"A function of states returned values that are not finite for {', '.join(names[:3])}. "
            "Observables must be finite wherever the system goes."
        )
    return array
