"""What all formats share: errors with file and line, and writing all or nothing."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from errno import EISDIR, ENOENT
from pathlib import Path
from typing import BinaryIO

# The name of standard input and standard output.
STANDARD_STREAM = "-"


class FormatError(ValueError):
    """A file that does not follow its format, or cannot be written in it."""

    def __init__(
        self, reason: str, path: Path | str | None = None, line: int | None = None
    ) -> None:
        where = "" if path is None else f"{path}: "
        if line is not None:
            where = f"{path}, line {line}: "
        super().__init__(f"{where}{reason}")
        self.reason = reason
        self.path = path
        self.line = line


def open_input(path: Path | str) -> AbstractContextManager[BinaryIO]:
    """Open a file for reading, or standard input for `-`."""
    if str(path) == STANDARD_STREAM:
        return nullcontext(sys.stdin.buffer)
    return Path(path).open("rb")


def read_lines(path: Path | str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 file with their numbers, without their ends.

    Only line feeds end a line (with or without a carriage return before it): a word may
    well contain one of the other characters that Unicode counts as line breaks.
    """
    with open_input(path) as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"not UTF-8 (byte {error.start + 1} of the line is "
                    f"0x{raw[error.start]:02x}); convert the file to UTF-8 first",
                    path,
                    number,
                ) from None
            if "\0" in line:
                raise FormatError("a NUL byte; is this a text file?", path, number)
            yield number, line.removesuffix("\n").removesuffix("\r")


def read_blocks(path: Path | str) -> Iterator[list[tuple[int, str]]]:
    """Yield the numbered lines between blank ones."""
    block: list[tuple[int, str]] = []
    for number, line in read_lines(path):
        if line:
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def is_cell(text: str) -> bool:
    """Tell whether a text can stand in a column of a tab-separated file."""
    return bool(text) and not any(char in text for char in "\t\n\r\0")


@contextmanager
def atomic_write(path: Path | str) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when it is complete.

    `-` is standard output, which shows at once what is written.
    """
    if str(path) == STANDARD_STREAM:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "the folder does not exist", str(path.parent))
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "this is a folder, not a file", str(path))
    descriptor, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=".part"
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        # mkstemp makes private files; give it the rights that open() would have.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
