"""Export of graphs to networkx and PENMAN notation.

PENMAN is written by hand, because the `penman` library is recursive and fails on long
sentences whose arcs form a chain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from spacy.tokens import Token

from .algorithms import find_components

if TYPE_CHECKING:
    import networkx

    from .graph import SemanticGraph

# Characters that PENMAN roles cannot contain, and concepts that need no quotes.
NOT_IN_ROLES = re.compile(r"[\s()/:~\"]")
PLAIN_CONCEPT = re.compile(r"[\w.+-]+")
INDENT = "   "


def to_networkx(graph: SemanticGraph) -> networkx.MultiDiGraph:
    """Convert a graph to networkx.

    graph (SemanticGraph): The graph.
    RETURNS (networkx.MultiDiGraph): The nodes are token indices with `text`, `lemma`,
        `tag` and `top`, and `frame` if the graph has frames. The edges have `label` and
        `score`, and the label as key.
    """
    from networkx import MultiDiGraph

    result = MultiDiGraph()
    tops = set(graph.tops)
    for token in _nodes(graph):
        result.add_node(
            token.i,
            text=token.text,
            lemma=token.lemma_,
            tag=token.tag_,
            top=token in tops,
            **({"frame": graph.frame(token)} if graph.has_frames else {}),
        )
    for head, dep, label, score in graph.indexed_arcs:
        result.add_edge(head, dep, key=label, label=label, score=score)
    return result


def to_penman(graph: SemanticGraph) -> str:
    """Convert a graph to PENMAN notation, the notation of AMR.

    graph (SemanticGraph): The graph.
    RETURNS (str): One block for each connected component, starting at its top, with
        blank lines in between. Variables are "t" and the index of the token. Frames are
        attributes: `:frame "v:e-x-x"`.
    """
    parts = find_components(graph.indexed_arcs)
    connected = {i for part in parts for i in part}
    parts += [[token.i] for token in _nodes(graph) if token.i not in connected]
    return "\n\n".join(_penman_part(graph, part) for part in sorted(parts))


def _nodes(graph: SemanticGraph) -> list[Token]:
    """Get the words that have an arc or a frame, and the tops."""
    indices = {i for arc in graph.indexed_arcs for i in arc[:2]}
    indices.update(token.i for token in graph.tops)
    return [token for token in graph.doc if token.i in indices or graph.frame(token)]


def _penman_part(graph: SemanticGraph, part: list[int]) -> str:
    # The arcs of each node: number, role and other node. Arcs to arguments come first.
    # Arcs to heads have the inverse role.
    arcs: defaultdict[int, list[tuple[int, str, int]]] = defaultdict(list)
    numbered = list(enumerate(graph.indexed_arcs))
    for number, (head, dep, label, _) in numbered:
        arcs[head].append((number, f":{NOT_IN_ROLES.sub('_', label)}", dep))
    for number, (head, dep, label, _) in numbered:
        arcs[dep].append((number, f":{NOT_IN_ROLES.sub('_', label)}-of", head))
    start = _first_node(graph, part)
    pieces = [f"({_instance(graph, start)}"]
    written_nodes, written_arcs = {start}, set()
    # Depth first, without recursion, because sentences may be long.
    open_nodes = [iter(arcs[start])]
    while open_nodes:
        for number, role, other in open_nodes[-1]:
            if number in written_arcs:
                continue
            written_arcs.add(number)
            line = f"\n{INDENT * len(open_nodes)}{role} "
            if other in written_nodes:
                pieces.append(f"{line}t{other}")
                continue
            written_nodes.add(other)
            pieces.append(f"{line}({_instance(graph, other)}")
            open_nodes.append(iter(arcs[other]))
            break
        else:
            open_nodes.pop()
            pieces.append(")")
    return "".join(pieces)


def _first_node(graph: SemanticGraph, part: list[int]) -> int:
    """Get the top of a component, or else a node without heads, or else any node."""
    tops = {token.i for token in graph.tops}
    deps = {arc.dep for arc in graph.indexed_arcs}
    return min(part, key=lambda i: (i not in tops, i in deps, i))


def _instance(graph: SemanticGraph, i: int) -> str:
    """Format a node with its concept, and its frame if it has one."""
    text, frame = graph.doc[i].text, graph.frame(i)
    concept = text if PLAIN_CONCEPT.fullmatch(text) else _quoted(text)
    return f"t{i} / {concept}" + (f" :frame {_quoted(frame)}" if frame else "")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
