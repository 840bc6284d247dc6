"""Two tanks, one draining into the other, of which the upper one overflows.

A₁ ḣ₁ = p·u − a₁√h₁ − w(h₁),  A₂ ḣ₂ = a₁√h₁ + s·w(h₁) − a₂√h₂ − leak, with the overflow w(h) = k·max(h − rim, 0)^1.5, of
which the share s falls into the lower tank. Levels are in metres, the pump in volts, time in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.integrate import State, integrate

_MAX_STEP = 0.5  # seconds
_DRY = 1e-6  # metre; below this level outlets run dry smoothly


@dataclass(frozen=True)
class TwoTanks:
    """Areas (m²) and outlets (m^2.5/s) of both tanks, the pump (m³/s per volt), and the rim of the upper tank.

    Parameters
    ----------
    areas, outlets : pair of float
    pump : float
    rim : float
        Level from which the upper tank overflows.
    weir : float
        Overflow per level above the rim to the power 1.5.
    share : float
        Which part of the overflow falls into the lower tank; the rest is lost.
    """

    areas: tuple[float, float] = (0.05, 0.05)
    outlets: tuple[float, float] = (1.2e-3, 1.2e-3)
    pump: float = 2.0e-4
    rim: float = 0.5
    weir: float = 0.04
    share: float = 0.3

    def derivative(self, levels: Any, drive: Any, maths: Any = np) -> Any:
        """Return the time derivative of both levels under the pump's voltage and, if given, a leak (m³/s).

        `maths` holds sqrt and fmax: NumPy, or CasADi for symbolic levels.
        """
        upper, lower = levels
        leak = drive[1] if len(drive) > 1 else 0.0
        through = self.outlets[0] * maths.sqrt(maths.fmax(upper, _DRY))
        out = self.outlets[1] * maths.sqrt(maths.fmax(lower, _DRY))
        above = maths.fmax(upper - self.rim, 0.0)
        over = self.weir * above * maths.sqrt(above + _DRY)
        return (
            (self.pump * drive[0] - through - over) / self.areas[0],
            (through + self.share * over - out - leak) / self.areas[1],
        )


def two_tanks(
    drive: ArrayLike, dt: float = 5.0, *, tanks: TwoTanks | None = None, initial: tuple[float, float] = (0.2, 0.2)
) -> FloatArray:
    """Simulate the levels under a voltage held over each sample; return (upper, lower), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1) or (steps, 2)
        Voltage of the pump, and a leak of the lower tank in m³/s.
    dt : float
        Sample time in seconds.
    tanks : TwoTanks, optional
    initial : pair of float
        Levels at time zero.

    Returns
    -------
    array, shape (steps + 1, 2)
    """
    history = np.asarray(drive, dtype=float)
    if history.ndim != 2 or history.shape[1] not in (1, 2):
        raise KoopsieveError(f"drive must have the columns voltage and, if wanted, leak. Got shape {history.shape}.")
    plant = TwoTanks() if tanks is None else tanks

    def derivative(levels: State, held: State) -> State:
        upper, lower = plant.derivative(levels, held)
        return float(upper), float(lower)

    return np.maximum(integrate(derivative, initial, history, dt, _MAX_STEP), 0.0)
