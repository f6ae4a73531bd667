"""Handling of Ctrl-C and of signals that end a command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, NoReturn, TypeVar

import typer

from ._messages import warn

Item = TypeVar("Item")

# Exit codes after a signal are this offset plus the number of the signal.
SHELL_OFFSET = 128
INTERRUPTED = SHELL_OFFSET + signal.SIGINT
# The signals that ask a command to end. Windows does not have all of them.
ENDING = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class _Ended(BaseException):
    """A signal asked the command to end. Not caught by `except Exception`."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """End a command cleanly on SIGTERM and SIGHUP, as after an error.

    The exit code is the one that a shell reports for the signal. Signals that are
    ignored, as by `nohup`, are still ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread can handle signals.
        yield
        return
    numbers = [each for each in ENDING if signal.getsignal(each) == signal.SIG_DFL]

    def end(number: int, frame: FrameType | None) -> NoReturn:
        # A second signal must not disturb the clean-up.
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise _Ended(number)

    for each in numbers:
        signal.signal(each, end)
    try:
        yield
    except _Ended as ended:
        name = signal.Signals(ended.number).name
        warn(f"ended by {name}", err=True)
        raise typer.Exit(SHELL_OFFSET + ended.number) from None
    finally:
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)


@contextmanager
def signals_held() -> Iterator[None]:
    """Block signals if the system supports it, also in processes started here."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, *ENDING])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def note_signals() -> Iterator[list[int]]:
    """Record a signal that asks the command to end, so that it can end when ready.

    A second signal has its usual effect. Signals that are ignored, as by `nohup`, are
    still ignored.

    YIELDS (List[int]): An empty list, to which the number of the signal is added.
    """
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread can handle signals.
        yield noted
        return
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, *ENDING)}

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        restore()

    for number, handler in handlers.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield noted
    finally:
        restore()


class Interruptible(Generic[Item]):
    """Items that end early at Ctrl-C, but not while an item is processed.

    A second Ctrl-C has its usual effect.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        """Wrap the items.

        items (Iterable[Item]): The items.
        """
        self.items = items
        self.interrupted = False
        self._waiting = False

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
        if self.interrupted or self._waiting:
            self.interrupted = True
            raise KeyboardInterrupt
        self.interrupted = True
