"""The graph of dependencies: circles boxed, outputs filled, what no output depends on in grey."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from koopsieve.plots.dependencies import INPUT, OUTPUT, dependencies
from koopsieve.plots.figure import KEPT, REMOVED, as_text, new_axes
from koopsieve.plots.layout import Box, Layout, lay_out
from koopsieve.sieve.views import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS_PER_INCH = 100.0
_INPUT_FILL = "#fdf3e3"


def plot_graph(given: Sifted, axes: Axes | None = None) -> Axes:
    """Draw who depends on whom: arrows lead from what drives to what is driven, circles of dependencies share a box.

    It is the graph of the kept terms; where the graph decided what is kept, of all. Arrows that follow from others are
    left out; with many terms those that no output depends on share one box. Inputs are tinted, outputs filled.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    result = result_of(given)
    layout = lay_out(dependencies(result))
    size = max(4.5, layout.width / _UNITS_PER_INCH), max(1.8, layout.height / _UNITS_PER_INCH + 0.4)
    ax = new_axes(*size) if axes is None else axes
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)  # layers go down the page
    ax.set_aspect("equal")
    ax.set_axis_off()
    _draw_edges(ax, layout)
    for box in layout.boxes:
        _draw_box(ax, box)
    ax.set_title(f"what drives what, with a probability of {result.reduction.threshold:g} or more", fontsize=10)
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


def _draw_box(ax: Axes, box: Box) -> None:
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
