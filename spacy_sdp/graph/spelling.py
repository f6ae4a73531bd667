"""Normalization of spelling variants that differ between corpora and raw text."""

from __future__ import annotations

import re

# Brackets come first, because their names contain hyphens.
VARIANTS = (
    (re.compile("-LRB-"), "("),
    (re.compile("-RRB-"), ")"),
    (re.compile("``|''|[“”„]"), '"'),
    (re.compile("[‘’`]"), "'"),  # noqa: RUF001
    (re.compile("[-–—]+"), "-"),  # noqa: RUF001
    (re.compile(r"\.{2,}"), "…"),
)


def plain_spelling(text: str) -> str:
    """Normalize the quotes, dashes, ellipses and brackets of a text.

    text (str): The text.
    RETURNS (str): The normalized text, for comparison with another one.
    """
    for pattern, plain in VARIANTS:
        text = pattern.sub(plain, text)
    return text
