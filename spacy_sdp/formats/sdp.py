"""The SDP format of SemEval 2014 Task 8 and SemEval 2015 Task 18.

A sentence is a line `#id`, one line for each token and a blank line. The columns are

    ID FORM LEMMA POS TOP PRED FRAME ARG1 ARG2 ...

where TOP and PRED are + or -, and the n-th ARG column has the labels of the arguments
of the n-th token whose PRED is +. Files of 2015 start with `#SDP 2015`. Files of 2014
have neither this line nor the FRAME column. `_` marks an empty value.

Other comments of a sentence are kept, and written below its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path

from ..graph.record import Record, column
from .files import NOTHING, FormatError, is_cell, read_blocks, value, write_records

HEADER = "#SDP 2015"
COLUMNS_2014 = ("ID", "FORM", "LEMMA", "POS", "TOP", "PRED")
COLUMNS_2015 = (*COLUMNS_2014, "FRAME")


def read(path: Path | str) -> Iterator[Record]:
    """Read the sentences of an SDP file, of 2015 or 2014.

    path (Path): The file.
    YIELDS (Record): The sentences.
    """
    columns: tuple[str, ...] | None = None
    for block in read_blocks(path):
        comments = [(number, text) for number, text in block if text[0] == "#"]
        rows = [(number, text.split("\t")) for number, text in block if text[0] != "#"]
        if any(text.rstrip() == HEADER for _, text in comments):
            columns = COLUMNS_2015
            comments = [each for each in comments if each[1].rstrip() != HEADER]
        sentence_id, remarks = _split_id([text[1:] for _, text in comments])
        if not rows:
            # Comments between sentences are valid, but sentences without words are not.
            if sentence_id is not None and len(sentence_id.split()) == 1:
                raise FormatError(
                    f"sentence {sentence_id} has no tokens", path, comments[-1][0]
                )
            continue
        if columns is None:
            columns = _guess_columns(rows)
        sentence = _parse_rows(rows, columns, path)
        sentence.id, sentence.comments = sentence_id, remarks
        yield sentence


def write(sentences: Iterable[Record], path: Path | str) -> None:
    """Write sentences as an SDP file of 2015.

    sentences (Iterable[Record]): The sentences. Missing ids are set to numbers.
    path (Path): The file. An existing file is only replaced on success.
    """
    write_records(sentences, path, format_sentence, f"{HEADER}\n")


def format_sentence(sentence: Record, number: int = 1) -> str:
    """Format a sentence as lines of an SDP file.

    sentence (Record): The sentence.
    number (int): The id to use if the sentence has none.
    RETURNS (str): The lines, including the blank line at the end.
    """
    sentence_id = sentence.id if sentence.id is not None else str(number)
    labels: dict[tuple[int, int], str] = {}
    for head, dep, label in sentence.arcs:
        if (head, dep) in labels:
            raise FormatError(
                f"sentence {sentence_id}: two labels between {sentence.words[head]!r} "
                f"and {sentence.words[dep]!r} ({labels[head, dep]}, {label}); SDP "
                "files support only one"
            )
        if label == NOTHING:
            raise FormatError(
                f"sentence {sentence_id}: a label cannot be {NOTHING}, which means no "
                "arc in SDP files"
            )
        labels[head, dep] = label
    for comment in (sentence_id, *sentence.comments):
        if any(char in comment for char in "\n\r\0"):
            raise FormatError(
                f"sentence {sentence_id}: {comment!r} is not a valid id or comment for "
                "an SDP file"
            )
    size = len(sentence.words)
    predicates = {head for head, _, _ in sentence.arcs}
    predicates.update(i for i, flag in enumerate(sentence.predicates) if flag)
    tops = set(sentence.tops)
    nothing = [None] * size
    lines = [f"#{sentence_id}", *(f"#{comment}" for comment in sentence.comments)]
    for i, (word, lemma, tag, frame) in enumerate(
        zip(
            sentence.words,
            sentence.lemmas or nothing,
            sentence.tags or nothing,
            sentence.frames or nothing,
            strict=True,
        )
    ):
        cells = [
            str(i + 1),
            word,
            lemma or NOTHING,
            tag or NOTHING,
            "+" if i in tops else "-",
            "+" if i in predicates else "-",
            frame or NOTHING,
            *(labels.get((head, i), NOTHING) for head in sorted(predicates)),
        ]
        for name, cell in zip(chain(COLUMNS_2015, repeat("ARG")), cells, strict=False):
            if not is_cell(cell):
                raise FormatError(
                    f"sentence {sentence_id}, token {i + 1}: {cell!r} is not a valid "
                    f"value for the column {name} of an SDP file"
                )
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n\n"


def _split_id(comments: list[str]) -> tuple[str | None, list[str]]:
    """Separate the id of a sentence from its other comments.

    The id is the first comment that is a number as in the official corpora, or else the
    first single word, or else the first comment.
    """
    for pattern in (r"\s*\d{5,}\s*", r"\s*\S+\s*", r".*"):
        for i, comment in enumerate(comments):
            if re.fullmatch(pattern, comment):
                return comment, comments[:i] + comments[i + 1 :]
    return None, comments


def _guess_columns(rows: list[tuple[int, list[str]]]) -> tuple[str, ...]:
    """Detect the columns of a file without header from its first sentence."""
    predicates = sum(cells[5:6] == ["+"] for _, cells in rows)
    is_2014 = len(rows[0][1]) == len(COLUMNS_2014) + predicates
    return COLUMNS_2014 if is_2014 else COLUMNS_2015


def _parse_rows(
    rows: list[tuple[int, list[str]]], columns: tuple[str, ...], path: Path | str
) -> Record:
    has_frame = columns == COLUMNS_2015
    for position, (line, cells) in enumerate(rows, start=1):
        _check_cells(position, cells, columns, path, line)
    predicates = [i for i, (_, cells) in enumerate(rows) if cells[5] == "+"]
    sentence = Record(
        words=[cells[1] for _, cells in rows],
        lemmas=column(value(cells[2]) for _, cells in rows),
        tags=column(value(cells[3]) for _, cells in rows),
        tops=[i for i, (_, cells) in enumerate(rows) if cells[4] == "+"],
        predicates=[cells[5] == "+" for _, cells in rows],
        frames=column(value(cells[6]) for _, cells in rows) if has_frame else [],
    )
    for dep, (line, cells) in enumerate(rows):
        labels = cells[len(columns) :]
        if len(labels) != len(predicates):
            raise FormatError(
                f"{len(labels)} argument columns, but the sentence has "
                f"{len(predicates)} predicates (tokens with + in column 6)",
                path,
                line,
            )
        for head, label in zip(predicates, labels, strict=True):
            if label == NOTHING:
                continue
            if head == dep:
                raise FormatError(
                    f"a self-loop: {cells[1]!r} is its own {label!r}", path, line
                )
            sentence.arcs.append((head, dep, label))
    return sentence


def _check_cells(
    position: int,
    cells: list[str],
    columns: tuple[str, ...],
    path: Path | str,
    line: int,
) -> None:
    if len(cells) < len(columns):
        raise FormatError(
            f"{len(cells)} columns, expected at least {len(columns)} "
            f"({' '.join(columns)}) separated by tabs",
            path,
            line,
        )
    if cells[0] != str(position):
        raise FormatError(
            f"token id {cells[0]!r}, expected {position}: ids count from 1 without "
            "gaps, and a blank line ends a sentence",
            path,
            line,
        )
    for number, cell in enumerate(cells, start=1):
        if not cell:
            name = columns[number - 1] if number <= len(columns) else "argument"
            advice = f"; write {NOTHING} instead" if name != "FORM" else ""
            raise FormatError(f"column {number} ({name}) is empty{advice}", path, line)
    for name, flag in (("TOP", cells[4]), ("PRED", cells[5])):
        if flag not in ("+", "-"):
            raise FormatError(f"{name} is {flag!r}, expected + or -", path, line)
