"""The data of `scale.py`: kinds that differ in sampling, noise, inputs, widths and number of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from koopsieve import SquaredExponential, Trajectories
from koopsieve.evaluate import add_noise
from koopsieve.systems import duffing, lorenz, random_drive


@dataclass(frozen=True)
class Kind:
    """One kind of data.

    Parameters
    ----------
    system : str
        "lorenz" or "duffing".
    dt : float
        Sample time in seconds.
    snr_db : float
        Sensor noise; inf for none.
    coefficients : tuple of float
        One kernel per centre and coefficient.
    observables : int
        About how many.
    """

    system: str
    dt: float
    snr_db: float
    coefficients: tuple[float, ...]
    observables: int = 500

    def write(self, path: Path, samples: int) -> None:
        """Write states, inputs and centres for all programs to share."""
        states, inputs, centers = self.data(samples)
        np.savez(path, states=states, inputs=inputs, dt=self.dt, centers=centers, coefficients=self.coefficients)

    def data(self, samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return states with noise, inputs, and the centres of the kernels."""
        states, inputs = self._clean(samples)
        states = states if np.isinf(self.snr_db) else add_noise(states, self.snr_db, 1)
        count = (self.observables - states.shape[1]) // len(self.coefficients)
        kernels = SquaredExponential(centers=count).fit(Trajectories.from_arrays(states), seed=0)
        return states, inputs, kernels.families[0].centers

    def _clean(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        if self.system == "lorenz":
            return lorenz(samples * self.dt, self.dt, seed=0)[:samples], np.zeros((0, 0))
        drive = random_drive(samples - 1, 20, 1.0, 0)
        return duffing(drive, self.dt), drive


LORENZ_WIDTHS = (1 / 512, 1 / 128)  # of states that range over about forty
KINDS = {
    "Lorenz at 1 kHz, 40 dB, one width": Kind("lorenz", 1e-3, 40, (1 / 128,)),
    "Lorenz at 100 Hz, 40 dB, two widths": Kind("lorenz", 1e-2, 40, LORENZ_WIDTHS),
    "forced Duffing at 20 Hz, 40 dB, three widths": Kind("duffing", 0.05, 40, (0.3, 1.0, 3.0)),
    "Lorenz at 1 kHz, no noise": Kind("lorenz", 1e-3, np.inf, (1 / 128,)),
    "Lorenz at 100 Hz, 1000 observables": Kind("lorenz", 1e-2, 40, LORENZ_WIDTHS, 1000),
    "Lorenz at 100 Hz, 2000 observables": Kind("lorenz", 1e-2, 40, LORENZ_WIDTHS, 2000),
}
