"""The best point of every size found so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from koopsieve.sieve.simulation.problem import Point


@dataclass(frozen=True, eq=False)
class Front:
    """Points by their size; of each size the one with the least loss."""

    points: Mapping[int, Point] = field(default_factory=dict)

    def with_point(self, point: Point) -> Front:
        """Return the front with one more point, if it is the best of its size."""
        known = self.points.get(point.size)
        if known is not None and known.loss <= point.loss:
            return self
        return Front({**self.points, point.size: point})

    def undominated(self) -> tuple[Point, ...]:
        """Return the points that no smaller point matches, the smallest first."""
        found: list[Point] = []
        for size in sorted(self.points):
            point = self.points[size]
            if not found or point.loss < found[-1].loss:
                found.append(point)
        return tuple(found)

    def holds(self, point: Point) -> bool:
        """Tell whether this very point is among the undominated ones."""
        return any(point is known for known in self.undominated())

    def above(self, size: int) -> Point | None:
        """Return the smallest undominated point that is larger than `size`."""
        return next((point for point in self.undominated() if point.size > size), None)

    def below(self, size: int) -> Point | None:
        """Return the largest undominated point that is smaller than `size`."""
        return next((point for point in reversed(self.undominated()) if point.size < size), None)
