"""Further simulated plants for `benchmarks.plants`, each like a kind of public record.

A function takes a random generator and a number of samples and returns inputs and outputs without measurement noise.
What differs between training and test (larger inputs, outliers) changes at the middle.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray

Simulated = tuple[FloatArray | None, FloatArray]


def steps(rng: np.random.Generator, samples: int, hold: int, low: float, high: float) -> FloatArray:
    """Return random levels, each held for some samples."""
    return np.repeat(rng.uniform(low, high, samples // hold + 1), hold)[:samples]


def binary(rng: np.random.Generator, samples: int, hold: int, low: float, high: float) -> FloatArray:
    """Return one of two levels at random, each held for some samples."""
    return np.where(steps(rng, samples, hold, 0, 1) < 0.5, low, high)


def multisine(rng: np.random.Generator, samples: int, low: float, high: float) -> FloatArray:
    """Return thirty sines of random phase with frequencies between two, per sample; unit variance."""
    t = np.arange(samples)[:, None]
    total = np.cos(2 * np.pi * np.linspace(low, high, 30) * t + rng.uniform(0, 2 * np.pi, 30)).sum(axis=1)
    return np.asarray(total / total.std())


def coloured(rng: np.random.Generator, samples: int, pole: float, size: float = 1.0) -> FloatArray:
    """Return noise behind a lag of first order, with a standard deviation."""
    found, noise = np.zeros(samples), rng.normal(size=samples) * size * np.sqrt(1 - pole**2)
    for k in range(1, samples):
        found[k] = pole * found[k - 1] + noise[k]
    return found


def driven(u: FloatArray, poles: list[complex], gain: float = 1.0, late: int = 1) -> FloatArray:
    """Return the output of a linear plant with these poles and their conjugates, of unit variance times the gain."""
    every = [p for pole in poles for p in ((pole, np.conj(pole)) if np.imag(pole) else (pole,))]
    a, y = np.real(np.poly(every)), np.zeros(len(u))
    n = len(a) - 1
    for k in range(n + late, len(u)):
        y[k] = u[k - late] - a[1:] @ y[k - n : k][::-1]
    return np.asarray(gain * y / y.std())


def axis(rng: np.random.Generator, samples: int) -> Simulated:
    """The position of an axis with dry friction that follows ramps under feedback; the input is the force."""
    goal = np.interp(
        np.arange(samples), 150 * np.arange(samples // 150 + 1), rng.uniform(-0.5, 0.5, samples // 150 + 1)
    )
    u, y, x, v = np.zeros(samples), np.zeros(samples), 0.0, 0.0
    for k in range(samples):
        y[k] = x
        u[k] = 60 * (goal[k] - x) - 14 * v
        for _ in range(10):
            v += 0.004 * (u[k] - 0.3 * np.tanh(v / 0.005) - 2 * v) / 2
            x += 0.004 * v
    return u, y


def modes(rng: np.random.Generator, samples: int) -> Simulated:
    """The acceleration of a wing with three modes and a weak clearance between two of its parts."""
    u, y, x, v = multisine(rng, samples, 0.005, 0.08), np.zeros(samples), np.zeros(3), np.zeros(3)
    stiff = (2 * np.pi * np.array([0.018, 0.034, 0.061]) * 5) ** 2
    for k in range(samples):
        for _ in range(10):
            gap = x[0] - x[1]
            contact = 1.5 * np.sign(gap) * max(abs(gap) - 0.8, 0) * np.array([1, -1, 0.3])
            acceleration = u[k] * np.array([1, 0.8, 1.5]) - stiff * x - 0.06 * np.sqrt(stiff) * v - contact
            v += 0.02 * acceleration
            x = x + 0.02 * v
        y[k] = acceleration.sum()
    return u, y


def furnace(rng: np.random.Generator, samples: int) -> Simulated:
    """A furnace that is driven by slow random inputs, with a dead time and coloured disturbances."""
    u = coloured(rng, samples, 0.85)
    return u, driven(u, [0.57, 0.3], late=3) + coloured(rng, samples, 0.8, 0.3)


def emission(rng: np.random.Generator, samples: int) -> Simulated:
    """An engine's emission: two inputs, one of them squared, and disturbances of an eighth of the variance."""
    u = np.column_stack([steps(rng, samples, 15, 0, 1), coloured(rng, samples, 0.95)])
    x = driven(u[:, 0] ** 2, [0.9, 0.5]) + driven(u[:, 1], [0.95], 0.6)
    return u, x + coloured(rng, samples, 0.97, 0.35)


