import pytest
import torch

from spacy_sdp.model.encoder import TransformerModel
from spacy_sdp.model.precision import autocast
from spacy_sdp.model.span_getter import make_sentence_spans


@pytest.mark.parametrize("instructions", [{}, {"avx512_f": True, "amx_bf16": False}])
def test_processors_without_bfloat16_get_a_sentence(monkeypatch, instructions):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions)
    with pytest.raises(ValueError, match="precision = 'bfloat16' requires a processor"):
        TransformerModel("any", make_sentence_spans(), precision="bfloat16")
    TransformerModel("any", make_sentence_spans(), precision="float32")


@pytest.mark.parametrize(
    "precision, dtype", [("float32", torch.float32), ("bfloat16", torch.bfloat16)]
)
def test_products_have_the_precision(precision, dtype):
    matrix = torch.eye(4)
    with autocast(precision):
        assert (matrix @ matrix).dtype == dtype
    assert (matrix @ matrix).dtype == torch.float32
