"""docs/reproduction.md from the files of two reproductions, default and as published: every number is one of theirs.

    koopsieve reproduce all --out default
    koopsieve reproduce all --out published --as-published
    PYTHONPATH=src:. python -m benchmarks.reproduction_page default published

The second step also keeps the numbers in docs/reproduction.json, from which a test makes the page again.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from koopsieve import __version__
from koopsieve._display import number
from koopsieve._json import json_number, plain
from koopsieve.reproduction.study_summary import average

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
NUMBERS, PAGE, TEMPLATE = DOCS / "reproduction.json", DOCS / "reproduction.md", "reproduction_page.md.jinja"
SYSTEMS = ("lorenz", "usv", "usv-quadratic", "wiener-hammerstein")
NOISE = SYSTEMS[:3]
KINDS = ("default", "published")
FIGURES = {
    "lorenz": ("reduced_size", "one_step", "long_term", "condition_number"),
    "usv": ("reduced_size", "one_step", "long_term", "condition_number"),
    "wiener-hammerstein": ("long_term", "heat_maps_full", "heat_maps_reduced"),
}
ROUNDING = 1 / np.finfo(float).eps  # condition numbers beyond this are rounding, and so are errors of such models
MARK = "†"
DIGITS = 6  # enough that rounding again to three digits changes nothing
LEVELS = (10.0, 20.0, 40.0)  # of noise, shown in tables of errors


def collect(folders):
    """Return what the page needs of the summaries, rounded to six digits."""
    found = {kind: {} for kind in KINDS}
    for kind, folder in zip(KINDS, folders, strict=True):
        for system in SYSTEMS:
            summary = json.loads((Path(folder) / system / "summary.json").read_text())
            found[kind][system] = {key: value for key, value in summary.items() if "ci95" not in key}
    return _rounded({"version": __version__, **found})


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def table(header, rows):
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def shown(value):
    """Return a number as it stands on the page."""
    return "–" if value is None else number(float(json_number(value)))


def both(mean, median, noise=False):
    """Return mean and median in one cell, marked if they are rounding noise."""
    return f"{shown(mean)} ({shown(median)}){MARK if noise else ''}"


def models(summary):
    """Return size and method of the models to show: as published, only those in which method IV has a part."""
    found = [(size, name) for size in ("full", "reduced") for name in summary["one_step"][size]]
    same = {("full", name) for name in ("I", "II", "III")} if summary["as_published"] else set()
    return [model for model in found if model not in same]


def is_noise(summary, size, name, level=None):
    """Tell whether a model's condition number lies beyond what 64-bit floats can tell from singular."""
    if level is None:
        return json_number(summary["condition_number"][size][name]) > ROUNDING
    return json_number(summary["condition_number_median"][size][name][level]) > ROUNDING


def is_noisy_fit(summary, size, name, level=None):
    """Tell whether a model's coefficients are rounding noise: least squares without a prior on a singular design."""
    return name in ("I", "II") and is_noise(summary, size, name, level)


def sizes(default, published):
    thresholds = list(default["reduced_size"])
    middle = thresholds[1]
    rows = [
        (
            f"{snr:g}",
            *(both(default["reduced_size"][t][i], default["reduced_size_median"][t][i]) for t in thresholds),
            both(published["reduced_size"][middle][i], published["reduced_size_median"][middle][i]),
        )
        for i, snr in enumerate(default["snr_db"])
    ]
    return table(("SNR (dB)", *(f"ε = {t}" for t in thresholds), f"as published, ε = {middle}"), rows)


def unsettled(summary):
    found = sorted({shown(count) for count in summary["unsettled_targets"]}, key=float)
    return f"{' to '.join(found[:: len(found) - 1] if len(found) > 1 else found)} of {summary['full_size']}"


def change(summary, method):
    """Return the median one-step test errors of the reduced model over those of the full one, for every level."""
    errors = summary["one_step_median"]
    both_sizes = zip(errors["reduced"][method]["test"], errors["full"][method]["test"], strict=True)
    return [reduced / full for reduced, full in both_sizes]


