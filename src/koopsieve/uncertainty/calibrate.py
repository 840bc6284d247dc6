"""Calibrate a model on held-out data: bands, support and certificate, kept with the model as its `Calibration`.

Comes in: a model, data that it has not learned from, and the statistics that it was learned from. Goes out: the same
model with another calibration. `to_parts` and `from_parts` are for model files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from koopsieve._display import Facts, Shown
from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.rollout import step_errors
from koopsieve.regression import RegressionStatistics
from koopsieve.uncertainty.bands import Bands, LocalSpread
from koopsieve.uncertainty.certificates import Certificate
from koopsieve.uncertainty.conformal import bands_from
from koopsieve.uncertainty.noise import Noise, noise_from_errors
from koopsieve.uncertainty.support import Support, support_of

if TYPE_CHECKING:
    from koopsieve.forms import Model

Part = TypeVar("Part")
_BANDS, _LOCAL, _SUPPORT, _CERTIFICATE, _NOISE = "bands.", "local.", "support.", "certificate.", "noise."
_NUMBERS = ("limit", "invariance_error")  # all else are arrays
MAX_LEVERAGE_SAMPLES = 20_000  # held-out samples whose leverage sets the limit of the support


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Shown):
    """How far to trust a model.

    Parameters
    ----------
    bands : Bands, optional
        Half-widths of prediction bands.
    support : Support, optional
        Region and leverage of the data that the model was learned from.
    certificate : Certificate, optional
        How nearly its observables are closed under the dynamics.
    noise : Noise, optional
        Of the plant and its sensors, for filters.
    """

    bands: Bands | None = None
    support: Support | None = None
    certificate: Certificate | None = None
    noise: Noise | None = None

    def check(self, dictionary: Dictionary) -> None:
        """Refuse a calibration that does not belong to a model with this dictionary."""
        bands, support, signals = self.bands, self.support, dictionary.signals
        outputs, columns = len(signals.outputs), len(signals.state_names) + len(signals.inputs)
        fits = bands is None or bands.widths.shape[1] == outputs
        if bands is not None and bands.local is not None:
            fits &= len(bands.local.center) == dictionary.size and bands.local.weights.shape[1] == outputs
        if support is not None:
            fits &= support.region.shape == (2, columns) and support.reach.shape == (2, outputs)
            fits &= set(support.regressors) <= set(dictionary.regressors)
        if self.noise is not None:
            fits &= self.noise.measurement.shape == (outputs,)
        if not fits:
            raise KoopsieveError("Its calibration belongs to another dictionary.")

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds of it: plain values, and arrays."""
        bands, support = self.bands, self.support
        arrays = _arrays(_BANDS, bands, "local") | _arrays(_LOCAL, None if bands is None else bands.local)
        arrays |= _arrays(_SUPPORT, support, "regressors")
        if self.certificate is not None:
            held = self.certificate
            pairs = np.stack([held.eigenvalues.real, held.eigenvalues.imag, held.residuals])
            arrays |= {
                f"{_CERTIFICATE}pairs": pairs,
                f"{_CERTIFICATE}invariance_error": np.array(held.invariance_error),
            }
        arrays |= _arrays(_NOISE, self.noise)
        return {"regressors": None if support is None else support.regressors}, arrays

    @classmethod
    def from_parts(cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Calibration:
        """Return the calibration that `to_parts` took apart; one whose parts do not fit together is refused."""
        if any(values.dtype != np.float64 for values in arrays.values()):
            raise KoopsieveError("Its calibration should hold 64-bit floats.")
        if missing := [name for name, values in arrays.items() if _has_nan(name, values)]:
            raise KoopsieveError(f"Its calibration holds NaN, in the array {missing[0]}.")
        return cls(
            _part(Bands, arrays, _BANDS, local=_part(LocalSpread, arrays, _LOCAL)),
            _part(Support, arrays, _SUPPORT, regressors=tuple(map(str, config["regressors"] or ()))),
            _part(_certificate, arrays, _CERTIFICATE),
            _part(Noise, arrays, _NOISE),
        )

    def _facts(self) -> Facts:
        held = {"bands": self.bands, "support": self.support, "certificate": self.certificate, "noise": self.noise}
        return {name: "none" if part is None else repr(part) for name, part in held.items()}


def _has_nan(name: str, values: NDArray[Any]) -> bool:
    """Tell whether a number is missing; residuals of a certificate may be, where an eigenfunction vanishes."""
    return not name.startswith(_CERTIFICATE) and bool(np.isnan(values).any())


def _arrays(prefix: str, part: object, *others: str) -> dict[str, NDArray[Any]]:
    """Return the numeric fields of a part of the calibration, without those that are None."""
    held = {} if part is None else vars(part)
    return {
        prefix + name: np.asarray(value, dtype=float)
        for name, value in held.items()
        if name not in others and value is not None
    }


def _part(build: Callable[..., Part], arrays: Mapping[str, NDArray[Any]], prefix: str, **more: Any) -> Part | None:
    """Return what `_arrays` took apart, None if there are no numbers of it; steps and windows are whole numbers."""
    held: dict[str, Any] = {
        name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)
    }
    for name, values in held.items():
        if name in ("steps", "windows"):
            held[name] = values.astype(np.intp)
        elif (values.ndim == 0) != (name in _NUMBERS):
            raise KoopsieveError(f"Its calibration should hold {prefix}{name} with other dimensions.")
        elif name in _NUMBERS:
            held[name] = float(values)
    return build(**held, **more) if held else None


def _certificate(pairs: NDArray[Any], invariance_error: float) -> Certificate:
    return Certificate(pairs[0] + 1j * pairs[1], pairs[2], invariance_error)


def calibrate(
    model: Model,
    held_out: Trajectories,
    horizon: int,
    *,
    statistics: RegressionStatistics | None = None,
    before: Model | None = None,
) -> Model:
    """Return the model with bands up to `horizon` steps, and with the support of its data where that is known.

    Parameters
    ----------
    model : Model
    held_out : Trajectories
        Data that the model, or `before`, has not learned from, of the kind that it will predict.
    horizon : int
        Number of steps; an episode must be longer.
    statistics : RegressionStatistics, optional
        Of the data that the model was learned from. With them predictions also say when they leave these data, and a
        linear or bilinear model gets a certificate.
    before : Model, optional
        The same model learned without the held-out data, if `model` has since learned from them too. Errors are those
        of `before`.

    Returns
    -------
    Model
        The same with another `calibration`.

    Raises
    ------
    KoopsieveError
        If the data do not fit the model, or no episode is longer than the horizon.
    """
    errors = step_errors(model if before is None else before, held_out, horizon)
    known = Calibration() if model.calibration is None else model.calibration
    known = replace(known, bands=bands_from(errors, model.dictionary), noise=noise_from_errors(model, errors))
    if statistics is not None:
        states, acting = np.concatenate([x[:-1] for x in errors.data.states]), np.concatenate(errors.data.inputs)
        some = slice(None, None, -(-len(states) // MAX_LEVERAGE_SAMPLES))
        predicted = errors.complete_windows()[2]
        support = support_of(model.dictionary, statistics, states[some], acting[some], predicted)
        known = replace(known, support=support, certificate=model.certificate(statistics))
    return replace(model, calibration=known)  # type: ignore[type-var]
