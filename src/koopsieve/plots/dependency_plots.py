"""Which term drives which: the inclusion matrix Γ as a heat map, and the graph of dependencies, also as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, require_kind
from koopsieve.data.embedding import sample_name
from koopsieve.identify import Estimate
from koopsieve.plots.figure import KEPT, REMOVED, as_text, figure_of, new_axes, tick_text
from koopsieve.plots.layout import INPUT, OBSERVABLE, OUTPUT, Dependencies, Layout, NodeBox, lay_out, short_names
from koopsieve.sieve.algorithm_2 import Reduction
from koopsieve.sifting.result import SieveResult, Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dependencies(result: SieveResult) -> Dependencies:
    """Return the graph of the explanation at its threshold, inputs included."""
    return _with_circles(result) if result.model.carries_observables else _towards_outputs(result)


def reduction_graph(reduction: Reduction, names: Sequence[str] | None = None) -> Dependencies:
    """Return the graph of Algorithm 2, its strongly connected components as circles."""
    count = len(reduction.adjacency)
    named = tuple(f"φ{i + 1}" for i in range(count)) if names is None else tuple(map(str, names))
    if len(named) != count:
        raise KoopsieveError(
            f"names must name every observable. Expected {count}, got {len(named)}. Pass estimate.targets."
        )
    kinds = tuple(OUTPUT if i in reduction.outputs else OBSERVABLE for i in range(count))
    kept = set(reduction.retained.tolist())
    retained = tuple(int(component[0]) in kept for component in reduction.components)
    return Dependencies(named, kinds, reduction.components, reduction.condensation, retained)


def condensation_graph(reduction: Reduction, names: Sequence[str] | None = None) -> Dependencies:
    """Return the condensation G_C: one node per strongly connected component."""
    graph = reduction_graph(reduction, names)
    labels, kinds = [], []
    for component in graph.components:
        first = sorted(component, key=lambda i: (graph.kinds[i] != OUTPUT, i))[0]
        more = f" and {len(component) - 1} more" if len(component) > 1 else ""
        labels.append(f"{graph.names[first]}{more}")
        kinds.append(graph.kinds[first])
    alone = tuple(np.array([i]) for i in range(len(labels)))
    return Dependencies(tuple(labels), tuple(kinds), alone, graph.links, graph.retained)


def _with_circles(result: SieveResult) -> Dependencies:
    """Observables that are carried drive each other; input terms are sources."""
    found, graph = result.explanation, result.reduction
    L, acting = len(found.targets), set(result.model.signals.acting)
    driven = found.inclusion[L:] >= graph.threshold
    terms = [j for j in range(len(driven)) if driven[j].any() or found.regressors[L + j] in acting]
    members = [*graph.components, *(np.array([L + i]) for i in range(len(terms)))]
    count = len(graph.components)
    links = np.zeros((len(members), len(members)), dtype=bool)
    links[:count, :count] = graph.condensation
    for place, j in enumerate(terms):
        links[count + place, :count] = [bool(driven[j, component].any()) for component in graph.components]
    kept = set(graph.retained.tolist())
    retained = [int(component[0]) in kept for component in graph.components]
    retained += [bool((links[count + place, :count] & np.array(retained[:count])).any()) for place in range(len(terms))]
    kinds = [OUTPUT if i in graph.outputs else OBSERVABLE for i in range(L)] + [INPUT] * len(terms)
    names = (*found.targets, *(found.regressors[L + j] for j in terms))
    return Dependencies(names, tuple(kinds), tuple(members), links, tuple(retained))


def _towards_outputs(result: SieveResult) -> Dependencies:
    """Terms drive the next outputs and nothing else."""
    found = result.explanation
    p, q = found.inclusion.shape
    terms = set(result.dictionary.input_term_names)
    links = np.zeros((p + q, p + q), dtype=bool)
    links[:p, p:] = found.inclusion >= result.reduction.threshold
    kinds = [INPUT if name in terms else OBSERVABLE for name in found.regressors] + [OUTPUT] * q
    names = (*found.regressors, *(sample_name(name, 1) for name in found.targets))
    retained = (*(bool(row.any()) for row in links[:p]), *([True] * q))
    return Dependencies(names, tuple(kinds), tuple(np.array([i]) for i in range(p + q)), links, retained)


_MAX_NAMES = 60  # beyond this names are too small to read
_MAX_LETTERS = 18
_UNITS_PER_INCH = 100.0
_INPUT_FILL = "#fdf3e3"
STRENGTHS = (1e-8, 1e-4, 1.0, 1e4, 1e8)  # ticks of the colours of |K|
_DECADES = 1e-9, 1e9  # that the colours span
_ZERO_COLOUR = "0.6"  # grey, as in the paper


def plot_inclusion(given: Sifted | Estimate, axes: Axes | None = None, *, reduction: Reduction | None = None) -> Axes:
    """Draw inclusion probabilities, regressors down and targets across.

    Of a result they are those of the kept terms; where the graph decided what is kept, of all, with the kept names in
    bold.

    Parameters
    ----------
    given : Estimate, SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    reduction : Reduction, optional
        Of an estimate: the names it retains are in bold.
    """
    found, kept = _inclusion(given, reduction)
    rows, columns = len(found.regressors), len(found.targets)
    ax = _matrix_axes(rows, columns) if axes is None else axes
    image = ax.imshow(found.inclusion, cmap="Blues", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    bar = figure_of(ax).colorbar(image, ax=ax, label="probability", ticks=[0, 0.5, 1], fraction=0.04, pad=0.02)
    bar.outline.set_linewidth(0.5)
    _name_matrix(ax, found, kept)
    return ax


def plot_coefficients(estimate: Estimate, axes: Axes | None = None) -> Axes:
    """Draw |K̂| of an estimate as a heat map with logarithmic colours, as in the paper; grey means zero.

    Parameters
    ----------
    estimate : Estimate
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    require_kind("an Estimate", estimate, Estimate, "Identify one: SpikeSlab().identify(statistics).")
    ax = _matrix_axes(*estimate.coef.shape) if axes is None else axes
    image = draw_strengths(ax, estimate.coef)
    bar = figure_of(ax).colorbar(image, ax=ax, extend="both", fraction=0.04, pad=0.02, label="|K|")
    bar.set_ticks(STRENGTHS, labels=[tick_text(strength) for strength in STRENGTHS])
    _name_matrix(ax, estimate, set())
    return ax


