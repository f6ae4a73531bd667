"""Labelled directed graphs between the words of a Doc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import index
from reprlib import repr as quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span, Token

from .algorithms import find_components, find_path, has_cycle
from .arc import Arc, ArcTuple, IndexedArc, Predicate, Triple
from .export import to_networkx, to_penman
from .index import GraphIndex
from .validation import check_arcs, check_frames, check_nodes

if TYPE_CHECKING:
    import networkx

    from .clauses import Clause


class SemanticGraph:
    """A read-only view of the semantic graph of a Doc.

    Iterate over the graph to get its arcs, sorted by head and then by dependent. Get a
    graph from `doc._.sdp`, or create one with `SemanticGraph.from_arcs`. Indices are
    token indices of the Doc. If the Doc is retokenized, using the graph raises a
    ValueError.

    The parts and characteristics of the graph are properties (`tops`, `roots`,
    `is_acyclic`). Methods take arguments or create new objects (`args(token)`,
    `predicates()`, `to_dict()`). Methods that take a token accept the Token or its
    index.

    >>> doc._.sdp
    SemanticGraph(5 arcs, tops: wants)
    >>> [arc for arc in graph if arc.head.text == "eat"]
    [Arc(eat-ARG1->cat)]
    """

    def __init__(
        self,
        doc: Doc,
        arcs: Iterable[IndexedArc],
        tops: Iterable[int],
        frames: Mapping[int, str] | None = None,
        predicates: Iterable[int] = (),
    ) -> None:
        """Create a graph from arcs without validating them. See also `from_arcs`.

        doc (Doc): The document the indices refer to.
        arcs (Iterable[IndexedArc]): The arcs.
        tops (Iterable[int]): Indices of the top nodes.
        frames (Optional[Mapping[int, str]]): The senses of nodes; None if they are not
            annotated.
        predicates (Iterable[int]): Nodes that the annotation marks as predicates
            although they have no arguments.
        """
        self.doc = doc
        self._unchecked = GraphIndex(len(doc), arcs, tops, frames, predicates)

    @classmethod
    def from_arcs(
        cls,
        doc: Doc,
        arcs: Iterable[ArcTuple | Arc],
        tops: Iterable[int] = (),
        *,
        frames: Mapping[int, str] | None = None,
        predicates: Iterable[int] = (),
    ) -> SemanticGraph:
        """Create a graph from token indices and validate it.

        doc (Doc): The document the indices refer to.
        arcs (Iterable[ArcTuple | Arc]): `(head, dep, label)`, `(head, dep, label,
            score)`, or arcs of another graph.
        tops (Iterable[int]): Indices of the top nodes.
        frames (Optional[Mapping[int, str]]): The senses of nodes; None if they are not
            annotated.
        predicates (Iterable[int]): Nodes that are predicates without arguments.
        RETURNS (SemanticGraph): The graph.

        >>> SemanticGraph.from_arcs(doc, [(3, 2, "ARG1")], tops=[3])
        SemanticGraph(1 arcs, tops: wants)
        """
        indexed = check_arcs(doc, arcs)
        tops = check_nodes(doc, tops, "top")
        if frames is not None:
            frames = check_frames(doc, frames)
        predicates = check_nodes(doc, predicates, "predicate")
        has_args = {arc.head for arc in indexed}
        return cls(doc, indexed, tops, frames, set(predicates) - has_args)

    @classmethod
    def from_dict(cls, doc: Doc, data: Mapping[str, Any]) -> SemanticGraph:
        """Create a graph from the output of `to_dict` and validate it.

        doc (Doc): The document, with the same tokens as the original.
        data (Mapping[str, Any]): The dictionary.
        RETURNS (SemanticGraph): The graph.

        >>> SemanticGraph.from_dict(doc, graph.to_dict()) == graph
        True
        """
        keys = set(data) if isinstance(data, Mapping) else set()
        unknown = keys - {"tokens", "arcs", "tops", "frames", "predicates"}
        if unknown or not {"arcs", "tops"} <= keys:
            raise ValueError(
                "A graph dictionary must have the keys 'arcs' and 'tops' and may have "
                "'tokens', 'frames' and 'predicates', but found "
                f"{sorted(map(str, keys)) if keys else quote(data)}."
            )
        if data.get("tokens", len(doc)) != len(doc):
            raise ValueError(
                f"The graph was made for {data['tokens']} tokens, but the Doc has "
                f"{len(doc)}. Was it retokenized?"
            )
        return cls.from_arcs(
            doc,
            data["arcs"],
            data["tops"],
            frames=_to_frames(data["frames"]) if "frames" in data else None,
            predicates=data.get("predicates", ()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert the graph to a JSON-serializable dictionary.

        RETURNS (dict): `tokens`, the length of the Doc; `arcs`, a list of
            `[head, dep, label, score]`; `tops`, a list of indices; and, if the
            annotation has them, `frames`, a list of `[index, frame]`, and
            `predicates`, the indices of predicates without arguments.

        >>> graph.to_dict()["arcs"][0]
        [0, 2, 'BV', None]
        """
        index = self._index
        data: dict[str, Any] = {
            "tokens": index.n_tokens,
            "arcs": [list(arc) for arc in index.arcs],
            "tops": list(index.tops),
        }
        if index.frames is not None:
            data["frames"] = [[i, frame] for i, frame in index.frames.items()]
        if index.predicates:
            data["predicates"] = list(index.predicates)
        return data

    @classmethod
    def _from_index(cls, doc: Doc, index: GraphIndex) -> SemanticGraph:
        """Create a graph from an index that is known to belong to the Doc."""
        index.check(doc)
        graph = cls.__new__(cls)
        graph.doc = doc
        graph._unchecked = index
        return graph

    @property
    def _index(self) -> GraphIndex:
        """The index of the graph. Raises an error if the Doc was retokenized."""
        self._unchecked.check(self.doc)
        return self._unchecked

    @property
    def indexed_arcs(self) -> tuple[IndexedArc, ...]:
        """RETURNS (Tuple[IndexedArc, ...]): The arcs as token indices.

        >>> graph.indexed_arcs[0]
        IndexedArc(head=0, dep=2, label='BV', score=None)
        """
        return self._index.arcs

    @property
    def tops(self) -> tuple[Token, ...]:
        """RETURNS (Tuple[Token, ...]): The top nodes, usually the main predicates.

        >>> graph.tops
        (wants,)
        """
        return tuple(self.doc[i] for i in self._index.tops)

    def heads(self, token: Token | int) -> tuple[Arc, ...]:
        """Get the arcs in which a token is the argument.

        token (Token | int): A token of the graph's Doc, or its index.
        RETURNS (Tuple[Arc, ...]): The arcs, sorted by head.

        >>> graph.heads(doc[5])
        (Arc(wants-ARG2->eat),)
        """
        return self._view(self._index.by_dep.get(self._position(token), ()))

    def args(self, token: Token | int) -> tuple[Arc, ...]:
        """Get the arcs from a token to its arguments.

        token (Token | int): A token of the graph's Doc, or its index.
        RETURNS (Tuple[Arc, ...]): The arcs, sorted by dependent.

        >>> graph.args(doc[3])
        (Arc(wants-ARG1->cat), Arc(wants-ARG2->eat))
        >>> graph.args(3) == graph.args(doc[3])
        True
        """
        return self._view(self._index.by_head.get(self._position(token), ()))

    @property
    def has_frames(self) -> bool:
        """RETURNS (bool): Whether senses are annotated or predicted, even if no
        word has one.

        >>> graph.has_frames
        False
        """
        return self._index.frames is not None

    def frame(self, token: Token | int) -> str | None:
        """Get the sense of a token.

        token (Token | int): A token of the graph's Doc, or its index.
        RETURNS (Optional[str]): The sense, or None.

        >>> SemanticGraph.from_arcs(doc, [], frames={5: "v:e-x-x"}).frame(doc[5])
        'v:e-x-x'
        """
        i = self._position(token)
        return (self._index.frames or {}).get(i)

    def is_predicate(self, token: Token | int) -> bool:
        """Check whether a token has arguments or is annotated as a predicate.

        token (Token | int): A token of the graph's Doc, or its index.
        RETURNS (bool): Whether it is a predicate.

        >>> graph.is_predicate(doc[1]), graph.is_predicate(doc[2])
        (True, False)
        """
        index, i = self._index, self._position(token)
        return i in index.by_head or i in index.predicates

    def predicates(self) -> list[Predicate]:
        """Get the predicates with their arguments, in the order of the words.

        RETURNS (List[Predicate]): The words that have arguments, or are annotated as
            predicates without any.

        >>> graph.predicates()[2:]
        [Predicate(wants: ARG1 cat, ARG2 eat), Predicate(eat: ARG1 cat)]
        >>> graph.predicates()[2].args["ARG1"]
        (cat,)
        """
        index = self._index
        predicates = []
        for i in sorted({*index.by_head, *index.predicates}):
            args: dict[str, list[Token]] = {}
            for arc in index.by_head.get(i, ()):
                args.setdefault(arc.label, []).append(self.doc[arc.dep])
            predicates.append(
                Predicate(
                    self.doc[i],
                    {label: tuple(each) for label, each in args.items()},
                    (index.frames or {}).get(i),
                )
            )
        return predicates

    def triples(self) -> list[Triple]:
        """Get the arcs as text.

        RETURNS (List[Triple]): Predicate, label and argument of each arc, for example
            for a `pandas.DataFrame`.

        >>> graph.triples()[2]
        Triple(predicate='wants', label='ARG1', argument='cat')
        """
        return [Triple(arc.head.text, arc.label, arc.dep.text) for arc in self]

    def clauses(self, conjuncts: bool = False) -> list[Clause]:
        """Extract who did what to whom, as phrases.

        conjuncts (bool): Whether to distribute coordinated subjects and objects: "Anna
            and Ben bought tea and cake" then has four clauses instead of one.
        RETURNS (List[Clause]): The clauses, in the order of their verbs.

        >>> graph.clauses()
        [Clause(The shy cat | wants | to eat), Clause(The shy cat | eat)]
        """
        from .extraction import extract_clauses

        return extract_clauses(self, conjuncts=conjuncts)

    def subgraph(self, span: Span) -> SemanticGraph:
        """Get the part of the graph inside a span.

        span (Span): A span of the graph's Doc.
        RETURNS (SemanticGraph): The arcs with both ends in the span, and the tops in
            it. Indices still refer to the Doc.

        >>> list(graph.subgraph(doc[3:6]))
        [Arc(wants-ARG2->eat)]
        """
        if span.doc is not self.doc:
            raise ValueError(f"The span {span.text!r} belongs to another Doc.")
        index, inside = self._index, range(span.start, span.end)
        arcs = (arc for i in inside for arc in index.by_head.get(i, ()))
        return SemanticGraph(
            self.doc,
            [arc for arc in arcs if arc.dep in inside],
            [i for i in inside if i in index.tops],
            None
            if index.frames is None
            else {i: index.frames[i] for i in inside if i in index.frames},
            [i for i in inside if i in index.predicates],
        )

    def path(
        self, start: Token | int, end: Token | int, *, directed: bool = False
    ) -> tuple[Arc, ...] | None:
        """Find the shortest path between two words.

        start (Token | int): The first word of the path, a token or its index.
        end (Token | int): The last word of the path.
        directed (bool): Whether to follow arcs from predicates to arguments only.
        RETURNS (Optional[Tuple[Arc, ...]]): The arcs on the path, or None if the words
            are not connected.

        >>> graph.path(doc[1], doc[5])
        (Arc(shy-ARG1->cat), Arc(eat-ARG1->cat))
        """
        ends = self._position(start), self._position(end)
        path = find_path(self.indexed_arcs, *ends, directed=directed)
        return None if path is None else self._view(path)

    @property
    def roots(self) -> tuple[Token, ...]:
        """RETURNS (Tuple[Token, ...]): Predicates that are not arguments of others.

        >>> graph.roots
        (The, shy, wants)
        """
        index = self._index
        return tuple(self.doc[i] for i in index.by_head if i not in index.by_dep)

    @property
    def is_acyclic(self) -> bool:
        """RETURNS (bool): Whether the graph has no directed cycles.

        >>> graph.is_acyclic
        True
        """
        return not has_cycle(self.indexed_arcs)

    @property
    def components(self) -> tuple[tuple[Token, ...], ...]:
        """RETURNS (Tuple[Tuple[Token, ...], ...]): The connected components.

        >>> graph.components
        ((The, shy, cat, wants, eat),)
        """
        found = find_components(self.indexed_arcs)
        return tuple(tuple(self.doc[i] for i in component) for component in found)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Convert the graph to networkx.

        RETURNS (networkx.MultiDiGraph): The nodes are token indices with `text`,
            `lemma`, `tag` and `top`. The edges have `label` and `score`.

        >>> graph.to_networkx().edges[3, 2, "ARG1"]["label"]
        'ARG1'
        """
        return to_networkx(self)

    def to_penman(self) -> str:
        """Convert the graph to PENMAN notation, the notation of AMR.

        RETURNS (str): One block for each connected component, with blank lines in
            between.

        >>> print(graph.to_penman())
        (t3 / wants
           :ARG1 (t2 / cat
              :BV-of (t0 / The)
              :ARG1-of (t1 / shy)
              :ARG1-of (t5 / eat
                 :ARG2-of t3)))
        """
        return to_penman(self)

    def _repr_html_(self) -> str:
        """RETURNS (str): Pictures for a notebook, with scrollbars if they are wide."""
        from ..display import to_html

        return to_html(self)

    def _repr_svg_(self) -> str | None:
        """RETURNS (Optional[str]): The picture, if the Doc is a single sentence."""
        from ..display import draw

        pictures = draw(self)
        return pictures[0] if len(pictures) == 1 else None

    @property
    def arcs_by_head(self) -> Mapping[int, tuple[IndexedArc, ...]]:
        """RETURNS (Mapping[int, Tuple[IndexedArc, ...]]): The arcs of each predicate.

        >>> [arc.label for arc in graph.arcs_by_head[3]]
        ['ARG1', 'ARG2']
        """
        return MappingProxyType(self._index.by_head)

    @property
    def arcs_by_dep(self) -> Mapping[int, tuple[IndexedArc, ...]]:
        """RETURNS (Mapping[int, Tuple[IndexedArc, ...]]): The arcs to each argument.

        >>> [arc.label for arc in graph.arcs_by_dep[5]]
        ['ARG2']
        """
        return MappingProxyType(self._index.by_dep)

    def _position(self, token: Token | int) -> int:
        if isinstance(token, Token):
            if token.doc is not self.doc:
                raise ValueError(f"The token {token.text!r} belongs to another Doc.")
            return token.i
        try:
            i = index(token)
        except TypeError:
            raise TypeError(
                f"Expected a Token or its index, not {quote(token)}."
            ) from None
        # No negative indices, because -1 stands for the virtual root in arcs.
        if not 0 <= i < len(self.doc):
            raise IndexError(
                f"There is no token {i}: the Doc has {len(self.doc)} tokens."
            )
        return i

    def _view(self, arcs: Iterable[IndexedArc]) -> tuple[Arc, ...]:
        return tuple(Arc.from_indices(self.doc, *arc) for arc in arcs)

    def __iter__(self) -> Iterator[Arc]:
        return iter(self._view(self.indexed_arcs))

    def __len__(self) -> int:
        return len(self.indexed_arcs)

    def __bool__(self) -> bool:
        """RETURNS (bool): Whether the graph has any arcs or tops."""
        return bool(self._index.arcs or self._index.tops)

    def __eq__(self, other: object) -> bool:
        """Compare words, arcs and tops, but not scores and frames."""
        if not isinstance(other, SemanticGraph):
            return NotImplemented
        return _structure(self._index) == _structure(other._index) and [
            token.text for token in self.doc
        ] == [token.text for token in other.doc]

    def __hash__(self) -> int:
        # The hash of a dictionary key must neither change nor fail.
        return hash(_structure(self._unchecked))

    def __repr__(self) -> str:
        if len(self.doc) != self._unchecked.n_tokens:
            # An error would not help in debuggers and logs.
            return "SemanticGraph(of a Doc that was retokenized)"
        tops = ", ".join(token.text for token in self.tops)
        return f"SemanticGraph({len(self)} arcs, tops: {tops or 'none'})"


def _structure(index: GraphIndex) -> tuple[tuple[Any, ...], ...]:
    """Get the parts that must be equal for graphs to be equal."""
    return tuple(arc[:3] for arc in index.arcs), tuple(index.tops)


def _to_frames(pairs: Any) -> dict[Any, Any]:
    """Convert pairs of index and frame to a dictionary."""
    try:
        pairs = list(pairs)
        frames = dict(pairs)
    except (TypeError, ValueError):
        raise ValueError(
            f"Expected the frames as a list of [index, frame], found {quote(pairs)}."
        ) from None
    if len(frames) != len(pairs):
        raise ValueError(f"A token has two frames: {quote(pairs)}.")
    return frames
