"""Shared code of all formats: errors with file and line, and atomic writing."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from errno import EISDIR, ENOENT
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

# The name of standard input and standard output.
STANDARD_STREAM = "-"
# The mark of an empty value in tab-separated files.
NOTHING = "_"
LONGEST_REASON = 500
# A longer line or block of lines is not a text file. This also stops at /dev/zero.
LONGEST_LINE = 16 * 2**20
# Maximum number of lines of a block, because short lines take more memory than text.
MOST_LINES = 1_000_000
# The environment variable for the maximum unpacked size of a file, in bytes.
MAX_UNPACKED = "SPACY_SDP_MAX_UNPACKED"
DEFAULT_MAX_UNPACKED = 1_000_000_000

Record = TypeVar("Record")


class FormatError(ValueError):
    """An error in the format of a file, or data that a format cannot represent."""

    def __init__(
        self, reason: str, path: Path | str | None = None, line: int | None = None
    ) -> None:
        where = "" if path is None else f"{path}: "
        if line is not None:
            where = f"{path}, line {line}: "
        # The reason may quote a value that is as long as the file.
        if len(reason) > LONGEST_REASON:
            reason = f"{reason[:LONGEST_REASON]}..."
        super().__init__(f"{where}{reason}")
        self.reason = reason
        self.path = path
        self.line = line


def open_input(path: Path | str) -> AbstractContextManager[BinaryIO]:
    """Open a file for reading, or standard input for `-`."""
    if str(path) == STANDARD_STREAM:
        if sys.stdin is None:
            raise OSError("standard input is closed")
        return nullcontext(sys.stdin.buffer)
    return Path(path).open("rb")


def read_lines(path: Path | str) -> Iterator[tuple[int, str]]:
    """Read the lines of a UTF-8 file with their numbers, without line ends.

    Only line feeds end a line, with or without a carriage return before them. Words may
    contain other characters that Unicode defines as line breaks.
    """
    with open_input(path) as file:
        yield from decode_lines(file, path)


def decode_lines(file: BinaryIO, path: Path | str) -> Iterator[tuple[int, str]]:
    """Read the lines of an open file, as `read_lines` does.

    file (BinaryIO): The file.
    path (Path): The name of the file, for errors.
    YIELDS (Tuple[int, str]): The line number and the line.
    """
    for number, raw in number_lines(file, path):
        yield number, decode_line(raw, path, number)


def number_lines(file: BinaryIO, path: Path | str) -> Iterator[tuple[int, bytes]]:
    """Read the raw lines of an open file with their numbers."""
    lines = iter(partial(file.readline, LONGEST_LINE + 1), b"")
    for number, raw in enumerate(lines, start=1):
        if len(raw) > LONGEST_LINE:
            raise FormatError(
                f"the line has more than {LONGEST_LINE:,} bytes; is this a text file?",
                path,
                number,
            )
        yield number, raw


def decode_line(raw: bytes, path: Path | str, number: int) -> str:
    """Decode a line, without its line end."""
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
        raise FormatError("the line has a NUL byte; is this a text file?", path, number)
    return line.removesuffix("\n").removesuffix("\r")


def read_blocks(
    path: Path | str, is_blank: Callable[[str], bool] = lambda line: not line
) -> Iterator[list[tuple[int, str]]]:
    """Read blocks of numbered lines that are separated by blank lines."""
    yield from group_lines(read_lines(path), path, is_blank)


def group_lines(
    lines: Iterable[tuple[int, str]], path: Path | str, is_blank: Callable[[str], bool]
) -> Iterator[list[tuple[int, str]]]:
    """Group numbered lines into blocks that are separated by blank lines.

    lines (Iterable[Tuple[int, str]]): The lines, as of `decode_lines`.
    path (Path): The name of the file, for errors.
    is_blank (Callable[[str], bool]): Whether a line is blank.
    YIELDS (List[Tuple[int, str]]): The blocks.
    """
    block: list[tuple[int, str]] = []
    size = 0
    for number, line in lines:
        if is_blank(line):
            if block:
                yield block
            block, size = [], 0
            continue
        block.append((number, line))
        size += len(line) + 1
        if size > LONGEST_LINE or len(block) > MOST_LINES:
            limit = (
                f"{LONGEST_LINE:,} characters"
                if size > LONGEST_LINE
                else f"{MOST_LINES:,} lines"
            )
            raise FormatError(f"more than {limit} without a blank line", path, number)
    if block:
        yield block


def max_unpacked() -> int:
    """RETURNS (int): The maximum unpacked size of a compressed file, in bytes."""
    value = os.environ.get(MAX_UNPACKED, "")
    if value and not value.isdecimal():
        raise ValueError(
            f"The environment variable {MAX_UNPACKED} must be a number of bytes, not "
            f"{value!r}."
        )
    return int(value or DEFAULT_MAX_UNPACKED)


def check_unpacked(size: int, path: Path | str, what: str = "the file") -> None:
    """Raise an error if a compressed file exceeds the maximum unpacked size."""
    if size > max_unpacked():
        raise FormatError(
            f"{what} unpacks to more than {max_unpacked():,} bytes; if you trust it, "
            f"set the environment variable {MAX_UNPACKED} to a larger number",
            path,
        )


def check_columns(cells: list[str], columns: Sequence[str], line: int) -> None:
    """Raise an error unless a line has exactly these columns, none of them empty."""
    if len(cells) != len(columns):
        raise FormatError(
            f"{len(cells)} columns, expected {len(columns)} ({' '.join(columns)}) "
            "separated by tabs",
            line=line,
        )
    for name, cell in zip(columns, cells, strict=True):
        if not cell:
            raise FormatError(
                f"the column {name} is empty; write {NOTHING} instead", line=line
            )


def value(cell: str) -> str | None:
    """Get the value of a cell in a tab-separated file, or None if it is empty."""
    return None if cell == NOTHING else cell


def is_cell(text: str) -> bool:
    """Check whether a text is valid in a cell of a tab-separated file."""
    return bool(text) and not any(char in text for char in "\t\n\r\0")


def write_records(
    records: Iterable[Record],
    path: Path | str,
    to_text: Callable[[Record, int], str],
    header: str = "",
) -> None:
    """Write records to a file, either all of them or none.

    records (Iterable[Record]): The records.
    path (Path): The file. An existing file is only replaced on success.
    to_text (Callable[[Record, int], str]): Formats a record, given the record and its
        number, counting from 1.
    header (str): The beginning of the file.
    """
    with atomic_write(path) as file:
        file.write(header.encode())
        for number, record in enumerate(records, start=1):
            try:
                text = to_text(record, number)
            except FormatError as error:
                raise FormatError(error.reason, path) from None
            file.write(text.encode())


@contextmanager
def atomic_write(path: Path | str) -> Iterator[BinaryIO]:
    """Open a file for writing that only appears under its name when it is complete.

    `-` is standard output, to which data are written directly.
    """
    if str(path) == STANDARD_STREAM:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # If the path is a link, keep the link and replace its target.
    path = Path(path).resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "the folder does not exist", str(path.parent))
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "this is a folder, not a file", str(path))
    if path.exists() and not path.is_file():
        # Pipes and devices must not be replaced.
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    try:
        # The process's umask applies. (It cannot be read in a way that is thread-safe.)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o666 if mode is None else mode)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
