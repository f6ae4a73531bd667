"""Pattern matching in graphs, similar to spaCy's DependencyMatcher."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as quote
from typing import Any, NamedTuple

from spacy.matcher import Matcher
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from .arc import IndexedArc
from .extensions import DEFAULT_ATTR, require_graph
from .graph import SemanticGraph

REQUIRED, OPTIONAL, NEGATED = "", "?", "!"
ARC_KEYS = {"head", "dep", "label", "op", "direction"}
MAX_MATCHES = 10_000


class Match(NamedTuple):
    """A match: the key of the pattern as `name`, and the token of each node.

    If an optional arc is missing, so is a node that is only connected by this arc.
    """

    name: str
    tokens: dict[str, Token]


@dataclass(frozen=True)
class _ArcPattern:
    """An arc of a pattern. Empty `labels` match any label, `either` any direction."""

    head: str
    dep: str
    labels: frozenset[str]
    op: str
    either: bool

    def fits(self, label: str) -> bool:
        return not self.labels or label in self.labels


@dataclass(frozen=True)
class _Pattern:
    """A validated pattern.

    `steps` are the required arcs, in an order in which one end of each arc is already
    bound, followed by the optional arcs.
    """

    nodes: dict[str, dict[str, Any]]
    first: str
    steps: list[_ArcPattern]
    negated: list[_ArcPattern]


# The token indices that each node can match.
_Candidates = Mapping[str, Collection[int]]
OnMatch = Callable[["SemanticMatcher", Doc, int, list[Match]], Any]
Patterns = Iterable[Mapping[str, Any]]


class SemanticMatcher:
    """Find patterns of words and labelled arcs in semantic graphs.

    A pattern has nodes, which are token patterns as in spaCy's Matcher, and arcs
    between them:

        {
            "nodes": {"act": {"TAG": {"REGEX": "^V"}}, "who": {}, "whom": {}},
            "arcs": [
                {"head": "act", "label": "ARG1", "dep": "who"},
                {"head": "act", "label": "ARG2", "dep": "whom", "op": "?"},
            ],
        }

    The label of an arc is a single label, a list of labels, or None for any label. The
    op "?" makes the arc optional, and "!" means that there must be no such arc. With
    the direction "either", the arc may also lead from `dep` to `head`. Different nodes
    match different words.

    >>> matcher = SemanticMatcher(doc.vocab)
    >>> nodes = {"act": {"LOWER": "eat"}, "who": {}}
    >>> arcs = [{"head": "act", "label": "ARG1", "dep": "who"}]
    >>> matcher.add("ACT", [{"nodes": nodes, "arcs": arcs}])
    >>> matcher(doc)
    [Match(name='ACT', tokens={'act': eat, 'who': cat})]
    """

    def __init__(
        self, vocab: Vocab, attr: str = DEFAULT_ATTR, max_matches: int = MAX_MATCHES
    ) -> None:
        """Create a matcher without patterns.

        vocab (Vocab): The vocabulary of the Docs.
        attr (str): The attribute with the graphs.
        max_matches (int): Raise an error if a pattern matches more often in a Doc.
        """
        self.vocab = vocab
        self.attr = attr
        self.max_matches = max_matches
        self._patterns: dict[str, list[_Pattern]] = {}
        self._raw_patterns: dict[str, list[dict[str, Any]]] = {}
        self._callbacks: dict[str, OnMatch | None] = {}
        self._tokens = Matcher(vocab)

    def __len__(self) -> int:
        """RETURNS (int): The number of keys."""
        return len(self._patterns)

    def __contains__(self, key: object) -> bool:
        """RETURNS (bool): Whether the matcher has patterns for a key."""
        return key in self._patterns

    def has_key(self, key: str) -> bool:
        """Check whether the matcher has patterns for a key, as `key in matcher` does.

        key (str): The key.
        RETURNS (bool): Whether the matcher has patterns for it.
        """
        return key in self

    def get(
        self, key: str, default: Any = None
    ) -> tuple[OnMatch | None, list[dict[str, Any]]] | Any:
        """Get the callback and the patterns of a key.

        key (str): The key.
        default (Any): The value to return if the matcher has no such key.
        RETURNS (Tuple[Optional[Callable], List[dict]]): The callback and the patterns.

        >>> matcher = SemanticMatcher(doc.vocab)
        >>> matcher.add("EAT", [{"nodes": {"verb": {"LOWER": "eat"}}}])
        >>> matcher.get("EAT")
        (None, [{'nodes': {'verb': {'LOWER': 'eat'}}}])
        """
        if key not in self:
            return default
        return self._callbacks[key], deepcopy(self._raw_patterns[key])

    def add(
        self, key: str, patterns: Patterns, *, on_match: OnMatch | None = None
    ) -> None:
        """Add patterns for a key. Patterns that it already has are kept.

        key (str): The key, which becomes the name of the matches.
        patterns (Iterable[Mapping]): The patterns, any of which may match.
        on_match (Optional[Callable]): Called for each match with the matcher, the Doc,
            the index of the match, and all matches. It replaces the callback of the
            key, as in spaCy's matchers.

        >>> matcher = SemanticMatcher(doc.vocab)
        >>> nodes = {"who": {"LOWER": "cat"}, "act": {"LOWER": {"REGEX": "ants|eat"}}}
        >>> arcs = [{"head": "act", "label": ["ARG1", "ARG2"], "dep": "who"}]
        >>> def show(matcher, doc, i, matches):
        ...     print(matches[i].tokens["act"])
        >>> matcher.add("CATS", [{"nodes": nodes, "arcs": arcs}], on_match=show)
        >>> len(matcher(doc))
        wants
        eat
        2
        """
        if on_match is not None and not callable(on_match):
            raise ValueError(
                f"The on_match of {quote(key)} must be callable, not {quote(on_match)}."
            )
        self._add(key, self._compile_all(key, patterns), on_match)

    def _compile_all(
        self, key: str, patterns: Patterns
    ) -> list[tuple[dict[str, Any], _Pattern]]:
        """Validate patterns, and get each one as it was given and as it is matched."""
        if not isinstance(key, str):
            raise ValueError(f"The key of patterns must be a string, not {quote(key)}.")
        if not isinstance(patterns, Iterable):
            raise ValueError(
                f"The patterns of {key!r} must be a list, not {quote(patterns)}."
            )
        compiled = []
        for number, pattern in enumerate(patterns):
            valid = self._compile(key, number, pattern)
            compiled.append((deepcopy(dict(pattern)), valid))
        if not compiled:
            raise ValueError(f"There are no patterns to add for the key {key!r}.")
        return compiled

    def _add(
        self,
        key: str,
        compiled: list[tuple[dict[str, Any], _Pattern]],
        on_match: OnMatch | None,
    ) -> None:
        known = self._patterns.setdefault(key, [])
        for raw, pattern in compiled:
            for node, attributes in pattern.nodes.items():
                # A node without attributes matches any word, so no lookup is needed.
                if attributes:
                    self._tokens.add(_token_key(key, len(known), node), [[attributes]])
            known.append(pattern)
            self._raw_patterns.setdefault(key, []).append(raw)
        self._callbacks[key] = on_match

    def add_from_json(self, path: Path | str) -> None:
        """Add patterns from a JSON file that maps keys to lists of patterns.

        If any pattern is invalid, none is added. Callbacks do not change.

        path (Path): The file.

        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "patterns.json"
        >>> _ = file.write_text('{"VERB": [{"nodes": {"verb": {"LOWER": "eat"}}}]}')
        >>> matcher = SemanticMatcher(doc.vocab)
        >>> matcher.add_from_json(file)
        >>> "VERB" in matcher
        True
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: not valid JSON ({error})") from None
        if not isinstance(data, dict):
            raise ValueError(f"{path}: expected an object of lists of patterns by key")
        compiled = {}
        for key, patterns in data.items():
            if not isinstance(patterns, list):
                raise ValueError(f"{path}: {key!r} must have a list of patterns")
            try:
                compiled[key] = self._compile_all(key, patterns)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
        for key, each in compiled.items():
            self._add(key, each, self._callbacks.get(key))

    def remove(self, key: str) -> None:
        """Remove the patterns and the callback of a key.

        key (str): The key.

        >>> matcher = SemanticMatcher(doc.vocab)
        >>> matcher.add("EAT", [{"nodes": {"verb": {"LOWER": "eat"}}}])
        >>> matcher.remove("EAT")
        >>> len(matcher)
        0
        """
        if key not in self:
            raise ValueError(f"The matcher has no patterns for the key {key!r}.")
        for number, pattern in enumerate(self._patterns.pop(key)):
            for node, attributes in pattern.nodes.items():
                if attributes:
                    self._tokens.remove(_token_key(key, number, node))
        del self._raw_patterns[key], self._callbacks[key]

    def __call__(self, doclike: Doc | Span) -> list[Match]:
        """Find all matches in a Doc or a Span.

        doclike (Doc | Span): A Doc with a graph, or a Span of it. In a Span, only arcs
            with both ends inside are matched.
        RETURNS (List[Match]): The matches by key, in the order of the words.

        >>> matcher = SemanticMatcher(doc.vocab)
        >>> arcs = [{"head": "act", "label": "ARG2", "dep": "what"}]
        >>> matcher.add("WISH", [{"nodes": {"act": {}, "what": {}}, "arcs": arcs}])
        >>> matcher(doc[2:6]), matcher(doc[:4])
        ([Match(name='WISH', tokens={'act': wants, 'what': eat})], [])
        """
        if isinstance(doclike, Span):
            doc, start, end = doclike.doc, doclike.start, doclike.end
            graph = require_graph(doc, self.attr).subgraph(doclike)
        elif isinstance(doclike, Doc):
            doc, start, end = doclike, 0, len(doclike)
            graph = require_graph(doc, self.attr)
        else:
            raise TypeError(
                f"Expected a Doc or a Span to match, not a {type(doclike).__name__}."
            )
        fitting: dict[str, set[int]] = {}
        for token_key, i, _ in self._tokens(doclike) if len(self._tokens) else ():
            # For a Span, the Matcher returns positions relative to it.
            fitting.setdefault(self.vocab.strings[token_key], set()).add(start + i)
        matches: list[Match] = []
        for key, patterns in self._patterns.items():
            for number, pattern in enumerate(patterns):
                candidates: _Candidates = {
                    node: fitting.get(_token_key(key, number, node), set())
                    if attributes
                    else range(start, end)
                    for node, attributes in pattern.nodes.items()
                }
                for found in self._search(graph, pattern, candidates, key):
                    tokens = {node: doc[i] for node, i in found.items()}
                    matches.append(Match(key, tokens))
        for i, match in enumerate(matches):
            if (on_match := self._callbacks[match.name]) is not None:
                on_match(self, doc, i, matches)
        return matches

    def _search(
        self,
        graph: SemanticGraph,
        pattern: _Pattern,
        candidates: _Candidates,
        key: str,
    ) -> list[dict[str, int]]:
        found: list[dict[str, int]] = [
            {pattern.first: i} for i in candidates[pattern.first]
        ]
        for arc in pattern.steps:
            extended: list[dict[str, int]] = []
            for bound in found:
                ways = list(_extend(graph, arc, bound, candidates))
                # If an optional arc is missing, the match is kept without it.
                extended += ways or ([bound] if arc.op == OPTIONAL else [])
                if len(extended) > self.max_matches:
                    raise ValueError(
                        f"The pattern {key!r} matches more than {self.max_matches} "
                        "times in one Doc. Make it less general."
                    )
            found = extended
        found = [
            bound
            for bound in found
            if not any(
                next(_extend(graph, arc, bound, candidates), None) is not None
                for arc in pattern.negated
            )
        ]
        return sorted(found, key=lambda bound: list(bound.values()))

    def _compile(self, key: str, number: int, pattern: Mapping[str, Any]) -> _Pattern:
        def error(reason: str) -> ValueError:
            return ValueError(f"Invalid pattern {number} of {key!r}: {reason}")

        if not isinstance(pattern, Mapping) or set(pattern) - {"nodes", "arcs"}:
            raise error("it must have the keys 'nodes' and 'arcs'.")
        nodes = pattern.get("nodes")
        if not isinstance(nodes, Mapping) or not nodes:
            raise error("'nodes' must map names to token patterns.")
        for node, attributes in nodes.items():
            if not isinstance(node, str):
                raise error(f"the name of a node is {quote(node)}, not a string.")
            if not isinstance(attributes, Mapping) or "OP" in attributes:
                raise error(f"node {node!r} must be a token pattern without 'OP'.")
            extensions = attributes.get("_", {})
            if not isinstance(extensions, Mapping):
                raise error(
                    f"node {node!r} has {quote(extensions)} for '_', but expected the "
                    "values of extension attributes by name."
                )
            for extension in extensions:
                if not Token.has_extension(extension):
                    raise error(
                        f"node {node!r} uses Token._.{extension}, which does not "
                        "exist: register it first with Token.set_extension."
                    )
            try:
                Matcher(self.vocab, validate=True).add("node", [[dict(attributes)]])
            except Exception as problem:
                # spaCy's error depends on what is wrong with the pattern.
                reason = " ".join(str(problem).split()) or type(problem).__name__
                raise error(f"node {node!r} is not valid: {reason}") from None
        given = pattern.get("arcs") or ()
        if not isinstance(given, list | tuple):
            raise error(f"'arcs' must be a list, not {quote(given)}.")
        arcs = [_compile_arc(arc, nodes, error) for arc in given]
        first = next(iter(nodes))
        steps = _order([arc for arc in arcs if arc.op == REQUIRED], {first})
        bound = {first, *(end for arc in steps for end in (arc.head, arc.dep))}
        steps += _order([arc for arc in arcs if arc.op == OPTIONAL], bound)
        negated = [arc for arc in arcs if arc.op == NEGATED]
        known = {first, *(end for arc in steps for end in (arc.head, arc.dep))}
        for arc in arcs:
            if arc.op == NEGATED and not {arc.head, arc.dep} & known:
                raise error(
                    f"the negated arc {arc.head} -> {arc.dep} is not connected to any "
                    "other node."
                )
            if arc.op != NEGATED and arc not in steps:
                raise error(
                    f"the arc {arc.head} -> {arc.dep} is not connected to the node "
                    f"{first!r}."
                )
        in_arcs = known | {end for arc in negated for end in (arc.head, arc.dep)}
        if lonely := [node for node in nodes if node not in in_arcs]:
            raise error(f"no arc leads to the node {lonely[0]!r}.")
        return _Pattern(
            {node: dict(attributes) for node, attributes in nodes.items()},
            first,
            steps,
            negated,
        )


