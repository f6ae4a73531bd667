"""`python -m spacy sdp convert`"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc
from tqdm import tqdm

from .. import formats
from ..formats import Record, docbin
from ..formats.files import STANDARD_STREAM
from ..formats.folding import folding_losses
from ..graph.extensions import DEFAULT_ATTR
from ._app import sdp
from ._messages import good, warn
from ._util import (
    PROGRESS,
    AttrOption,
    FromOption,
    read_all,
    show_left_out,
    user_errors,
)
from .interrupt import exit_on_signals

# The columns of a record, by the name of spaCy's attribute.
COLUMNS = {
    "tag": ("tags",),
    "lemma": ("lemmas",),
    "pos": ("pos",),
    "morph": ("morphs",),
    "dep": ("heads", "deps"),
    "frame": ("frames",),
}
# The end of a sentence: a full stop or a similar mark, and any quotes and brackets.
ENDED = re.compile(r"[.?!…。！？][\"'”’)\]}»]*\Z")  # noqa: RUF001
# Formats that keep empty nodes separately from the graph.
KEEPING_FORMATS = ("conllu", "spacy")


@sdp.command("convert")
def convert_cli(
    input_paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT",
            help="Files or folders to read; - for standard input.",
        ),
    ],
    output_path: Annotated[
        Path,
        typer.Argument(metavar="OUTPUT", help="File to write; - for standard output."),
    ],
    from_format: FromOption = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Output format. [default: by suffix]")
    ] = None,
    split_sents: Annotated[
        bool,
        typer.Option(
            "--split-sents", help="Write one sentence per Doc to .spacy files."
        ),
    ] = False,
    docs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Write N sentences per Doc to .spacy files."
        ),
    ] = None,
    max_length: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Leave out sentences with more than N words."
        ),
    ] = 0,
    keep_attrs: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Columns to keep, separated by commas: "
            f"{', '.join(COLUMNS)}, or none. [default: all]",
        ),
    ] = None,
    attr: AttrOption = DEFAULT_ATTR,
) -> None:
    """Convert graphs from one file format to another.

    The suffix decides the format: .sdp is SemEval 2015 Task 18 (2014 Task 8 can be
    read, too), .conllu is CoNLL-U with enhanced dependencies, .mrp is MRP 2019 for DM,
    PSD and PAS, .conll is SemEval 2016 Task 9, .jsonl is the output of `sdp parse --to
    jsonl` or of Prodigy, and .spacy is the format of `spacy train`. If INPUT is a
    folder, all files in it are read. A folder with a file `relations` is a profile of
    the English Resource Grammar and is converted to DM. If an input is invalid, no
    output is written.

    With --docs, the sentences of a Doc are separated by a space, or by a line break
    after a sentence without final punctuation, such as a heading or a list item.

    .spacy files are merged with all annotations of their Docs, unless an option changes
    sentences or columns. Text formats have no documents, so each sentence becomes a
    separate Doc.
    """
    with user_errors(), exit_on_signals():
        if split_sents and docs is not None:
            raise ValueError("--split-sents and --docs cannot be used together.")
        dropped = _columns_to_drop(keep_attrs)
        paths = [
            file
            for path in input_paths
            for file in formats.find_files(path, from_format)
            # If the output exists in an input folder, it is not an input.
            if path == file or file.resolve() != output_path.resolve()
        ]
        kinds = {formats.find_format(path, from_format) for path in paths}
        kinds.add(formats.find_format(output_path, to_format))
        summary = Summary()
        if kinds == {"spacy"} and not (split_sents or docs or max_length or dropped):
            docbin.write_docs(_copy(paths, attr, summary), output_path)
        else:
            read = read_all(paths, from_format, attr, summary.left_out)
            sentences: Iterable[Record] = (sentence for _, sentence in read)
            if max_length:
                sentences = _limit(sentences, max_length, summary.left_out)
            sentences = _change(sentences, dropped, 1 if split_sents else docs)
            formats.write(summary.count(sentences), output_path, attr, to_format)
    summary.show(output_path, formats.find_format(output_path, to_format))


@dataclass
class Summary:
    """A summary of the conversion."""

    counts: Counter[str] = field(default_factory=Counter)
    labels: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    beside_the_graph: Counter[str] = field(default_factory=Counter)

    def count(self, sentences: Iterable[Record]) -> Iterator[Record]:
        """Count the sentences as they pass, and show a progress bar."""
        for sentence in tqdm(sentences, unit=" sentences", **PROGRESS):
            self.add(sentence)
            yield sentence
        if not self.counts["sentences"]:
            raise ValueError("All sentences were left out, so no file was written.")

    def add(self, sentence: Record) -> None:
        self.counts["sentences"] += 1
        self.counts["tokens"] += len(sentence.words)
        self.counts["arcs"] += len(sentence.arcs)
        self.counts["tops"] += len(sentence.tops)
        self.labels.update(label for _, _, label in sentence.arcs)
        if sentence.empty_nodes:
            self.counts["empty nodes"] += len(sentence.empty_nodes)
            self.beside_the_graph.update(folding_losses(sentence))

    def show(self, output_path: Path, to_format: str) -> None:
        """Print the counts, to stderr if the data go to stdout."""
        to_stderr = str(output_path) == STANDARD_STREAM
        counts = {**self.counts, "labels": len(self.labels)}
        if to_format in KEEPING_FORMATS:
            beside = "kept separately from the graph, so parsers cannot learn it"
        else:
            beside = f"not written, because {to_format} files do not support it"
        for say, title, numbers in (
            (good, str(output_path), counts),
            (warn, beside, self.beside_the_graph),
        ):
            if numbers:
                text = ", ".join(f"{count} {what}" for what, count in numbers.items())
                say(f"{title}: {text}", err=to_stderr)
        show_left_out(self.left_out, err=to_stderr)
        if not counts["arcs"] and not counts["tops"]:
            warn(
                "The graphs have no arcs. In CoNLL-U files, arcs are read from the "
                "column DEPS: does the treebank have enhanced dependencies?",
                err=True,
            )


def _columns_to_drop(keep_attrs: str | None) -> list[str]:
    if keep_attrs is None:
        return []
    names = keep_attrs.replace(" ", "").split(",") if keep_attrs != "none" else []
    for name in names:
        if name not in COLUMNS:
            raise ValueError(
                f"--keep-attrs: unknown column {name!r}; choose from "
                f"{', '.join(COLUMNS)}, or none."
            )
    return [
        column
        for name, columns in COLUMNS.items()
        if name not in names
        for column in columns
    ]


def _copy(paths: list[Path], attr: str, summary: Summary) -> Iterator[Doc]:
    """Yield the Docs of several files unchanged."""
    for path in paths:
        docs = enumerate(docbin.read_docs(path), start=1)
        for number, doc in tqdm(docs, unit=" Docs", **PROGRESS):
            for sentence in docbin.to_sentences(doc, attr, path, number):
                summary.add(sentence)
            yield doc
    if not summary.counts["sentences"]:
        raise ValueError("The files have no sentences, so no file was written.")


def _limit(
    sentences: Iterable[Record], max_length: int, left_out: Counter[str]
) -> Iterator[Record]:
    starts_document = False
    for sentence in sentences:
        starts_document |= sentence.starts_document
        if len(sentence.words) <= max_length:
            # The first sentence of its document may have been too long.
            sentence.starts_document = starts_document
            starts_document = False
            yield sentence
        else:
            left_out[f"more than {max_length} words"] += 1


def _change(
    sentences: Iterable[Record], dropped: list[str], docs: int | None
) -> Iterator[Record]:
    for sentence in sentences if docs is None else _join(sentences, docs):
        for column in dropped:
            setattr(sentence, column, [])
        yield sentence


def _join(sentences: Iterable[Record], docs: int) -> Iterator[Record]:
    """Join sentences into documents of a fixed number of sentences."""
    previous: Record | None = None
    for number, sentence in enumerate(sentences):
        sentence.starts_document = number % docs == 0
        if previous is not None:
            if not sentence.starts_document:
                _end_line(previous)
            yield previous
        previous = sentence
    if previous is not None:
        yield previous


def _end_line(sentence: Record) -> None:
    """Add a line break to a sentence without final punctuation, as real text has."""
    text = (sentence.text or "").rstrip()
    # No line can end here if no space follows.
    if text and sentence.space_after is not False and not ENDED.search(text):
        sentence.text = text + "\n"
        sentence.space_after = False
