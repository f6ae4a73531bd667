import pytest
import spacy
from spacy.training import Example
from util import LISTENER, save_tiny_bert, small_model

from spacy_sdp.model.encoder import EncoderShim
from spacy_sdp.pipeline.loading import load_pipeline

TRANSFORMERS = [f"spacy-transformers.TransformerModel.v{i}" for i in (1, 2, 3)]


@pytest.mark.parametrize(
    "architecture", [*TRANSFORMERS, "spacy-transformers.Tok2VecTransformer.v3"]
)
def test_transformers_that_threads_cannot_share_are_replaced(
    architecture, nlp, cat, tmp_path
):
    save_tiny_bert(tmp_path / "bert", [token.text for token in cat])
    transformer = {
        "@architectures": architecture,
        "name": str(tmp_path / "bert"),
        "get_spans": {"@span_getters": "spacy-transformers.doc_spans.v1"},
    }
    tok2vec = LISTENER
    if architecture in TRANSFORMERS:
        nlp.add_pipe("transformer", config={"model": transformer})
    else:
        tok2vec = {
            **transformer,
            "tokenizer_config": {},
            "pooling": LISTENER["pooling"],
        }
    nlp.add_pipe("sdp_meanfield", config={"model": small_model(tok2vec=tok2vec)})
    nlp.initialize(lambda: [Example(cat.copy(), cat)])
    nlp.to_disk(tmp_path / "pipeline")

    before = spacy.load(tmp_path / "pipeline")
    before.get_pipe("sdp_meanfield").threshold = 0.0
    after = load_pipeline(str(tmp_path / "pipeline"), threshold=0.0, threads=True)
    assert len(shims(before)) == len(shims(after)) == 1
    assert not isinstance(shims(before)[0], EncoderShim)
    assert isinstance(shims(after)[0], EncoderShim)
    expected = before(cat.copy())._.sdp.to_dict()
    assert expected["arcs"]
    found = after(cat.copy())._.sdp.to_dict()
    assert [arc[:3] for arc in found["arcs"]] == [arc[:3] for arc in expected["arcs"]]
    assert [arc[3] for arc in found["arcs"]] == pytest.approx(
        [arc[3] for arc in expected["arcs"]], abs=1e-5
    )
    untouched = load_pipeline(str(tmp_path / "pipeline"))
    assert not isinstance(shims(untouched)[0], EncoderShim)


def shims(nlp):
    """The shims of transformers."""
    return [
        shim
        for _, pipe in nlp.pipeline
        for node in pipe.model.walk()
        for shim in node.shims
        if hasattr(shim, "_hfmodel")
    ]