def _token_key(key: str, number: int, node: str) -> str:
    """Get the key under which a node is added to spaCy's Matcher."""
    return json.dumps([key, number, node])


def _compile_arc(
    arc: Any, nodes: Mapping[str, Any], error: Callable[[str], ValueError]
) -> _ArcPattern:
    if not isinstance(arc, Mapping) or not {"head", "dep"} <= set(arc) <= ARC_KEYS:
        raise error(
            f"the arc {quote(arc)} must have 'head' and 'dep', and may have 'label', "
            "'op' and 'direction'."
        )
    for end in ("head", "dep"):
        if not isinstance(arc[end], str) or arc[end] not in nodes:
            raise error(f"the {end} of the arc {quote(dict(arc))} is not a node.")
    if arc["head"] == arc["dep"]:
        raise error(f"the arc {quote(dict(arc))} is a self-loop.")
    label = arc.get("label")
    labels = [label] if isinstance(label, str) else [] if label is None else label
    if not isinstance(labels, list) or not all(isinstance(x, str) for x in labels):
        raise error(
            "the label must be a string, a list of strings or None, not "
            f"{quote(label)}."
        )
    if labels == [] and label is not None:
        raise error(
            f"the arc {quote(dict(arc))} has an empty list of labels; use None for any "
            "label."
        )
    op, direction = arc.get("op", REQUIRED), arc.get("direction", "down")
    if op not in (REQUIRED, OPTIONAL, NEGATED):
        raise error(f"the op must be '', '?' or '!', not {quote(op)}.")
    if direction not in ("down", "either"):
        raise error(
            f"the direction must be 'down' or 'either', not {quote(direction)}."
        )
    return _ArcPattern(
        arc["head"], arc["dep"], frozenset(labels), op, direction == "either"
    )


