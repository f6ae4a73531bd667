"""Connectivity, paths and cycles, against networkx."""

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_sdp.graph.algorithms import find_components, find_path, has_cycle

NODES = st.integers(0, 7)
ARCS = st.lists(st.tuples(NODES, NODES, st.just("A")).filter(lambda a: a[0] != a[1]))


def directed(arcs):
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(8))
    graph.add_edges_from(arc[:2] for arc in arcs)
    return graph


@given(ARCS)
def test_cycles(arcs):
    acyclic = networkx.is_directed_acyclic_graph(directed(arcs))
    assert has_cycle(arcs) == (not acyclic)


@given(ARCS)
def test_components(arcs):
    parts = networkx.weakly_connected_components(directed(arcs))
    assert find_components(arcs) == sorted(sorted(p) for p in parts if len(p) > 1)


@pytest.mark.parametrize("is_directed", [True, False])
@given(arcs=ARCS, start=NODES, end=NODES)
def test_paths(is_directed, arcs, start, end):
    graph = directed(arcs) if is_directed else directed(arcs).to_undirected()
    path = find_path(arcs, start, end, directed=is_directed)
    if not networkx.has_path(graph, start, end):
        assert path is None
        return
    assert len(path) == networkx.shortest_path_length(graph, start, end)
    here = start
    for head, dep, _ in path:
        assert here in ((head,) if is_directed else (head, dep))
        here = dep if here == head else head
    assert here == end
