"""Graphs in the DOT language of Graphviz."""

from __future__ import annotations

from .picture import INVENTED, MATCH, MISSED, Picture

TOP_COLOR = "#1f5fa8"
# Colours of arcs and tops in a comparison.
COLORS = {MATCH: "#2e7d32", MISSED: "#a86400", INVENTED: "#b3261e"}


def draw_dot(picture: Picture) -> str:
    """Draw a sentence as a graph for Graphviz.

    picture (Picture): The words and arcs.
    RETURNS (str): A `digraph`, only with words that are in the graph.
    """
    # Arcs in both graphs are drawn once.
    arcs = picture.above + [arc for arc in picture.below if arc.kind != MATCH]
    used = {*picture.tops, *(end for arc in arcs for end in (arc.head, arc.dep))}
    lines = ["digraph {", "  node [shape=plaintext];"]
    for i, word in enumerate(picture.words):
        if i in used:
            style = ""
            if i in picture.tops:
                style = f', fontcolor="{COLORS.get(picture.tops[i], TOP_COLOR)}"'
            lines.append(f"  {i} [label={_quote(word)}{style}];")
    lines += [
        f"  {arc.head} -> {arc.dep} [label={_quote(arc.label)}{_arc_style(arc.kind)}];"
        for arc in arcs
    ]
    return "\n".join([*lines, "}"])


def _arc_style(kind: str) -> str:
    if not kind:
        return ""
    dashes = ", style=dashed" if kind == MISSED else ""
    return f', color="{COLORS[kind]}"{dashes}'


def _quote(text: str) -> str:
    # In Graphviz, a backslash before a letter is an escape sequence.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", " ").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return f'"{escaped}"'