def _order(arcs: list[_ArcPattern], bound: set[str]) -> list[_ArcPattern]:
    """Sort arcs so that one end of each is already bound; leave out the others."""
    ordered: list[_ArcPattern] = []
    bound = set(bound)
    rest = list(arcs)
    while ready := [arc for arc in rest if arc.head in bound or arc.dep in bound]:
        ordered.append(ready[0])
        bound |= {ready[0].head, ready[0].dep}
        rest.remove(ready[0])
    return ordered


def _extend(
    graph: SemanticGraph,
    arc: _ArcPattern,
    bound: Mapping[str, int],
    candidates: _Candidates,
) -> Iterator[dict[str, int]]:
    """Yield the ways to extend the bound nodes by an arc."""
    seen = set()
    for head, dep in ((arc.head, arc.dep), (arc.dep, arc.head))[: 1 + arc.either]:
        for head_index, dep_index in _find(graph, arc, bound.get(head), bound.get(dep)):
            new = {head: head_index, dep: dep_index}
            ends = (new[arc.head], new[arc.dep])
            used = {i for node, i in bound.items() if node not in new}
            if (
                ends not in seen
                and all(i in candidates[node] for node, i in new.items())
                and not used & set(ends)
            ):
                seen.add(ends)
                yield {**bound, **new}


def _find(
    graph: SemanticGraph, pattern: _ArcPattern, head: int | None, dep: int | None
) -> Iterator[tuple[int, int]]:
    """Yield head and dependent of matching arcs, given at least one of them."""
    found: tuple[IndexedArc, ...] = ()
    if head is not None:
        found = graph.arcs_by_head.get(head, ())
    elif dep is not None:
        found = graph.arcs_by_dep.get(dep, ())
    for arc in found:
        if pattern.fits(arc.label) and dep in (None, arc.dep):
            yield arc.head, arc.dep
