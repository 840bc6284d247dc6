"""The stages one by one, each with arguments that may be wrong: finite values or words."""

import numpy as np

from koopsieve import (
    STLSQ,
    Fourier,
    LeastSquares,
    LinearModel,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SparseBayes,
    SpikeSlab,
    SpikeSlabPrior,
    SquaredExponential,
    Trajectories,
    compress,
    embed_delays,
    horizon_nmse,
    nmse,
    reduce,
)
from koopsieve.execution import Serial, Threads
from tests.fuzz.values import ODD, pick, recipe, record, with_accident

BLOCKS = (SquaredExponential, PeriodicSquaredExponential, Monomials, Fourier, RandomFourier)
ARGUMENTS = ("centers", "coefficients", "degree", "frequencies", "features", "standardize", "of")


def case(rng, folder):
    x, u = record(rng)
    changed, _ = with_accident(rng, x, pick(rng, ("none", "none", "huge", "units", "constant", "copies", "few rows")))
    data = Trajectories.from_arrays(changed, u[: max(len(changed) - 1, 0)], dt=_maybe(rng, 0.1))
    data = embed_delays(data, _maybe(rng, int(rng.integers(3))), _maybe(rng, int(rng.integers(2)) * bool(u.shape[1])))
    phi = _recipe(rng).fit(data, seed=_maybe(rng, 0))
    horizons = _maybe(rng, [1, 2])
    executor = Serial() if rng.random() < 0.8 else Threads(2)
    stats = compress(data, phi, horizons=horizons, chunk_rows=_maybe(rng, None), executor=executor)
    assert np.isfinite(stats.R).all()
    found = _identifier(rng).identify(stats)
    for values in (found.coef, found.inclusion, found.coef_variance):
        assert np.isfinite(values).all()
    kept = reduce(found.inclusion, outputs=_maybe(rng, phi.outputs), threshold=_maybe(rng, 0.1))
    retained = kept.retained if rng.random() < 0.9 else pick(rng, ODD)
    small, stats = phi.select(retained), stats.select(retained)
    model = LinearModel.from_estimate(LeastSquares().identify(stats), small)
    assert np.isfinite(model.A).all()
    errors = horizon_nmse(model, data, _maybe(rng, [1]))
    assert all((one >= 0).all() for one in errors.values())
    nmse(pick(rng, (x, changed, *ODD)), pick(rng, (x, x + 1, *ODD)))


def _maybe(rng, value):
    """Return the value, or rarely something that cannot be meant."""
    return value if rng.random() < 0.95 else pick(rng, ODD)


def _recipe(rng):
    if rng.random() < 0.7:
        return recipe(rng)
    block, name = pick(rng, BLOCKS), pick(rng, ARGUMENTS)
    try:
        return recipe(rng) + block(**{name: pick(rng, ODD)})
    except TypeError as error:
        if "unexpected keyword" in str(error):
            return recipe(rng)
        raise


def _identifier(rng):
    ready = (LeastSquares(), STLSQ(), STLSQ(ridge=1.0), STLSQ(relative=True), SparseBayes(), SpikeSlab())
    if rng.random() < 0.8:
        return pick(rng, ready)
    value = pick(rng, ODD)
    made = (
        lambda: STLSQ(threshold=value),
        lambda: STLSQ(ridge=value),
        lambda: LeastSquares(relative_cutoff=value),
        lambda: SpikeSlab(max_sweeps=value),
        lambda: SpikeSlab(tolerance=value),
        lambda: SpikeSlab(prior=value),
        lambda: SpikeSlab(SpikeSlabPrior(a=value)),
        lambda: SpikeSlab.published(relaxation=value),
        lambda: SparseBayes(tolerance=value),
    )
    return pick(rng, made)()
