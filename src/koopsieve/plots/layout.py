"""Where to draw the graph of dependencies: components as boxes, in layers, what drives above what is driven."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, IndexArray
from koopsieve.sieve import Reduction

MOST = 60  # observables; with more, those discarded are drawn as one box
WIDTH = 960.0
_CHIP_HEIGHT, _GAP, _PAD, _LAYER_GAP = 22.0, 6.0, 8.0, 44.0
_MOST_CHIPS, _MOST_LETTERS = 24, 24


@dataclass(frozen=True)
class Chip:
    """One observable in a box; `index` is −1 for the words that stand for those not shown."""

    index: int
    label: str
    x: float
    y: float
    width: float
    height: float = _CHIP_HEIGHT


@dataclass(frozen=True)
class Box:
    """A strongly connected component, or all discarded observables together."""

    chips: tuple[Chip, ...]
    members: tuple[int, ...]
    retained: bool
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Edge:
    """A dependency between boxes, from the bottom of one to the top of another."""

    source: int
    target: int
    retained: bool


@dataclass(frozen=True)
class Layout:
    """The drawing, in units that suit letters of 11 px."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float


def lay_out(reduction: Reduction, names: Sequence[str]) -> Layout:
    """Place the components of a reduction.

    Only edges that no path of other edges implies are drawn (the transitive reduction): the others say nothing new
    about who depends on whom. With more than `MOST` observables those discarded become one box without edges.
    """
    kept = set(reduction.retained.tolist())
    everything = len(names) <= MOST
    shown = [c for c, members in enumerate(reduction.components) if everything or int(members[0]) in kept]
    graph = _without_detours(reduction.condensation)[np.ix_(shown, shown)]
    members = [tuple(int(i) for i in reduction.components[c]) for c in shown]
    layers = [[int(c) for c in np.flatnonzero(depth)] for depth in _layers(graph)]
    if not everything and len(reduction.discarded):
        layers.append([len(members)])
        members.append(tuple(int(i) for i in reduction.discarded))
    width = _chip_width(names, [m for group in members for m in group])
    boxes, height = _place(layers, members, names, kept, set(reduction.outputs), width)
    edges = tuple(
        Edge(int(a), int(b), boxes[a].retained and boxes[b].retained) for a, b in zip(*np.nonzero(graph), strict=True)
    )
    return Layout(tuple(boxes), edges, WIDTH, height)


def shorten(name: str, most: int = _MOST_LETTERS) -> str:
    """Return a name cut in its middle if it is longer than `most` letters."""
    if len(name) <= most:
        return name
    return f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"


def _without_detours(graph: BoolArray) -> BoolArray:
    closure = graph.copy()
    while True:
        further = closure | (closure.astype(np.float32) @ closure.astype(np.float32) > 0)
        if (further == closure).all():
            break
        closure = further
    detour = graph.astype(np.float32) @ closure.astype(np.float32) > 0
    direct: BoolArray = graph & ~detour
    return direct


def _layers(graph: BoolArray) -> list[BoolArray]:
    """Return the nodes by layers, each as far down as what it drives allows, sources first."""
    height = np.zeros(len(graph), dtype=np.intp)
    for _ in range(len(graph)):
        raised: IndexArray = np.max(np.where(graph, height + 1, 0), axis=1, initial=0)
        if (raised == height).all():
            break
        height = raised
    return [height == level for level in range(int(height.max(initial=0)), -1, -1)]


def _chip_width(names: Sequence[str], members: Sequence[int]) -> float:
    longest = max((len(shorten(names[i])) for i in members), default=4)
    return 14.0 + 6.4 * max(longest, 4)


def _place(
    layers: Sequence[Sequence[int]],
    members: Sequence[tuple[int, ...]],
    names: Sequence[str],
    kept: set[int],
    outputs: set[int],
    chip: float,
) -> tuple[list[Box], float]:
    """Put boxes side by side, layer under layer; a layer that is too wide goes on below."""
    placed: dict[int, Box] = {}
    y = _PAD
    for layer in layers:
        for shelf in _shelves(layer, members, chip):
            widths = [_box_width(len(members[c]), chip) for c in shelf]
            x = (WIDTH - sum(widths) - _GAP * 2 * (len(shelf) - 1)) / 2
            for c, width in zip(shelf, widths, strict=True):
                placed[c] = _box(members[c], names, kept, outputs, chip, x, y, width)
                x += width + 2 * _GAP
            y += max(placed[c].height for c in shelf) + 2 * _GAP
        y += _LAYER_GAP - 2 * _GAP
    return [placed[c] for c in range(len(members))], y - _LAYER_GAP + 2 * _PAD


def _shelves(layer: Sequence[int], members: Sequence[tuple[int, ...]], chip: float) -> list[list[int]]:
    shelves: list[list[int]] = [[]]
    used = 0.0
    for c in sorted(layer, key=lambda c: -len(members[c])):
        width = _box_width(len(members[c]), chip) + 2 * _GAP
        if shelves[-1] and used + width > WIDTH:
            shelves.append([])
            used = 0.0
        shelves[-1].append(c)
        used += width
    return [shelf for shelf in shelves if shelf]


def _columns(count: int, chip: float) -> int:
    fitting = int((WIDTH - 2 * _PAD) // (chip + _GAP))
    return max(1, min(math.ceil(math.sqrt(min(count, _MOST_CHIPS))), fitting))


def _box_width(count: int, chip: float) -> float:
    columns = _columns(count, chip)
    return 2 * _PAD + columns * chip + (columns - 1) * _GAP


def _box(
    members: tuple[int, ...],
    names: Sequence[str],
    kept: set[int],
    outputs: set[int],
    chip: float,
    x: float,
    y: float,
    width: float,
) -> Box:
    ordered = sorted(members, key=lambda i: (i not in outputs, i))
    many = len(ordered) > _MOST_CHIPS
    shown = ordered[: _MOST_CHIPS - 1] if many else ordered
    labels = [(i, shorten(names[i])) for i in shown] + ([(-1, f"and {len(ordered) - len(shown)} more")] if many else [])
    columns = _columns(len(members), chip)
    chips = tuple(
        Chip(
            index,
            label,
            x + _PAD + (place % columns) * (chip + _GAP),
            y + _PAD + (place // columns) * (_CHIP_HEIGHT + _GAP),
            chip,
        )
        for place, (index, label) in enumerate(labels)
    )
    rows = math.ceil(len(labels) / columns)
    height = 2 * _PAD + rows * _CHIP_HEIGHT + (rows - 1) * _GAP
    return Box(chips, members, members[0] in kept, x, y, width, height)