def draw_strengths(ax: Axes, coef: FloatArray) -> Any:
    """Draw |K| with the colours that all heat maps share; returns the image."""
    from matplotlib.colors import LogNorm

    ax.set_facecolor(_ZERO_COLOUR)
    size = np.ma.masked_equal(np.abs(coef), 0.0)
    return ax.imshow(size, norm=LogNorm(*_DECADES), cmap="viridis", interpolation="nearest", aspect="auto")


def _inclusion(given: Sifted | Estimate, reduction: Reduction | None) -> tuple[Estimate, set[str]]:
    """Return the estimate to draw and the names to write in bold."""
    if isinstance(given, Estimate):
        return given, set() if reduction is None else {given.targets[i] for i in reduction.retained}
    result = result_of(given)
    return result.explanation, set(result.retained_names) if result.outcome.graph_decides else set()


def _matrix_axes(rows: int, columns: int) -> Axes:
    return new_axes(3.4 + 0.22 * min(columns, _MAX_NAMES), 2.0 + 0.22 * min(rows, _MAX_NAMES))


def _name_matrix(ax: Axes, found: Estimate, kept: set[str]) -> None:
    rows, columns = len(found.regressors), len(found.targets)
    if max(rows, columns) <= _MAX_NAMES:
        ax.set_xticks(np.arange(columns), _short(found.targets), fontsize=7.5)
        ax.tick_params(axis="x", rotation=90 if columns > 4 else 0)
        ax.set_yticks(np.arange(rows), _short(found.regressors), fontsize=7.5)
        if kept:
            _make_bold(ax, kept, found.targets, found.regressors)
    ax.set_xlabel("driven, at the next step")
    ax.set_ylabel("driving, now")


