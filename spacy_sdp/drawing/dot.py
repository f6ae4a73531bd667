"""Graphs in the language of Graphviz."""

from __future__ import annotations

from .picture import INVENTED, MATCH, MISSED, Picture

# How arcs and tops are drawn, by what they are in a comparison.
ARC_STYLES = {
    "": "",
    MATCH: ', color="#2e7d32"',
    MISSED: ', color="#c77700", style=dashed',
    INVENTED: ', color="#b3261e"',
}
TOP_COLORS = {"": "#1f5fa8", MATCH: "#2e7d32", MISSED: "#c77700", INVENTED: "#b3261e"}


def draw_dot(picture: Picture) -> str:
    """Write a sentence as a graph for Graphviz.

    picture (Picture): The words and arcs.
    RETURNS (str): A `digraph`, without words that have no part in it.
    """
    # An arc in both graphs is drawn once.
    arcs = picture.above + [arc for arc in picture.below if arc.kind != MATCH]
    used = {*picture.tops, *(end for arc in arcs for end in (arc.head, arc.dep))}
    lines = ["digraph {", "  node [shape=plaintext];"]
    for i, word in enumerate(picture.words):
        if i in used:
            style = ""
            if i in picture.tops:
                style = f', fontcolor="{TOP_COLORS[picture.tops[i]]}"'
            lines.append(f"  {i} [label={_quote(word)}{style}];")
    lines += [
        f"  {arc.head} -> {arc.dep} [label={_quote(arc.label)}{ARC_STYLES[arc.kind]}];"
        for arc in arcs
    ]
    return "\n".join([*lines, "}"])


def _quote(text: str) -> str:
    # A backslash before a letter is an escape sequence of Graphviz.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + escaped.replace("\n", " ").replace("\0", "\N{REPLACEMENT CHARACTER}")
        + '"'
    )
