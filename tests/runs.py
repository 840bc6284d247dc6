"""Runs of the sieve for tests of what people look at: reports, figures, files."""

from koopsieve import LeastSquares, Monomials, SpikeSlab, States, Trajectories, embed_delays, reduce_and_refit
from koopsieve.systems.bench import SAMPLE_TIME, bench_record


def duffing_trajectories(samples=800, seed=0, names=("y", "u")):
    """A recorded Duffing oscillator with one delay."""
    u, y = bench_record(samples, seed=seed)
    data = Trajectories.from_arrays(y, u[:, None], dt=SAMPLE_TIME, state_names=names[:1], input_names=names[1:])
    return embed_delays(data, states=1, inputs=1)


def duffing_result(names=("y", "u"), dictionary=None, horizons=(1, 10), threshold=0.1, family=None):
    """Sift 19 monomials of it."""
    return reduce_and_refit(
        duffing_trajectories(names=names),
        States() + Monomials(degree=3) if dictionary is None else dictionary,
        test=duffing_trajectories(400, seed=1, names=names),
        methods={"I": LeastSquares(), "IV": SpikeSlab()},
        horizons=horizons,
        threshold=threshold,
        family=family,
    )
