"""Words and text of the sentences in ERG profiles, without markup.

The sentences contain Wikipedia markup: brackets with a type and optional attributes, as
in `⌊>link>⌋` or `⌊=heading¦2=⌋`. The tokens of the grammar have positions in this text,
but different forms: curly quotes, single characters for dashes and ellipses, and
placeholders such as `<math/>` for text that the grammar does not analyse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...graph.spelling import plain_spelling
from .eds_to_dm import Token

# A piece of markup: the start of a bracket or of its attributes, or its end.
MARKUP_PIECE = re.compile("⌊.?|¦|.?⌋")
# Dots and hyphens after a token that belong to it: ellipses and dashes are a single
# character in the grammar, so its tokens only cover the first one in the sentence.
REST_OF_TOKEN = re.compile(r"(?:\s*[.-])*")


def words_and_text(raw_text: str, tokens: Sequence[Token]) -> tuple[list[str], str]:
    """Get the tokens as they are written in a text, and the text without markup.

    raw_text (str): The text.
    tokens (Sequence[Token]): The tokens, with the forms of the grammar.
    RETURNS (Tuple[List[str], str]): The words, and the text that consists of them.
    """
    characters, brackets = _hide_markup(raw_text)
    starts_of_next = [*(token.start for token in tokens[1:]), len(raw_text)]
    words: list[str] = []
    text = ""
    end = 0
    for token, start_of_next in zip(tokens, starts_of_next, strict=True):
        has_space = any(char.isspace() for char in characters[end : token.start])
        end = _end_of_token(raw_text, token, start_of_next, brackets)
        written = "".join(characters[token.start : end])
        word = _choose_word(written, token.form)
        text += f" {word}" if words and has_space else word
        words.append(word)
    return words, text


def _hide_markup(raw_text: str) -> tuple[list[str], dict[int, int]]:
    """Remove the markup from a text.

    raw_text (str): The text.
    RETURNS (Tuple[List[str], Dict[int, int]]): The characters, with empty strings for
        markup, and a mapping from the start to the end of each bracket.
    """
    characters = list(raw_text)
    brackets: dict[int, int] = {}
    # The start of each open bracket, and of its attributes if it has any.
    open_brackets: list[tuple[int, int | None]] = []
    for piece in MARKUP_PIECE.finditer(raw_text):
        start, end = piece.span()
        if piece[0] == "¦":
            if open_brackets and open_brackets[-1][1] is None:
                open_brackets[-1] = (open_brackets[-1][0], start)
            continue
        if piece[0].startswith("⌊"):
            open_brackets.append((start, None))
        elif open_brackets:
            # A bracket may have been opened in an earlier sentence.
            bracket, attributes = open_brackets.pop()
            brackets[bracket] = end
            start = start if attributes is None else attributes
        characters[start:end] = [""] * (end - start)
    return characters, brackets


def _end_of_token(
    raw_text: str, token: Token, start_of_next: int, brackets: dict[int, int]
) -> int:
    """Find the end of a token, which may only cover its first character."""
    end = token.end
    if raw_text[token.start : end].endswith("⌊"):
        # A placeholder for the whole bracket.
        end = min(brackets.get(end - 1, end), start_of_next)
    rest = REST_OF_TOKEN.match(raw_text, end, start_of_next)
    return rest.end() if rest else end


def _choose_word(written: str, form: str) -> str:
    """Prefer the spelling in the text to the form of the grammar."""
    characters, _ = _hide_markup(form)
    form = "".join(characters)
    has_space = any(char.isspace() for char in written)
    if not has_space and plain_spelling(written) == plain_spelling(form):
        return written
    return "_".join(form.split())
