"""The component `sdp_paragraphs`, for texts that have more than one paragraph."""

from spacy.language import Language
from spacy.tokens import Doc


@Language.component(
    "sdp_paragraphs",
    assigns=["token.is_sent_start"],
    requires=["token.is_sent_start"],
    retokenizes=False,
)
def end_sentences_at_blank_lines(doc: Doc) -> Doc:
    """Mend sentence boundaries around line breaks.

    Treebanks have no line breaks, so what learns to find sentences from them knows
    nothing of headings and paragraphs. A blank line always ends a sentence, and
    whitespace belongs to the sentence before it.

    doc (Doc): The document, with sentence boundaries. Those of a dependency tree stay
        what they are.
    RETURNS (Doc): The same document.
    """
    if doc.has_annotation("DEP") or not doc.has_annotation("SENT_START"):
        return doc
    has_words, at_break = False, False
    for token in doc:
        is_start = bool(token.is_sent_start)
        if token.is_space:
            at_break = at_break or is_start or token.text.count("\n") > 1
            token.is_sent_start = token.i == 0
        else:
            is_start = has_words and (at_break or is_start)
            token.is_sent_start = token.i == 0 or is_start
            has_words, at_break = True, False
    return doc
