"""The format of SemEval 2016 Task 9, Chinese semantic dependency parsing.

A sentence has one line for each pair of word and head, so a word with two heads has two
lines. A blank line ends the sentence. The columns are those of CoNLL-X:

    ID FORM LEMMA CPOS POS FEATS HEAD DEPREL PHEAD PDEPREL

The head 0 has the label `Root` and marks a top. `_` marks an empty value, also in HEAD
and DEPREL of a word without heads. In the corpora of the task, CPOS is the same as POS,
so both are written with the same value. FEATS, PHEAD and PDEPREL are empty in these
corpora, and are neither read nor written. If the lines of a word differ in other
columns, the first line is used.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..graph.record import Record, column
from .files import (
    NOTHING,
    FormatError,
    check_columns,
    is_cell,
    read_blocks,
    value,
    write_records,
)
from .folding import join_labels, split_label

COLUMNS = (
    *("ID", "FORM", "LEMMA", "CPOS", "POS"),
    *("FEATS", "HEAD", "DEPREL", "PHEAD", "PDEPREL"),
)
ROOT, ROOT_LABEL = "0", "Root"
NUMBER = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)


def read(path: Path | str) -> Iterator[Record]:
    """Read the sentences of a file of SemEval 2016 Task 9.

    path (Path): The file.
    YIELDS (Record): The sentences.
    """
    for block in read_blocks(path):
        rows = [(line, text.split("\t")) for line, text in block]
        try:
            sentence = _parse(rows)
        except FormatError as error:
            raise FormatError(error.reason, path, error.line) from None
        yield sentence


def write(sentences: Iterable[Record], path: Path | str) -> None:
    """Write sentences in the format of SemEval 2016 Task 9, which has no ids.

    sentences (Iterable[Record]): The sentences.
    path (Path): The file. An existing file is only replaced on success.
    """
    write_records(sentences, path, format_sentence)


def format_sentence(sentence: Record, number: int = 1) -> str:
    """Format a sentence as lines of a file.

    sentence (Record): The sentence.
    number (int): The number of the sentence in the file, for errors.
    RETURNS (str): The lines, including the blank line at the end.
    """
    heads: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for top in sentence.tops:
        heads[top].append((0, ROOT_LABEL))
    for head, dep, label in sentence.arcs:
        heads[dep] += ((head + 1, part) for part in split_label(label))
    nothing: list[str | None] = [None] * len(sentence.words)
    columns = zip(
        sentence.words,
        sentence.lemmas or nothing,
        sentence.tags or nothing,
        strict=True,
    )
    lines = []
    for i, (word, lemma, tag) in enumerate(columns):
        own_heads = [(str(number), label) for number, label in sorted(heads[i])]
        for own_head, label in own_heads or [(NOTHING, NOTHING)]:
            cells = [str(i + 1), word, lemma or NOTHING, tag or NOTHING, tag or NOTHING]
            cells += [NOTHING, own_head, label, NOTHING, NOTHING]
            for name, cell in zip(COLUMNS, cells, strict=True):
                if not is_cell(cell) or (own_head != NOTHING and label == NOTHING):
                    raise FormatError(
                        f"sentence {number}: {cell!r} of word {i + 1} is not a valid "
                        f"value for the column {name}"
                    )
            lines.append("\t".join(cells))
    return "\n".join([*lines, "", ""])


def _parse(rows: list[tuple[int, list[str]]]) -> Record:
    words: list[list[str]] = []
    labels: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    tops: list[int] = []
    for line, cells in rows:
        _check_cells(cells, line)
        if cells[0] == str(len(words) + 1):
            words.append(cells)
        elif not words or cells[0] != words[-1][0]:
            raise FormatError(
                f"ID is {cells[0]!r}, expected {len(words) + 1}, or {len(words)} for "
                "another head of the same word; a blank line ends a sentence",
                line=line,
            )
        elif cells[1] != words[-1][1]:
            raise FormatError(
                f"word {cells[0]} is {cells[1]!r}, but was {words[-1][1]!r} before",
                line=line,
            )
        head, label, dep = cells[6], cells[7], len(words) - 1
        if head == ROOT:
            if label.lower() != ROOT_LABEL.lower() or dep in tops[-1:]:
                raise FormatError(
                    f"the head 0 with the label {label!r}; expected {ROOT_LABEL}, once",
                    line=line,
                )
            tops.append(dep)
        elif head != NOTHING:
            pair = (int(head) - 1, dep)
            if pair[0] == dep or label in labels[pair]:
                raise FormatError(
                    f"the arc {head} -{label}-> {cells[0]} is a self-loop or a "
                    "duplicate",
                    line=line,
                )
            labels[pair].append(label)
    for head_index, dep in labels:
        if head_index >= len(words):
            raise FormatError(
                f"word {dep + 1} has the head {head_index + 1}, but the sentence has "
                f"{len(words)} words",
                line=rows[0][0],
            )
    return Record(
        words=[cells[1] for cells in words],
        arcs=[
            (head, dep, join_labels(several)) for (head, dep), several in labels.items()
        ],
        tops=tops,
        lemmas=column(value(cells[2]) for cells in words),
        tags=column(value(cells[4]) or value(cells[3]) for cells in words),
    )


def _check_cells(cells: list[str], line: int) -> None:
    check_columns(cells, COLUMNS, line)
    if (cells[6] == NOTHING) != (cells[7] == NOTHING):
        raise FormatError("HEAD and DEPREL must both be set, or neither", line=line)
    if cells[6] != NOTHING and not NUMBER.fullmatch(cells[6]):
        raise FormatError(
            f"HEAD is {cells[6]!r}, expected the number of a word, or 0", line=line
        )
