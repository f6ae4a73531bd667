"""DM graphs from Elementary Dependency Structures (EDS).

An EDS is an analysis of the English Resource Grammar (ERG) as a graph: its nodes are
predicates, each with the part of the sentence that it belongs to, and the arguments of
a node are other nodes. DM keeps of it what can be said with arcs between tokens. A node
is one of these:

- A lexical node stands for a token, and its arguments become arcs from that token:
  `_chase_v_1` with an ARG1 `_dog_n_1` is the arc chase -ARG1-> dog.
- A relation is a construction without a word of its own. It becomes an arc between its
  arguments: `compound` in "tea cup" is the arc tea -compound-> cup.
- A transparent node is the same thing as one of its arguments: `nominalization` in
  "swimming is fun" is what "swimming" is.
- All others, such as the quantifier `udef_q` of a bare noun, leave no trace.

The rules are those of the grammar itself (etc/dm.cfg in its repository) and of Ivanova
et al. (2012), "Who Did What to Whom? A Contrastive Study of Syntacto-Semantic
Dependencies". What these leave open was found by comparing EDS and DM of the sentences
that the shared task MRP 2019 published in both. Predicates have been renamed between
releases of the grammar; here are the names of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Token:
    """A token with its place in the sentence, in characters."""

    form: str
    start: int
    end: int


@dataclass(frozen=True)
class Node:
    """A predicate with its place in the sentence, in characters.

    `args` are the ids of other nodes by role, and `constant` is the name or number
    that the predicate is about, such as "Kim" of `named`. `frame` is its frame in DM.
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


# Predicates that begin with an underscore are words of the lexicon. These are not, and
# have a token nevertheless. Those without an example are like the one above them.
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
        # Negation, and what stands for a verb phrase that is left out.
        "neg",  # not
        "ellipsis",  # is (in: it is)
        "ellipsis_ref",  # did (in: she did)
    }
)

# Other abstract predicates that cover several tokens have them by accident, not as an
# expression of several words.
ABSTRACT_MULTIWORD_PREDICATES = frozenset(
    {
        "neg",  # can not
        "person",  # no one
        "recip_pro",  # each other
    }
)

# Predicates that are the same thing as the argument with this role.
TRANSPARENT_PREDICATES = {
    "nominalization": "ARG1",  # swimming (in: swimming is fun)
    "eventuality": "ARG1",  # to be solved (in: problems to be solved)
    "relative_mod": "ARG2",  # who sang (in: a man came in who sang)
    "unknown": "ARG",  # a heading, such as: History
}

# Constructions, and the arcs that they become. The head of the first arc stands for the
# construction where that is itself an argument.
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
# that begins with "And" lacks the left argument, and is an ordinary word.
CONJUNCTION_SUFFIX = "_c"
CONJUNCTION_ROLES = ("ARG1", "ARG2")

# Roles that are called otherwise: conjunctions of older releases have an event and an
# entity on either side, and the event is what counts. The first that exists is taken.
ROLE_ALIASES = {"ARG1": ("L-HNDL", "L-INDEX"), "ARG2": ("R-HNDL", "R-INDEX")}

# The comparatives: old names, the new ones, and how their arcs are called.
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

# Arcs of lexical nodes that are not called as the role.
LABELS = {
    ("part_of", "ARG1"): "part",  # most of the cups
    ("neg", "ARG1"): "neg",  # not funny
    ("unspec_manner", "ARG1"): "manner",  # how it works
    **{(predicate, "ARG1"): label for predicate, label in COMPARATIVES.items()},
    **{(predicate, "ARG2"): "than" for predicate in COMPARATIVES},
}

# Nodes that give a token its frame only if it has no other node, from the last resort
# on: in "taller" that of "tall" counts, in "two of them" that of "two".
WEAK_PREDICATES = (
    frozenset({*COMPARATIVES, "superl", "neg", "manner"}),
    frozenset({"generic_entity", "part_of"}),
)

# The frame of a possessive pronoun, which is a quantifier: her cup.
POSSESSIVE_QUANTIFIER = "def_explicit_q"
POSSESSIVE_FRAME = "q:i-h-h"

# The arcs from the last token of an expression of several words to the others.
MULTIWORD_LABEL = "mwe"

# Second tokens of contractions, "ca n't" and "can not".
NEGATIONS = frozenset({"n't", "n’t", "not"})  # noqa: RUF001

# What the grammar attaches to the word before or after it. Currencies, per cent and the
# like are words.
PUNCTUATION = re.compile(r"[^\w$%£€&#+=<>*/°§]+")


def convert(
    nodes: Iterable[Node], top: str | None, tokens: Sequence[Token]
) -> tuple[list[tuple[int, int, str]], list[int]]:
    """Make a DM graph of an EDS.

    nodes (Iterable[Node]): The nodes of the EDS.
    top (Optional[str]): The id of its top node.
    tokens (Sequence[Token]): The tokens, with places in the same text as the nodes.
    RETURNS (Tuple[List[Tuple[int, int, str]], List[int]]): The arcs as head, dependent
        and label, at most one between two tokens, and the tops: one or none.
    """
    alignment = _align(nodes, tokens)
    labels: dict[tuple[int, int], str] = {}
    for node in alignment.nodes.values():
        for head, dep, label in _node_arcs(node, alignment):
            # Of two arcs between the same tokens, DM has the first.
            if head is not None and dep is not None and head != dep:
                labels.setdefault((head, dep), label)
    arcs = sorted((head, dep, label) for (head, dep), label in labels.items())
    top_token = _top_token(top, alignment)
    return arcs, [] if top_token is None else [top_token]


def find_frames(nodes: Iterable[Node], tokens: Sequence[Token]) -> list[str | None]:
    """Give the frames of tokens.

    nodes (Iterable[Node]): The nodes of the EDS, with frames.
    tokens (Sequence[Token]): The tokens, with places in the same text as the nodes.
    RETURNS (List[Optional[str]]): The frame of each token, None for tokens that no node
        stands for. All tokens of an expression of several words have its frame.
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
    # Of several nodes that are as good, the first counts.
    return [max(each, key=_strength).frame if each else None for each in candidates]


def _strength(node: Node) -> int:
    return next(
        (rank for rank, weak in enumerate(WEAK_PREDICATES) if node.predicate in weak),
        len(WEAK_PREDICATES),
    )


@dataclass(frozen=True)
class _Alignment:
    """Which tokens the nodes stand for.

    `indices` has the tokens of the lexical nodes. The last one is the node's own, the
    others are its companions in an expression of several words.
    """

    nodes: Mapping[str, Node]
    indices: Mapping[str, Sequence[int]]

    def token(self, node_id: str | None) -> int | None:
        """Find the token of any node, through those that have none of their own."""
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
    """The id of the argument that a node without a token is the same as."""
    if role := TRANSPARENT_PREDICATES.get(node.predicate):
        return node.args.get(role)
    relations = _relations(node)
    if not relations:
        return None
    # A sequence of one foreign word is that word.
    return node.args.get(relations[0].head, node.args.get(relations[0].dep))


def _token_indices(node: Node, tokens: Sequence[Token]) -> list[int]:
    """The tokens of a lexical node, none for others."""
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
        # The grammar has one word, which is both verb and negation.
        return indices[1:] if node.predicate == "neg" else indices[:1]
    return indices


def _node_arcs(
    node: Node, alignment: _Alignment
) -> Iterator[tuple[int | None, int | None, str]]:
    """Yield the arcs of a node; one whose head or dependent is None does not exist."""
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
