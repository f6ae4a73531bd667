"""Handling of Ctrl-C and of other signals that end a command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
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
def _handle_first(handle: Callable[[int], None]) -> Iterator[None]:
    """Handle a signal that asks the command to end.

    A second signal has its usual effect. Signals that are ignored, as by `nohup`, are
    still ignored.

    handle (Callable[[int], None]): Receives the number of the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread can handle signals.
        yield
        return
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, *ENDING)}

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def handle_one(number: int, frame: FrameType | None) -> None:
        restore()
        handle(number)

    for number, handler in handlers.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, handle_one)
    try:
        yield
    finally:
        restore()


@contextmanager
def note_signals() -> Iterator[list[int]]:
    """Record a signal that asks the command to end, so that it can end when ready.

    A second signal has its usual effect. Signals that are ignored, as by `nohup`, are
    still ignored.

    YIELDS (List[int]): An empty list, to which the number of the signal is added.
    """
    noted: list[int] = []
    with _handle_first(noted.append):
        yield noted


class Interruptible(Generic[Item]):
    """Items that end early, but not while an item is processed.

    They end if a signal asks the command to end, or if a process dies after the first
    item. Signals are handled as by `note_signals`.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        """Wrap the items.

        items (Iterable[Item]): The items.
        """
        self.items = items
        self.signal: int | None = None
        self.error: ChildProcessError | None = None
        self._waiting = False

    def __iter__(self) -> Iterator[Item]:
        with _handle_first(self._end):
            iterator = iter(self.items)
            is_first = True
            while self.signal is None:
                try:
                    self._waiting = True
                    item = next(iterator)
                except (KeyboardInterrupt, StopIteration):
                    return
                except ChildProcessError as error:
                    if is_first:
                        raise
                    self.error = error
                    return
                finally:
                    self._waiting = False
                yield item
                is_first = False

    def _end(self, number: int) -> None:
        self.signal = number
        if self._waiting:
            raise KeyboardInterrupt
