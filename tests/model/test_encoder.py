"""The paper's encoder in small: BERT, tag and lemma embeddings, BiLSTM."""

import json
import shutil
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from util import LISTENER

import spacy_sdp
from spacy_sdp.formats import docbin
from spacy_sdp.model.encoder import EncoderShim
from spacy_sdp.training.optimizer import make_adam

LOAD = """
import json, sys
import spacy
from spacy.tokens import DocBin

nlp = spacy.load(sys.argv[1])
docs = DocBin().from_disk(sys.argv[2]).get_docs(nlp.vocab)
print(json.dumps([doc._.sdp.to_dict() for doc in nlp.pipe(docs)]))
"""


def test_training_saving_and_loading_without_the_folder(pipeline, bert, tmp_path):
    nlp, examples = pipeline
    shim = next(
        shim
        for node in nlp.get_pipe("transformer").model.walk()
        for shim in node.shims
        if shim._model is not None
    )
    before = {k: v.clone() for k, v in shim._model.state_dict().items()}
    optimizer = make_adam(0.01, transformer_learn_rate=0.002)
    losses = []
    for _ in range(40):
        losses.append(nlp.update(examples, sgd=optimizer)["sdp_meanfield"])
        optimizer.step_schedules()
    assert losses[-1] < 0.2 * losses[0]
    assert nlp.evaluate(examples)["sdp_lf"] > 0.9
    after = shim._model.state_dict()
    unchanged = [key for key in before if (before[key] == after[key]).all()]
    # The pooler is no part of the word vectors.
    assert all("pooler" in key or "position_ids" in key for key in unchanged)

    docs = [example.predicted.copy() for example in examples]
    docbin_path = tmp_path / "predicted.spacy"
    DocBin(docs=docs).to_disk(docbin_path)
    expected = [doc._.sdp.to_dict() for doc in nlp.pipe(doc.copy() for doc in docs)]
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(bert)
    output = subprocess.run(
        [sys.executable, "-c", LOAD, tmp_path / "pipeline", docbin_path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = json.loads(output)
    assert [each["tops"] for each in found] == [each["tops"] for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert [arc[:3] for arc in one["arcs"]] == [arc[:3] for arc in other["arcs"]]
        assert [arc[3] for arc in one["arcs"]] == pytest.approx(
            [arc[3] for arc in other["arcs"]], abs=1e-5
        )


def test_a_sentence_is_parsed_alike_wherever_it_stands(pipeline):
    nlp, examples = pipeline
    optimizer = make_adam(0.01, transformer_learn_rate=0.002)
    for _ in range(25):
        nlp.update(examples, sgd=optimizer)
    docs = [example.predicted.copy() for example in examples[:4]]
    for doc in docs:
        for token in doc:
            token.is_sent_start = token.i == 0
    text = nlp(Doc.from_docs(docs))
    alone = [doc._.sdp for doc in nlp.pipe(docs)]
    assert any(map(len, alone))
    assert [doc._.sdp for doc in spacy_sdp.split_sents(text)] == alone


def test_texts_without_words_have_empty_graphs(pipeline):
    nlp, _ = pipeline
    assert len(nlp("")._.sdp) == 0
    texts = ["The cat eats.", "", "  ", "The dog eats."]
    docs = list(nlp.pipe(texts))
    for doc in (docs[1], docs[2]):
        assert len(doc._.sdp) == 0 and doc._.sdp.tops == ()
    assert docs[3]._.sdp == nlp(texts[3])._.sdp


def test_files_do_not_have_what_the_transformer_computed(pipeline, tmp_path):
    nlp, _ = pipeline
    doc = nlp("The cat eats.")
    docbin.write_docs([doc], tmp_path / "parsed.spacy")
    (again,) = docbin.read_docs(tmp_path / "parsed.spacy", nlp.vocab)
    assert doc._.trf_data is not None and again._.trf_data is None
    assert again._.sdp == doc._.sdp


# spaCy itself cannot replace a listener inside of another layer.
@pytest.mark.parametrize("pipeline", [LISTENER], indirect=True, ids=["alone"])
def test_listeners_can_be_replaced_where_the_folder_is_gone(pipeline, bert, tmp_path):
    nlp, examples = pipeline
    nlp.config["components"]["transformer"]["model"]["max_pieces"] = 64
    docs = [example.predicted for example in examples[:5]]
    expected = [doc._.sdp.to_dict() for doc in nlp.pipe(doc.copy() for doc in docs)]
    nlp.replace_listeners("transformer", "sdp_meanfield", ["model.tok2vec"])
    nlp.remove_pipe("transformer")
    config = nlp.config["components"]["sdp_meanfield"]["model"]["tok2vec"]
    assert config["@architectures"] == "spacy_sdp.Tok2VecTransformer.v1"
    assert config["max_pieces"] == 64
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(bert)
    loaded = spacy.load(tmp_path / "pipeline")
    shims = [
        shim
        for node in loaded.get_pipe("sdp_meanfield").model.walk()
        for shim in node.shims
    ]
    assert any(isinstance(shim, EncoderShim) for shim in shims)
    assert not any(shim._model.training for shim in shims)
    found = [doc._.sdp.to_dict() for doc in loaded.pipe(doc.copy() for doc in docs)]
    assert [data["arcs"] for data in found] == [data["arcs"] for data in expected]
