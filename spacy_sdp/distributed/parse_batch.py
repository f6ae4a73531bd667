"""A callable for `Dataset.map_batches` of Ray Data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import torch
from spacy.tokens import Doc
from thinc.api import require_gpu

from ..graph.extensions import DEFAULT_ATTR, get_graph
from ..pipeline.batches import Parsed, parse_batch
from ..pipeline.loading import load_pipeline
from .schema import ERROR, parse_schema, to_columns

# Maximum number of characters to parse together, unless a single text has more. With
# `nlp.max_length`, this limits the memory of a worker.
MAX_CHARS = 100_000


class ParseBatch:
    """Parses a column of texts: Arrow tables in, Arrow tables out.

    Ray creates one object for each actor, so every actor loads the pipeline once:

        ds.map_batches(
            ParseBatch,
            fn_constructor_kwargs={"model": "en_sdp_dm_md"},
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=4),
        )

    The result has the columns of the input and those of `parse_schema`. The column
    `error` has the reason why a text cannot be parsed.
    """

    def __init__(
        self,
        model: str,
        *,
        text_column: str = "text",
        attr: str = DEFAULT_ATTR,
        threshold: float | None = None,
        batch_size: int | None = None,
        clauses: bool = True,
        docs: bool = False,
        threads: int = 1,
        gpu: bool = False,
    ) -> None:
        """Load the pipeline.

        model (str): A package, a folder or a wheel.
        text_column (str): The column with the texts.
        attr (str): The attribute in which the parser stores its graphs.
        threshold (Optional[float]): The minimum probability of an arc.
        batch_size (Optional[int]): The number of texts in a batch. Defaults to the
            pipeline's.
        clauses (bool): Whether to extract clauses, if the pipeline has a tagger.
        docs (bool): Whether to add the column `docbin` with each Doc as a DocBin.
        threads (int): The number of PyTorch threads.
        gpu (bool): Whether to use the GPU that Ray assigns to the actor (`num_gpus`).
        """
        torch.set_num_threads(threads)
        if gpu:
            require_gpu()
        self.nlp = load_pipeline(model, threshold)
        self.text_column = text_column
        self.attr = attr
        self.batch_size = batch_size or self.nlp.batch_size
        self.clauses = clauses
        self.docs = docs
        self.schema = parse_schema(docs=docs)
        if get_graph(self.nlp("It works."), attr) is None:
            raise ValueError(
                f"The pipeline {model} does not set Doc._.{attr}. Check that it has a "
                "semantic parser. If the parser has another 'attr', specify it."
            )

    @property
    def name(self) -> str:
        """RETURNS (str): The name of the pipeline, the same as of its package."""
        return f"{self.nlp.meta['lang']}_{self.nlp.meta['name']}"

    @property
    def version(self) -> str:
        """RETURNS (str): The version of the pipeline."""
        return self.nlp.meta["version"]

    def __call__(self, table: pa.Table) -> pa.Table:
        """Parse the texts of a table.

        table (pyarrow.Table): The table.
        RETURNS (pyarrow.Table): The table with the columns of the parse.
        """
        if not isinstance(table, pa.Table):
            raise TypeError(
                "ParseBatch expects Arrow tables: call map_batches with "
                'batch_format="pyarrow".'
            )
        return self.parse(table, [None] * len(table))

    def parse(self, table: pa.Table, reasons: Sequence[str | None]) -> pa.Table:
        """Parse the texts of a table, except for rows that already have errors.

        table (pyarrow.Table): The table.
        reasons (Sequence[Optional[str]]): The error of each row, or None.
        RETURNS (pyarrow.Table): The table with the columns of the parse.
        """
        check_columns(table.schema, self.text_column, self.schema)
        texts = table.column(self.text_column).to_pylist()
        pieces = [
            self._parse_piece(texts[start:end], reasons[start:end])
            for start, end in self._pieces(texts)
        ]
        parsed = pa.concat_tables(pieces) if pieces else self.schema.empty_table()
        for name in self.schema.names:
            table = table.append_column(self.schema.field(name), parsed.column(name))
        return table

    def _pieces(self, texts: Sequence[str | None]) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each slice of texts to parse together."""
        start = chars = 0
        for i, text in enumerate(texts):
            size = len(text or "")
            if i > start and (i - start == self.batch_size or chars + size > MAX_CHARS):
                yield start, i
                start, chars = i, 0
            chars += size
        if start < len(texts):
            yield start, len(texts)

    def _parse_piece(
        self, texts: Sequence[str | None], reasons: Sequence[str | None]
    ) -> pa.Table:
        found: list[Parsed] = [
            reason or ("the text is missing" if text is None else "")
            for text, reason in zip(texts, reasons, strict=True)
        ]
        good = [i for i, reason in enumerate(found) if not reason]
        parsed = parse_batch(self.nlp, [texts[i] or "" for i in good]) if good else []
        for i, each in zip(good, parsed, strict=True):
            found[i] = each
        docs = [each if isinstance(each, Doc) else None for each in found]
        columns, without_clauses = to_columns(
            docs, self.attr, clauses=self.clauses, with_docs=self.docs
        )
        errors = [
            each if isinstance(each, str) else other
            for each, other in zip(found, without_clauses, strict=True)
        ]
        columns["pipeline"] = pa.array([self.name] * len(texts), pa.string())
        columns["pipeline_version"] = pa.array([self.version] * len(texts), pa.string())
        columns[ERROR] = pa.array(errors, pa.string())
        arrays = [columns[name] for name in self.schema.names]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def check_columns(given: pa.Schema, text_column: str, added: pa.Schema) -> None:
    """Raise an error unless a table has texts, and none of the columns to add.

    given (pyarrow.Schema): The schema of the input.
    text_column (str): The column with the texts.
    added (pyarrow.Schema): The columns of the parse.
    """
    if text_column not in given.names:
        raise ValueError(
            f"There is no column {text_column!r} with the texts, only "
            f"{', '.join(given.names)}. Specify the column with 'text_column' "
            "(--text-column)."
        )
    kind = given.field(text_column).type
    if not is_text(kind):
        raise ValueError(f"The column {text_column!r} has {kind}, not texts.")
    both = [name for name in given.names if name in added.names]
    if both:
        raise ValueError(
            f"The input has the column {', '.join(map(repr, both))}, which the output "
            "would replace. Rename it first."
        )


def is_text(kind: pa.DataType) -> bool:
    """Check whether a column can have texts. Without any, Arrow gives it type null."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )
