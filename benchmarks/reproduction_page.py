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
from koopsieve._written import json_number, plain
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
LEVELS = (10.0, 20.0, 30.0, 40.0)  # of noise, in the tables of sizes
DIGITS = 6  # enough that rounding again to three digits changes nothing


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
        if snr in LEVELS
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


def errors(summary):
    """Return the table of one noise level: errors one step ahead, at two horizons, and condition numbers."""
    at, steps = summary["snr_db"].index(summary["horizon_snr_db"]), (1, -1)
    rows = []
    for size, name in models(summary):
        pairs = [[summary[key][size][name]["test"][at] for key in ("one_step", "one_step_median")]]
        pairs += [[summary[key][size][name][h] for key in ("long_term", "long_term_median")] for h in steps]
        cells = [both(*pair, noise=is_noisy_fit(summary, size, name, at)) for pair in pairs]
        kappa = [summary[key][size][name][at] for key in ("condition_number", "condition_number_median")]
        rows.append((size, name, *cells, both(*kappa, noise=is_noise(summary, size, name, at))))
    heads = (f"{summary['horizons'][h]} steps" for h in steps)
    return table(("dictionary", "method", "1 step", *heads, "κ(Aᵀ)"), rows)


def circuit(summary):
    """Return the paper's three tables in one, beside the paper's numbers."""
    paper, rows, steps = summary["paper"], [], (0, 2, 4)
    for size, name in models(summary):
        ours, theirs = summary["one_step"][size][name], paper["one_step"][size].get(name, {})
        ahead = summary["long_term"][size][name]
        printed = paper["long_term"][size].get(name, [None] * len(ahead))
        pairs = [(ours[part], theirs.get(part)) for part in ("train", "test")]
        pairs += [(ahead[h], printed[h]) for h in steps]
        mark = MARK if is_noisy_fit(summary, size, name) else ""
        cells = [cell for mine, other in pairs for cell in (shown(mine) + mark, shown(other))]
        kappa = shown(summary["coef_condition_number"][size][name]) + (MARK if is_noise(summary, size, name) else "")
        rows.append((size, name, *cells, kappa, shown(paper["condition_number"][size].get(name))))
    heads = ("train", "test", *(f"{summary['horizons'][h]} steps" for h in steps), "κ(K̂)")
    return table(("dictionary", "method", *(cell for head in heads for cell in (head, "paper"))), rows)


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
    makers = (sizes, unsettled, change, errors, circuit, readings)
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
