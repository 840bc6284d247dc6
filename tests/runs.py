"""Runs of the sieve for tests of what people look at: reports, figures, files."""

from koopsieve import Embedding, GraphSieve, LeastSquares, Monomials, SpikeSlab, States, Trajectories, sift
from koopsieve.systems.bench import SAMPLE_TIME, bench_record


def duffing_trajectories(samples=800, seed=0, names=("y", "u")):
    """A recorded Duffing oscillator."""
    u, y = bench_record(samples, seed=seed)
    return Trajectories.from_arrays(y, u[:, None], dt=SAMPLE_TIME, state_names=names[:1], input_names=names[1:])


def duffing_result(names=("y", "u"), dictionary=None, horizons=(1, 10), threshold=0.1, sieve=None):
    """Sift 19 monomials of it, with one delay."""
    return sift(
        duffing_trajectories(names=names),
        States() + Monomials(degree=3) if dictionary is None else dictionary,
        delays=Embedding(1, 1),
        sieve=GraphSieve(threshold=threshold) if sieve is None else sieve,
        test=duffing_trajectories(400, seed=1, names=names),
        compare={"least squares": LeastSquares(), "spike and slab": SpikeSlab()},
        horizons=horizons,
        threshold=threshold,
    )
