"""Merging and splitting of Docs with graphs, which spaCy's own functions drop."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator

from spacy.tokens import Doc

from .extensions import DEFAULT_ATTR, require_graph, set_graph
from .graph import SemanticGraph
from .spans import sentences


def merge(docs: Iterable[Doc], attr: str = DEFAULT_ATTR) -> Doc:
    """Merge Docs as `Doc.from_docs` does, and keep their graphs.

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
        raise ValueError("There is nothing to merge: none of the Docs has any tokens.")
    graphs = [require_graph(doc, attr) for doc in docs]
    for doc in docs:
        if not doc.has_annotation("SENT_START"):
            raise ValueError(
                "Cannot merge a Doc without sentence boundaries, because arcs must "
                f"not cross them: {doc.text[:50]!r}. Add a senter or a sentencizer."
            )
    with warnings.catch_warnings():
        # spaCy warns that it drops the graphs, which are merged below.
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
    graph = require_graph(doc, attr)
    for span in sentences(doc):
        sentence = span.as_doc()
        data = _shift(graph.subgraph(span), -span.start)
        set_graph(sentence, SemanticGraph.from_dict(sentence, data), attr)
        yield sentence


def _shift(graph: SemanticGraph, offset: int) -> dict[str, list]:
    """Get the data of a graph with shifted token indices."""
    data = graph.to_dict()
    shifted = {
        "arcs": [[h + offset, d + offset, *rest] for h, d, *rest in data["arcs"]],
        "tops": [i + offset for i in data["tops"]],
        "predicates": [i + offset for i in data.get("predicates", ())],
    }
    if "frames" in data:
        shifted["frames"] = [[i + offset, frame] for i, frame in data["frames"]]
    return shifted
