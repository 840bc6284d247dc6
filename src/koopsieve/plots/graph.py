"""The graph of dependencies: components boxed, outputs filled, what was removed in grey."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from koopsieve.plots.figure import FULL, KEPT, as_text, new_axes
from koopsieve.plots.layout import Box, Layout, lay_out
from koopsieve.workflow import SieveResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS_PER_INCH = 110.0


def plot_graph(result: SieveResult, axes: Axes | None = None) -> Axes:
    """Draw who depends on whom: arrows lead from what drives to what is driven, circles of dependencies share a box.

    Arrows that follow from others are left out; with many observables those removed share one box.

    Parameters
    ----------
    result : SieveResult
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    layout = lay_out(result.reduction, result.dictionary.names)
    size = layout.width / _UNITS_PER_INCH, max(2.0, layout.height / _UNITS_PER_INCH)
    ax = new_axes(*size) if axes is None else axes
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)  # layers go down the page
    ax.set_axis_off()
    _draw_edges(ax, layout)
    for box in layout.boxes:
        _draw_box(ax, box, set(result.reduction.outputs))
    ax.set_title(
        f"{len(result.reduction.retained)} of {result.dictionary.size} observables drive the outputs "
        f"(threshold {result.reduction.threshold:g})",
        fontsize=10,
    )
    return ax


def _draw_edges(ax: Axes, layout: Layout) -> None:
    for edge in layout.edges:
        a, b = layout.boxes[edge.source], layout.boxes[edge.target]
        ax.annotate(
            "",
            xy=(b.x + b.width / 2, b.y),
            xytext=(a.x + a.width / 2, a.y + a.height),
            arrowprops={"arrowstyle": "-|>", "color": KEPT if edge.retained else FULL, "lw": 0.8, "shrinkA": 0},
            zorder=1,
        )


def _draw_box(ax: Axes, box: Box, outputs: set[int]) -> None:
    from matplotlib.patches import Rectangle

    colour = KEPT if box.retained else FULL
    line: dict[str, Any] = {"edgecolor": colour, "linewidth": 0.8}
    if len(box.members) > 1:
        ax.add_patch(Rectangle((box.x, box.y), box.width, box.height, fill=False, linestyle="--", **line))
    for chip in box.chips:
        output = chip.index in outputs
        if chip.index >= 0:
            line["facecolor"] = colour if output else "white"
            ax.add_patch(Rectangle((chip.x, chip.y), chip.width, chip.height, zorder=3, **line))
        middle = chip.x + chip.width / 2, chip.y + chip.height / 2
        ink = "white" if output else "black" if box.retained else "0.5"
        ax.text(*middle, as_text(chip.label), ha="center", va="center", fontsize=6.5, color=ink, zorder=4)
