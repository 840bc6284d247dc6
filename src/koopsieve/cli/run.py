"""What `koopsieve reduce` does with its settings: read, sift, write, say."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

import typer

from koopsieve._types import KoopsieveError
from koopsieve.cli.progress import Watched, bar
from koopsieve.cli.settings import Settings, to_toml
from koopsieve.cli.table import show_result
from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Block, Monomials, SquaredExponential, States
from koopsieve.execution import DaskExecutor, Executor
from koopsieve.identify import SpikeSlab
from koopsieve.io import check_writable, plain, summarise, whole_folder, write_run
from koopsieve.report import write_report
from koopsieve.sieve import HorizonSieve
from koopsieve.workflow import SieveResult, paper_methods, reduce_and_refit


@dataclass(frozen=True, eq=False)
class Data:
    """Trajectories to learn from and to judge on, and how the latter came about, in words."""

    train: Trajectories
    test: Trajectories
    judged_on: str
    story: str


def run_and_write(settings: Settings, as_json: bool) -> None:
    """Run the sieve, write the folder, print the table (or the JSON)."""
    check_writable(settings.out)
    executor = None if settings.scheduler is None else DaskExecutor.connect(settings.scheduler)
    data = read_data(settings)
    result = sift(settings, data, executor)
    more = {"settings": asdict(settings), "data": data.story}
    with whole_folder(settings.out) as folder:
        write_run(result, folder, more)
        write_report(
            result, folder / "report.html", title=_title(settings), story=data.story, settings=to_toml(settings)
        )
    if as_json:
        typer.echo(json.dumps(plain({**summarise(result), **more}), indent=2, ensure_ascii=False))
        return
    show_result(result, _title(settings))
    if result.path is not None:
        typer.echo(f"Along the path: {result.path.describe()}")
    typer.echo(data.story if settings.test else f"{data.story} Judge on another file with --test.")
    typer.echo(f"Report: {settings.out}/report.html (beside it summary.json, model.npz, inclusion.csv)")


def read_data(settings: Settings) -> Data:
    """Return the trajectories, with delays embedded; without a test file the end of the data is held out."""
    everything = _read(settings, settings.files)
    if settings.test:
        data = Data(everything, _read(settings, settings.test), "test", _story(settings, everything))
    else:
        train, test = everything.split(1 - settings.holdout)
        data = Data(train, test, "held-out", _held_out_story(train, test, len(everything)))
    _check_length(data.test, settings, f"The {data.judged_on} data")
    if settings.sieve == "path":
        _check_length(data.train.split(0.75)[1], settings, "The quarter of the training data that chooses the size")
    return data


def _check_length(data: Trajectories, settings: Settings, what: str) -> None:
    longest = max(map(len, data.states)) - 1
    if max(settings.horizons) > longest:
        raise KoopsieveError(
            f"{what} would have to reach {max(settings.horizons)} steps ahead, but allows {longest}. "
            "Ask for shorter --horizons, or give more data."
        )


def _read(settings: Settings, files: tuple[str, ...]) -> Trajectories:
    raw = Trajectories.from_file(
        files,
        settings.states,
        settings.inputs,
        episode=settings.episode,
        time=settings.time,
        dt=settings.dt,
        gaps=settings.gaps,
    )
    past_inputs = settings.delays if settings.input_delays is None else settings.input_delays
    return embed_delays(raw, states=settings.delays, inputs=past_inputs if raw.n_inputs else 0)


def _story(settings: Settings, train: Trajectories) -> str:
    return f"Learnt from {train.n_samples} samples; errors are on {', '.join(settings.test)}."


def _held_out_story(train: Trajectories, test: Trajectories, episodes: int) -> str:
    what = "the end of the record" if episodes == 1 else f"the last {len(test)} of {episodes} episodes"
    return f"Learnt from {train.n_samples} samples; errors are on {what}, {test.n_samples} samples that were held out."


def recipe(settings: Settings, samples: int) -> Block:
    """Return the dictionary's recipe: states, products, kernels on standardised states."""
    blocks: Block = States()
    if settings.polynomials > 1:
        blocks = blocks + Monomials(degree=settings.polynomials)
    kernels = min(100, samples // 10) if settings.kernels is None else settings.kernels
    if kernels:
        blocks = blocks + SquaredExponential(centers=kernels, standardize=True)
    return blocks


def sift(settings: Settings, data: Data, executor: Executor | None = None) -> SieveResult:
    """Run the method."""
    known = paper_methods()
    result = reduce_and_refit(
        data.train,
        recipe(settings, data.train.n_samples),
        test=data.test,
        sieve=Watched(SpikeSlab()),
        threshold=settings.threshold,
        family=HorizonSieve() if settings.sieve == "path" else None,
        methods={name: known[name] for name in settings.methods},
        horizons=settings.horizons,
        seed=settings.seed,
        executor=executor,
        progress=bar,
    )
    return replace(result, judged_on=data.judged_on)


def _title(settings: Settings) -> str:
    more = f" and {len(settings.files) - 1} more" if len(settings.files) > 1 else ""
    return f"{settings.files[0]}{more}"
