"""Silver data: sentences annotated by one pipeline to train another one."""

import math
from collections.abc import Iterable
from statistics import mean
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from ..graph.extensions import DEFAULT_ATTR, get_graph
from ..graph.join import split_sents

# Shorter sentences have hardly any arcs to learn from.
MIN_LENGTH = 3
MAX_LENGTH = 60
SHARE = 0.6


class SilverData(NamedTuple):
    """The sentences that are kept, and the number of sentences that are not."""

    docs: list[Doc]  # one sentence each, the most confident first
    wrong_length: int
    repeated: int
    unsure: int


def signature(words: Iterable[str]) -> str:
    """Normalize a sentence, independent of its tokenization and letter case.

    words (Iterable[str]): The words of the sentence, or its text.
    RETURNS (str): Its letters.
    """
    return "".join("".join(words).lower().split())


def annotate(
    nlp: Language,
    texts: Iterable[str | Doc],
    *,
    share: float = SHARE,
    max_length: int = MAX_LENGTH,
    held_out: Iterable[Iterable[str]] = (),
    attr: str = DEFAULT_ATTR,
) -> SilverData:
    """Parse texts, and keep the sentences with the most confident parses.

    nlp (Language): The pipeline.
    texts (Iterable[Union[str, Doc]]): Texts, or Docs with tokens and sentence
        boundaries to keep.
    share (float): The share of the sentences to keep.
    max_length (int): Leave out sentences with more tokens.
    held_out (Iterable[Iterable[str]]): Sentences to leave out, because a parser will be
        tested on them. A sentence that occurs twice is kept once.
    attr (str): The attribute with the graphs.
    RETURNS (SilverData): The sentences.
    """
    sentences: list[Doc] = []
    known = {signature(words) for words in held_out}
    wrong_length = repeated = 0
    for doc in nlp.pipe(texts):
        # Splitting also drops the transformer's output: kilobytes for each word.
        for sentence in split_sents(doc, attr):
            name = signature(sentence.text)
            if not MIN_LENGTH <= len(sentence) <= max_length:
                wrong_length += 1
            elif name in known:
                repeated += 1
            else:
                known.add(name)
                sentences.append(sentence)
    sentences.sort(key=lambda sentence: confidence(sentence, attr), reverse=True)
    count = round(share * len(sentences))
    unsure = len(sentences) - count
    return SilverData(sentences[:count], wrong_length, repeated, unsure)


def confidence(doc: Doc, attr: str = DEFAULT_ATTR) -> float:
    """Compute how confident a parser is of its graph.

    doc (Doc): The parsed Doc.
    attr (str): The attribute with the graph.
    RETURNS (float): The mean log-probability of its arcs; without arcs, minus infinity.
    """
    graph = get_graph(doc, attr)
    scores = [arc.score or 0.0 for arc in graph or ()]
    return mean(math.log(max(score, 1e-9)) for score in scores) if scores else -math.inf
