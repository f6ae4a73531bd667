"""Joining and splitting Docs with their graphs, which spaCy's own functions lose."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator

from spacy.tokens import Doc

from .extensions import DEFAULT_ATTR, get_graph, set_graph
from .graph import SemanticGraph
from .spans import sentences


def merge(docs: Iterable[Doc], attr: str = DEFAULT_ATTR) -> Doc:
    """Join Docs as `Doc.from_docs` does, and keep their graphs.

    docs (Iterable[Doc]): The Docs, with graphs, sentence boundaries, and the same
        vocabulary.
    attr (str): The attribute with the graphs.
    RETURNS (Doc): One Doc with one graph.

    >>> both = merge([doc, doc])
    >>> len(both), len(both._.sdp), both._.sdp.tops
    (14, 10, (wants, wants))
    """
    docs = [doc for doc in docs if len(doc)]
    if not docs:
        raise ValueError("There is nothing to merge: no Doc has a token.")
    graphs = [_require_graph(doc, attr) for doc in docs]
    for doc in docs:
        if not doc.has_annotation("SENT_START"):
            raise ValueError(
                "A Doc without sentence boundaries cannot be merged, because no arc "
                f"may cross one: {doc.text[:50]!r}. Add a senter or a sentencizer."
            )
    with warnings.catch_warnings():
        # That graphs are not carried over, which is what this function is for.
        ours = rf"\[W101\] Skipping Doc custom extension '{re.escape(attr)}'"
        warnings.filterwarnings("ignore", message=ours)
        merged = Doc.from_docs(docs)
    assert merged is not None
    combined: dict[str, list] = {"arcs": [], "tops": []}
    start = 0
    for doc, graph in zip(docs, graphs, strict=True):
        for key, values in _shift(graph, start).items():
            combined.setdefault(key, []).extend(values)
        start += len(doc)
    set_graph(merged, SemanticGraph.from_dict(merged, combined), attr)
    return merged


def split_sents(doc: Doc, attr: str = DEFAULT_ATTR) -> Iterator[Doc]:
    """Yield a Doc for each sentence, as `Span.as_doc` does, and keep the graph.

    doc (Doc): The Doc, with a graph.
    attr (str): The attribute with the graph.
    YIELDS (Doc): The sentences.

    >>> [len(each._.sdp) for each in split_sents(merge([doc, doc]))]
    [5, 5]
    """
    graph = _require_graph(doc, attr)
    for span in sentences(doc):
        sentence = span.as_doc()
        data = _shift(graph.subgraph(span), -span.start)
        set_graph(sentence, SemanticGraph.from_dict(sentence, data), attr)
        yield sentence


def _shift(graph: SemanticGraph, offset: int) -> dict[str, list]:
    """Give the data of a graph with other token indices."""
    data = graph.to_dict()
    shifted = {
        "arcs": [[h + offset, d + offset, *rest] for h, d, *rest in data["arcs"]],
        "tops": [i + offset for i in data["tops"]],
        "predicates": [i + offset for i in data.get("predicates", ())],
    }
    if "frames" in data:
        shifted["frames"] = [[i + offset, frame] for i, frame in data["frames"]]
    return shifted


def _require_graph(doc: Doc, attr: str) -> SemanticGraph:
    graph = get_graph(doc, attr)
    if graph is None:
        raise ValueError(f"A Doc has no graph in Doc._.{attr}: {doc.text[:50]!r}.")
    return graph
