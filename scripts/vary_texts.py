"""Vary the texts of a corpus: case, final full stops and line breaks.

    python scripts/vary_texts.py ewt.spacy wescience.spacy corpus/tagger/train.spacy

Treebanks have edited text, in which sentences begin with a capital letter, end in
punctuation and follow each other with a space. Users also write headlines, messages,
lists, and lines of a limited width. The output has every sentence twice, unchanged and
varied, in Docs of up to 8 sentences. Graphs are kept.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from spacy_sdp.formats import Record, docbin
from spacy_sdp.formats.bridge import find_words

T = TypeVar("T")

SIZES = (1, 2, 4, 8)
COLUMNS = ("lemmas", "tags", "pos", "morphs", "frames", "predicates", "nodes")
FULL_STOP = "."
FINAL = frozenset(".?!…")
CLOSING = "\"'”’)]}»"  # noqa: RUF001


def capitalize(word: str) -> str:
    """Capitalize a word, as in a headline."""
    return word[:1].upper() + word[1:]


# The spellings of sentences, with their shares.
CASES = {str: 0.2, str.lower: 0.5, str.upper: 0.2, capitalize: 0.1}
# The share of sentences without their full stop.
UNSTOPPED = 0.7
# The share of varied texts with lines of a limited width, and the widths.
WRAPPED, WIDTHS = 0.33, range(50, 81)
# The separators after a sentence with final punctuation, and after one without: in an
# edited text, and in a message.
STOPPED = {" ": 0.85, "\n": 0.08, "\n\n": 0.07}
TITLES = {" ": 0.1, "\n": 0.6, "\n\n": 0.3}
MESSAGES = {" ": 0.4, "\n": 0.4, "\n\n": 0.2}


def to_texts(sentences: Sequence[Record], *, varied: bool) -> Iterator[Record]:
    """Group sentences into texts.

    sentences (Sequence[Record]): The sentences.
    varied (bool): Whether to vary them.
    YIELDS (Record): The sentences.
    """
    start = 0
    while start < len(sentences):
        size = choose(dict.fromkeys(SIZES, 1.0))
        group = sentences[start : start + size]
        start += size
        is_wrapped = varied and random.random() < WRAPPED
        untitled = MESSAGES if varied and not is_wrapped else TITLES
        for number, sentence in enumerate(group):
            if is_wrapped:
                sentence = wrap(sentence, random.choice(WIDTHS))
            elif varied:
                sentence = rewrite(sentence)
            chances = STOPPED if is_stopped(sentence) else untitled
            separator = "" if number == len(group) - 1 else choose(chances)
            yield replace(
                sentence,
                text=(sentence.text or "") + separator.strip(" "),
                space_after=separator == " ",
                starts_document=number == 0,
            )


def choose(chances: Mapping[T, float]) -> T:
    """Choose one of several values at random, given their probabilities."""
    return random.choices(list(chances), list(chances.values()))[0]


def is_stopped(sentence: Record) -> bool:
    """Check whether a sentence has final punctuation."""
    return (sentence.text or "").rstrip(CLOSING)[-1:] in FINAL


def rewrite(sentence: Record) -> Record:
    """Vary a sentence, as in a message or a headline."""
    words = list(map(choose(CASES), sentence.words))
    if words[-1] == FULL_STOP and random.random() < UNSTOPPED:
        last = len(words) - 1
        # In some graphs, punctuation has arcs.
        if last and all(last not in arc for arc in sentence.arcs):
            words.pop()
    return with_words(sentence, words, gaps(sentence))


def wrap(sentence: Record, width: int) -> Record:
    """Wrap the lines of a sentence that starts at a random position in a line."""
    between = gaps(sentence)
    column = random.randrange(width)
    for i, word in enumerate(sentence.words):
        if i and between[i - 1] == " " and column + len(word) > width:
            between[i - 1] = "\n"
            column = 0
        column += len(word) + 1
    return with_words(sentence, sentence.words, between)


def gaps(sentence: Record) -> list[str]:
    """Get the whitespace after each word of a sentence, except for the last."""
    text = sentence.text or ""
    return [
        text[end:start]
        for (_, end), (start, _) in pairwise(find_words(sentence.words, text))
    ]


def with_words(sentence: Record, words: list[str], between: list[str]) -> Record:
    """Copy a sentence with other words. The last word may be missing."""
    pairs = zip_longest(words, between[: len(words) - 1], fillvalue="")
    columns = {name: getattr(sentence, name)[: len(words)] for name in COLUMNS}
    return replace(
        sentence, words=words, text="".join(chain.from_iterable(pairs)), **columns
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", nargs="+", type=Path, help=".spacy files")
    parser.add_argument("output", type=Path, help=".spacy file to write")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random.seed(args.seed)
    output: list[Record] = []
    for path in args.input:
        sentences = [plain(each) for each in docbin.read(path) if each.text]
        for varied in (False, True):
            output += to_texts(sentences, varied=varied)
    docbin.write(tqdm(output, unit=" sentences"), args.output)


def plain(sentence: Record) -> Record:
    """Remove annotations that do not apply to other texts, such as the tree."""
    return replace(
        sentence,
        comments=[],
        heads=[],
        deps=[],
        misc=[],
        multiword_tokens=[],
        empty_nodes=[],
    )


if __name__ == "__main__":
    main()
