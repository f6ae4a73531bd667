"""The component `sdp_paragraphs`, for texts with paragraphs, lists and dialogue."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import cast

import numpy
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc, Token
from thinc.types import Ints2d

# The mark of a list item or a heading at the start of a line.
ITEM = re.compile(
    r"^[ \t]*((?:[-*\u2013•‣◦▪]|#{1,6}|\d{1,2}[.)])[ \t]+)\S", re.MULTILINE
)
PARAGRAPH = re.compile(r"\S.*(?:\n.*\S.*)*")
# Maximum width of wrapped lines.
MARGIN = 120


@Language.component(
    "sdp_paragraphs",
    assigns=["token.is_sent_start"],
    requires=["token.is_sent_start"],
    retokenizes=False,
)
def mend_sentence_boundaries(doc: Doc) -> Doc:
    """Correct sentence boundaries around line breaks and quotation marks.

    Treebanks have no line breaks and few quotations, so components that are trained on
    them do not handle headings, paragraphs, lists and dialogue well. A blank line
    always ends a sentence. So does a line break, unless the line was wrapped at a
    margin or the next line starts with a lower-case letter. A list item starts a
    sentence and keeps its bullet or number. Whitespace belongs to the sentence before
    it, and punctuation belongs to the words that it is attached to.

    doc (Doc): The document, with sentence boundaries. Boundaries of a dependency parse
        are not changed.
    RETURNS (Doc): The same document.
    """
    if doc.has_annotation("DEP") or not doc.has_annotation("SENT_START"):
        return doc
    starts = {_beginning(doc, token.i) for token in doc if token.is_sent_start}
    for first, *rest in _list_items(doc):
        starts.difference_update(rest)
        starts.add(first)
    breaks = set(_line_breaks(doc.text))
    has_words, at_break = False, False
    # Set all values together, because each Token.is_sent_start checks the whole Doc.
    column = numpy.full(len(doc), -1, dtype="int64")
    for token in doc:
        is_start = token.i in starts
        if token.is_space:
            places = range(token.idx, token.idx + len(token))
            is_break = token.text.count("\n") > 1 or not breaks.isdisjoint(places)
            at_break = at_break or is_start or is_break
        else:
            if has_words and (at_break or is_start):
                column[token.i] = 1
            has_words, at_break = True, False
    column[0] = 1
    return doc.from_array([SENT_START], cast(Ints2d, column.astype("uint64")))


def _list_items(doc: Doc) -> Iterator[range]:
    """YIELDS (range): The tokens of each list mark, and the word after it."""
    for match in ITEM.finditer(doc.text):
        mark = doc.char_span(*match.span(1), alignment_mode="expand")
        assert mark is not None  # the text consists of the tokens
        yield range(mark.start, mark.end + 1)


def _line_breaks(text: str) -> Iterator[int]:
    """Find the ends of lines that were not wrapped.

    A line was wrapped if, with the first word of the next line, it would be longer than
    the longest line of the paragraph.

    text (str): The text.
    YIELDS (int): The position of a line break.
    """
    for paragraph in PARAGRAPH.finditer(text):
        lines = paragraph.group().split("\n")
        position = paragraph.start()
        longest = max(len(line.rstrip()) for line in lines)
        for line, following in pairwise(lines):
            position += len(line)
            word = following.split(maxsplit=1)[0]
            has_room = len(line.rstrip()) + len(" ") + len(word) <= longest
            if (has_room or longest > MARGIN) and not word[0].islower():
                yield position
            position += len("\n")


def _beginning(doc: Doc, start: int) -> int:
    """Find the start of a sentence, given one of its first tokens."""
    after = start
    while after < len(doc) and not _is_apart(doc[after]) and _is_mark(doc[after]):
        after += 1
    if after == len(doc) or _is_apart(doc[after]):
        # Closing punctuation belongs to the sentence before.
        return after
    before = start
    while not _is_apart(doc[before]) and _is_mark(doc[before - 1]):
        before -= 1
    return before if _is_apart(doc[before]) else start


def _is_apart(token: Token) -> bool:
    """Check whether a token is separated from the one before it by whitespace."""
    if token.i == 0:
        return True
    previous = token.nbor(-1)
    return bool(previous.whitespace_) or previous.is_space


def _is_mark(token: Token) -> bool:
    return token.is_punct or token.is_quote
