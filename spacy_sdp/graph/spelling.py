"""Ways to write the same: what corpora and raw texts have differently."""

from __future__ import annotations

import re

# Brackets come first, as their names have hyphens.
VARIANTS = (
    (re.compile("-LRB-"), "("),
    (re.compile("-RRB-"), ")"),
    (re.compile("``|''|[“”„]"), '"'),
    (re.compile("[‘’`]"), "'"),  # noqa: RUF001
    (re.compile("[-–—]+"), "-"),  # noqa: RUF001
    (re.compile(r"\.{2,}"), "…"),
)


def plain_spelling(text: str) -> str:
    """Give a text in which quotes, dashes, ellipses and brackets are of one kind each.

    text (str): The text.
    RETURNS (str): The text, to be compared with another one.
    """
    for pattern, plain in VARIANTS:
        text = pattern.sub(plain, text)
    return text
