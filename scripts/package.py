"""Package a trained pipeline as a wheel, with a model card.

    python scripts/package.py training/small/rounded packages \\
        --name en_sdp_dm_sm --version 0.5.1 --metrics metrics/small

The scores are read from METRICS.test.json, METRICS.ood.json and METRICS.everyday.json
(on gold tokens), from METRICS.test.raw.json and METRICS.ood.raw.json (from raw text),
and from METRICS.tags.json.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import spacy
import srsly
from spacy.cli.package import package

ENCODER = "transformer"
DESCRIPTION = (
    "English pipeline for semantic dependency graphs in the DM formalism (Doc._.sdp), "
    "with sentence boundaries, tags and lemmas."
)
NOTES = (
    "{encoder} The pipeline was trained on gold data (Wikipedia articles, short "
    "everyday sentences, questions, definitions and blogs) and on silver data (texts "
    "from many genres, annotated by a larger parser with MPNet-base). It predicts "
    "arcs, tops and the senses of predicates (frames). It is for English only: for "
    "text in other languages, it predicts arbitrary graphs without a warning. The "
    "tops of questions such as *What is X?*, and the graphs of headlines, lists and "
    "tweets, are less reliable than those of statements, and some sentences have no "
    "top. The scores are labelled F1, including tops, on WeScience, a treebank of "
    "Wikipedia articles (test), on a Sherlock Holmes story, which is out-of-domain "
    "(ood), and on everyday sentences (everyday): on gold tokens with predicted tags "
    "(sdp_lf_*), and on raw texts of 8 sentences (sdp_lf_*_raw). Tags, lemmas and "
    "sentence boundaries are scored on the development data of UD English-EWT. The "
    "scores are not comparable with those on the DM data of SemEval 2015, which has "
    "other texts and an older grammar. Licences of the sources: {licences}."
)
ENCODERS = {
    "en_sdp_dm_sm": (
        "Hash embeddings, static word vectors and a BiLSTM, without a transformer."
    ),
    "en_sdp_dm_md": (
        "MiniLM-L6, a transformer that is small enough for CPUs, fine-tuned."
    ),
}
CC_BY_SA_3 = "CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0)"
CC_BY_SA_4 = "CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0)"
APACHE_2 = "Apache 2.0 (https://www.apache.org/licenses/LICENSE-2.0)"
ERG = "https://github.com/delph-in/erg/tree/af1a9d13767d7730576c899c74804682879936f6"
SOURCES: list[dict[str, str]] = [
    {
        "name": "English Resource Grammar 2025, treebanks ws201 to ws211 (WeScience)",
        "url": ERG,
        "author": "Dan Flickinger, Stephan Oepen and others; authors of Wikipedia",
        "license": f"annotation MIT, text {CC_BY_SA_3}",
    },
    {
        "name": "English Resource Grammar 2025, treebanks csli, mrs, esd and ccs",
        "url": ERG,
        "author": "Dan Flickinger, Stephan Oepen, Ann Copestake and others",
        "license": "MIT",
    },
    {
        "name": "English Resource Grammar 2025, treebank omw (definitions of WordNet)",
        "url": ERG,
        "author": "Francis Bond and others; Princeton University",
        "license": "annotation MIT, text WordNet licence "
        "(https://wordnet.princeton.edu/license-and-commercial-use)",
    },
    {
        "name": "English Resource Grammar 2025, treebanks rtc000 and rtc001 (Tanaka)",
        "url": ERG,
        "author": "Francis Bond and others; Yasuhito Tanaka; the Tatoeba project",
        "license": "annotation MIT, text CC BY 2.0 FR "
        "(https://creativecommons.org/licenses/by/2.0/fr)",
    },
    {
        "name": "English Resource Grammar 2025, treebanks wlb03 and wnb03 (WeSearch)",
        "url": ERG,
        "author": "Rebecca Dridan, Jonathon Read, Stephan Oepen and others; bloggers",
        "license": "annotation MIT, text freely redistributable",
    },
    {
        "name": "UD English-EWT (text, tags, lemmas, sentence boundaries)",
        "url": "https://github.com/UniversalDependencies/UD_English-EWT/tree/15d613d8447b3478787d4c278730a1e48a945efb",
        "author": "Natalia Silveira and others",
        "license": CC_BY_SA_4,
    },
    {
        "name": "all-mpnet-base-v2 (encoder of the silver data's parser)",
        "url": "https://huggingface.co/sentence-transformers/all-mpnet-base-v2",
        "author": "sentence-transformers",
        "license": APACHE_2,
    },
]
MINILM = {
    "name": "all-MiniLM-L6-v2",
    "url": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    "author": "sentence-transformers",
    "license": APACHE_2,
}
# The texts of the silver data.
SILVER_TEXTS = Path(__file__).with_name("silver_texts.json")
# The maximum sizes of the wheels, in bytes.
LIMITS = {"en_sdp_dm_sm": 16e6, "en_sdp_dm_md": 60e6}


def read_scores(prefix: str) -> dict[str, float]:
    """RETURNS (Dict[str, float]): The scores of the model card, as fractions."""
    tags = srsly.read_json(f"{prefix}.tags.json")
    scores = {name: tags[name] for name in ("tag_acc", "lemma_acc", "sents_f")}
    for split in ("test", "ood", "everyday"):
        gold = srsly.read_json(f"{prefix}.{split}.json")["with_tops"]
        for name in ("LF", "LP", "LR", "UF", "LM"):
            scores[f"sdp_{name.lower()}_{split}"] = gold[name]
    for split in ("test", "ood"):
        raw = srsly.read_json(f"{prefix}.{split}.raw.json")
        scores[f"sdp_lf_{split}_raw"] = raw["sdp_lf"]
    return scores


def make_meta(
    meta: dict[str, Any], name: str, version: str, metrics: str
) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The metadata of the pipeline, with its model card."""
    lang, _, rest = name.partition("_")
    sources = SOURCES + [MINILM] * (name == "en_sdp_dm_md")
    texts = read_silver_texts()
    licences = [f"{each['name']}: {each['license']}" for each in sources]
    licences.append(
        f"{len(texts)} texts of the silver data: listed in LICENSES_SOURCES"
    )
    # spaCy adds the requirements of this version.
    meta = {key: value for key, value in meta.items() if key != "requirements"}
    return {
        **meta,
        "lang": lang,
        "name": rest,
        "version": version,
        "description": DESCRIPTION,
        "notes": NOTES.format(encoder=ENCODERS[name], licences="; ".join(licences)),
        "author": "spacy-sdp",
        "url": "",
        "license": CC_BY_SA_4,
        "sources": sources + texts,
        "performance": read_scores(metrics),
    }


