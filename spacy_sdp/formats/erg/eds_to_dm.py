"""DM graphs from Elementary Dependency Structures (EDS).

An EDS is an analysis of the English Resource Grammar (ERG) as a graph: its nodes are
predicates, each with its span in the sentence, and the arguments of a node are other
nodes. DM keeps what can be expressed by arcs between tokens. There are four kinds of
nodes:

- A lexical node represents a token, and its arguments become arcs from this token:
  `_chase_v_1` with an ARG1 `_dog_n_1` is the arc chase -ARG1-> dog.
- A relation is a construction without its own word. It becomes an arc between its
  arguments: `compound` in "tea cup" is the arc tea -compound-> cup.
- A transparent node is equivalent to one of its arguments: `nominalization` in
  "swimming is fun" is equivalent to "swimming".
- All other nodes, such as the quantifier `udef_q` of a bare noun, are dropped.

The rules are those of the grammar itself (etc/dm.cfg in its repository) and of Ivanova
et al. (2012), "Who Did What to Whom? A Contrastive Study of Syntacto-Semantic
Dependencies". Remaining cases were derived by comparing EDS and DM graphs of the
sentences that the shared task MRP 2019 published in both formats. Some predicates were
renamed between releases of the grammar. The tables below contain the names of all
releases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Token:
    """A token with its character offsets in the sentence."""

    form: str
    start: int
    end: int


@dataclass(frozen=True)
class Node:
    """A predicate with its character offsets in the sentence.

    `args` are the ids of other nodes by role, and `constant` is the name or number of
    the predicate, such as "Kim" for `named`. `frame` is its frame in DM.
    """

    id: str
    predicate: str
    start: int
    end: int
    args: Mapping[str, str] = field(default_factory=dict)
    constant: str | None = None
    frame: str | None = None


@dataclass(frozen=True)
class Relation:
    """An arc between two arguments of the same node."""

    head: str
    dep: str
    label: str


# Predicates that start with an underscore are words in the lexicon. The following are
# not, but still have a token. Predicates without an example are like the one above.
ABSTRACT_LEXICAL_PREDICATES = frozenset(
    {
        # Names and pronouns.
        "named",  # Kim
        "named_n",  # the Netherlands
        "pron",  # she
        "recip_pro",  # each other
        "generic_entity",  # this (and no noun after it)
        "person",  # someone
        "person_n",
        "thing",  # something
        "place_n",  # here
        "quoted",  # dog (in: the word "dog")
        # Question words.
        "abstr_deg",  # how (in: how tall)
        "manner",  # how (in: how it works)
        "unspec_manner",
        "reason",  # why
        "temp",  # whenever
        "temp_loc_x",  # when
        # Numbers and amounts.
        "card",  # two
        "ord",  # second
        "fraction",  # 1/10
        "meas_np",  # 4.6L
        "much-many_a",  # many
        "little-few_a",  # few
        "part_of",  # most (in: most of them)
        # Times.
        "time_n",  # today
        "time",
        "numbered_hour",  # midnight
        "basic_numbered_hour",  # eleven (in: at eleven)
        "dofm",  # 31 (in: May 31)
        "dofw",  # Sunday
        "mofy",  # May
        "season",  # spring
        "holiday",  # Easter
        "yofc",  # 2007
        "year_range",  # 1960s
        "era",  # WWII
        "interval",  # to (in: 3 to 5)
        "interval_p_start",
        "interval_p_end",
        # Degrees.
        "comp",  # different
        "more_comp",  # taller
        "comp_less",  # less (in: less tall)
        "comp_so",  # so (in: so tall that ...)
        "comp_too",  # too (in: too tall to ...)
        "comp_enough",  # enough (in: tall enough to ...)
        "superl",  # tallest
        # Negation, and verb phrases that are left out.
        "neg",  # not
        "ellipsis",  # is (in: it is)
        "ellipsis_ref",  # did (in: she did)
    }
)

# Abstract predicates that can be multiword expressions. Other abstract predicates cover
# several tokens only by accident.
ABSTRACT_MULTIWORD_PREDICATES = frozenset(
    {
        "neg",  # can not
        "person",  # no one
        "recip_pro",  # each other
    }
)

# Predicates that are equivalent to the argument with this role.
TRANSPARENT_PREDICATES = {
    "nominalization": "ARG1",  # swimming (in: swimming is fun)
    "eventuality": "ARG1",  # to be solved (in: problems to be solved)
    "relative_mod": "ARG2",  # who sang (in: a man came in who sang)
    "unknown": "ARG",  # a heading, such as: History
}

# Constructions, and the arcs that they become. The head of the first arc represents the
# construction if it is itself an argument.
RELATIONS = {
    # my friend Kim
    "appos": (Relation("ARG2", "ARG1", "appos"),),
    # tea cup
    "compound": (Relation("ARG2", "ARG1", "compound"),),
    # Kim Smith
    "compound_name": (Relation("ARG2", "ARG1", "compound"),),
    # she came, saw, won
    "implicit_conj": (Relation("ARG1", "ARG2", "conj"),),
    # Kim's cup
    "poss": (Relation("ARG2", "ARG1", "poss"),),
    # May 31
    "of_p": (Relation("ARG2", "ARG1", "of"),),
    # she arrived yesterday
    "loc_nonsp": (Relation("ARG2", "ARG1", "loc"),),
    "loc_sp": (Relation("ARG2", "ARG1", "loc"),),
    "nonsp": (Relation("ARG2", "ARG1", "nonsp"),),
    # two years old
    "measure": (Relation("ARG2", "ARG1", "measure"),),
    # as tall as Kim
    "comp_equal": (Relation("ARG1", "ARG2", "than"),),
    # walking home, she sang
    "subord": (Relation("ARG2", "ARG1", "subord"),),
    # Kim (38) smiled
    "parenthetical": (Relation("ARG2", "ARG1", "parenthetical"),),
    # two million cups; the second arc leads to the noun that is counted
    "times": (Relation("ARG2", "ARG3", "times"), Relation("ARG3", "ARG1", "ARG1")),
    # forty-two cups
    "plus": (Relation("ARG2", "ARG3", "plus"), Relation("ARG3", "ARG1", "ARG1")),
    # lingua franca
    "fw_seq": (Relation("ARG2", "ARG1", "mwe"),),
}

# Conjunctions: "cats and dogs" has the arc cats -_and_c-> dogs. The node of a sentence
# that starts with "And" lacks the left argument, and is an ordinary word.
CONJUNCTION_SUFFIX = "_c"
CONJUNCTION_ROLES = ("ARG1", "ARG2")

# Alternative names of roles. In older releases, conjunctions have an event and an
# entity on each side. The event takes precedence, so the first existing role is used.
ROLE_ALIASES = {"ARG1": ("L-HNDL", "L-INDEX"), "ARG2": ("R-HNDL", "R-INDEX")}

# Comparatives, with old and new names, and the labels of their arcs.
COMPARATIVES = {
    "comp": "comp",
    "more_comp": "comp",  # taller than Kim
    "_more_x_comp": "comp",  # more clever than Kim
    "comp_less": "comp_less",
    "_less_x_comp": "comp_less",
    "comp_so": "comp_so",
    "_so_x_comp": "comp_so",
    "comp_too": "comp_too",
    "_too_x_comp": "comp_too",
    "comp_enough": "comp_enough",
    "_enough_x_comp": "comp_enough",
}

# Labels of arcs from lexical nodes, if they differ from the role.
LABELS = {
    ("part_of", "ARG1"): "part",  # most of the cups
    ("neg", "ARG1"): "neg",  # not funny
    ("unspec_manner", "ARG1"): "manner",  # how it works
    **{(predicate, "ARG1"): label for predicate, label in COMPARATIVES.items()},
    **{(predicate, "ARG2"): "than" for predicate in COMPARATIVES},
}

# Predicates that only determine the frame of a token without other nodes, weakest
# first: "taller" has the frame of "tall", and "two" in "two of them" that of "two".
WEAK_PREDICATES = (
    frozenset({*COMPARATIVES, "superl", "neg", "manner"}),
    frozenset({"generic_entity", "part_of"}),
)

# The frame of a possessive pronoun, which is a quantifier: her cup.
POSSESSIVE_QUANTIFIER = "def_explicit_q"
POSSESSIVE_FRAME = "q:i-h-h"

# The label of arcs from the last token of a multiword expression to the others.
MULTIWORD_LABEL = "mwe"

# Second tokens of contractions, "ca n't" and "can not".
NEGATIONS = frozenset({"n't", "n’t", "not"})  # noqa: RUF001

# A hyphen inside of a word.
HYPHEN = re.compile(r"\w-\w")

# Punctuation that the grammar attaches to the word before or after it. Symbols such as
# currencies and per cent are words.
PUNCTUATION = re.compile(r"[^\w$%£€&#+=<>*/°§]+")


def convert(
    nodes: Iterable[Node], top: str | None, tokens: Sequence[Token]
) -> tuple[list[tuple[int, int, str]], list[int]]:
    """Convert an EDS to a DM graph.

    nodes (Iterable[Node]): The nodes of the EDS.
    top (Optional[str]): The id of its top node.
    tokens (Sequence[Token]): The tokens, with offsets in the same text as the nodes.
    RETURNS (Tuple[List[Tuple[int, int, str]], List[int]]): The arcs as head, dependent
        and label, at most one between two tokens, and a list of at most one top.
    """
    alignment = _align(nodes, tokens)
    labels: dict[tuple[int, int], str] = {}
    for node in alignment.nodes.values():
        for head, dep, label in _node_arcs(node, alignment):
            # DM keeps the first of several arcs between the same tokens.
            if head is not None and dep is not None and head != dep:
                labels.setdefault((head, dep), label)
    arcs = sorted((head, dep, label) for (head, dep), label in labels.items())
    top_token = _top_token(top, alignment)
    return arcs, [] if top_token is None else [top_token]


def find_frames(nodes: Iterable[Node], tokens: Sequence[Token]) -> list[str | None]:
    """Find the frames of tokens.

    nodes (Iterable[Node]): The nodes of the EDS, with frames.
    tokens (Sequence[Token]): The tokens, with offsets in the same text as the nodes.
    RETURNS (List[Optional[str]]): The frame of each token, or None if no node
        represents it. All tokens of a multiword expression have its frame.
    """
    alignment = _align(nodes, tokens)
    possessives = {
        (node.start, node.end)
        for node in alignment.nodes.values()
        if node.predicate == POSSESSIVE_QUANTIFIER
    }
    candidates: list[list[Node]] = [[] for _ in tokens]
    for node_id, indices in alignment.indices.items():
        node = alignment.nodes[node_id]
        if node.predicate == "pron" and (node.start, node.end) in possessives:
            node = replace(node, frame=POSSESSIVE_FRAME)
        for index in indices:
            candidates[index].append(node)
    return [
        _strongest(each, token).frame if each else None
        for each, token in zip(candidates, tokens, strict=True)
    ]


def _strongest(nodes: list[Node], token: Token) -> Node:
    """Get the first of the strongest nodes, or the last one for a compound.

    The last part of a compound is its head: "asbestos-related" has the frame of
    "related". In newer releases of the grammar, the parts are separate tokens.
    """
    is_compound = HYPHEN.search(token.form) is not None
    return max(nodes[::-1] if is_compound else nodes, key=_strength)


def _strength(node: Node) -> int:
    return next(
        (rank for rank, weak in enumerate(WEAK_PREDICATES) if node.predicate in weak),
        len(WEAK_PREDICATES),
    )


@dataclass(frozen=True)
class _Alignment:
    """The tokens that nodes represent.

    `indices` has the tokens of lexical nodes. The last token is the node's own. The
    others belong to the same multiword expression.
    """

    nodes: Mapping[str, Node]
    indices: Mapping[str, Sequence[int]]

    def token(self, node_id: str | None) -> int | None:
        """Find the token of a node, following nodes without their own token."""
        seen = set()
        while node_id is not None and node_id in self.nodes and node_id not in seen:
            if node_id in self.indices:
                return self.indices[node_id][-1]
            seen.add(node_id)
            node_id = _representative(self.nodes[node_id])
        return None


def _align(nodes: Iterable[Node], tokens: Sequence[Token]) -> _Alignment:
    by_id = {node.id: _with_plain_roles(node) for node in nodes}
    return _Alignment(
        by_id,
        {
            node.id: indices
            for node in by_id.values()
            if (indices := _token_indices(node, tokens))
        },
    )


def _with_plain_roles(node: Node) -> Node:
    args = dict(node.args)
    for role, aliases in ROLE_ALIASES.items():
        targets = [args.pop(alias) for alias in aliases if alias in args]
        if targets:
            args[role] = targets[0]
    return replace(node, args=args)


def _relations(node: Node) -> tuple[Relation, ...]:
    left, right = CONJUNCTION_ROLES
    if (
        node.predicate.endswith(CONJUNCTION_SUFFIX)
        and left in node.args
        and right in node.args
    ):
        return (Relation(left, right, node.predicate),)
    return RELATIONS.get(node.predicate, ())


def _is_lexical(node: Node) -> bool:
    return not _relations(node) and (
        node.predicate.startswith("_") or node.predicate in ABSTRACT_LEXICAL_PREDICATES
    )


def _representative(node: Node) -> str | None:
    """Get the argument that represents a node without a token."""
    if role := TRANSPARENT_PREDICATES.get(node.predicate):
        return node.args.get(role)
    relations = _relations(node)
    if not relations:
        return None
    # A sequence of a single foreign word is represented by this word.
    return node.args.get(relations[0].head, node.args.get(relations[0].dep))


def _token_indices(node: Node, tokens: Sequence[Token]) -> list[int]:
    """Get the tokens of a lexical node. Other nodes have none."""
    if not _is_lexical(node):
        return []
    covered = [
        i
        for i, token in enumerate(tokens)
        if token.start < node.end and token.end > node.start
    ]
    words = [i for i in covered if not PUNCTUATION.fullmatch(tokens[i].form)]
    indices = words or covered
    is_expression = (
        node.predicate.startswith("_")
        or node.predicate in ABSTRACT_MULTIWORD_PREDICATES
        or node.constant
    )
    if len(indices) > 1 and not is_expression:
        return []
    if len(indices) == 2 and tokens[indices[1]].form.lower() in NEGATIONS:
        # In the grammar, both verb and negation cover the whole contraction.
        return indices[1:] if node.predicate == "neg" else indices[:1]
    return indices


def _node_arcs(
    node: Node, alignment: _Alignment
) -> Iterator[tuple[int | None, int | None, str]]:
    """Yield the arcs of a node. The head or dependent is None if it has no token."""
    if node.id in alignment.indices:
        *companions, head = alignment.indices[node.id]
        for role, target in node.args.items():
            label = LABELS.get((node.predicate, role), role)
            yield head, alignment.token(target), label
        for companion in companions:
            yield head, companion, MULTIWORD_LABEL
    for relation in _relations(node):
        yield (
            alignment.token(node.args.get(relation.head)),
            alignment.token(node.args.get(relation.dep)),
            relation.label,
        )


def _top_token(top: str | None, alignment: _Alignment) -> int | None:
    token = alignment.token(top)
    if token is None and top is not None and top in alignment.nodes:
        # A frame around a sentence, such as `discourse` in "Hello, Kim left".
        targets = alignment.nodes[top].args.values()
        tokens = (alignment.token(target) for target in targets)
        token = next((index for index in tokens if index is not None), None)
    return token
