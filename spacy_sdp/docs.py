"""Joining and splitting Docs with their graphs, which spaCy's own functions lose."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from spacy.tokens import Doc

from .extensions import DEFAULT_ATTR, get_graph, set_graph
from .graph import SemanticGraph
from .sentences import sentences


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
        warnings.filterwarnings("ignore", message=r"\[W101\]")
        merged = Doc.from_docs(docs)
    assert merged is not None
    starts = [sum(map(len, docs[:number])) for number in range(len(docs))]
    pairs = list(zip(graphs, starts, strict=True))
    graph = SemanticGraph.from_arcs(
        merged,
        [
            (arc.head + start, arc.dep + start, arc.label, arc.score)
            for each, start in pairs
            for arc in each.indexed_arcs
        ],
        [top.i + start for each, start in pairs for top in each.tops],
        frames={
            token.i + start: frame
            for each, start in pairs
            for token in each.doc
            if (frame := each.frame(token)) is not None
        },
        predicates=[
            token.i + start
            for each, start in pairs
            for token in each.doc
            if each.is_predicate(token)
        ],
    )
    set_graph(merged, graph, attr)
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
        part = graph.subgraph(span)
        sentence = span.as_doc()
        start = span.start
        shifted = SemanticGraph.from_arcs(
            sentence,
            [
                (arc.head - start, arc.dep - start, arc.label, arc.score)
                for arc in part.indexed_arcs
            ],
            [top.i - start for top in part.tops],
            frames={
                token.i - start: frame
                for token in span
                if (frame := part.frame(token)) is not None
            },
            predicates=[token.i - start for token in span if part.is_predicate(token)],
        )
        set_graph(sentence, shifted, attr)
        yield sentence


def _require_graph(doc: Doc, attr: str) -> SemanticGraph:
    graph = get_graph(doc, attr)
    if graph is None:
        raise ValueError(f"A Doc has no graph in Doc._.{attr}: {doc.text[:50]!r}.")
    return graph
