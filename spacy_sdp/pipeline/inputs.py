"""Checks whether Docs have the annotations that a parser's model reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from spacy.attrs import IDS
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model

# Attributes that a component must set, with the usual component.
SETTERS = {
    "TAG": "tagger",
    "POS": "morphologizer",
    "MORPH": "morphologizer",
    "LEMMA": "lemmatizer",
    "DEP": "parser",
}
NAMES = {number: name for name, number in IDS.items()}


def find_missing_inputs(model: Model[Any, Any], docs: list[Doc]) -> list[str]:
    """Find the inputs of a model that are missing in all Docs.

    model (Model): The model, all of whose layers are checked.
    docs (List[Doc]): The Docs to process.
    RETURNS (List[str]): A description of each missing input, with the component that
        should have set it.
    """
    docs = [doc for doc in docs if any(not token.is_space for token in doc)]
    if not docs:
        return []
    return [
        description
        for description, is_set in dict(_inputs(model)).items()
        if not any(map(is_set, docs))
    ]


def _inputs(model: Model[Any, Any]) -> Iterator[tuple[str, Callable[[Doc], bool]]]:
    """Yield each input, with a function that checks whether a Doc has it."""
    # This import is slow, but already done if the model has such a layer.
    from spacy_transformers.layers import TransformerListener

    for node in model.walk():
        if isinstance(node, TransformerListener):
            name = _upstream(node.upstream_name, "transformer")
            yield f"the vectors of '{name}'", _has_transformer_output
        elif isinstance(node, Tok2VecListener):
            name = _upstream(node.upstream_name, "tok2vec")
            yield f"the vectors of '{name}'", _has_tensor
        elif node.name == "static_vectors":
            yield "the word vectors of nlp.vocab", _has_vectors
        for column in node.attrs.get("columns", ()):
            attr = NAMES.get(column, column)
            if attr in SETTERS:
                yield (
                    f"Token.{attr.lower()}_, set by a component such as "
                    f"'{SETTERS[attr]}'",
                    partial(Doc.has_annotation, attr=attr),
                )


def _upstream(name: str, default: str) -> str:
    return default if name == "*" else name


def _has_transformer_output(doc: Doc) -> bool:
    return doc._.trf_data is not None


def _has_vectors(doc: Doc) -> bool:
    return bool(doc.vocab.vectors.size)


def _has_tensor(doc: Doc) -> bool:
    return bool(doc.tensor.size)
