"""Conversion of Records to Docs and back."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from zlib import crc32

from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from ..graph.arc import ROOT_INDEX
from ..graph.extensions import DEFAULT_ATTR, get_graph, register_extensions, set_graph
from ..graph.graph import SemanticGraph
from ..graph.record import EmptyNode, MultiwordToken, Record, column
from ..graph.spans import sentences
from .files import FormatError

# The key in the user data for sentence annotations that are not part of the graph.
META_KEY = "spacy_sdp"


def from_doc(doc: Doc, attr: str = DEFAULT_ATTR) -> Iterator[Record]:
    """Convert the sentences of a Doc to Records with graphs.

    Whitespace tokens are left out, because they are not words.

    doc (Doc): The document.
    attr (str): The attribute with the graph.
    YIELDS (Record): The sentences.
    """
    register_extensions(attr)
    graph = get_graph(doc, attr)
    if graph is None:
        raise FormatError(
            f"a Doc has no graph in Doc._.{attr} ({_excerpt(doc)}); was it saved "
            "without user data? Use DocBin(store_user_data=True)"
        )
    tops = {top.i for top in graph.tops}
    spans = [(span, words) for span in sentences(doc) if (words := _words(span))]
    metas = _sentence_metas(doc, [len(words) for _, words in spans])
    for number, ((span, words), meta) in enumerate(zip(spans, metas, strict=True)):
        _check_ends(span, words, graph, tops)
        sentence = _from_tokens(words, graph, tops)
        if not doc.has_unknown_spaces:
            sentence.text = span.text
            sentence.space_after = _space_after(span, last=number == len(spans) - 1)
        sentence.starts_document = number == 0
        _set_meta(sentence, meta)
        yield sentence


def _space_after(span: Span, *, last: bool) -> bool | None:
    """Check whether there is a space after a sentence; None means unknown."""
    if span[-1].whitespace_:
        return True
    if last:
        # Nothing follows, so a missing space means nothing.
        return None
    # The next sentence may only contain whitespace, and is then left out.
    return span.doc[span.end].text.isspace()


def to_doc(sentences: Sequence[Record], vocab: Vocab, attr: str = DEFAULT_ATTR) -> Doc:
    """Convert sentences to a single Doc, with their graphs in `Doc._.<attr>`.

    sentences (Sequence[Record]): The sentences, at least one.
    vocab (Vocab): The shared vocabulary.
    attr (str): The attribute for the graph.
    RETURNS (Doc): The Doc.
    """
    register_extensions(attr)
    words: list[str] = []
    spaces: list[bool] = []
    sent_starts: list[bool | int | None] = []
    # The Doc indices of the words of each sentence.
    indices: list[list[int]] = []
    known_spaces = all(sentence.text is not None for sentence in sentences)
    for sentence in sentences:
        if known_spaces:
            tokens, follows = split_text(sentence.words, sentence.text or "")
            if sentence.space_after is None:
                follows[-1] |= sentence is not sentences[-1]
            else:
                follows[-1] |= sentence.space_after
            spaces += follows
        else:
            tokens = sentence.words
        is_word = [not (known_spaces and token.isspace()) for token in tokens]
        indices.append([len(words) + i for i, flag in enumerate(is_word) if flag])
        sent_starts += [i == 0 for i in range(len(tokens))]
        words += tokens

    def values_of(name: str) -> list[Any] | None:
        """Get a column for all tokens of the Doc, or None if it is empty."""
        values: list[Any] = [""] * len(words)
        for sentence, index in zip(sentences, indices, strict=True):
            for i, value in zip(index, getattr(sentence, name), strict=False):
                values[i] = value or ""
        return values if any(values) else None

    trees: dict[str, Any] = {}
    if all(sentence.heads for sentence in sentences):
        deps = values_of("deps") or [""] * len(words)
        # spaCy drops heads without labels, so give whitespace a label.
        trees["deps"] = [dep or "dep" for dep in deps]
        trees["heads"] = _doc_heads(sentences, indices, len(words))
    doc = Doc(
        vocab,
        words=words,
        spaces=spaces if known_spaces else None,
        tags=values_of("tags"),
        pos=values_of("pos"),
        morphs=values_of("morphs"),
        lemmas=values_of("lemmas"),
        sent_starts=None if trees else sent_starts,
        **trees,
    )
    pairs = list(zip(sentences, indices, strict=True))
    graph = SemanticGraph.from_arcs(
        doc,
        [(at[h], at[d], label) for each, at in pairs for h, d, label in each.arcs],
        [at[top] for each, at in pairs for top in each.tops],
        frames={
            at[i]: frame
            for each, at in pairs
            for i, frame in enumerate(each.frames)
            if frame
        }
        if any(each.frames for each in sentences)
        else None,
        predicates=[
            at[i]
            for each, at in pairs
            for i, flag in enumerate(each.predicates)
            if flag
        ],
    )
    set_graph(doc, graph, attr)
    metas = [_get_meta(sentence) for sentence in sentences]
    if any(len(meta) > 1 for meta in metas):
        doc.user_data[META_KEY] = metas
    return doc


def find_words(words: list[str], text: str) -> list[tuple[int, int]]:
    """Find the start and end offsets of words in a text.

    words (List[str]): The words, which must cover the text except for whitespace.
    text (str): The text.
    RETURNS (List[Tuple[int, int]]): The start and the end of each word.
    """
    spans: list[tuple[int, int]] = []
    end = 0
    for word in [*words, ""]:
        start = end
        while start < len(text) and text[start].isspace():
            start += 1
        if not text.startswith(word, start) or (not word and start < len(text)):
            raise FormatError(
                f"the text {_shorten(text)!r} does not match the word "
                f"{_shorten(word)!r} at character {start + 1}"
            )
        end = start + len(word)
        spans.append((start, end))
    return spans[:-1]


def split_text(words: list[str], text: str) -> tuple[list[str], list[bool]]:
    """Get the tokens of a text, and whether a space follows each of them.

    As in spaCy's tokenizer, whitespace other than a single space is a token.

    words (List[str]): The words, which must cover the text except for whitespace.
    text (str): The text.
    RETURNS (Tuple[List[str], List[bool]]): Words and whitespace, and the spaces.
    """
    tokens: list[str] = []
    spaces: list[bool] = []
    last = 0
    for start, end in [*find_words(words, text), (len(text), len(text))]:
        if tokens and text[last:start].startswith(" "):
            spaces[-1] = True
            last += 1
        for token in (text[last:start], text[start:end]):
            if token:
                tokens.append(token)
                spaces.append(False)
        last = end
    return tokens, spaces


def _shorten(text: str) -> str:
    return text if len(text) < 60 else f"{text[:57]}..."


def _doc_heads(
    sentences: Sequence[Record], indices: list[list[int]], length: int
) -> list[int]:
    # Attach whitespace tokens to the word before, or else to the first word.
    heads = [-1] * length
    for sentence, at in zip(sentences, indices, strict=True):
        for i, head in zip(at, sentence.heads, strict=True):
            heads[i] = i if head == ROOT_INDEX else at[head]
    word = next((i for i, head in enumerate(heads) if head >= 0), 0)
    for i, head in enumerate(heads):
        if head >= 0:
            word = i
        else:
            heads[i] = word
    return heads


def _words(span: Span) -> list[Token]:
    # token.is_space does not work with a blank Vocab.
    unknown = span.doc.has_unknown_spaces
    return [token for token in span if unknown or not token.text.isspace()]


def _check_ends(
    span: Span, words: list[Token], graph: SemanticGraph, tops: set[int]
) -> None:
    """Raise an error for arcs across sentences or with whitespace tokens."""
    indices = {token.i for token in words}
    for token in span:
        for arc in graph.args(token):
            if not {arc.head.i, arc.dep.i} <= indices:
                raise FormatError(
                    f"the arc from {arc.head.text!r} (token {arc.head.i}) to "
                    f"{arc.dep.text!r} (token {arc.dep.i}) is not between words "
                    f"of the same sentence ({_excerpt(graph.doc)})"
                )
        if token.i in tops and token.i not in indices:
            raise FormatError(
                f"the top {token.text!r} (token {token.i}) is not a word "
                f"({_excerpt(graph.doc)})"
            )


def _from_tokens(tokens: list[Token], graph: SemanticGraph, tops: set[int]) -> Record:
    doc = graph.doc
    index = {token.i: i for i, token in enumerate(tokens)}
    arcs = [arc for token in tokens for arc in graph.args(token)]
    sentence = Record(
        words=[token.text for token in tokens],
        arcs=[(index[arc.head.i], index[arc.dep.i], arc.label) for arc in arcs],
        tops=[number for i, number in index.items() if i in tops],
        lemmas=column(token.lemma_ or None for token in tokens),
        tags=column(token.tag_ or None for token in tokens),
        pos=column(token.pos_ or None for token in tokens),
        morphs=column(_features(token) for token in tokens),
        frames=column(graph.frame(token) for token in tokens),
        predicates=[graph.is_predicate(token) for token in tokens],
    )
    if doc.has_annotation("DEP"):
        sentence.heads = [_head(token, index) for token in tokens]
        sentence.deps = [token.dep_ or None for token in tokens]
    return sentence


def _features(token: Token) -> str | None:
    """Get the features in the order of Universal Dependencies, which ignores case."""
    features = str(token.morph)
    if "|" in features:
        features = "|".join(sorted(features.split("|"), key=str.lower))
    return features or None


def _head(token: Token, index: dict[int, int]) -> int:
    head = token.head
    while head.i not in index and head.head.i != head.i:
        head = head.head
    return ROOT_INDEX if head.i == token.i else index.get(head.i, ROOT_INDEX)


def _get_meta(sentence: Record) -> dict[str, Any]:
    """Get the annotations that a Doc has no attributes for, as plain data."""
    meta: dict[str, Any] = {"words": len(sentence.words)}
    if sentence.id is not None:
        meta["id"] = sentence.id
    if sentence.comments:
        meta["comments"] = list(sentence.comments)
    if sentence.nodes:
        meta["nodes"] = list(sentence.nodes)
    if sentence.misc:
        meta["misc"] = [[i, text] for i, text in enumerate(sentence.misc) if text]
    for name in ("multiword_tokens", "empty_nodes"):
        if nodes := getattr(sentence, name):
            meta[name] = [asdict(node) for node in nodes]
    if sentence.empty_nodes:
        meta["graph"] = _digest(sentence)
    return meta


def _set_meta(sentence: Record, meta: dict[str, Any]) -> None:
    sentence.id = meta.get("id")
    sentence.comments = list(meta.get("comments", ()))
    for text in (*sentence.comments, sentence.id or ""):
        if not isinstance(text, str):
            raise FormatError(
                f"an id or a comment is not a string: {reprlib.repr(text)}"
            )
    sentence.nodes = list(meta.get("nodes", ()))
    if "misc" in meta:
        misc = dict(meta["misc"])
        sentence.misc = [misc.get(i) for i in range(len(sentence.words))]
    for node in meta.get("multiword_tokens", ()):
        sentence.multiword_tokens.append(
            MultiwordToken(**{**node, "cells": list(node["cells"])})
        )
    if meta.get("graph") != _digest(sentence):
        # A parser has predicted another graph, which these nodes do not belong to.
        return
    for node in meta.get("empty_nodes", ()):
        arcs = {name: [(a, b) for a, b in node[name]] for name in ("heads", "args")}
        sentence.empty_nodes.append(EmptyNode(node["id"], list(node["cells"]), **arcs))


def _digest(sentence: Record) -> int:
    """Compute a checksum to detect changes of a graph."""
    return crc32(repr((sorted(sentence.arcs), sorted(sentence.tops))).encode())


def _sentence_metas(doc: Doc, lengths: list[int]) -> list[dict[str, Any]]:
    """Get what `_get_meta` stored for each sentence, if it still applies."""
    metas: list[dict[str, Any]] = list(doc.user_data.get(META_KEY, ()))
    if [meta["words"] for meta in metas] == lengths:
        return metas
    # Another component has changed the sentence boundaries.
    result: list[dict[str, Any]] = [{} for _ in lengths]
    if len(metas) == 1 and "id" in metas[0]:
        for number, meta in enumerate(result, start=1):
            meta["id"] = (
                f"{metas[0]['id']}.{number}" if len(result) > 1 else metas[0]["id"]
            )
    return result


def _excerpt(doc: Doc) -> str:
    text = " ".join(token.text for token in doc[:6])
    return f'it begins with "{text}"' if text else "it is empty"
