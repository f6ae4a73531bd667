"""Augmentation of training data with other spellings of quotes, dashes etc."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.util import registry
from thinc.types import Ints2d

# Opening and closing quotes, double and single.
QUOTES = (('"', '"', "'", "'"), ("“", "”", "‘", "’"), ("``", "''", "`", "'"))  # noqa: RUF001
OPENING, CLOSING = frozenset({"“", "„", "``"}), frozenset({"”", "''"})
DOUBLE_QUOTES = frozenset({'"', *OPENING, *CLOSING})
SINGLE_QUOTES = frozenset("'‘’`")  # noqa: RUF001
DASHES = ("-", "--", "–", "—")  # noqa: RUF001
ELLIPSES = ("...", "…")
APOSTROPHES = ("'", "’")  # noqa: RUF001
# Words for the placeholders that a corpus has in place of removed markup.
PLACEHOLDERS = {
    "<math/>": ("x", "y", "n", "k", "P", "42", "0.5", "π"),
    "<ipa/>": ("ka", "ti", "oe", "sh", "ŋ"),
    "<code/>": ("main", "foo", "printf", "x1", "nil"),
    "<foreign/>": ("mundo", "ratio", "Sprache", "mot", "kana"),
}
# The token annotations, which do not depend on the spelling.
ATTRS = (
    *("TAG", "POS", "MORPH", "LEMMA", "DEP", "HEAD", "SENT_START"),
    *("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"),
)


@registry.augmenters("spacy_sdp.spelling_augmenter.v1")
def make_spelling_augmenter(
    level: float,
) -> Callable[[Language, Example], Iterator[Example]]:
    """Create an augmenter that varies quotes, dashes, ellipses and placeholders.

    A corpus only has one variant of each, but users write all of them. Token boundaries
    do not change.

    level (float): The share of texts to change.
    RETURNS (Callable): The augmenter.
    """
    if not 0 <= level <= 1:
        raise ValueError(f"The setting 'level' must be between 0 and 1, not {level}.")
    return partial(spelling_augmenter, level=level)


def spelling_augmenter(
    nlp: Language, example: Example, *, level: float
) -> Iterator[Example]:
    """Yield the example, either unchanged or with other spellings."""
    if random.random() >= level:
        yield example
        return
    reference = _with_words(example.reference, respell(example.reference))
    yield Example(nlp.make_doc(reference.text), reference)


def respell(doc: Doc) -> list[str]:
    """Get the words of a Doc in a different spelling, chosen at random for the Doc.

    doc (Doc): The document.
    RETURNS (List[str]): One word for each token.
    """
    quotes, dash = random.choice(QUOTES), random.choice(DASHES)
    ellipsis, apostrophe = random.choice(ELLIPSES), random.choice(APOSTROPHES)
    words = []
    is_open = False
    for token in doc:
        word = token.text
        if word in DOUBLE_QUOTES:
            # Straight quotes alternate between opening and closing.
            is_open = word not in CLOSING and (word in OPENING or not is_open)
            word = quotes[0 if is_open else 1]
        elif word in SINGLE_QUOTES:
            word = quotes[2 if _begins_a_word(token) else 3]
        elif word in DASHES and word != "-":
            word = dash
        elif word in ELLIPSES:
            word = ellipsis
        elif word in PLACEHOLDERS:
            word = random.choice(PLACEHOLDERS[word])
        else:
            for other in APOSTROPHES:
                word = word.replace(other, apostrophe)
        words.append(word)
    return words


def _begins_a_word(token: Token) -> bool:
    """Check whether a quote is at the start of a word."""
    before = token.doc[token.i - 1] if token.i else None
    is_first = before is None or bool(before.whitespace_) or before.is_left_punct
    return is_first and not token.whitespace_


def _with_words(doc: Doc, words: list[str]) -> Doc:
    """Copy a Doc with other words."""
    spaces = [bool(token.whitespace_) for token in doc]
    copy = Doc(doc.vocab, words=words, spaces=spaces)
    # Copying an annotation sets it, so copy only annotations that the Doc has.
    attrs: list[int | str] = [name for name in ATTRS if doc.has_annotation(name)]
    if "DEP" in attrs and "SENT_START" in attrs:
        attrs.remove("SENT_START")
    if attrs:
        copy.from_array(attrs, cast(Ints2d, doc.to_array(attrs)))
    for key, group in doc.spans.items():
        copy.spans[key] = [
            Span(copy, span.start, span.end, span.label, kb_id=span.kb_id)
            for span in group
        ]
    copy.cats = dict(doc.cats)
    copy.user_data = dict(doc.user_data)
    return copy
