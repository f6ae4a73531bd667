"""Work that ends early: by Ctrl-C, by an error, or because nobody reads on."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, TypeVar

Item = TypeVar("Item")


def end_workers() -> None:
    """End all processes that were started.

    spaCy waits for its workers at the end of a pipe, whatever ends it, and a worker
    waits until somebody takes its results: without this, both wait for ever.
    """
    for worker in multiprocessing.active_children():
        worker.terminate()


class PostponedErrors(Generic[Item]):
    """Items that end at an error, which can be raised when all of them are done.

    spaCy's worker processes do not survive an error in what they are fed with.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        """Wrap the items.

        items (Iterable[Item]): The items.
        """
        self.items = items
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[Item]:
        try:
            yield from self.items
        except Exception as error:
            self.error = error

    def check(self) -> None:
        """Raise the error, if there was one."""
        if self.error is not None:
            raise self.error


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
            # A worker, which inherited this handler.
            os._exit(1)
        end_workers()
        if self.interrupted or self._waiting:
            self.interrupted = True
            raise KeyboardInterrupt
        self.interrupted = True
