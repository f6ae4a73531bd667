"""Correct automatic tags by the analyses of the English Resource Grammar.

    python scripts/correct_tags.py assets/erg/tsdb/gold corpus/tagger/wescience.spacy

The tags of the open DM corpus are predicted by a tagger, which confuses some nouns and
verbs. The derivation of a sentence contains the lexical entry and the inflection of
each word: "bark" in "Dogs bark." is a verb in the present tense.

Tags that differ between treebanks are removed, so that a tagger learns them from other
data: the tags of punctuation, of words such as "n't", and of words that spaCy's
tokenizer splits. "to" has the tag IN unless an infinitive follows, as in UD
English-EWT.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import spacy
from delphin import derivation, tsdb
from delphin.tokens import YYTokenLattice
from spacy.tokenizer import Tokenizer
from tqdm import tqdm

from spacy_sdp.formats import Record, docbin
from spacy_sdp.graph.spelling import plain_spelling

VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
# The tags that a tagger confuses with those of verbs.
OPEN = VERBS | NOUNS | {"JJ", "RB", "IN"}
BASES = frozenset({"VB", "VBP"})
# Prefixes of the names of inflectional rules for verbs, with the tags of such words.
INFLECTIONS = {
    "v_pst_": "VBD",
    "v_psp_": "VBN",
    "v_pas": "VBN",
    "v_prp_": "VBG",
    "v_3s-": "VBZ",
}
# Rules that derive adjectives and gerunds from verbs, whose tags differ between
# treebanks.
DERIVATIONS = ("v_j-", "j_", "v_nger")
BASE_FORM = "v_n3s-bse_"
AUXILIARIES = "v_aux"
PLURAL = ("n_pl_", "n_pl-irreg_")
SINGULAR = ("n_sg_", "n_ms")
# Lexical rules have names such as v_pst_olr, and constructions such as sb-hd_mc_c.
LEXICAL = "lr"
# The class of a lexical entry: "n" of bark_n1 and "v" of bark_v1.
ENTRY = re.compile(r"_([a-z]+)\d*$")
GENITIVE = "apostrophe_s"
GENERIC = "generic"
CLITICS = frozenset({"n't", "'s", "'m", "'re", "'ve", "'ll", "'d"})
DO = frozenset({"do", "does", "did"})

PREDICATION = re.compile(
    r'\[ (\S+)<(\d+):(\d+)> LBL: h\d+ (?:CARG: "(?:[^"\\]|\\.)*" )?ARG0: (\w+)'
)
EVENT = re.compile(r"\b(e\d+) \[ e ([^\]]*)\]")
PROPERTY = re.compile(r"(\S+): (\S+)")
OFFSETS = re.compile(r'\+(?:FROM|TO) \\"(\d+)\\"')

Span = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """A word in an analysis."""

    # The name of the lexical entry, and of the rules that were applied to it.
    entry: str
    rules: tuple[str, ...]
    # The properties of its event, such as TENSE.
    event: dict[str, str]
    is_name: bool

    @property
    def kind(self) -> str:
        match = ENTRY.search(self.entry)
        return match[1] if match else ""

    @property
    def is_common_noun(self) -> bool:
        return self.kind == "n" and self.has(*SINGULAR) and not self.is_name

    def has(self, *prefixes: str) -> bool:
        return any(rule.startswith(prefixes) for rule in self.rules)


@dataclass(frozen=True)
class Analysis:
    """The analysis of a sentence."""

    forms: list[str]
    # None for words that the analysis does not include.
    words: list[Word | None]


def read_analyses(
    profile: Path, ids: Collection[str | None]
) -> Iterator[tuple[str, Analysis]]:
    """Read gold analyses from a profile.

    profile (Path): The folder of the profile.
    ids (Collection[Optional[str]]): The ids of the sentences to read.
    YIELDS (Tuple[str, Analysis]): The id of each sentence, and its analysis.
    """
    tokens = {}
    for line in tsdb.open(profile, "parse"):
        parse_id, _, item_id, _, lattice, *_ = tsdb.split(line)
        tokens[parse_id] = (item_id, lattice)
    for line in tsdb.open(profile, "result"):
        parse_id, *fields = tsdb.split(line)
        tree, mrs = fields[9], fields[12]
        item_id, lattice = tokens[parse_id]
        if item_id in ids and tree:
            yield item_id, read_analysis(lattice, tree, mrs)


def read_analysis(lattice: str, tree: str, mrs: str) -> Analysis:
    """Read an analysis.

    lattice (str): The tokens, in the YY format.
    tree (str): The derivation, in the UDF format.
    mrs (str): The semantics, in the SimpleMRS format.
    RETURNS (Analysis): The analysis.
    """
    tokens = sorted(
        YYTokenLattice.from_string(lattice).tokens, key=lambda token: token.start
    )
    names, events = find_predications(mrs)
    words = {}
    for entry, rules, span in find_entries(derivation.from_string(tree)):
        words[span] = Word(entry, rules, events.get(span, {}), span in names)
    return Analysis(
        [token.form for token in tokens],
        [words.get(token.lnk.data) for token in tokens],
    )


def find_predications(mrs: str) -> tuple[set[Span], dict[Span, dict[str, str]]]:
    """Get the spans of names, and the properties of the events of verbs by span."""
    properties = {
        event: dict(PROPERTY.findall(text)) for event, text in EVENT.findall(mrs)
    }
    names: set[Span] = set()
    events: dict[Span, dict[str, str]] = {}
    for predicate, start, end, variable in PREDICATION.findall(mrs):
        span = (int(start), int(end))
        if predicate.startswith("named"):
            names.add(span)
        elif "_v_" in predicate:
            events[span] = properties.get(variable, {})
    return names, events


def find_entries(
    node: derivation.UDFNode, rules: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], Span]]:
    """Yield the lexical entries of single tokens, with their rules and spans."""
    for child in node.daughters:
        if isinstance(child, derivation.UDFNode):
            above = rules if len(node.daughters) == 1 else ()
            is_rule = child.entity.endswith(LEXICAL)
            yield from find_entries(child, (*above, *[child.entity] * is_rule))
        elif len(child.tokens) == 1:
            start, end = OFFSETS.findall(child.tokens[0].tfs)
            yield node.entity, rules, (int(start), int(end))


def correct(tags: list[str | None], words: list[str], analysis: Analysis) -> None:
    """Correct the tags of a sentence.

    tags (List[Optional[str]]): The tags, which are changed.
    words (List[str]): The words.
    analysis (Analysis): The analysis.
    """
    has_do = not DO.isdisjoint(word.lower() for word in words)
    for i, (form, word) in enumerate(zip(words, analysis.words, strict=True)):
        tag = tags[i]
        if tag and word and form[0].isalpha() and not word.entry.startswith(GENERIC):
            tags[i] = find_tag(tag, form, word, has_do=has_do)
        elif word and word.entry.startswith(GENITIVE):
            tags[i] = "POS"
        # The first word of a sentence has a capital letter, but is not always a name.
        if i == 0 and tag == "NNP" and word and word.is_common_noun:
            tags[0] = "NN"


def find_tag(tag: str, form: str, word: Word, *, has_do: bool) -> str:
    """Find the tag of a word.

    tag (str): The automatic tag.
    form (str): The word.
    word (Word): The word in the analysis.
    has_do (bool): Whether the sentence has a form of "do", whose tense a base form
        then has in the analysis.
    RETURNS (str): The automatic tag, unless the analysis excludes it.
    """
    if word.has(*DERIVATIONS, AUXILIARIES) or form.lower() == "thanks":
        return tag
    if word.has(*PLURAL):
        is_wrong = tag in VERBS | {"JJ", "RB"} or (tag == "NN" and form.endswith("s"))
        return "NNS" if is_wrong else tag
    if word.has(*SINGULAR):
        return "NN" if word.kind == "n" and tag in VERBS else tag
    if tag in OPEN:
        for prefix, inflected in INFLECTIONS.items():
            if word.has(prefix):
                return inflected
        if word.has(BASE_FORM):
            return find_tag_of_base(tag, word.event, has_do=has_do)
    if word.kind == "a" and not word.rules and tag in BASES:
        return "JJ"
    return tag


def find_tag_of_base(tag: str, event: dict[str, str], *, has_do: bool) -> str:
    """Decide whether a base form is an infinitive or in the present tense."""
    tense = event.get("TENSE")
    if tense == "untensed" or event.get("SF") == "comm":
        return "VB"
    if tense == "pres" and not has_do and event.get("MOOD") == "indicative":
        return "VBP"
    return tag if tag in BASES else "VB"


def drop_unclear_tags(
    tags: list[str | None], words: list[str], tokenizer: Tokenizer
) -> None:
    """Remove the tags that differ between treebanks.

    tags (List[Optional[str]]): The tags, which are changed.
    words (List[str]): The words.
    tokenizer (Tokenizer): spaCy's tokenizer.
    """
    for i, word in enumerate(words):
        is_mark = not any(map(str.isalnum, word))
        # The tagger did not know curly apostrophes.
        is_clitic = plain_spelling(word).lower() in CLITICS and tags[i] != "POS"
        if is_mark or is_clitic or len(tokenizer(word)) > 1:
            tags[i] = None
        elif word.lower() == "to":
            after = [tag for tag in tags[i + 1 :] if tag != "RB"]
            tags[i] = "TO" if after[:1] == ["VB"] else "IN"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profiles", type=Path, help="folder of the profiles")
    parser.add_argument("path", type=Path, help="the .spacy file to change")
    args = parser.parse_args()
    sentences = list(docbin.read(args.path))
    ids = {sentence.id for sentence in sentences}
    analyses: defaultdict[str | None, list[Analysis]] = defaultdict(list)
    for relations in tqdm(sorted(args.profiles.glob("*/relations")), unit=" profiles"):
        for item_id, analysis in read_analyses(relations.parent, ids):
            analyses[item_id].append(analysis)
    tokenizer = spacy.blank("en").tokenizer
    changed = sum(
        correct_sentence(sentence, analyses[sentence.id], tokenizer)
        for sentence in sentences
    )
    docbin.write(sentences, args.path)
    print(f"{args.path}: {changed} tags changed or removed")


def correct_sentence(
    sentence: Record, analyses: list[Analysis], tokenizer: Tokenizer
) -> int:
    """Correct the tags of a sentence.

    sentence (Record): The sentence, which is changed.
    analyses (List[Analysis]): The analyses of the sentences with the same id, in all
        profiles.
    tokenizer (Tokenizer): spaCy's tokenizer.
    RETURNS (int): The number of changes.
    """
    words = sentence.words

    def similarity(analysis: Analysis) -> int:
        return sum(map(str.__eq__, words, analysis.forms))

    candidates = [each for each in analyses if len(each.forms) == len(words)]
    tags = list(sentence.tags)
    if candidates:
        correct(tags, words, max(candidates, key=similarity))
    drop_unclear_tags(tags, words, tokenizer)
    changes = sum(map(str.__ne__, map(str, tags), map(str, sentence.tags)))
    sentence.tags = tags
    return changes


if __name__ == "__main__":
    main()
