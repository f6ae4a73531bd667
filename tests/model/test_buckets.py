"""Spans are read in buckets, and come out as spacy-transformers gives them."""

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy_transformers.data_classes import FullTransformerBatch
from spacy_transformers.layers import TransformerModel as HFTransformerModel
from thinc.api import set_dropout_rate
from transformers import BertTokenizerFast, XLNetConfig, XLNetModel

from spacy_sdp.model.buckets import CALL_COST
from spacy_sdp.model.encoder import TransformerModel
from spacy_sdp.model.partition import partition
from spacy_sdp.model.span_getter import make_sentence_spans

CONFIG = {"use_fast": True}
needs_bfloat16 = pytest.mark.skipif(
    not torch.cpu.get_capabilities().get("avx512_bf16"),
    reason="needs a processor with bfloat16",
)


@pytest.fixture
def docs(nlp, examples):
    """Docs of one, two and 70 sentences, one of them longer than the encoder reads."""
    docs = [example.predicted.copy() for example in examples]
    for doc in docs:
        for token in doc:
            token.is_sent_start = token.i == 0
    long = Doc(nlp.vocab, words=["cat"] * 100)
    several = Doc.from_docs([docs[2], Doc(nlp.vocab, words=["cat"]), docs[0]])
    return [docs[0], several, docs[1], long, Doc.from_docs(docs), *docs[3:]]


def build(architecture, path, docs, transformer_config=None, **settings):
    spans = make_sentence_spans(window=128)
    model = architecture(
        str(path), spans, dict(CONFIG), dict(transformer_config or {}), **settings
    )
    model.initialize(X=docs)
    return model


def pieces_of(batch: FullTransformerBatch, name="last_hidden_state"):
    """The rows of each span without the padding."""
    mask = batch.wordpieces.attention_mask.astype(bool)
    values = batch.model_output[name]
    values = values if isinstance(values, tuple) else (values,)
    return numpy.concatenate([value.numpy()[mask] for value in values])


@given(st.lists(st.integers(1, 60), max_size=12), st.sampled_from([1, 40, 100, 10_000]))
def test_a_partition_has_each_span_once_in_buckets_of_bounded_size(lengths, max_pieces):
    buckets = partition(lengths, max_pieces, call_cost=CALL_COST)
    assert sorted(span for bucket in buckets for span in bucket) == [
        *range(len(lengths))
    ]
    for bucket in buckets:
        longest = lengths[bucket[-1]]
        assert longest == max(lengths[span] for span in bucket)
        assert len(bucket) == 1 or len(bucket) * longest <= max_pieces


@given(st.lists(st.integers(1, 200), min_size=1, max_size=7))
def test_no_other_partition_costs_less(lengths):
    def cost(buckets):
        return sum(CALL_COST + len(each) * max(each) for each in buckets)

    ordered = sorted(lengths)
    splits = range(2 ** (len(lengths) - 1))
    least = min(
        cost(
            numpy.split(ordered, [i + 1 for i in range(len(lengths)) if split >> i & 1])
        )
        if not split >> (len(lengths) - 1)
        else float("inf")
        for split in splits
    )
    found = partition(lengths, 10**6, call_cost=CALL_COST)
    assert cost([[lengths[span] for span in bucket] for bucket in found]) == least


@pytest.mark.parametrize("max_pieces", [1, 64, 100_000])
def test_the_output_is_that_of_spacy_transformers(bert, docs, max_pieces):
    theirs = build(HFTransformerModel, bert, docs).predict(docs)
    model = build(TransformerModel, bert, docs, max_pieces=max_pieces)
    ours = model.predict(docs)
    assert pieces_of(ours) == pytest.approx(pieces_of(theirs), abs=1e-5)
    assert ours.wordpieces.strings == theirs.wordpieces.strings
    for one, other in zip(ours.doc_data, theirs.doc_data, strict=True):
        assert (one.align.dataXd == other.align.dataXd).all()
        assert (one.align.lengths == other.align.lengths).all()
        assert one.wordpieces.strings == other.wordpieces.strings
        shape = one.model_output.last_hidden_state.shape
        assert shape == other.model_output.last_hidden_state.shape
        one, other = (each.model_output.pooler_output for each in (one, other))
        assert one == pytest.approx(other, abs=1e-5)


