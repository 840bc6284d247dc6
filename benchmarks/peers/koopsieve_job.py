# One job on the data of a file: `koopsieve_job.py FILE JOB`; JOB is one of those below.
import sys
import time

from shared import problem, report

import koopsieve as ks

given, job = problem(), sys.argv[2]
_ = ks.compress, ks.LeastSquares, ks.SpikeSlab, ks.reduce, ks.sift  # importing is not what is measured
seconds = {}


def stage(name, call):
    started = time.perf_counter()
    result = call()
    seconds[name] = round(time.perf_counter() - started, 3)
    return result


def trajectories():
    inputs = given.inputs if given.inputs.size else None
    return ks.Trajectories.from_arrays(given.states, inputs, dt=float(given.dt))


def recipe():
    return ks.States() + ks.SquaredExponential(centers=given.centers, coefficients=list(given.coefficients))


def plain_fit():
    """What the peers do, and no more: lift and fit one Koopman matrix, here by least squares through a QR."""
    data = trajectories()
    phi = stage("dictionary", lambda: recipe().fit(data))
    statistics = stage("lift and compress", lambda: ks.compress(data, phi))
    return len(stage("least squares", lambda: ks.LeastSquares().identify(statistics)).coef)


def the_papers(averaged):
    """The paper's job: lift, compress, spike and slab for every target, reduce, refit."""
    data = trajectories()
    phi = stage("dictionary", lambda: recipe().fit(data))
    statistics = stage("lift and compress", lambda: ks.compress(data, phi))
    found = stage("spike and slab", lambda: ks.SpikeSlab(averaged=averaged).identify(statistics))
    kept = stage("reduce", lambda: ks.reduce(found.inclusion, phi.outputs, threshold=0.1))
    stage("refit", lambda: ks.LeastSquares().identify(statistics.select(kept.retained)))
    return len(kept.retained)


def sifted(form):
    """The default job: parts, forms, sieves, refits, choice, bands, baselines, explanation, errors."""
    result = ks.sift(trajectories(), recipe(), form=form)
    seconds.update({name: round(value, 3) for name, value in result.seconds.items()})
    return len(result.retained_names)


JOBS = {
    "plain fit": plain_fit,
    "paper, mean field": lambda: the_papers(False),
    "paper, averaged": lambda: the_papers(True),
    "sift, linear form": lambda: sifted("linear"),
    "sift": lambda: sifted("auto"),
}
report(f"koopsieve {ks.__version__} ({job})", JOBS[job], stages=seconds, kept=lambda kept: kept)
