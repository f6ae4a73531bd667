"""What can be asked of arcs between numbers, in linear time.

The algorithms are those of the standard library and of networkx, which is imported when
it is used: it takes longer to load than the rest of the package.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
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
    from networkx import Graph, connected_components

    graph = Graph()
    graph.add_edges_from(arc[:2] for arc in arcs)
    return sorted(sorted(component) for component in connected_components(graph))


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
    from networkx import DiGraph, Graph, single_source_shortest_path

    graph = DiGraph() if directed else Graph()
    graph.add_nodes_from((start, end))
    for arc in arcs:
        # Of several arcs between two nodes, the first.
        if not graph.has_edge(arc[0], arc[1]):
            graph.add_edge(arc[0], arc[1], arc=arc)
    nodes = single_source_shortest_path(graph, start).get(end)
    if nodes is None:
        return None
    return [graph.edges[pair]["arc"] for pair in pairwise(nodes)]
