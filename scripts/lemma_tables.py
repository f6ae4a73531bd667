"""Create the tables of spaCy's rule lemmatizer.

    python scripts/lemma_tables.py en_ewt-ud-train.conllu corpus/lemmas.json

The dictionaries are those of spacy-lookups-data (from WordNet) and lemminflect. spaCy's
own rules for English propose "hop" for "hoping", and need all base forms to choose
between "hop" and "hope". Here, the rules are endings that are learned from the
dictionary, most specific first, and words with other lemmas are exceptions. So the
tables are small, and unknown words get the most likely lemma. Words such as "is" and
"them", and capitalized adjectives, are taken from a treebank.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

import srsly
from lemminflect import getAllInflections, getAllLemmas
from spacy.lookups import load_lookups

from spacy_sdp import formats

# The parts of speech of inflected words by the name of their tables, with the tags of
# their base forms.
INFLECTED = {
    "verb": ("VERB", {"VB", "VBP"}),
    "noun": ("NOUN", {"NN"}),
    "adj": ("ADJ", {"JJ"}),
}
# Parts of speech with few words, whose base form is the lower-case word.
CLOSED = ("adp", "adv", "aux", "cconj", "det", "intj", "part", "pron", "sconj")
# Forms whose most common lemma is different.
CORRECTIONS = {"noun": {"leaves": "leaf"}}
# Minimum number of words to learn an ending from, and maximum number of letters of an
# ending before the letters that change.
MIN_WORDS, MAX_CONTEXT = 10, 3
# Minimum frequency of exceptions from the treebank.
MIN_COUNT = 3

# The replacement of each ending.
Rules = dict[str, str]
Lemmas = dict[str, str]


def read_inflections(pos: str, base_forms: Iterable[str]) -> Lemmas:
    """Get the inflected forms of words.

    pos (str): The part of speech: "verb", "noun" or "adj".
    base_forms (Iterable[str]): The words.
    RETURNS (Dict[str, str]): The lemma of each form.
    """
    name, base_tags = INFLECTED[pos]
    lemmas = {}
    for lemma in base_forms:
        for tag, forms in getAllInflections(lemma, upos=name).items():
            for form in forms if tag not in base_tags else ():
                # The first lemma of a form is the most common one.
                (first, *_) = getAllLemmas(form, upos=name).get(name, [""])
                if first == lemma and is_word(form):
                    lemmas[form] = lemma
    return lemmas


def is_word(text: str) -> bool:
    """Check whether a text is a lower-case word."""
    return text.isalpha() and text.islower()


def learn_rules(lemmas: Lemmas) -> Rules:
    """Learn the replacements of word endings.

    lemmas (Dict[str, str]): The lemmas of the words.
    RETURNS (Dict[str, str]): The replacement of each ending.
    """
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, lemma in lemmas.items():
        kept = sum(takewhile(bool, map(str.__eq__, word, lemma)))
        for start in range(max(1, kept - MAX_CONTEXT), kept + 1):
            votes[word[start:]][lemma[start:]] += 1
    rules: Rules = {}
    for ending in sorted(votes, key=len):
        ((new, count),) = votes[ending].most_common(1)
        if count >= MIN_WORDS and apply(rules, ending) != new:
            rules[ending] = new
    return rules


def apply(rules: Rules, word: str) -> str:
    """Replace the longest ending of a word that has a rule."""
    for start in range(len(word) + 1):
        if word[start:] in rules:
            return word[:start] + rules[word[start:]]
    return word


def read_lemmas(treebank: Path) -> Iterator[tuple[str, str, str]]:
    """Get the most frequent lemma of each word of a treebank.

    treebank (Path): The treebank.
    YIELDS (Tuple[str, str, str]): The part of speech in lower case, the word in lower
        case, and its lemma.
    """
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in formats.read(treebank):
        for word, pos, lemma in zip(each.words, each.pos, each.lemmas, strict=True):
            if pos and lemma:
                counts[pos.lower(), word.lower()][lemma] += 1
    for (pos, word), lemmas in sorted(counts.items()):
        ((lemma, count),) = lemmas.most_common(1)
        if count >= MIN_COUNT:
            yield pos, word, lemma


def make_tables(treebank: Path) -> dict[str, dict]:
    """Create the tables.

    treebank (Path): The treebank for words that the dictionaries lack.
    RETURNS (Dict[str, dict]): The tables.
    """
    lookups = load_lookups("en", ["lemma_exc", "lemma_index"])
    rules: dict[str, Rules] = {pos: {"": ""} for pos in CLOSED}
    known: defaultdict[str, Lemmas] = defaultdict(dict)
    for pos in INFLECTED:
        base_forms = list(filter(is_word, lookups.get_table("lemma_index")[pos]))
        lemmas = read_inflections(pos, base_forms)
        rules[pos] = {"": ""} | learn_rules(lemmas)
        for form, others in lookups.get_table("lemma_exc")[pos].items():
            if is_word(form):
                # spaCy's lemmatizer prefers the last one.
                lemmas.setdefault(form, others[-1])
        # If a base form is tagged as an inflected form, it does not change.
        known[pos] = dict(zip(base_forms, base_forms, strict=True)) | lemmas
        known[pos] |= CORRECTIONS.get(pos, {})
    for pos, word, lemma in read_lemmas(treebank):
        if (
            (pos in CLOSED and lemma != word)
            # Plurals such as "troops", which have no singular, and "more".
            or (pos in ("noun", "adj") and lemma == word)
            or (pos == "adj" and lemma == word.capitalize())
            # The plural of a name.
            or (pos == "propn" and lemma.lower() != word)
        ):
            known[pos][word] = lemma
    return {
        "lemma_rules": {pos: to_list(each) for pos, each in rules.items()},
        "lemma_exc": {
            pos: {
                word: [lemma]
                for word, lemma in sorted(lemmas.items())
                if apply(rules.get(pos, {}), word) != lemma
            }
            for pos, lemmas in known.items()
        },
        # These rules do not need an index of base forms.
        "lemma_index": {},
    }


def to_list(rules: Rules) -> list[list[str]]:
    """Sort rules, longest endings first."""
    return [
        [end, rules[end]] for end in sorted(rules, key=lambda end: (-len(end), end))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebank", type=Path, help="file with lemmas")
    parser.add_argument("output", type=Path, help=".json file to write")
    args = parser.parse_args()
    tables = make_tables(args.treebank)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(args.output, tables)
    for name in ("lemma_rules", "lemma_exc"):
        counts = ", ".join(f"{len(each)} {pos}" for pos, each in tables[name].items())
        print(f"{args.output}: {name}: {counts}")


if __name__ == "__main__":
    main()
