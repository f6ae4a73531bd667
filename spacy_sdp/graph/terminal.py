"""The width of text in a terminal."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def display_width(text: str) -> int:
    """Get the number of columns that a text takes in a terminal.

    text (str): The text.
    RETURNS (int): The number of columns. Wide characters, such as Chinese ones, take
        two, and combining characters none.
    """
    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
        for char in text
    )