def reactor(rng: np.random.Generator, samples: int) -> Simulated:
    """The temperature of a stirred tank reactor whose coolant is changed in steps."""
    u, y, c, heat = steps(rng, samples, 30, 296, 303), np.zeros(samples), 0.9, 320.0
    for k in range(samples):
        y[k] = heat
        for _ in range(10):
            rate = 7.2e10 * np.exp(-8750 / heat) * c
            c += 0.01 * (1 - c - rate)
            heat += 0.01 * (350 - heat + 209.2 * rate + 2.09 * (u[k] - heat))
    return u, y


def neutralisation(rng: np.random.Generator, samples: int) -> Simulated:
    """The pH of a tank into which a base flows: a gain that changes tenfold."""
    u, x = steps(rng, samples, 25, 12, 19), 0.0
    y = np.zeros(samples)
    for k in range(samples):
        y[k] = 7 + 2.2 * np.arcsinh(40 * x)
        x += 0.08 * ((u[k] - 15.5) / 16 - x)
    return u, y


def heating(rng: np.random.Generator, samples: int) -> Simulated:
    """A heater that is switched, a dead time of twelve samples, and slow outside temperatures that are not measured."""
    u, x = binary(rng, samples, 30, 0, 1), np.zeros(samples)
    for k in range(12, samples - 1):
        x[k + 1] = x[k] + 0.03 * (-x[k] - 0.1 * x[k] ** 2 + 3 * u[k - 12])
    return u, 20 + x + coloured(rng, samples, 0.995, 0.1)


def arm(rng: np.random.Generator, samples: int) -> Simulated:
    """The tip of an arm behind a joint whose spring hardens; the motor's friction is dry."""
    u, y, x, v = 2 * multisine(rng, samples, 0.002, 0.05), np.zeros(samples), np.zeros(2), np.zeros(2)
    for k in range(samples):
        y[k] = x[1]
        for _ in range(10):
            twist = x[0] - x[1]
            torque = 4 * twist + 6 * twist**3 + 0.1 * (v[0] - v[1])
            v += 0.02 * np.array(
                [u[k] - torque - 0.3 * np.tanh(v[0] / 0.05) - v[0] - 2 * x[0], 2 * torque - 0.1 * v[1]]
            )
            x = x + 0.02 * v
    return u, y


def placing(rng: np.random.Generator, samples: int) -> Simulated:
    """A head that is pressed onto a stiff board: free on one side, a hard spring on the other, both with end stops."""
    u, y, x, v = steps(rng, samples, 20, -1, 1.5), np.zeros(samples), 0.0, 0.0
    for k in range(samples):
        y[k] = x
        for _ in range(10):
            v += 0.02 * (2 * u[k] - x - 15 * max(x - 0.6, 0) - 20 * min(x + 1.2, 0) - 1.2 * v)
            x += 0.02 * v
    return u, y


def dryer(rng: np.random.Generator, samples: int) -> Simulated:
    """Warm air: a heater switched at random, a dead time of three samples, coloured disturbances."""
    u = binary(rng, samples, 5, 3, 6)
    return u, driven(u - 4.5, [0.85, 0.6], 0.8, late=3) + 5 + coloured(rng, samples, 0.7, 0.1)


def battery(rng: np.random.Generator, samples: int) -> Simulated:
    """The voltage of a cell: an open-circuit curve of the charge, a slow and a fast overvoltage."""
    u = steps(rng, samples, 20, -1, 1) + 0.4 * coloured(rng, samples, 0.5)
    y, charge, slow = np.zeros(samples), 0.5, 0.0
    for k in range(samples):
        u[k] -= 2 * (charge - 0.5)
        curve = 3.4 + 0.5 * charge + 0.25 * np.tanh((charge - 0.15) / 0.06) + 0.3 * max(charge - 0.85, 0)
        y[k] = curve + 0.05 * u[k] + slow
        slow += 0.06 * (0.06 * u[k] - slow)
        charge += 0.004 * u[k]
    return u, y