def test_hidden_states_and_attentions_are_kept_if_asked_for(bert, docs):
    config = {
        "output_hidden_states": True,
        "output_attentions": True,
        "attn_implementation": "eager",
    }
    theirs = build(HFTransformerModel, bert, docs, config).predict(docs)
    ours = build(TransformerModel, bert, docs, config, max_pieces=64).predict(docs)
    assert ours.model_output.keys() == theirs.model_output.keys()
    assert pieces_of(ours, "hidden_states") == pytest.approx(
        pieces_of(theirs, "hidden_states"), abs=1e-5
    )
    lengths = theirs.wordpieces.attention_mask.sum(axis=1).astype("i")
    for one, other in zip(
        ours.model_output.attentions, theirs.model_output.attentions, strict=True
    ):
        assert one.shape == other.shape
        for span, n in enumerate(lengths):
            assert torch.allclose(
                one[span, :, :n, :n], other[span, :, :n, :n], atol=1e-5
            )


def test_encoders_that_pad_on_the_left_read_the_same(bert, docs):
    docs = docs[:3]
    tokenizer = BertTokenizerFast.from_pretrained(bert, padding_side="left")
    tokenizer.save_pretrained(bert)
    XLNetModel(
        XLNetConfig(
            vocab_size=len(tokenizer),
            d_model=16,
            n_layer=2,
            n_head=2,
            d_inner=16,
            dropout=0.0,
        )
    ).save_pretrained(bert)
    theirs = build(HFTransformerModel, bert, docs).predict(docs)
    ours = build(TransformerModel, bert, docs, max_pieces=64).predict(docs)
    assert not theirs.wordpieces.attention_mask[:, 0].all()
    assert pieces_of(ours) == pytest.approx(pieces_of(theirs), abs=1e-5)


def test_a_span_is_read_alike_in_every_batch(bert, docs):
    model = build(TransformerModel, bert, docs, max_pieces=64)
    together = model.predict(docs).doc_data
    for doc, expected in zip(docs, together, strict=True):
        (alone,) = model.predict([doc]).doc_data
        rows = alone.align.dataXd.ravel(), expected.align.dataXd.ravel()
        one, other = (
            each.model_output.last_hidden_state.reshape(-1, each.width)[index]
            for each, index in zip((alone, expected), rows, strict=True)
        )
        assert one == pytest.approx(other, abs=1e-5)


def gradients(model, docs):
    """Of a loss that weighs each number of each span differently."""
    set_dropout_rate(model, 0.0)
    batch, backprop = model.begin_update(docs)
    tensors = [list(data.tensors[:1]) for data in batch.doc_data]
    for (tensor,) in tensors:
        tensor[...] = numpy.sin(numpy.arange(tensor.size)).reshape(tensor.shape)
    # Padding has no gradient.
    d_batch = batch.unsplit_by_doc(tensors)
    mask = torch.from_numpy(batch.wordpieces.attention_mask)
    d_batch.model_output["output_0"] *= mask[:, :, None]
    backprop(d_batch)
    return {
        name: parameter.grad
        for name, parameter in model.transformer.named_parameters()
        if parameter.grad is not None
    }


def test_gradients_are_those_of_one_padded_batch(bert, docs):
    expected = gradients(build(HFTransformerModel, bert, docs), docs)
    found = gradients(build(TransformerModel, bert, docs, max_pieces=64), docs)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert torch.allclose(found[name], gradient, rtol=1e-4, atol=1e-4), name


@needs_bfloat16
def test_bfloat16_is_close_and_trains_float32_weights(bert, docs):
    exact = build(TransformerModel, bert, docs)
    half = build(TransformerModel, bert, docs, precision="bfloat16")
    one, other = pieces_of(exact.predict(docs)), pieces_of(half.predict(docs))
    assert other.dtype == "float32"
    assert 0 < numpy.abs(one - other).max() < 0.1
    expected, found = gradients(exact, docs), gradients(half, docs)
    for name, gradient in expected.items():
        assert found[name].dtype == torch.float32
        if gradient.norm() > 1e-2:
            assert (
                torch.cosine_similarity(found[name].ravel(), gradient.ravel(), dim=0)
                > 0.98
            ), name
