"""The record that every format reads and writes: a sentence with its graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..extensions import DEFAULT_ATTR, get_graph, register_extensions, set_graph
from ..graph import SemanticGraph, sentences
from .files import FormatError

# Where a Doc keeps what belongs to the sentence and not to its graph.
META_KEY = "spacy_sdp"


@dataclass
class Sentence:
    """A sentence with its graph, independent of any vocabulary.

    Indices count from 0. A list of columns is either empty (the format does not have
    it) or as long as `words`; in it, None is a missing value.
    """

    words: list[str]
    arcs: list[tuple[int, int, str]] = field(default_factory=list)
    tops: list[int] = field(default_factory=list)
    id: str | None = None
    comments: list[str] = field(default_factory=list)
    lemmas: list[str | None] = field(default_factory=list)
    tags: list[str | None] = field(default_factory=list)
    frames: list[str | None] = field(default_factory=list)
    predicates: list[bool] = field(default_factory=list)

    def to_doc(self, vocab: Vocab, attr: str = DEFAULT_ATTR) -> Doc:
        """Make a Doc of one sentence, with the graph in `Doc._.<attr>`.

        The format does not know the spaces between the words, so neither does the Doc:
        spaCy's corpus readers then train on these very tokens.

        vocab (Vocab): The shared vocabulary.
        attr (str): The attribute for the graph.
        RETURNS (Doc): The Doc.
        """
        register_extensions(attr)
        doc = Doc(vocab, words=self.words)
        for i, token in enumerate(doc):
            token.is_sent_start = i == 0
            if self.lemmas:
                token.lemma_ = self.lemmas[i] or ""
            if self.tags:
                token.tag_ = self.tags[i] or ""
        graph = SemanticGraph.from_arcs(
            doc,
            self.arcs,
            self.tops,
            frames={i: frame for i, frame in enumerate(self.frames) if frame},
            predicates=[i for i, flag in enumerate(self.predicates) if flag],
        )
        set_graph(doc, graph, attr)
        meta: dict[str, str | list[str]] = {}
        if self.id is not None:
            meta["id"] = self.id
        if self.comments:
            meta["comments"] = list(self.comments)
        if meta:
            doc.user_data[META_KEY] = meta
        return doc

    @classmethod
    def from_doc(cls, doc: Doc, attr: str = DEFAULT_ATTR) -> Iterator[Sentence]:
        """Yield the sentences of a Doc with their graphs.

        Whitespace tokens are left out: they are no words.

        doc (Doc): The document.
        attr (str): The attribute with the graph.
        YIELDS (Sentence): The sentences.
        """
        register_extensions(attr)
        graph = get_graph(doc, attr)
        if graph is None:
            raise FormatError(
                f"a Doc has no graph in Doc._.{attr} ({_excerpt(doc)}); was it saved "
                "without user data? Use DocBin(store_user_data=True)"
            )
        meta = doc.user_data.get(META_KEY, {})
        spans = sentences(doc)
        for number, span in enumerate(spans):
            # Not by token.is_space, which a bare Vocab does not know.
            tokens = [
                token
                for token in span
                if doc.has_unknown_spaces or not token.text.isspace()
            ]
            if not tokens:
                continue
            index = {token.i: i for i, token in enumerate(tokens)}
            arcs = [arc for token in tokens for arc in graph.args(token)]
            for arc in arcs:
                if arc.dep.i not in index:
                    raise FormatError(
                        f"the arc from {arc.head.text!r} (token {arc.head.i}) to "
                        f"{arc.dep.text!r} (token {arc.dep.i}) does not end at a word "
                        f"of the same sentence ({_excerpt(doc)})"
                    )
            if len(spans) == 1:
                sentence_id = meta.get("id")
            else:
                sentence_id = f"{meta['id']}.{number + 1}" if "id" in meta else None
            yield cls(
                words=[token.text for token in tokens],
                arcs=[(index[arc.head.i], index[arc.dep.i], arc.label) for arc in arcs],
                tops=[index[top.i] for top in graph.tops if top.i in index],
                id=sentence_id,
                comments=list(meta.get("comments", ())) if number == 0 else [],
                lemmas=[token.lemma_ or None for token in tokens],
                tags=[token.tag_ or None for token in tokens],
                frames=[graph.frame(token) for token in tokens],
                predicates=[graph.is_predicate(token) for token in tokens],
            )


def _excerpt(doc: Doc) -> str:
    text = " ".join(token.text for token in doc[:6])
    return f'it begins with "{text}"' if text else "it is empty"
