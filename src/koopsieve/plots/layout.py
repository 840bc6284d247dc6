"""Where to draw the graph of dependencies: components as boxes, in layers, what drives above what is driven."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from koopsieve._types import BoolArray, IndexArray

MAX_NODES = 60  # with more, those that no output depends on are drawn as one box
WIDTH, NARROW = 960.0, 340.0  # of a page, and of a phone
_CHIP_HEIGHT, _GAP, _PAD, _LAYER_GAP = 22.0, 6.0, 8.0, 44.0
_MAX_CHIPS, _MAX_LETTERS = 24, 24
OUTPUT, INPUT, OBSERVABLE = "output", "input", "observable"


@dataclass(frozen=True, eq=False)
class Dependencies:
    """The graph of an explanation.

    Parameters
    ----------
    names, kinds : tuple of str
        Per node; a kind is "output", "input" (any input term) or "observable".
    components : tuple of arrays of int
        Nodes that drive each other in circles; most have one.
    links : array of bool, shape (components, components)
        Entry (a, b) is true if a node of a drives a node of b.
    retained : tuple of bool
        Per component, whether an output depends on it.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    components: tuple[IndexArray, ...]
    links: BoolArray
    retained: tuple[bool, ...]


@dataclass(frozen=True)
class Chip:
    """One node in a box, with its kind; `index` is −1 for the words that stand for those not shown."""

    index: int
    label: str
    x: float
    y: float
    width: float
    kind: str = ""
    height: float = _CHIP_HEIGHT


