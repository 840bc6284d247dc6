"""A simulated Wiener–Hammerstein circuit with process noise, for those without the measured records (Section 5.3).

Input → third-order Chebyshev low-pass → + process noise → diode-like saturation → third-order inverse Chebyshev filter
with a transmission zero inside the excited band → output + measurement noise. It follows the published description of
the benchmark's electronics; it is not fitted to the records, and no number from it may be compared with the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.systems.differential_equations import Seed

SAMPLE_RATE = 78125.0  # Hz
_BAND = 15000.0  # Hz, excited by the multisine
_KNEE = 0.4  # volt, where the diodes start to conduct


@dataclass(frozen=True, eq=False)
class CircuitRecord:
    """Input and output of one multisine, both of shape (samples,)."""

    inputs: FloatArray
    outputs: FloatArray


def wiener_hammerstein(
    samples: int,
    *,
    seed: Seed,
    process_noise: float = 0.25,
    measurement_noise: float = 2e-4,
    period: int = 4096,
) -> CircuitRecord:
    """Simulate one random-phase multisine through the circuit in its periodic steady state.

    Parameters
    ----------
    samples, period : int
        Length of the record and period of the multisine.
    seed : int, SeedSequence or Generator
        Random seed of the phases and both noises.
    process_noise, measurement_noise : float
        Standard deviations in volt; the first enters before the saturation.
    """
    from scipy import signal  # here, because it takes a second to import and only this system needs it

    rng = np.random.default_rng(seed)
    lead = period  # one period for the filters to forget their start
    u = _multisine(lead + samples, period, rng)
    nyquist = SAMPLE_RATE / 2
    first = signal.cheby1(3, 0.5, 4400.0 / nyquist)
    second = signal.cheby2(3, 40.0, 5000.0 / nyquist)
    noise = signal.lfilter(*first, rng.normal(size=u.shape))
    inner = signal.lfilter(*first, u) + process_noise * noise / np.std(noise)
    y = signal.lfilter(*second, _saturate(inner)) + measurement_noise * rng.normal(size=u.shape)
    return CircuitRecord(u[lead:], y[lead:])


def _multisine(samples: int, period: int, rng: np.random.Generator) -> FloatArray:
    lines = np.arange(1, int(_BAND / SAMPLE_RATE * period))
    spectrum = np.zeros(period // 2 + 1, dtype=complex)
    spectrum[lines] = np.exp(2j * np.pi * rng.uniform(size=lines.size))
    one = np.fft.irfft(spectrum, period)
    return np.resize(one / np.std(one), samples)


def _saturate(volt: FloatArray) -> FloatArray:
    """One-sided diode-resistor network: linear below the knee, a tenth of the slope above it, smooth between."""
    softness = 0.1
    above: FloatArray = softness * np.logaddexp(0.0, (volt - _KNEE) / softness)
    return volt - 0.9 * above
