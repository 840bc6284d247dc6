"""What was found out about a model on data, carried with it: bands, support and certificate, each if it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._display import Facts, Shown
from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Dictionary
from koopsieve.model.bands import Bands
from koopsieve.model.certificates import Certificate
from koopsieve.model.spread import LocalSpread
from koopsieve.model.support import Support

_BANDS, _LOCAL, _SUPPORT, _CERTIFICATE = "bands.", "local.", "support.", "certificate."


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Shown):
    """How far to trust a model.

    Parameters
    ----------
    bands : Bands, optional
        How far measured outputs stray from predictions.
    support : Support, optional
        What the model was learned from.
    certificate : Certificate, optional
        How nearly its observables are closed under the dynamics.
    """

    bands: Bands | None = None
    support: Support | None = None
    certificate: Certificate | None = None

    def check(self, dictionary: Dictionary) -> None:
        """Refuse a calibration that is not of a model with this dictionary.

        Raises
        ------
        KoopsieveError
        """
        bands, support, signals = self.bands, self.support, dictionary.signals
        outputs, columns = len(signals.outputs), len(signals.state_names) + len(signals.inputs)
        fits = bands is None or bands.widths.shape[1] == outputs
        if bands is not None and bands.local is not None:
            fits &= len(bands.local.center) == dictionary.size and bands.local.weights.shape[1] == outputs
        if support is not None:
            fits &= support.region.shape == (2, columns) and support.reach.shape == (2, outputs)
            fits &= set(support.regressors) <= set(dictionary.regressors)
        if not fits:
            raise KoopsieveError("Its calibration belongs to another dictionary.")

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a file must hold: plain values, and arrays."""
        arrays: dict[str, NDArray[Any]] = {}
        config: dict[str, Any] = {"regressors": None}
        if self.bands is not None:
            of = self.bands
            arrays |= _prefixed(_BANDS, steps=of.steps, widths=of.widths, joint=of.joint, windows=of.windows)
            if of.local is not None:
                arrays |= _prefixed(_LOCAL, **vars(of.local))
        if self.support is not None:
            config["regressors"] = self.support.regressors
            numbers = {name: value for name, value in vars(self.support).items() if name != "regressors"}
            arrays |= _prefixed(_SUPPORT, **numbers)
        if self.certificate is not None:
            held = self.certificate
            pairs = np.stack([held.eigenvalues.real, held.eigenvalues.imag, held.residuals])
            arrays |= _prefixed(_CERTIFICATE, pairs=pairs, invariance_error=held.invariance_error)
        return config, arrays

    @classmethod
    def from_parts(cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Calibration:
        """Return the calibration that `to_parts` took apart.

        Raises
        ------
        KoopsieveError
            If its parts do not fit together.
        """
        if any(values.dtype != np.float64 for values in arrays.values()):
            raise KoopsieveError("Its calibration should hold 64-bit floats.")
        prefixes = (_BANDS, _LOCAL, _SUPPORT, _CERTIFICATE)
        bands, local, support, certificate = (_held(prefix, arrays) for prefix in prefixes)
        return cls(
            _bands(_local(**local) if local else None, **bands) if bands else None,
            _support(tuple(map(str, config["regressors"])), **support) if support else None,
            _certificate(**certificate) if certificate else None,
        )

    def _facts(self) -> Facts:
        held = {"bands": self.bands, "support": self.support, "certificate": self.certificate}
        return {name: "none" if part is None else repr(part) for name, part in held.items()}


def _prefixed(prefix: str, **values: Any) -> dict[str, NDArray[Any]]:
    return {prefix + name: np.asarray(value, dtype=float) for name, value in values.items()}


def _held(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _bands(
    local: LocalSpread | None, steps: NDArray[Any], widths: NDArray[Any], joint: NDArray[Any], windows: NDArray[Any]
) -> Bands:
    return Bands(steps.astype(np.intp), widths, joint, windows.astype(np.intp), local)


def _local(steps: NDArray[Any], center: NDArray[Any], projection: NDArray[Any], weights: NDArray[Any]) -> LocalSpread:
    return LocalSpread(steps.astype(np.intp), center, projection, weights)


def _support(
    regressors: tuple[str, ...],
    whitening: NDArray[Any],
    limit: NDArray[Any],
    region: NDArray[Any],
    reach: NDArray[Any],
) -> Support:
    return Support(regressors, whitening, float(limit), region, reach)


def _certificate(pairs: NDArray[Any], invariance_error: NDArray[Any]) -> Certificate:
    return Certificate(pairs[0] + 1j * pairs[1], pairs[2], float(invariance_error))