@dataclass(frozen=True)
class NodeBox:
    """Nodes that drive each other in circles, or all that no output depends on together."""

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

    boxes: tuple[NodeBox, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float


def lay_out(graph: Dependencies, width: float = WIDTH) -> Layout:
    """Place the components of a graph on a page of this width; the drawing may be narrower.

    Only edges that no path of other edges implies are drawn (the transitive reduction): the others follow
    from them. With more than `MAX_NODES` nodes, those that no output depends on become one box without
    edges.
    """
    everything = len(graph.names) <= MAX_NODES
    shown = [c for c, retained in enumerate(graph.retained) if everything or retained]
    links = _without_detours(graph.links)[np.ix_(shown, shown)]
    members = [tuple(int(i) for i in graph.components[c]) for c in shown]
    retained = [graph.retained[c] for c in shown]
    alone = ~(links.any(axis=0) | links.any(axis=1) | np.array(retained, dtype=bool))
    layers = [[int(c) for c in np.flatnonzero(depth & ~alone)] for depth in _layers(links)]
    layers += [[int(c) for c in np.flatnonzero(alone)]]  # what is not connected stands apart, at the end
    rest = sorted({int(i) for c, kept in enumerate(graph.retained) if not kept for i in graph.components[c]})
    if not everything and rest:
        layers.append([len(members)])
        members.append(tuple(rest))
        retained.append(False)
    shelves = Shelves(graph.names, graph.kinds, members, retained, width)
    boxes, right, height = shelves.place(layers)
    edges = tuple(
        Edge(int(a), int(b), boxes[a].retained and boxes[b].retained) for a, b in zip(*np.nonzero(links), strict=True)
    )
    return Layout(tuple(boxes), edges, right, height)


def short_names(names: Sequence[str], most: int = _MAX_LETTERS) -> list[str]:
    """Return names cut to `most` letters, so that different names stay different.

    Examples
    --------
    >>> short_names(["y", "pressure of pump 1 behind the valve", "pressure of pump 2 behind the valve"], 14)
    ['y', '…1 behind the…', '…2 behind the…']
    """
    found = [cut_name(name, most) for name in names]
    for label in {one for one in found if found.count(one) > 1}:
        alike = list(dict.fromkeys(name for name, one in zip(names, found, strict=True) if one == label))
        first = next((i for i, letters in enumerate(zip(*alike, strict=False)) if len(set(letters)) > 1), 0)
        cut = {name: f"…{name[first : first + most - 2]}…" for name in alike} if first else {}
        distinct = len(set(cut.values())) == len(alike)
        cut = cut if distinct else {name: f"{label} ({i})" for i, name in enumerate(alike, start=1)}
        found = [cut[name] if one == label and len(alike) > 1 else one for name, one in zip(names, found, strict=True)]
    return found


def cut_name(name: str, most: int = _MAX_LETTERS) -> str:
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


@dataclass(frozen=True, eq=False)
class Shelves:
    """The boxes to place, and the width of the page."""

    # names, kinds: per node
    names: Sequence[str]
    kinds: Sequence[str]
    members: Sequence[tuple[int, ...]]  # nodes of every box
    retained: Sequence[bool]  # per box
    width: float  # of the page

    @cached_property
    def labels(self) -> list[str]:
        """What stands on the chips."""
        return short_names(self.names)

    @property
    def chip(self) -> float:
        """Width of a chip, which holds the longest name."""
        longest = max((len(self.labels[i]) for group in self.members for i in group), default=4)
        return min(14.0 + 6.6 * max(longest, 4), self.width - 2 * _PAD)

    def place(self, layers: Sequence[Sequence[int]]) -> tuple[list[NodeBox], float, float]:
        """Put boxes side by side, layer under layer; a layer that is too wide goes on below.

        Returns the boxes, the width they take and their height.
        """
        shelves = [self._shelves(layer) for layer in layers]
        widest = max((self._span(shelf) for layer in shelves for shelf in layer), default=0.0) + 2 * _PAD
        placed: dict[int, NodeBox] = {}
        y = _PAD
        for layer in filter(None, shelves):
            for shelf in layer:
                x = (widest - self._span(shelf)) / 2
                for c in shelf:
                    placed[c] = self._box(c, x, y)
                    x += placed[c].width + 2 * _GAP
                y += max(placed[c].height for c in shelf) + 2 * _GAP
            y += _LAYER_GAP - 2 * _GAP
        return [placed[c] for c in range(len(self.members))], widest, y - _LAYER_GAP + 2 * _PAD

    def _shelves(self, layer: Sequence[int]) -> list[list[int]]:
        shelves: list[list[int]] = [[]]
        for c in sorted(layer, key=lambda c: -len(self.members[c])):
            if shelves[-1] and self._span([*shelves[-1], c]) > self.width - 2 * _PAD:
                shelves.append([])
            shelves[-1].append(c)
        return [shelf for shelf in shelves if shelf]

    def _span(self, shelf: Sequence[int]) -> float:
        return sum(self._box_width(len(self.members[c])) for c in shelf) + 2 * _GAP * (len(shelf) - 1)

    def _columns(self, count: int) -> int:
        fitting = int((self.width - 4 * _PAD + _GAP) // (self.chip + _GAP))
        return max(1, min(math.ceil(math.sqrt(min(count, _MAX_CHIPS))), fitting))

    def _box_width(self, count: int) -> float:
        columns = self._columns(count)
        return (2 * _PAD if count > 1 else 0.0) + columns * self.chip + (columns - 1) * _GAP

    def _box(self, c: int, x: float, y: float) -> NodeBox:
        members = self.members[c]
        ordered = sorted(members, key=lambda i: (self.kinds[i] != OUTPUT, i))
        many = len(ordered) > _MAX_CHIPS
        shown = ordered[: _MAX_CHIPS - 1] if many else ordered
        labels = [(i, self.labels[i]) for i in shown]
        labels += [(-1, f"and {len(ordered) - len(shown)} more")] if many else []
        columns, chip, pad = self._columns(len(members)), self.chip, _PAD if len(members) > 1 else 0.0
        chips = tuple(
            Chip(
                index,
                label,
                x + pad + (place % columns) * (chip + _GAP),
                y + pad + (place // columns) * (_CHIP_HEIGHT + _GAP),
                chip,
                "" if index < 0 else self.kinds[index],
            )
            for place, (index, label) in enumerate(labels)
        )
        rows = math.ceil(len(labels) / columns)
        height = 2 * pad + rows * _CHIP_HEIGHT + (rows - 1) * _GAP
        return NodeBox(chips, members, self.retained[c], x, y, self._box_width(len(members)), height)