def one_step(summary):
    at = [summary["snr_db"].index(level) for level in LEVELS]
    rows = [
        (
            size,
            name,
            *tuple(
                both(
                    summary["one_step"][size][name]["test"][i],
                    summary["one_step_median"][size][name]["test"][i],
                    is_noisy_fit(summary, size, name, i),
                )
                for i in at
            ),
        )
        for size, name in models(summary)
    ]
    return table(("dictionary", "method", *(f"{level:g} dB" for level in LEVELS)), rows)


def horizons(summary):
    at = summary["snr_db"].index(summary["horizon_snr_db"])
    rows = [
        (
            size,
            name,
            *tuple(
                both(mean, median, is_noisy_fit(summary, size, name, at))
                for mean, median in zip(
                    summary["long_term"][size][name], summary["long_term_median"][size][name], strict=True
                )
            ),
        )
        for size, name in models(summary)
    ]
    return table(("dictionary", "method", *(f"h = {h}" for h in summary["horizons"])), rows)


def conditioning(summary):
    at = summary["snr_db"].index(summary["horizon_snr_db"])
    rows = []
    for size, name in models(summary):
        cells = [both(summary[key][size][name][at], summary[f"{key}_median"][size][name][at]) for key in KAPPAS]
        rows.append((size, name, *(cell + (MARK if is_noise(summary, size, name, at) else "") for cell in cells)))
    return table(("dictionary", "method", "κ(Aᵀ)", "κ(K̂)"), rows)


KAPPAS = ("condition_number", "coef_condition_number")


def circuit_one_step(summary):
    paper, rows = summary["paper"]["one_step"], []
    for size, name in models(summary):
        ours, theirs = summary["one_step"][size][name], paper[size].get(name, {})
        mark = MARK if is_noisy_fit(summary, size, name) else ""
        cells = (cell for part in ("train", "test") for cell in (shown(ours[part]) + mark, shown(theirs.get(part))))
        rows.append((size, name, *cells))
    return table(("dictionary", "method", "train", "paper", "test", "paper"), rows)


def circuit_horizons(summary):
    paper, rows = summary["paper"]["long_term"], []
    for size, name in models(summary):
        ours = summary["long_term"][size][name]
        theirs = paper[size].get(name, [None] * len(ours))
        mark = MARK if is_noisy_fit(summary, size, name) else ""
        cells = (cell for one, other in zip(ours, theirs, strict=True) for cell in (shown(one) + mark, shown(other)))
        rows.append((size, name, *cells))
    heads = [head for h in summary["horizons"] for head in (f"h = {h}", "paper")]
    return table(("dictionary", "method", *heads), rows)


def circuit_conditioning(summary):
    paper = summary["paper"]["condition_number"]
    rows = []
    for size, name in models(summary):
        mark = MARK if is_noise(summary, size, name) else ""
        ours = [shown(summary[key][size][name]) + mark for key in KAPPAS]
        rows.append((size, name, *ours, shown(paper[size].get(name))))
    return table(("dictionary", "method", "κ(Aᵀ)", "κ(K̂)", "paper"), rows)


def readings(summary):
    found = summary["readings"]
    dampings = list(next(iter(found.values())))
    rows = [(f"`{name}`", *(f"{by[d]['kept']} ({by[d]['settled']})" for d in dampings)) for name, by in found.items()]
    return table(("reading", *(f"p_d = {d}" for d in dampings)), rows)


def page(numbers):
    """Return the page as Markdown."""
    environment = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters["shown"] = shown
    makers = (sizes, unsettled, change, one_step, horizons, conditioning)
    makers += (circuit_one_step, circuit_horizons, circuit_conditioning, readings)
    return environment.get_template(TEMPLATE).render(
        numbers=numbers,
        MARK=MARK,
        rounding=number(ROUNDING),
        span=lambda values: f"{shown(min(values))} to {shown(max(values))}",
        mean=lambda values: average(values).mean,
        **{maker.__name__: maker for maker in makers},
    )


def main(default, published):
    numbers = collect((default, published))
    NUMBERS.write_text(json.dumps(plain(numbers), indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(json.loads(NUMBERS.read_text())))
    for system, names in FIGURES.items():
        for name in names:
            target = DOCS / "figures" / f"{system.replace('-', '_')}_{name}.png"
            shutil.copyfile(Path(default) / system / f"{name}.png", target)


if __name__ == "__main__":
    main(*sys.argv[1:])
