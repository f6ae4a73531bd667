"""What the project runs besides spaCy's own commands."""

import subprocess
import sys
from pathlib import Path

import pytest
import spacy
import srsly
import torch
from thinc.api import Config
from util import add_parser, save_tiny_bert, train

from spacy_sdp.examples import EXAMPLES
from spacy_sdp.formats import Sentence, conllu, docbin, sdp

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

package = pytest.importorskip("package")
round_weights = pytest.importorskip("round_weights")


def test_rounded_weights_have_eight_significant_bits(nlp, examples):
    add_parser(nlp, examples)
    train(nlp, examples[:8], steps=20)
    text = "The shy cat wants to eat."
    before = nlp(text)._.sdp
    round_weights.round_weights(nlp)
    arrays = []
    for node in nlp.get_pipe("sdp_meanfield").model.walk():
        names = [name for name in node.param_names if node.has_param(name)]
        arrays += [torch.from_numpy(node.get_param(name)) for name in names]
        arrays += [p for shim in node.shims for p in shim._model.parameters()]
    assert len(arrays) > 20
    assert all(torch.equal(a, a.bfloat16().float()) for a in arrays)
    assert nlp(text)._.sdp == before


def test_silver_data_are_what_the_parser_is_sure_of(tmp_path):
    texts = [
        "The shy cat wants to eat.",
        "Hm.",
        "Colorless green ideas sleep furiously.",
    ]
    sentences = [
        Sentence(words=[*text[:-1].split(), "."], text=text, arcs=[], tops=[0])
        for text in texts
    ]
    conllu.write(sentences, tmp_path / "texts.conllu")
    output = tmp_path / "silver.spacy"
    script = ROOT / "scripts" / "silver.py"
    command = [script, "en_sdp_dm_sm", tmp_path / "texts.conllu", output]
    subprocess.run([sys.executable, *command, "--share", "0.5"], check=True)
    (doc,) = docbin.read_docs(output)
    # Of two sentences that are long enough.
    assert doc.text == texts[0]
    assert doc._.sdp.triples()[2] == ("wants", "ARG1", "cat")


def test_an_encoder_is_saved_for_another_pipeline(nlp, tmp_path):
    save_tiny_bert(tmp_path / "bert", ["the", "cat"])
    config = {"model": {"name": str(tmp_path / "bert")}}
    transformer = nlp.add_pipe("transformer", config=config)
    nlp.initialize()
    with torch.no_grad():
        weights = next(transformer.model.transformer.parameters())
        weights.fill_(0.25)
    nlp.to_disk(tmp_path / "pipeline")
    script = ROOT / "scripts" / "export_encoder.py"
    folders = [tmp_path / "pipeline", tmp_path / "encoder"]
    subprocess.run([sys.executable, script, *folders], check=True)
    other = spacy.blank("en")
    config = {"model": {"name": str(tmp_path / "encoder")}}
    copy = other.add_pipe("transformer", config=config)
    other.initialize()
    copied = next(copy.model.transformer.parameters())
    assert copied.shape == weights.shape and (copied == 0.25).all()


def test_section_20_becomes_the_development_data(tmp_path):
    sentences = list(sdp.read(EXAMPLES))[:4]
    for sentence, number in zip(
        sentences, ("20001001", "22000001", "22015002", "22100003"), strict=True
    ):
        sentence.id = number
    sdp.write(sentences, tmp_path / "all.sdp")
    script = ROOT / "scripts" / "split_sdp2015.py"
    files = [tmp_path / name for name in ("all.sdp", "train.sdp", "dev.sdp")]
    subprocess.run([sys.executable, script, *files], check=True)
    assert [s.id for s in sdp.read(files[1])] == ["20001001", "22100003"]
    assert [s.id for s in sdp.read(files[2])] == ["22000001", "22015002"]


def test_a_model_card_has_scores_licences_and_no_paths(tmp_path):
    for split in ("test", "ood"):
        gold = dict.fromkeys(("LF", "LP", "LR", "UF", "LM"), 0.8)
        srsly.write_json(tmp_path / f"m.{split}.json", {"with_tops": gold})
        srsly.write_json(tmp_path / f"m.{split}.raw.json", {"sdp_lf": 0.7})
    meta = package.make_meta({}, "en_sdp_dm_md", "1.2.3", str(tmp_path / "m"))
    assert (meta["lang"], meta["name"]) == ("en", "sdp_dm_md")
    assert meta["version"] == "1.2.3"
    assert meta["performance"]["sdp_lf_ood"] == pytest.approx(0.8)
    assert meta["performance"]["sdp_lf_test_raw"] == pytest.approx(0.7)
    for licence in ("CC BY-SA 3.0", "CC BY-SA 4.0", "Apache 2.0"):
        assert licence in meta["description"]
    config = Config({"paths": {"train": "/home/me", "transformer": "/home/me/bert"}})
    config.to_disk(tmp_path / "config.cfg")
    package.forget_paths(tmp_path / "config.cfg")
    assert "/home" not in (tmp_path / "config.cfg").read_text()