def backlash(rng: np.random.Generator, samples: int) -> Simulated:
    """A servo with play behind it."""
    u = multisine(rng, samples, 0.001, 0.03)
    x, y = driven(u, [0.85 + 0.15j]), np.zeros(samples)
    for k in range(1, samples):
        y[k] = np.clip(y[k - 1], x[k] - 0.25, x[k] + 0.25)
    return u, y


def crane(rng: np.random.Generator, samples: int) -> Simulated:
    """The pressure in a hydraulic crane's cylinder: a square root of the pressure drop, other areas each way."""
    u, y = steps(rng, samples, 18, -1, 1), np.zeros(samples)
    pressure, x, v = 0.0, 0.0, 0.0
    for k in range(samples):
        y[k] = pressure
        for _ in range(10):
            drop = 1.5 - pressure if u[k] > 0 else 1.2 + pressure
            flow = u[k] * np.sqrt(max(drop, 0)) * (1 if u[k] > 0 else 0.7)
            pressure += 0.02 * (2 * flow - 1.5 * v - 0.8 * pressure)
            v += 0.02 * (1.5 * pressure - 0.3 * v - 2.5 * x)
            x += 0.02 * v
    return u, y


def filters(rng: np.random.Generator, samples: int) -> Simulated:
    """A diode between two filters."""
    u = multisine(rng, samples, 0.001, 0.12)
    x = driven(u, [0.8 + 0.3j, 0.6])
    return u, driven(np.where(x > 0.4, 0.4 + 0.3 * (x - 0.4), x), [0.7 + 0.4j, 0.5])


def distillation(rng: np.random.Generator, samples: int) -> Simulated:
    """Two purities that two flows change almost alike, each with a logarithm."""
    u = np.column_stack([binary(rng, samples, 40, -1, 1), binary(rng, samples, 55, -1, 1)])
    x = [driven(u @ np.array(gains), [0.96, 0.7]) for gains in ([0.878, -0.7], [0.9, -1.0])]
    return u, np.column_stack([np.exp(0.4 * x[0]), np.log(3 + x[1])])


def piezo(rng: np.random.Generator, samples: int) -> Simulated:
    """The way of an actuator with hysteresis, behind a resonance."""
    u, y, z, x, v = multisine(rng, samples, 0.002, 0.04), np.zeros(samples), 0.0, 0.0, 0.0
    for k in range(samples):
        y[k] = x
        change = (u[k] - u[k - 1]) / 10 if k else 0.0
        for _ in range(10):
            z += 0.6 * change - 0.5 * abs(change) * z - 0.3 * change * abs(z)
            v += 0.05 * (u[k] - z - x - 0.4 * v)
            x += 0.05 * v
    return u, y


def levitation(rng: np.random.Generator, samples: int) -> Simulated:
    """A ball below a magnet, which is unstable, logged under feedback."""
    goal, u, y, x, v = steps(rng, samples, 40, -0.2, 0.2), np.zeros(samples), np.zeros(samples), 0.0, 0.0
    for k in range(samples):
        y[k] = x
        u[k] = x + 2 * (x - goal[k]) + 1.8 * v + 0.03 * rng.normal()
        for _ in range(10):
            v += 0.01 * (1 - (1 + u[k]) ** 2 / (1 + x) ** 2)
            x += 0.01 * v
    return u, y


def quantised(rng: np.random.Generator, samples: int) -> Simulated:
    """A linear plant behind a converter with a dozen levels."""
    u = steps(rng, samples, 8, -1, 1)
    return u, np.round(3 * driven(u, [0.9 + 0.15j])) / 3


def outliers(rng: np.random.Generator, samples: int) -> Simulated:
    """A linear plant; one sample in a hundred of the first half is far off."""
    u = steps(rng, samples, 5, -1, 1)
    y = driven(u, [0.85 + 0.2j, 0.5])
    first = np.arange(samples) < samples // 2
    return u, y + np.where(first & (rng.random(samples) < 0.01), 6 * rng.normal(size=samples), 0.0)


