"""Gold analyses of the English Resource Grammar (ERG), converted to DM graphs.

The treebanks of the ERG are databases of [incr tsdb()], called profiles. A profile is a
folder with one text file (possibly compressed with gzip) for each relation. A line is a
record, whose fields are separated by `@`. In a field, `\\s` means `@`, `\\n` a line
break and `\\\\` a backslash. The file `relations` lists the fields. These fields are
used:

    item    i-id, i-input         an original sentence, and
            i-wf                  whether it is well-formed: 0 means no
    parse   parse-id, i-id        an attempt to analyse it, and
            p-input               its tokens: offsets in the sentence, form and tag
    tree    parse-id, t-active    the number of analyses that an annotator accepted
    result  parse-id, mrs         an analysis, in Minimal Recursion Semantics

The gold analysis of a sentence is the only one that an annotator accepted. It is
converted to an EDS, and from an EDS to a DM graph by the rules in `eds_to_dm`.

The words are those of the original sentence. Wikipedia markup, such as `⌊>link>⌋`, is
removed. The forms of the grammar have curly quotes, single characters for dashes and
ellipses, and placeholders such as `<math/>` for text that it does not analyse. Of
these, only the placeholders are used as words. Tags are those of the tagger that the
grammar used. Lemmas are derived from words and tags, not from the analysis, because
that would leak the annotation to a parser.

Requires pydelphin and lemminflect, the extra `erg` of this package. The files are read
by hand, because `delphin.tsdb` takes eight times as long and does not report line
numbers in errors.
"""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from ...graph.algorithms import has_cycle
from ...graph.record import Record, column
from ...graph.spelling import plain_spelling
from ..files import FormatError, check_unpacked, decode_lines, read_lines
from .eds_to_dm import Node, Token, convert, find_frames
from .frames import CONSTANT, CONSTANT_ROLE, SemanticInterface, find_interface
from .text import words_and_text

if TYPE_CHECKING:
    from delphin import eds
    from delphin.mrs import MRS

SCHEMA_FILE = "relations"
FIELD_SEPARATOR = "@"
ESCAPES = {r"\s": "@", r"\n": "\n", r"\\": "\\"}
# The predicate of a sentence without a verb.
FRAGMENT = "unknown"
# The modules of the extra `erg`, and their packages.
PACKAGES = {"delphin": "pydelphin", "lemminflect": "lemminflect"}

# The mark of a test sentence that is intentionally ungrammatical.
NOT_WELL_FORMED = "0"

# Reasons to leave out a sentence.
ILL_FORMED = "marked as ill-formed"
NO_GOLD = "no gold analysis"
SEVERAL_RESULTS = "several analyses, none marked as gold"
UNREADABLE = "analysis cannot be read"
MARKUP = "token that is only markup"
OVERLAP = "overlapping tokens"
ONE_TOKEN = "one token"
NO_TOP = "no top"
CYCLIC = "cyclic"

# Tags of punctuation that the tagger did not know, by form.
PUNCTUATION_TAGS = {",": ",", "“": "``", "”": "''", "(": "-LRB-", ")": "-RRB-"}

