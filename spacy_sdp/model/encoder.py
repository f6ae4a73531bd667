"""A thread-safe version of spacy-transformers' model that is faster on CPUs."""

from collections.abc import Callable
from typing import Any, cast

from spacy.tokens import Doc
from spacy.util import registry
from spacy_transformers.data_classes import FullTransformerBatch
from spacy_transformers.layers import TransformerModel as HFTransformerModel
from spacy_transformers.layers import split_trf_batch, trfs2arrays
from spacy_transformers.layers._util import replace_listener_cfg
from spacy_transformers.layers.hf_shim import HFShim
from spacy_transformers.layers.transformer_model import huggingface_tokenize
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from .buckets import with_buckets
from .precision import Precision, check_precision
from .shim import ThreadSafeShim

# Maximum number of word pieces in a bucket. Larger buckets are no faster on CPUs.
MAX_PIECES = 1024


@registry.architectures("spacy_sdp.TransformerModel.v1")
def TransformerModel(
    name: str,
    get_spans: Callable,
    tokenizer_config: dict[str, Any] = {},  # noqa: B006
    transformer_config: dict[str, Any] = {},  # noqa: B006
    mixed_precision: bool = False,
    grad_scaler_config: dict[str, Any] = {},  # noqa: B006
    max_pieces: int = MAX_PIECES,
    precision: Precision = "float32",
) -> Model[list[Doc], FullTransformerBatch]:
    """Build a transformer that is thread-safe and computes less padding.

    It is a drop-in replacement for `spacy-transformers.TransformerModel.v3`, with the
    same weights, saved files and listeners, and with additional settings.

    name (str): Name or path of the Hugging Face model.
    get_spans (Callable[[List[Doc]], List[List[Span]]]): The spans that the transformer
        reads, see `spacy_sdp.sentence_spans.v1`.
    tokenizer_config (Dict[str, Any]): Settings of the tokenizer.
    transformer_config (Dict[str, Any]): Settings of the transformer.
    mixed_precision (bool): Whether to use half precision on a GPU.
    grad_scaler_config (Dict[str, Any]): Settings of the gradient scaler for mixed
        precision.
    max_pieces (int): Spans of similar length are read together, up to this number of
        word pieces.
    precision (str): "float32", or "bfloat16" to compute in half precision on a CPU with
        bfloat16 instructions. The weights are float32 in both cases.
    """
    check_precision(precision)
    model = HFTransformerModel(
        name,
        get_spans,
        dict(tokenizer_config),
        dict(transformer_config),
        mixed_precision,
        dict(grad_scaler_config),
    )
    wrapper = model.layers[0]
    shim = cast(HFShim, wrapper.shims[0])
    wrapper.shims[0] = EncoderShim(
        shim._hfmodel,
        mixed_precision=mixed_precision,
        grad_scaler_config=dict(grad_scaler_config),
    )
    model.layers[0] = with_buckets(wrapper, max_pieces=max_pieces, precision=precision)
    model.attrs["replace_listener_cfg"] = _replace_listener_cfg
    return model


@registry.architectures("spacy_sdp.Tok2VecTransformer.v1")
def Tok2VecTransformer(
    name: str,
    get_spans: Callable,
    tokenizer_config: dict[str, Any],
    pooling: Model[Ragged, Floats2d],
    grad_factor: float = 1.0,
    transformer_config: dict[str, Any] = {},  # noqa: B006
    mixed_precision: bool = False,
    grad_scaler_config: dict[str, Any] = {},  # noqa: B006
    max_pieces: int = MAX_PIECES,
    precision: Precision = "float32",
) -> Model[list[Doc], list[Floats2d]]:
    """Build a tok2vec layer with its own transformer.

    `nlp.replace_listeners` writes this architecture into the config in place of a
    listener to `spacy_sdp.TransformerModel.v1`. The other settings are the same.

    pooling (Model): Reduces the vectors of word pieces to one vector for each token.
    grad_factor (float): Scales the gradient that the transformer receives.
    """
    transformer = TransformerModel(
        name,
        get_spans,
        tokenizer_config,
        transformer_config,
        mixed_precision,
        grad_scaler_config,
        max_pieces,
        precision,
    )
    # Same nesting as the layers of a replaced listener, so that weights can be loaded.
    return chain(
        chain(transformer, split_trf_batch()), trfs2arrays(pooling, grad_factor)
    )


def _replace_listener_cfg(
    transformer: dict[str, Any], listener: dict[str, Any]
) -> dict[str, Any]:
    config = replace_listener_cfg(transformer, listener)
    if config["@architectures"] != transformer["@architectures"]:
        config["@architectures"] = "spacy_sdp.Tok2VecTransformer.v1"
    return config


class EncoderShim(ThreadSafeShim, HFShim):
    """A thread-safe version of spacy-transformers' shim."""

    def from_bytes(self, bytes_data: bytes) -> "EncoderShim":
        super().from_bytes(bytes_data)
        if self._model is not None:
            self._model.eval()
            # The first call configures the tokenizer's padding. Later calls do not
            # change it, so threads do not write to it.
            huggingface_tokenize(self._hfmodel.tokenizer, ["word"])
        return self