def read_silver_texts() -> list[dict[str, str]]:
    """RETURNS (List[Dict[str, str]]): The texts of the silver data as sources."""
    return [
        {
            "name": f"Silver data: {text['attribution']}",
            "url": f"https://github.com/{text['repository']}/tree/{text['commit']}",
            "license": text["licence"],
        }
        for text in srsly.read_json(SILVER_TEXTS).values()
    ]


def write_licences(meta: dict[str, Any], path: Path) -> None:
    """Write the sources of the pipeline and their licences."""
    name = f"{meta['lang']}_{meta['name']}"
    lines = [
        f"The weights of {name} are licensed {CC_BY_SA_4}.",
        "They were trained on modified versions of the following sources:",
    ]
    for source in meta["sources"]:
        lines += ["", f"# {source['name']}", ""]
        lines += [f"* {key.title()}: {source[key]}" for key in source if key != "name"]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def make_portable(model: Path) -> None:
    """Remove from a config what only applies to this machine: paths and precision."""
    nlp = spacy.load(model)
    # The pipeline is self-contained.
    if nlp.has_pipe(ENCODER):
        encoder = nlp.get_pipe(ENCODER).model
        encoder.attrs["name"] = MINILM["name"]
        encoder.transformer.config._name_or_path = MINILM["name"]
        # After fine-tuning, the name is no longer a variable of [paths].
        settings = nlp.get_pipe_config(ENCODER)["model"]
        settings.update(name=MINILM["name"], precision="float32")
    # The encoder must have a name.
    names = {"transformer": MINILM["name"]}
    nlp.config["paths"] = {name: names.get(name) for name in nlp.config["paths"]}
    nlp.to_disk(model)


def compress(wheel: Path, smaller: Path) -> Path:
    """Copy a wheel with maximum compression, which saves 7%. Its checksums are those of
    the files, so they stay the same."""
    with (
        zipfile.ZipFile(wheel) as source,
        zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for each in source.infolist():
            target.writestr(each, source.read(each), compresslevel=9)
    return smaller


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--name", choices=list(ENCODERS), required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--metrics", required=True, help="prefix of the score files")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model, packages = Path(folder, "model"), Path(folder, "packages")
        shutil.copytree(args.model, model)
        packages.mkdir()
        make_portable(model)
        meta = srsly.read_json(model / "meta.json")
        meta = make_meta(meta, args.name, args.version, args.metrics)
        srsly.write_json(model / "meta.json", meta)
        write_licences(meta, model / "LICENSES_SOURCES")
        package(model, packages, create_sdist=False, create_wheel=True)
        (built,) = packages.glob("*/dist/*.whl")
        wheel = compress(built, Path(folder, built.name))
        if wheel.stat().st_size > LIMITS[args.name]:
            parser.error(
                f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB, but the limit "
                f"is {LIMITS[args.name] / 1e6:.0f} MB: train a narrower network."
            )
        shutil.copy(wheel, args.output)
        print(f"{args.output / wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
