"""CoNLL-U with enhanced dependencies, the format of Universal Dependencies.

A sentence has comments (`# sent_id = ...`, `# text = ...`), one line for each word, and
a blank line. The columns are

    ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC

where DEPS has the heads of the enhanced graph, `head:label|head:label`. There are also
lines for multiword tokens (ID `1-2`) and for empty nodes (ID `8.1`). `_` marks an empty
value.

Words with the head 0 are the tops of the graph. Several labels between two words, and
paths through empty nodes, are folded into composite labels, see `folding.py`. All other
contents are kept, so that a file is written exactly as it was read. Other readers of
this format, such as `conllu`, normalize some of them and do not validate graphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..graph.arc import ROOT_INDEX
from ..graph.record import EmptyNode, MultiwordToken, Record, column
from .bridge import find_words, split_text
from .files import (
    NOTHING,
    FormatError,
    check_columns,
    is_cell,
    read_blocks,
    value,
    write_records,
)
from .folding import ROOT, ROOT_LABEL, fold, order, unfold

COLUMNS = (
    *("ID", "FORM", "LEMMA", "UPOS", "XPOS"),
    *("FEATS", "HEAD", "DEPREL", "DEPS", "MISC"),
)
UPOS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
WORD_ID = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
RANGE_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)
EMPTY_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})", re.ASCII)
FEATURES = re.compile(r"[^=|\s]+=[^=|\s]+(\|[^=|\s]+=[^=|\s]+)*")
NO_SPACE = "SpaceAfter=No"

# A line of the file: its number and its columns.
Row = tuple[int, list[str]]


def read(path: Path | str) -> Iterator[Record]:
    """Read the sentences of a CoNLL-U file.

    path (Path): The file.
    YIELDS (Record): The sentences.
    """
    for block in read_blocks(path):
        comments = [text[1:] for _, text in block if text[0] == "#"]
        rows = [(number, text.split("\t")) for number, text in block if text[0] != "#"]
        first_line = block[0][0]
        if not rows:
            raise FormatError("the sentence has no words", path, first_line)
        try:
            sentence = _parse(rows, comments)
        except FormatError as error:
            raise FormatError(error.reason, path, error.line or first_line) from None
        yield sentence


def write(sentences: Iterable[Record], path: Path | str) -> None:
    """Write sentences as a CoNLL-U file.

    sentences (Iterable[Record]): The sentences. Missing ids are set to numbers.
    path (Path): The file. An existing file is only replaced on success.
    """
    write_records(sentences, path, format_sentence)


def format_sentence(sentence: Record, number: int = 1) -> str:
    """Format a sentence as lines of a CoNLL-U file.

    sentence (Record): The sentence.
    number (int): The id to use if the sentence has none.
    RETURNS (str): The lines, including the blank line at the end.
    """
    sentence_id = sentence.id if sentence.id is not None else str(number)
    comments = [f"#{comment}" for comment in sentence.comments]
    if _comment(sentence.comments, "sent_id") is None:
        comments.append(f"# sent_id = {sentence_id}")
    if _comment(sentence.comments, "text") is None:
        text = " ".join(sentence.words) if sentence.text is None else sentence.text
        comments.append("# text = " + re.sub(r"[\t\n\r\0 ]+", " ", text))
    try:
        rows = _rows(sentence)
    except FormatError as error:
        raise FormatError(f"sentence {sentence_id}: {error.reason}") from None
    for row in rows:
        for name, cell in zip(COLUMNS, row, strict=True):
            if not is_cell(cell):
                raise FormatError(
                    f"sentence {sentence_id}, word {row[0]}: {cell!r} is not a valid "
                    f"value for the column {name} of a CoNLL-U file"
                )
    for comment in comments:
        if not is_cell(comment.replace("\t", " ")):
            raise FormatError(
                f"sentence {sentence_id}: {comment!r} is not a valid comment for a "
                "CoNLL-U file"
            )
    return "\n".join([*comments, *("\t".join(row) for row in rows), "", ""])


def _parse(rows: list[Row], comments: list[str]) -> Record:
    words, multiword_tokens, empty_nodes = _sort_rows(rows)
    sentence = Record(
        words=[cells[1] for _, cells in words],
        id=_comment(comments, "sent_id"),
        comments=comments,
        lemmas=_column(words, 2),
        pos=_column(words, 3),
        tags=_column(words, 4),
        morphs=_column(words, 5),
        # Keep empty values, so that writing does not fill them in.
        misc=[value(cells[9]) for _, cells in words],
        multiword_tokens=multiword_tokens,
    )
    for line, cells in words:
        _check_word(line, cells)
    if any(cells[6] != NOTHING for _, cells in words):
        sentence.heads = _tree(words)
    sentence.deps = _column(words, 7) if sentence.heads else []
    sentence.text = _text(sentence, _comment(comments, "text"))
    # At the end of a text, a missing SpaceAfter=No has no meaning.
    sentence.space_after = None if _spaces(sentence)[-1] else False
    nodes = {ROOT, *(cells[0] for _, cells in words), *(c[0] for _, c in empty_nodes)}
    for line, cells in empty_nodes:
        heads = _parse_heads(cells, nodes, line)
        node = EmptyNode(cells[0], [*cells[1:8], cells[9]], heads)
        sentence.empty_nodes.append(node)
    heads_of_words = {
        cells[0]: _parse_heads(cells, nodes, line) for line, cells in words
    }
    fold(heads_of_words, sentence)
    return sentence


def _sort_rows(
    rows: list[Row],
) -> tuple[list[Row], list[MultiwordToken], list[Row]]:
    """Separate words, multiword tokens and empty nodes, and check their order."""
    words: list[Row] = []
    multiword_tokens: list[MultiwordToken] = []
    empty_nodes: list[Row] = []
    last_multiword, last_empty = 0, (0, 0)
    for line, cells in rows:
        check_columns(cells, COLUMNS, line)
        here = len(words)
        if cells[0] == str(here + 1):
            words.append((line, cells))
        elif match := RANGE_ID.fullmatch(cells[0]):
            start, end = int(match[1]), int(match[2])
            if start != here + 1 or end < start or start <= last_multiword:
                raise FormatError(
                    f"the multiword token {cells[0]} does not start at the next word, "
                    f"{here + 1}, or overlaps with another one",
                    line=line,
                )
            last_multiword = end
            multiword_tokens.append(
                MultiwordToken(start - 1, end - 1, cells[1], cells[2:])
            )
        elif (match := EMPTY_ID.fullmatch(cells[0])) and int(match[1]) == here:
            expected = (here, last_empty[1] + 1 if last_empty[0] == here else 1)
            if order(cells[0]) != expected:
                raise FormatError(
                    f"the ID of the empty node is {cells[0]}, expected "
                    f"{here}.{expected[1]}",
                    line=line,
                )
            last_empty = expected
            empty_nodes.append((line, cells))
        else:
            raise FormatError(
                f"ID is {cells[0]!r}, expected {here + 1}: ids count from 1 without "
                "gaps, and a blank line ends a sentence",
                line=line,
            )
    if not words:
        raise FormatError("the sentence has no words", line=rows[0][0])
    if last_multiword > len(words):
        raise FormatError(
            f"a multiword token ends at word {last_multiword}, but the sentence has "
            f"{len(words)} words",
            line=rows[-1][0],
        )
    return words, multiword_tokens, empty_nodes


def _check_word(line: int, cells: list[str]) -> None:
    if cells[3] != NOTHING and cells[3] not in UPOS:
        raise FormatError(
            f"{cells[3]!r} is not a universal part of speech; write {NOTHING} to UPOS, "
            "and other tags to XPOS",
            line=line,
        )
    if cells[5] != NOTHING and not FEATURES.fullmatch(cells[5]):
        raise FormatError(
            f"FEATS is {cells[5]!r}, expected Name=Value|Name=Value or {NOTHING}",
            line=line,
        )


def _tree(words: list[Row]) -> list[int]:
    """Get the heads of the words in the syntactic tree."""
    heads = []
    for line, cells in words:
        if cells[6] != ROOT and not WORD_ID.fullmatch(cells[6]):
            raise FormatError(
                f"HEAD is {cells[6]!r}, expected the number of a word or 0, or "
                f"{NOTHING} for all words of the sentence",
                line=line,
            )
        heads.append(int(cells[6]) - 1)
        if heads[-1] >= len(words):
            raise FormatError(
                f"HEAD is {cells[6]}, but the sentence has {len(words)} words",
                line=line,
            )
        if cells[7] == NOTHING:
            raise FormatError("the word has a HEAD but no DEPREL", line=line)
    if heads.count(ROOT_INDEX) != 1:
        raise FormatError(
            f"{heads.count(ROOT_INDEX)} words have the HEAD 0, expected exactly one",
            line=words[0][0],
        )
    # Words that lead to the root. Each word is visited once.
    reached = {ROOT_INDEX}
    for i in range(len(heads)):
        way: dict[int, None] = {}
        while i not in reached:
            if i in way:
                raise FormatError(
                    f"word {i + 1} is in a cycle in the column HEAD", line=words[i][0]
                )
            way[i] = None
            i = heads[i]
        reached.update(way)
    return heads


def _parse_heads(cells: list[str], nodes: set[str], line: int) -> list[tuple[str, str]]:
    if cells[8] == NOTHING:
        return []
    heads: list[tuple[str, str]] = []
    for entry in cells[8].split("|"):
        # Labels may contain colons, too, as in nmod:of.
        head, _, label = entry.partition(":")
        reason = None
        if not label:
            reason = "has no label; expected head:label|head:label"
        elif head not in nodes:
            reason = "has a head that is not a node of the sentence"
        elif head == cells[0]:
            reason = "is a self-loop"
        elif head == ROOT and label != ROOT_LABEL:
            reason = f"has the head 0, so its label must be {ROOT_LABEL}"
        if reason is not None:
            raise FormatError(f"{entry!r} in DEPS {reason}", line=line)
        heads.append((head, label))
    if len(set(heads)) != len(heads):
        raise FormatError(f"DEPS has duplicate entries: {cells[8]!r}", line=line)
    return heads


def _column(words: list[Row], number: int) -> list[str | None]:
    return column(value(cells[number]) for _, cells in words)


def _comment(comments: list[str], name: str) -> str | None:
    """Get the value of a comment such as `# sent_id = 7`."""
    for comment in comments:
        key, equals, value = comment.partition("=")
        if equals and key.strip() == name:
            return value.strip() if name != "text" else value.removeprefix(" ")
    return None


def _text(sentence: Record, true_text: str | None) -> str | None:
    """Get the raw text, if it consists of the words ("du" is not "de le")."""
    text = _join(sentence) if true_text is None else true_text
    try:
        find_words(sentence.words, text)
    except FormatError:
        return None
    return text


def _join(sentence: Record) -> str:
    """Join the written forms with spaces, unless MISC says SpaceAfter=No."""
    forms: list[str] = list(sentence.words)
    for token in sentence.multiword_tokens:
        parts = token.end - token.start
        forms[token.start : token.end + 1] = [token.form, *[""] * parts]
    pairs = zip(forms, _spaces(sentence), strict=True)
    return "".join(form + " " * space for form, space in pairs).rstrip(" ")


def _spaces(sentence: Record) -> list[bool]:
    """Check whether there is a space after each word."""
    spaces = [NO_SPACE not in (misc or "").split("|") for misc in sentence.misc]
    for token in sentence.multiword_tokens:
        spaces[token.start : token.end] = [False] * (token.end - token.start)
        spaces[token.end] = NO_SPACE not in token.cells[-1].split("|")
    return spaces


def _rows(sentence: Record) -> list[list[str]]:
    heads, empty_nodes = unfold(sentence)
    # A parser may predict several trees for a sentence, which CoNLL-U does not allow.
    tree = sentence.heads if sentence.heads.count(ROOT_INDEX) == 1 else []
    misc = sentence.misc or _misc_of_text(sentence)
    nothing: list[str | None] = [None] * len(sentence.words)
    multiword_tokens = {token.start: token for token in sentence.multiword_tokens}
    nodes_after: dict[int, list[EmptyNode]] = {}
    for node in empty_nodes:
        nodes_after.setdefault(order(node.id)[0], []).append(node)
    rows = [_empty_row(node) for node in nodes_after.get(0, ())]
    for i, (word, lemma, pos, tag, morph, dep, extra) in enumerate(
        zip(
            sentence.words,
            sentence.lemmas or nothing,
            sentence.pos or nothing,
            sentence.tags or nothing,
            sentence.morphs or nothing,
            sentence.deps or nothing,
            misc or nothing,
            strict=True,
        )
    ):
        if token := multiword_tokens.get(i):
            rows.append([f"{i + 1}-{token.end + 1}", token.form, *token.cells])
        head = str(tree[i] + 1) if tree else NOTHING
        if head == ROOT:
            dep = ROOT_LABEL
        elif not tree:
            dep = None
        if pos not in UPOS:
            pos = None
        node_id = str(i + 1)
        cells = (lemma, pos, tag, morph, head, dep, _heads_cell(heads[node_id]), extra)
        rows.append([node_id, word, *(cell or NOTHING for cell in cells)])
        rows += [_empty_row(node) for node in nodes_after.get(i + 1, ())]
    return rows


def _empty_row(node: EmptyNode) -> list[str]:
    return [node.id, *node.cells[:-1], _heads_cell(node.heads), node.cells[-1]]


def _heads_cell(heads: list[tuple[str, str]]) -> str:
    for _, label in heads:
        if "|" in label:
            raise FormatError(f"the label {label!r} is not valid in the column DEPS")
    pairs = sorted(heads, key=lambda pair: (order(pair[0]), pair[1]))
    return "|".join(f"{head}:{label}" for head, label in pairs) or NOTHING


def _misc_of_text(sentence: Record) -> list[str | None]:
    """Create the column MISC with SpaceAfter=No where no space follows a word."""
    if sentence.text is None:
        return []
    tokens, spaces = split_text(sentence.words, sentence.text)
    misc: list[str | None] = []
    for i, (token, space) in enumerate(zip(tokens, spaces, strict=True)):
        if token.isspace():
            # Several spaces count as one space here.
            misc[-1:] = [None] if misc else []
        else:
            last = i == len(tokens) - 1
            misc.append(None if space or last else NO_SPACE)
    return column(misc)
