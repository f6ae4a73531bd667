"""What can be asked of arcs between numbers, in linear time."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

# Head, dependent and whatever else an arc has.
AnyArc = TypeVar("AnyArc", bound=Sequence)


def has_cycle(arcs: Iterable[AnyArc]) -> bool:
    """Tell whether one can come back to a node by following arcs.

    arcs (Iterable[Sequence]): The arcs: head, dependent, and anything else.
    RETURNS (bool): Whether there is a cycle.
    """
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for arc in arcs:
        sorter.add(arc[0], arc[1])
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False


def find_components(arcs: Iterable[AnyArc]) -> list[list[int]]:
    """Give the sets of nodes that arcs connect, in any direction.

    arcs (Iterable[Sequence]): The arcs: head, dependent, and anything else.
    RETURNS (List[List[int]]): The nodes of each component, sorted.
    """
    neighbours: defaultdict[int, list[int]] = defaultdict(list)
    for arc in arcs:
        neighbours[arc[0]].append(arc[1])
        neighbours[arc[1]].append(arc[0])
    components = []
    seen: set[int] = set()
    for node in sorted(neighbours):
        if node in seen:
            continue
        component = []
        unfinished = [node]
        seen.add(node)
        while unfinished:
            here = unfinished.pop()
            component.append(here)
            for other in neighbours[here]:
                if other not in seen:
                    seen.add(other)
                    unfinished.append(other)
        components.append(sorted(component))
    return components


def find_path(
    arcs: Iterable[AnyArc], start: int, end: int, *, directed: bool
) -> list[AnyArc] | None:
    """Give the shortest way from one node to another.

    arcs (Iterable[Sequence]): The arcs: head, dependent, and anything else.
    start (int): Where the way begins.
    end (int): Where it ends.
    directed (bool): Whether arcs may be followed from head to dependent only.
    RETURNS (Optional[List[Sequence]]): The arcs on the way; None if there is none.
    """
    steps: defaultdict[int, list[tuple[int, AnyArc]]] = defaultdict(list)
    for arc in arcs:
        steps[arc[0]].append((arc[1], arc))
        if not directed:
            steps[arc[1]].append((arc[0], arc))
    # By which arc, and from where, each node was reached first.
    reached: dict[int, tuple[int, AnyArc] | None] = {start: None}
    queue = deque([start])
    while queue and end not in reached:
        here = queue.popleft()
        for node, arc in steps[here]:
            if node not in reached:
                reached[node] = (here, arc)
                queue.append(node)
    if end not in reached:
        return None
    path: list[AnyArc] = []
    while (step := reached[end]) is not None:
        end, arc = step
        path.append(arc)
    return path[::-1]
