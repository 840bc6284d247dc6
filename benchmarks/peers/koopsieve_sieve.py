# The whole sieve, not only a fit: lift, compress, spike and slab for every target, reduce, refit.
import time

from shared import load, report

import koopsieve as ks

states, centers, coefficient = load()
seconds = {}


def stage(name, call):
    started = time.perf_counter()
    result = call()
    seconds[name] = round(time.perf_counter() - started, 3)
    return result


def sieve():
    data = ks.Trajectories.from_arrays(states, dt=1e-3)
    recipe = ks.States() + ks.SquaredExponential(centers=centers, coefficients=[coefficient])
    phi = stage("dictionary", lambda: recipe.fit(data))
    statistics = stage("lift and compress", lambda: ks.compress(data, phi))
    found = stage("spike and slab", lambda: ks.SpikeSlab().identify(statistics))
    kept = stage("reduce", lambda: ks.reduce(found.inclusion, phi.outputs, threshold=0.1))
    small = stage("refit", lambda: ks.LeastSquares().identify(statistics.select(kept.retained)))
    return kept, small


report(f"koopsieve {ks.__version__} (whole sieve)", sieve, stages=seconds, kept=lambda r: len(r[0].retained))
