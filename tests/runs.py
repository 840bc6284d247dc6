"""Runs of the sieve for tests of what people look at: reports, figures, files."""

import numpy as np

from koopsieve import (
    Constant,
    Embedding,
    GraphSieve,
    HorizonSieve,
    Inputs,
    LeastSquares,
    Monomials,
    SimulationSieve,
    SpikeSlab,
    States,
    Trajectories,
    sift,
)
from koopsieve.systems import BENCH_SAMPLE_TIME, HERON_QUADRATIC, bench_record, random_thrust, surface_vehicle


def duffing_trajectories(samples=800, seed=0, names=("y", "u")):
    """A recorded Duffing oscillator."""
    u, y = bench_record(samples, seed=seed)
    return Trajectories.from_arrays(y, u[:, None], dt=BENCH_SAMPLE_TIME, state_names=names[:1], input_names=names[1:])


def duffing_result(names=("y", "u"), dictionary=None, horizons=(1, 10), methods=True, **options):
    """Sift its monomials, with one delay; two further methods stand beside."""
    compare = {"least squares": LeastSquares(), "spike and slab": SpikeSlab()} if methods else None
    settings = {
        "test": duffing_trajectories(400, seed=1, names=names),
        "compare": compare,
        "form": "linear",
        **({} if isinstance(options.get("sieve"), GraphSieve) else {"path_length": 8}),
        **options,
    }
    return sift(
        duffing_trajectories(names=names),
        States() + Constant() + Monomials(degree=3) if dictionary is None else dictionary,
        delays=Embedding(1, 1),
        horizons=horizons,
        **settings,
    )


def vehicle_result(samples=600, **options):
    """Sift the monomials of a surface vehicle: three outputs, two inputs, four episodes to judge on."""
    names = {"state_names": ["surge", "sway", "yaw rate"], "input_names": ["left thrust", "right thrust"]}
    rng = np.random.default_rng(0)
    records = []
    for seed in range(8):
        thrust = random_thrust(samples // 4, 10, seed)
        clean = surface_vehicle(thrust, vehicle=HERON_QUADRATIC)
        records.append((clean + 0.01 * clean.std(axis=0) * rng.normal(size=clean.shape), thrust))
    train, test = (
        Trajectories.from_arrays([x for x, _ in part], [u for _, u in part], dt=0.1, **names)
        for part in (records[:4], records[4:])
    )
    dictionary = States() + Constant() + Monomials(degree=2)
    return sift(train, dictionary, horizons=(1, 5, 20), test=test, path_length=8, **options, form="linear")


def in_form(form, names=("y", "u")):
    """Sift in another prediction form."""
    recipe = States() + Constant() + Monomials(degree=2)
    if form == "reprojected":
        recipe = States() + Constant() + Inputs() + Monomials(degree=3, of="states and inputs")
    return duffing_result(names, recipe, form=form, sieve=QUICK[form], methods=False)


QUICK = {
    "linear": HorizonSieve(),
    "bilinear": HorizonSieve(),
    "reprojected": SimulationSieve(rows=4000, largest=20),
}