# Tags of inflected words, and their names in lemminflect.
INFLECTED_TAGS = {
    "NNS": "NOUN",
    **dict.fromkeys(("VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    **dict.fromkeys(("JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("RBR", "RBS"), "ADV"),
}
PROPER_NOUN_TAGS = frozenset({"NNP", "NNPS"})
# Lemmas of words that do not depend on the tag. A genitive often has the tag of a verb,
# so "'s" is not changed.
LEMMAS = {
    "i": "I",
    "n't": "not",
    "ca": "can",
    "wo": "will",
    "'s": "'s",
    "'m": "be",
    "'re": "be",
    "'ve": "have",
    "'ll": "will",
    "'d": "would",
}


def is_profile(path: Path | str) -> bool:
    """Check whether a path is a profile.

    path (Path): The path.
    RETURNS (bool): Whether the path is a folder with a file `relations`.
    """
    return (Path(path) / SCHEMA_FILE).is_file()


def read(path: Path | str, left_out: Counter[str] | None = None) -> Iterator[Record]:
    """Read the sentences of a profile that have a gold analysis.

    path (Path): The folder of the profile.
    left_out (Optional[Counter]): Counts the sentences that are left out, by reason.
    YIELDS (Record): The sentences, with text, tags, lemmas and the DM graph.
    """
    missing = [name for module, name in PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise FormatError(
            f'profiles require {" and ".join(missing)}: pip install "spacy-sdp[erg]"',
            path,
        )
    interface = find_interface(Path(path))
    for item in _read_items(Path(path)):
        try:
            sentence = _to_sentence(item, interface)
        except _LeftOut as error:
            if left_out is not None:
                left_out[error.reason] += 1
        else:
            yield sentence


class _LeftOut(Exception):
    """A sentence without a usable graph."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class _Item:
    """A sentence of a profile. It should have exactly one gold analysis."""

    id: str
    raw_text: str
    is_well_formed: bool
    tokens: str
    gold: list[str]


@dataclass(frozen=True)
class _TaggedToken(Token):
    tag: str | None


def _to_sentence(item: _Item, interface: SemanticInterface | None) -> Record:
    if not item.is_well_formed:
        raise _LeftOut(ILL_FORMED)
    if len(item.gold) != 1:
        raise _LeftOut(SEVERAL_RESULTS if item.gold else NO_GOLD)
    try:
        tokens = _parse_tokens(item.tokens)
        nodes, top = _parse_mrs(item.gold[0], interface)
    except Exception:
        # pydelphin's error depends on where the analysis is broken.
        raise _LeftOut(UNREADABLE) from None
    if any(left.end > right.start for left, right in pairwise(tokens)):
        raise _LeftOut(OVERLAP)
    words, text = words_and_text(item.raw_text, tokens)
    if not all(words):
        raise _LeftOut(MARKUP)
    if len(words) < 2:
        raise _LeftOut(ONE_TOKEN)
    forms = [
        replace(token, form=word) for token, word in zip(tokens, words, strict=True)
    ]
    arcs, tops = convert(nodes, top, forms)
    if not tops:
        raise _LeftOut(NO_TOP)
    if has_cycle(arcs):
        raise _LeftOut(CYCLIC)
    tags = [token.tag for token in tokens]
    heads = {head for head, _, _ in arcs}
    return Record(
        words=words,
        arcs=arcs,
        tops=tops,
        id=item.id,
        text=text,
        lemmas=[_lemma(word, tag) for word, tag in zip(words, tags, strict=True)],
        tags=column(tags),
        frames=[] if interface is None else find_frames(nodes, forms),
        predicates=[i in heads for i in range(len(words))],
    )


# Profiles


def _read_items(profile: Path) -> Iterator[_Item]:
    if not is_profile(profile):
        raise FormatError(f"not a profile: it has no file {SCHEMA_FILE!r}", profile)
    schema = _read_schema(profile / SCHEMA_FILE)

    def records(relation: str, *fields: str) -> Iterator[list[str]]:
        return _read_records(profile, schema, relation, fields)

    items = {
        item_id: (text, mark != NOT_WELL_FORMED)
        for item_id, text, mark in records("item", "i-id", "i-input", "i-wf")
    }
    accepted = {
        parse_id
        for parse_id, number in records("tree", "parse-id", "t-active")
        if number == "1"
    }
    gold: defaultdict[str, list[str]] = defaultdict(list)
    for parse_id, mrs in records("result", "parse-id", "mrs"):
        # More than one analysis is enough to leave out the sentence.
        if parse_id in accepted and len(gold[parse_id]) < 2:
            gold[parse_id].append(mrs)
    for parse_id, item_id, tokens in records("parse", "parse-id", "i-id", "p-input"):
        if item_id not in items:
            raise FormatError(
                f"parse {parse_id} refers to item {item_id}, which does not exist",
                profile,
            )
        yield _Item(item_id, *items[item_id], tokens, gold[parse_id])


def _read_schema(path: Path) -> dict[str, list[str]]:
    """Read the fields of all relations."""
    schema: dict[str, list[str]] = {}
    fields: list[str] | None = None
    for number, line in read_lines(path):
        declaration = line.partition("#")[0].split()
        if not declaration:
            continue
        if len(declaration) == 1 and declaration[0].endswith(":"):
            fields = schema.setdefault(declaration[0].removesuffix(":"), [])
        elif fields is not None:
            fields.append(declaration[0])
        else:
            raise FormatError(
                f"field {declaration[0]!r} does not belong to a relation", path, number
            )
    return schema


def _read_records(
    profile: Path, schema: dict[str, list[str]], relation: str, fields: Sequence[str]
) -> Iterator[list[str]]:
    """Yield some fields of the records of a relation."""
    known = schema.get(relation, [])
    for name in fields:
        if name not in known:
            raise FormatError(
                f"relation {relation!r} has no field {name!r}", profile / SCHEMA_FILE
            )
    columns = [known.index(name) for name in fields]
    for path in (profile / relation, profile / f"{relation}.gz"):
        if path.is_file():
            break
    else:
        raise FormatError(f"relation {relation!r} has no file", profile)
    for number, line in _read_relation_lines(path):
        cells = line.split(FIELD_SEPARATOR)
        if len(cells) != len(known):
            raise FormatError(
                f"{len(cells)} fields, expected {len(known)}", path, number
            )
        yield [_unescape(cells[i]) for i in columns]


def _read_relation_lines(path: Path) -> Iterator[tuple[int, str]]:
    if path.suffix != ".gz":
        yield from read_lines(path)
        return
    size = 0
    try:
        with gzip.open(path) as file:
            for number, line in decode_lines(cast(BinaryIO, file), path):
                size += len(line) + 1
                check_unpacked(size, path)
                yield number, line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"not a valid gzip file ({error})", path) from None


def _unescape(cell: str) -> str:
    return re.sub(r"\\[sn\\]", lambda match: ESCAPES[match[0]], cell)


# Tokens and analyses


def _parse_tokens(yy_tokens: str) -> list[_TaggedToken]:
    """Parse tokens in the YY format: `(1, 0, 1, <0:4>, 1, "Cats", 0, "null", ...)`."""
    from delphin.tokens import YYTokenLattice

    lattice = sorted(
        YYTokenLattice.from_string(yy_tokens).tokens, key=lambda token: token.start
    )
    if not lattice or any(left.end != right.start for left, right in pairwise(lattice)):
        # pydelphin skips invalid tokens.
        raise ValueError("tokens are missing")
    tokens = []
    for token in lattice:
        start, end = token.lnk.data
        form = re.sub(r"\\(.)", r"\1", token.form)
        tag, _ = max(token.pos, key=lambda pair: pair[1], default=(None, 1.0))
        tokens.append(_TaggedToken(form, start, end, PUNCTUATION_TAGS.get(form, tag)))
    return tokens


def _parse_mrs(
    text: str, interface: SemanticInterface | None
) -> tuple[list[Node], str | None]:
    """Convert an analysis in SimpleMRS to EDS, and get its nodes and its top."""
    from delphin.codecs import simplemrs

    mrs = simplemrs.decode(text)
    graph = _to_eds(mrs)
    conjunctions = _clausal_conjunctions(mrs)
    if (
        mrs.top not in conjunctions
        and graph.top in mrs
        and _is_empty_frame(graph[graph.top])
    ):
        mrs.rels.remove(mrs[graph.top])
        graph = _to_eds(mrs)
        conjunctions = _clausal_conjunctions(mrs)
    nodes = []
    for node in graph.nodes:
        arguments = mrs[node.id].args
        args = {
            role: conjunctions.get(arguments.get(role), target)
            for role, target in node.edges.items()
        }
        frame = (
            None
            if interface is None
            else interface.frame(node.predicate, _types(arguments))
        )
        nodes.append(
            Node(node.id, node.predicate, node.cfrom, node.cto, args, node.carg, frame)
        )
    return nodes, conjunctions.get(mrs.top, graph.top)


def _types(arguments: Mapping[str, str]) -> dict[str, str]:
    """Get the types of arguments: the type of the variable x5 is x."""
    return {
        role: CONSTANT if role == CONSTANT_ROLE else value[0]
        for role, value in arguments.items()
    }


def _to_eds(mrs: MRS) -> eds.EDS:
    from delphin import eds
    from delphin.exceptions import PyDelphinWarning

    with warnings.catch_warnings():
        # Use the valid parts of analyses.
        warnings.simplefilter("ignore", PyDelphinWarning)
        return eds.from_mrs(mrs, unique_ids=False)


def _is_empty_frame(node: eds.Node) -> bool:
    """Check whether a node only marks a sentence as a fragment.

    The node `unknown` can have a noun as its argument. In "not now" and "of great
    value" it has no argument, and the other nodes represent the sentence.
    """
    return node.predicate == FRAGMENT and not node.edges


def _clausal_conjunctions(mrs: MRS) -> dict[str, str]:
    """Find arguments that are not a clause, but a conjunction of clauses.

    A label names a part of an analysis. If this part is an argument, an EDS represents
    it by one of its predicates. In "Kim said that she came and left", the predicates of
    "came", "left" and "and" have the same label since the release of 2018. The EDS
    would represent it by one of the verbs, but the argument is the conjunction of both.

    mrs (MRS): The analysis.
    RETURNS (Dict[str, str]): The ids of the conjunctions by label, and by the handles
        that are constrained to this label.
    """
    from delphin import scope

    conjunctions = {
        (predication.label, predication.args[role]): predication
        for predication in mrs.rels
        if predication.predicate.endswith("_c")
        or predication.predicate == "implicit_conj"
        for role in ("ARG1", "ARG2")
        if role in predication.args
    }
    result: dict[str, str] = {}
    for label, representatives in scope.representatives(mrs).items():
        if not representatives:
            continue
        found = representatives[0]
        seen: set[str] = set()
        # Conjunctions may be nested.
        while (label, found.iv) in conjunctions and found.id not in seen:
            seen.add(found.id)
            found = conjunctions[label, found.iv]
            result[label] = found.id
    for constraint in mrs.hcons:
        if constraint.lo in result:
            result[constraint.hi] = result[constraint.lo]
    return result


@cache
def _lemma(word: str, tag: str | None) -> str:
    """Get the lemma of a word from its form and tag."""
    from lemminflect import getLemma

    if tag in PROPER_NOUN_TAGS:
        return word
    word = word.lower()
    if (plain := plain_spelling(word)) in LEMMAS:
        return LEMMAS[plain]
    if tag in INFLECTED_TAGS and word[0].isalpha():
        # The first lemma is the most common one.
        return next(iter(getLemma(word, INFLECTED_TAGS[tag])), word)
    return word