def _short(names: tuple[str, ...]) -> list[str]:
    return [as_text(name) for name in short_names(names, _MAX_LETTERS)]


def _make_bold(ax: Axes, kept: set[str], targets: tuple[str, ...], regressors: tuple[str, ...]) -> None:
    for labels, names in ((ax.get_xticklabels(), targets), (ax.get_yticklabels(), regressors)):
        for label, name in zip(labels, names, strict=True):
            label.set_fontweight("bold" if name in kept else "normal")
            label.set_color("black" if name in kept else "0.45")


def plot_graph(given: Sifted | Reduction, names: Sequence[str] | None = None, axes: Axes | None = None) -> Axes:
    """Draw the graph of dependencies: arrows lead from what drives to what is driven, circles share a box.

    Of a result it is the graph of the kept terms; where the graph decided what is kept, of all. Arrows that follow from
    others are left out; with many terms those that no output depends on share one box. Inputs are tinted, outputs
    filled.

    Parameters
    ----------
    given : Reduction, SieveResult or fitted KoopmanSieve
    names : sequence of str, optional
        Names of the observables of a reduction, such as `estimate.targets`; by default φ1, φ2, ….
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    if isinstance(given, Reduction):
        return _draw_layout(reduction_graph(given, names), given.threshold, axes)
    result = result_of(given)
    return _draw_layout(dependencies(result), result.reduction.threshold, axes)


def plot_condensation(reduction: Reduction, names: Sequence[str] | None = None, axes: Axes | None = None) -> Axes:
    """Draw the condensation of the graph: one box per strongly connected component, named by one of its members.

    Parameters
    ----------
    reduction : Reduction
    names, axes
        As for `plot_graph`.
    """
    require_kind("a Reduction", reduction, Reduction, "Make one with reduce(estimate.inclusion, outputs, threshold).")
    return _draw_layout(condensation_graph(reduction, names), reduction.threshold, axes)


def _draw_layout(graph: Dependencies, threshold: float, axes: Axes | None) -> Axes:
    layout = lay_out(graph)
    size = max(4.5, layout.width / _UNITS_PER_INCH), max(1.8, layout.height / _UNITS_PER_INCH + 0.4)
    ax = new_axes(*size) if axes is None else axes
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)  # layers go down the page
    ax.set_aspect("equal")
    ax.set_axis_off()
    _draw_edges(ax, layout)
    for box in layout.boxes:
        _draw_box(ax, box)
    ax.set_title(f"what drives what, with a probability of {threshold:g} or more", fontsize=10)
    return ax


def _draw_edges(ax: Axes, layout: Layout) -> None:
    for edge in layout.edges:
        a, b = layout.boxes[edge.source], layout.boxes[edge.target]
        ax.annotate(
            "",
            xy=(b.x + b.width / 2, b.y),
            xytext=(a.x + a.width / 2, a.y + a.height),
            arrowprops={"arrowstyle": "-|>", "color": KEPT if edge.retained else REMOVED, "lw": 0.9, "shrinkA": 0},
            zorder=1,
        )


def _draw_box(ax: Axes, box: NodeBox) -> None:
    from matplotlib.patches import Rectangle

    colour = KEPT if box.retained else REMOVED
    line: dict[str, Any] = {"edgecolor": colour, "linewidth": 0.9}
    if len(box.members) > 1:
        ax.add_patch(Rectangle((box.x, box.y), box.width, box.height, fill=False, linestyle="--", **line))
    for chip in box.chips:
        output = chip.kind == OUTPUT
        if chip.index >= 0:
            line["facecolor"] = colour if output else _INPUT_FILL if chip.kind == INPUT else "white"
            ax.add_patch(Rectangle((chip.x, chip.y), chip.width, chip.height, zorder=3, **line))
        middle = chip.x + chip.width / 2, chip.y + chip.height / 2
        ink = "white" if output else "black" if box.retained else "0.5"
        ax.text(*middle, as_text(chip.label), ha="center", va="center", fontsize=7.5, color=ink, zorder=4)
