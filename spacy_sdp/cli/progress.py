"""The progress of a command in words per second, with the remaining time."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Any

from tqdm import tqdm

from ._util import PROGRESS

WITH_TOTAL = "{l_bar}{bar}| {elapsed}<{remaining}{postfix}"


class Progress(AbstractContextManager):
    """A progress bar, which is only shown on terminals and for long tasks."""

    def __init__(self, total: int | None, **settings: Any) -> None:
        """Create the bar.

        total (Optional[int]): The size of the input in bytes. If None, the bar does not
            show the remaining time.
        settings (Any): Other settings of tqdm.
        """
        self.total = total or None
        settings = {**PROGRESS, **settings}
        if self.total is None:
            self.bar = tqdm(unit=" words", **settings)
        else:
            self.bar = tqdm(total=self.total, bar_format=WITH_TOTAL, **settings)
        self.start = time.monotonic()
        self.words = 0

    def update(self, words: int, position: int) -> None:
        """Advance the bar after a text.

        words (int): The number of words in the text.
        position (int): The size of the input up to the end of the text, in bytes.
        """
        self.add(words, min(position, self.total or position) - self.bar.n)

    def add(self, words: int, size: int) -> None:
        """Advance the bar after a part of the input.

        words (int): The number of words in the part.
        size (int): The size of the part in bytes.
        """
        self.words += words
        if self.total is None:
            self.bar.update(words)
            return
        seconds = time.monotonic() - self.start
        self.bar.set_postfix_str(
            f"{self.words / max(seconds, 1e-9):,.0f} words/s", refresh=False
        )
        self.bar.update(size)

    def __exit__(self, *exception: Any) -> None:
        self.bar.close()
