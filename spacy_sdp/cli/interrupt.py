"""Ctrl-C as the end of the input, so that what was done is not lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Interruptible(Generic[Item]):
    """Items that end early at Ctrl-C, but never in the middle of one's treatment.

    A second Ctrl-C is the usual one.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        """Wrap the items.

        items (Iterable[Item]): The items.
        """
        self.items = items
        self.interrupted = False
        self._waiting = False
        self._process = os.getpid()

    def __iter__(self) -> Iterator[Item]:
        with self._handler():
            iterator = iter(self.items)
            while not self.interrupted:
                try:
                    self._waiting = True
                    item = next(iterator)
                except (KeyboardInterrupt, StopIteration):
                    return
                finally:
                    self._waiting = False
                yield item

    @contextmanager
    def _handler(self) -> Iterator[None]:
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            # A worker, which inherited this handler: the main process ends it.
            return
        if self.interrupted or self._waiting:
            self.interrupted = True
            raise KeyboardInterrupt
        self.interrupted = True
