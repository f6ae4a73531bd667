"""Dropout of whole words, so that a parser does not rely on one type of features."""

from collections.abc import Callable
from typing import TypeVar

import numpy
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model
from thinc.types import Floats2d

InT = TypeVar("InT", bound=list[Doc])


@registry.layers("spacy_sdp.word_dropout.v1")
def word_dropout(layer: Model[InT, list[Floats2d]], rate: float) -> Model:
    """Wrap a layer to set the vectors of random words to zero in training.

    Wrap one of several concatenated layers to make the parser robust to errors in the
    input of this layer, such as predicted tags. `dropout` in the section `[training]`
    sets the rate of thinc's own dropout layers, not of this one.

    layer (Model): A layer that returns the word vectors of each Doc.
    rate (float): The share of words to drop.
    """
    if not 0 <= rate < 1:
        raise ValueError(
            "The setting 'rate' of spacy_sdp.word_dropout.v1 must be at least 0 and "
            f"less than 1, not {rate}."
        )
    return Model(
        f"word_dropout({layer.name})",
        forward,
        init=init,
        layers=[layer],
        dims={"nO": layer.get_dim("nO") if layer.has_dim("nO") else None},
        attrs={"word_rate": rate},
    )


def init(model: Model, X: list[Doc] | None = None, Y: object = None) -> None:
    """Initialize the wrapped layer, whose width may only be known then."""
    model.layers[0].initialize(X, Y)
    if model.layers[0].has_dim("nO"):
        model.set_dim("nO", model.layers[0].get_dim("nO"))


def forward(
    model: Model, docs: InT, is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], InT]]:
    """Compute the vectors, and in training set some of them to zero."""
    vectors, backprop_layer = model.layers[0](docs, is_train)
    rate = model.attrs["word_rate"]
    if not is_train or rate == 0:
        return vectors, backprop_layer
    masks = [
        model.ops.asarray2f(numpy.random.random((len(each), 1)) >= rate)
        for each in vectors
    ]

    def backprop(d_vectors: list[Floats2d]) -> InT:
        return backprop_layer(_multiply(d_vectors, masks))

    return _multiply(vectors, masks), backprop


def _multiply(vectors: list[Floats2d], masks: list[Floats2d]) -> list[Floats2d]:
    return [each * mask for each, mask in zip(vectors, masks, strict=True)]
