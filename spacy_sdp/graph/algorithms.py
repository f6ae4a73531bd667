"""Graph algorithms on arcs between integers, in linear time.

They use the standard library and networkx. networkx is only imported when it is needed,
because it takes longer to load than the rest of the package.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeVar

# An arc: head, dependent, and any other fields.
AnyArc = TypeVar("AnyArc", bound=Sequence)


def has_cycle(arcs: Iterable[AnyArc]) -> bool:
    """Check whether the arcs form a directed cycle.

    arcs (Iterable[Sequence]): The arcs: head, dependent, and any other fields.
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
    """Find the connected components, ignoring the direction of arcs.

    arcs (Iterable[Sequence]): The arcs: head, dependent, and any other fields.
    RETURNS (List[List[int]]): The nodes of each component, sorted.
    """
    from networkx import Graph, connected_components

    graph = Graph()
    graph.add_edges_from(arc[:2] for arc in arcs)
    return sorted(sorted(component) for component in connected_components(graph))


def find_path(
    arcs: Iterable[AnyArc], start: int, end: int, *, directed: bool
) -> list[AnyArc] | None:
    """Find the shortest path between two nodes.

    arcs (Iterable[Sequence]): The arcs: head, dependent, and any other fields.
    start (int): The first node of the path.
    end (int): The last node of the path.
    directed (bool): Whether to follow arcs from head to dependent only.
    RETURNS (Optional[List[Sequence]]): The arcs on the path, or None if the nodes are
        not connected.
    """
    from networkx import DiGraph, Graph, single_source_shortest_path

    graph = DiGraph() if directed else Graph()
    graph.add_nodes_from((start, end))
    for arc in arcs:
        # Keep the first of several arcs between two nodes.
        if not graph.has_edge(arc[0], arc[1]):
            graph.add_edge(arc[0], arc[1], arc=arc)
    nodes = single_source_shortest_path(graph, start).get(end)
    if nodes is None:
        return None
    return [graph.edges[pair]["arc"] for pair in pairwise(nodes)]
