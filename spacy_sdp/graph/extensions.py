"""Extension attributes that store and access the graph of a Doc."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from keyword import iskeyword
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, Token

from .arc import ROOT_INDEX, Arc, ArcTuple
from .graph import SemanticGraph
from .index import GraphIndex

if TYPE_CHECKING:
    from .clauses import Clause

DEFAULT_ATTR = "sdp"

# Names that spaCy's Underscore class uses itself.
RESERVED = ("get", "has", "set")

# A cache of graph indices by Doc and attribute, with the data they were made from. It
# is kept out of `Doc.user_data`, which is copied and saved with the Doc. Entries are
# removed together with their Doc.
_INDICES: WeakKeyDictionary[Doc, dict[str, tuple[dict[str, Any], GraphIndex]]]
_INDICES = WeakKeyDictionary()


def register_extensions(attr: str = DEFAULT_ATTR) -> None:
    """Register the extension attributes of a graph.

    These are `Doc._.<attr>`, `Span._.<attr>`, `Token._.<attr>_heads`,
    `Token._.<attr>_args`, `Token._.<attr>_top`, `Doc._.<attr>_clauses` and
    `Span._.<attr>_clauses`. The parser registers them for its own `attr`. Call the
    function yourself to read Docs that were parsed elsewhere. Calling it again is
    harmless.

    attr (str): The name of the attribute.

    >>> register_extensions("psd")
    >>> doc._.psd = [(3, 2, "ACT-arg")]
    >>> doc[3]._.psd_args
    (Arc(wants-ACT-arg->cat),)
    """
    if (
        not isinstance(attr, str)
        or not attr.isidentifier()
        or iskeyword(attr)
        or attr in RESERVED
    ):
        raise ValueError(
            "The setting 'attr' must be a Python identifier such as 'sdp', not "
            f"{attr!r}: graphs are stored in Doc._.<attr>."
        )
    # Partials of module-level functions, because the extensions are pickled for worker
    # processes, and lambdas cannot be pickled.
    token_getters: dict[str, Callable[..., Any]] = {
        f"{attr}_heads": _token_heads,
        f"{attr}_args": _token_args,
        f"{attr}_top": _token_is_top,
    }
    _register(
        Doc, attr, getter=partial(get_graph, attr=attr), setter=partial(_set, attr=attr)
    )
    _register(Span, attr, getter=partial(span_graph, attr=attr))
    _register(Doc, f"{attr}_clauses", getter=partial(doc_clauses, attr=attr))
    _register(Span, f"{attr}_clauses", getter=partial(span_clauses, attr=attr))
    for name, function in token_getters.items():
        _register(Token, name, getter=partial(function, attr=attr))


def _register(cls: Any, name: str, **functions: partial) -> None:
    if cls.has_extension(name):
        getter = cls.get_extension(name)[2]
        # Compare the name, which is also the same in a worker process.
        if getattr(getattr(getter, "func", None), "__module__", None) != __name__:
            raise ValueError(
                f"{cls.__name__}._.{name} is already in use by other code. Choose "
                "another name with the setting 'attr'."
            )
    else:
        cls.set_extension(name, **functions)


def storage_key(attr: str) -> tuple[str, str, None, None]:
    """Get the key of the graph in `Doc.user_data`.

    It has the form that spaCy uses for attributes without a getter, so `Span.as_doc`
    and `Doc.from_docs` know that they cannot copy the value unchanged.
    """
    return ("._.", attr, None, None)


def _user_data(doc: Doc) -> dict[Any, Any]:
    # spaCy types the keys as strings, but uses tuples itself.
    return doc.user_data


def get_graph(doc: Doc, attr: str = DEFAULT_ATTR) -> SemanticGraph | None:
    """Get the graph of a Doc.

    doc (Doc): The document.
    attr (str): The name of the attribute.
    RETURNS (Optional[SemanticGraph]): The graph, or None if the Doc has neither an
        annotated nor a predicted graph. An empty graph is not None.
    """
    data = _user_data(doc).get(storage_key(attr))
    if data is None:
        return None
    indices = _INDICES.setdefault(doc, {})
    source, index = indices.get(attr, ({}, None))
    if index is None or not _same_values(source, data):
        frozen = _freeze(data)
        if frozen != data:
            _user_data(doc)[storage_key(attr)] = data = frozen
        index = GraphIndex.from_stored(data)
        indices[attr] = (dict(data), index)
    return SemanticGraph._from_index(doc, index)


def require_graph(doc: Doc, attr: str = DEFAULT_ATTR) -> SemanticGraph:
    """Get the graph of a Doc. Raises an error if it has none."""
    graph = get_graph(doc, attr)
    if graph is None:
        raise ValueError(
            f"The Doc {doc.text[:50]!r} has no graph in Doc._.{attr}. Parse it first, "
            "or specify another 'attr'. Docs that were saved with a DocBin only keep "
            "their graphs with store_user_data=True."
        )
    return graph


def _freeze(data: dict[str, Any]) -> dict[str, Any]:
    """Convert lists to tuples.

    Tuples cannot be changed in place, only replaced, which `_same_values` detects.
    """
    return {
        key: tuple(tuple(each) if isinstance(each, list) else each for each in value)
        if isinstance(value, list | tuple)
        else value
        for key, value in data.items()
    }


def _same_values(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(one[key] is other[key] for key in one)


def span_graph(span: Span, attr: str = DEFAULT_ATTR) -> SemanticGraph | None:
    """Get the part of the graph inside a span, or None if the Doc has no graph."""
    graph = get_graph(span.doc, attr)
    return None if graph is None else graph.subgraph(span)


def doc_clauses(doc: Doc, attr: str = DEFAULT_ATTR) -> list[Clause]:
    """Get the clauses of a Doc; empty without a graph."""
    graph = get_graph(doc, attr)
    return [] if graph is None else graph.clauses()


def span_clauses(span: Span, attr: str = DEFAULT_ATTR) -> list[Clause]:
    """Get the clauses whose verb is in a span; empty without a graph."""
    from .extraction import extract_clauses

    graph = get_graph(span.doc, attr)
    return [] if graph is None else extract_clauses(graph, span=span)


def set_graph(doc: Doc, graph: SemanticGraph | None, attr: str = DEFAULT_ATTR) -> None:
    """Store a graph on a Doc as plain numbers and strings.

    doc (Doc): The document.
    graph (Optional[SemanticGraph]): The graph; None removes the stored one.
    attr (str): The name of the attribute.
    """
    if graph is None:
        _user_data(doc).pop(storage_key(attr), None)
    else:
        _user_data(doc)[storage_key(attr)] = _freeze(graph.to_dict())


def _set(doc: Doc, value: SemanticGraph | Iterable[ArcTuple] | None, attr: str) -> None:
    if isinstance(value, SemanticGraph):
        # Also validate it on its own Doc, which may have been retokenized.
        value = SemanticGraph.from_dict(doc, value.to_dict())
    elif value is not None:
        arcs, tops = [], []
        for triple in value:
            if isinstance(triple, tuple | list) and triple[:1] in (
                (ROOT_INDEX,),
                [ROOT_INDEX],
            ):
                tops.append(triple)
            else:
                arcs.append(triple)
        value = SemanticGraph.from_arcs(doc, arcs, _tops(tops, doc))
    set_graph(doc, value, attr)


def _tops(triples: list[Any], doc: Doc) -> list[int]:
    for triple in triples:
        if len(triple) < 3 or triple[1] not in range(len(doc)):
            raise ValueError(
                f"Invalid arc {triple!r}: a top is given as (-1, dep, label), where "
                f"dep is the index of a token. The Doc has {len(doc)} tokens."
            )
    return [triple[1] for triple in triples]


def _token_heads(token: Token, attr: str = DEFAULT_ATTR) -> tuple[Arc, ...]:
    """Get the arcs in which a token is the argument; empty without a graph."""
    graph = get_graph(token.doc, attr)
    return () if graph is None else graph.heads(token)


def _token_args(token: Token, attr: str = DEFAULT_ATTR) -> tuple[Arc, ...]:
    """Get the arcs from a token to its arguments; empty without a graph."""
    graph = get_graph(token.doc, attr)
    return () if graph is None else graph.args(token)


def _token_is_top(token: Token, attr: str = DEFAULT_ATTR) -> bool:
    """Check whether a token is a top node."""
    graph = get_graph(token.doc, attr)
    return graph is not None and token.i in graph._index.tops
