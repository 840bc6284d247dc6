"""Runs of the sieve for tests of what people look at: reports, figures, files."""

from dataclasses import replace

import numpy as np

from koopsieve import (
    BilinearModel,
    Constant,
    Embedding,
    Inputs,
    LeastSquares,
    Monomials,
    ReprojectedModel,
    SpikeSlab,
    States,
    Trajectories,
    compress,
    embed_delays,
    reduce,
    sift,
)
from koopsieve.evaluate import diagnose, judge, window_errors
from koopsieve.sieve import Outcome, PathPoint, SievePath, choose
from koopsieve.systems import HERON_QUADRATIC, random_thrust, surface_vehicle
from koopsieve.systems.bench import SAMPLE_TIME, bench_record


def duffing_trajectories(samples=800, seed=0, names=("y", "u")):
    """A recorded Duffing oscillator."""
    u, y = bench_record(samples, seed=seed)
    return Trajectories.from_arrays(y, u[:, None], dt=SAMPLE_TIME, state_names=names[:1], input_names=names[1:])


def duffing_result(names=("y", "u"), dictionary=None, horizons=(1, 10), methods=True, **options):
    """Sift its monomials, with one delay; two further methods stand beside."""
    compare = {"least squares": LeastSquares(), "spike and slab": SpikeSlab()} if methods else None
    settings = {"test": duffing_trajectories(400, seed=1, names=names), "compare": compare, "steps": 8, **options}
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
    return sift(train, dictionary, horizons=(1, 5, 20), test=test, steps=8, **options)


def in_form(form, result=None, names=("y", "u")):
    """Return a result in another prediction form, fitted one step ahead by least squares."""
    base = duffing_result(methods=False) if result is None else result
    embedding, horizons = base.embedding, base.horizons
    learn, held = (embed(duffing_trajectories(n, seed, names), embedding) for n, seed in ((600, 0), (300, 2)))
    search = {"bilinear": _bilinear, "reprojected": _reprojected}[form]
    outcome = search(learn, held, horizons)
    data = base.judged.data
    errors = judge(outcome.model, data, horizons)
    outputs = tuple(i for i, name in enumerate(outcome.explanation.targets) if name in data.output_names)
    baselines = {
        name: replace(one, validation=window_errors(one.model, held, horizons)) for name, one in base.baselines.items()
    }
    return replace(
        base,
        outcome=outcome,
        baselines=baselines,
        paths={**base.paths, form: outcome.path},
        errors=errors,
        diagnostics=diagnose(outcome.model, outcome.statistics, horizons, errors.nmse),
        reduction=reduce(outcome.explanation.inclusion, outputs, 0.1),
    )


def embed(data, embedding):
    return embed_delays(data, states=embedding.state_delays, inputs=embedding.input_delays)


def _bilinear(learn, held, horizons):
    phi = (States() + Constant() + Monomials(degree=2)).fit(learn)
    statistics = compress(learn, phi.bilinear())

    def fitted(kept):
        small = phi.select(kept)
        return BilinearModel.from_estimate(LeastSquares().identify(compress(learn, small.bilinear())), small)

    sets = [np.arange(size) for size in (3, 5, phi.size)]
    names = phi.names
    path = _path("bilinear", sets, names, fitted, held, horizons)
    kept = compress(learn, phi.select(path.retained).bilinear())
    everything = fitted(np.arange(phi.size))
    return Outcome(
        path, path.choice.model, (everything, everything), phi.bilinear(), statistics, SpikeSlab().identify(kept)
    )


def _reprojected(learn, held, horizons):
    phi = (States() + Constant() + Inputs() + Monomials(degree=3, of="states and inputs")).fit(learn)
    statistics = compress(learn, phi)
    points = np.concatenate([np.hstack([x[:-1], u]) for x, u in zip(learn.states, learn.inputs, strict=True)])
    ahead = np.concatenate([x[1:, : learn.n_outputs] for x in learn.states])
    values = phi.evaluate(points)
    region = np.stack([points.min(axis=0), points.max(axis=0)])
    order = _pursuit(values, ahead)

    def fitted(kept):
        small = phi.select(kept[kept < phi.size], kept[kept >= phi.size] - phi.size)
        return ReprojectedModel(np.linalg.lstsq(small.evaluate(points), ahead, rcond=None)[0], small, region)

    sets = [np.sort(order[:size]) for size in (2, 4, 6, 8, 12, len(order))]
    path = _path("reprojected", sets, phi.regressors, fitted, held, horizons)
    kept = path.retained
    chosen = statistics.select(kept[kept < phi.size], kept[kept >= phi.size] - phi.size)
    everything = fitted(np.arange(len(order)))
    explanation = SpikeSlab().identify(chosen.only(chosen.outputs))
    return Outcome(path, path.choice.model, (everything, everything), phi, statistics, explanation)


def _pursuit(values, ahead):
    """Return all columns, each time the one that correlates most with what is left; the output itself comes first."""
    order = [0]
    while len(order) < values.shape[1]:
        chosen = values[:, order]
        left = ahead - chosen @ np.linalg.lstsq(chosen, ahead, rcond=None)[0]
        gain = np.abs(left.T @ values).max(axis=0) / np.linalg.norm(values, axis=0)
        gain[order] = -1.0
        order.append(int(np.argmax(gain)))
    return order


def _path(form, sets, names, fitted, held, horizons):
    points = []
    for kept in sets:
        model = fitted(kept)
        errors = window_errors(model, held, horizons)
        points.append(PathPoint(kept, tuple(names[i] for i in kept), np.nan, errors, model, "least squares"))
    chosen = choose(np.stack([point.errors.blocks for point in points]))
    return SievePath(form, tuple(points), horizons, chosen, len(names))