def trend(rng: np.random.Generator, samples: int) -> Simulated:
    """A linear plant with an offset and a slow drift."""
    u = binary(rng, samples, 10, 2, 4)
    return u, driven(u - 3, [0.8 + 0.3j]) + 40 + 0.5 * np.cumsum(rng.normal(size=samples)) / np.sqrt(samples)


def switched(rng: np.random.Generator, samples: int) -> Simulated:
    """A tank whose outflow is a square root, filled by a pump that is switched between two levels for long."""
    u, y, x = binary(rng, samples, 45, 0.3, 1.0), np.zeros(samples), 0.5
    for k in range(samples):
        y[k] = x
        x = max(x + 0.04 * (u[k] - np.sqrt(max(x, 0))), 0.0)
    return u, y


def larger(rng: np.random.Generator, samples: int) -> Simulated:
    """A spring that hardens; inputs are larger by a fifth in the second half."""
    u, y, x, v = multisine(rng, samples, 0.002, 0.06), np.zeros(samples), 0.0, 0.0
    u[samples // 2 :] *= 1.2
    for k in range(samples):
        y[k] = x
        for _ in range(10):
            v += 0.02 * (2 * u[k] - x - 0.6 * x**3 - 0.3 * v)
            x += 0.02 * v
    return u, y


def resonances(rng: np.random.Generator, samples: int) -> Simulated:
    """A linear plant with three lightly damped modes."""
    u = rng.normal(size=samples)
    return u, sum(driven(u, [0.985 * np.exp(1j * angle)], gain) for angle, gain in ((0.2, 1), (0.7, 0.6), (1.4, 0.4)))


def building(rng: np.random.Generator, samples: int) -> Simulated:
    """A room's temperature: heating, weather, sun and use, all slow."""
    day = np.sin(2 * np.pi * np.arange(samples) / 96)
    u = np.column_stack(
        [
            binary(rng, samples, 16, 0, 1),
            5 * day + coloured(rng, samples, 0.99, 3),
            np.maximum(day, 0) * steps(rng, samples, 96, 0, 1),
            steps(rng, samples, 30, 0, 1),
        ]
    )
    x = driven(u[:, 0], [0.97, 0.8]) + driven(u[:, 1], [0.985], 0.8) + driven(u[:, 2], [0.96], 0.5)
    return u, 20 + x + coloured(rng, samples, 0.9, 0.1)


def sunspots(rng: np.random.Generator, samples: int) -> Simulated:
    """A cycle that noise drives and no input, with sharp maxima."""
    x = driven(rng.normal(size=samples), [0.97 * np.exp(0.57j), 0.7])
    return None, np.exp(0.5 * x)


def structure(rng: np.random.Generator, samples: int) -> Simulated:
    """The acceleration of a structure with twelve lightly damped resonances under a random force."""
    u, y = rng.normal(size=samples), np.zeros(samples)
    for turn in rng.uniform(0.15, 0.9, 12):
        y += rng.normal() * driven(u, [0.995 * np.exp(1j * turn)])
    return u, y


def kilohertz(rng: np.random.Generator, samples: int) -> Simulated:
    """Two tanks one below the other, sampled a thousand times faster than they fill."""
    u, y, upper, lower = steps(rng, samples, 4000, 0.2, 1), np.zeros(samples), 1.0, 1.0
    for k in range(samples):
        y[k] = lower
        between = 0.7 * np.sqrt(upper)
        upper, lower = upper + 0.002 * (u[k] - between), lower + 0.002 * (between - 0.7 * np.sqrt(lower))
    return u, y


def warming(rng: np.random.Generator, samples: int) -> Simulated:
    """The speed of a motor, and its temperature, which starts cold and follows the square of the speed slowly."""
    u, y, speed, warmth = steps(rng, samples, 15, -1, 1), np.zeros((samples, 2)), 0.0, -0.3
    for k in range(samples):
        y[k] = speed, warmth
        speed += 0.3 * (u[k] - speed - 0.1 * abs(speed) * speed)
        warmth += 0.002 * (2 * speed**2 - warmth)
    return u, y
