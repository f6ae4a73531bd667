"""Package a trained pipeline as a wheel, with a model card.

    python scripts/package.py training/small/rounded packages \\
        --name en_sdp_dm_sm --version 0.4.0 --metrics metrics/small \\
        --larger pipelines/en_sdp_dm_md-0.3.1-py3-none-any.whl

The scores are read from METRICS.test.json and METRICS.ood.json (on gold tokens), from
METRICS.test.raw.json and METRICS.ood.raw.json (from raw text), and from
METRICS.tags.json.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
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
    "{encoder} The gold data are Wikipedia articles of 2008 about computing and "
    "linguistics, so accuracy is lower on other kinds of text, such as questions, "
    "dialogue, lists and e-mail. The pipeline predicts arcs and tops, but not the "
    "senses of predicates, and some sentences have no top. Tags are those of the Penn "
    "Treebank (Token.tag_); universal tags (Token.pos_) are not predicted. The scores "
    "are labelled F1, tops included, on WeScience articles of Wikipedia (test) and on "
    "a Sherlock Holmes story, which is out-of-domain (ood): on gold tokens with "
    "predicted tags (sdp_lf_*), and on raw texts of 8 sentences (sdp_lf_*_raw). Tags, "
    "lemmas and sentence boundaries are scored on the development data of UD "
    "English-EWT. The scores are not comparable with those on the DM of SemEval 2015, "
    "which has other texts and an older grammar. Licences of the sources: {licences}."
)
ENCODERS = {
    "en_sdp_dm_sm": (
        "Hash embeddings and a BiLSTM, without a transformer. Distilled from "
        "en_sdp_dm_md: the training data include silver data, sentences of UD "
        "English-EWT that en_sdp_dm_md has annotated."
    ),
    "en_sdp_dm_md": (
        "MiniLM-L6, a transformer that is small enough for CPUs, fine-tuned. Trained "
        "by self-training: the training data include silver data, sentences of UD "
        "English-EWT that an earlier stage of the parser has annotated. The weights "
        "are the average of two training runs."
    ),
}
CC_BY_SA_3 = "CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0)"
CC_BY_SA_4 = "CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0)"
SOURCES: list[dict[str, str]] = [
    {
        "name": "English Resource Grammar 2025, treebanks ws201 to ws211 (WeScience)",
        "url": "https://github.com/delph-in/erg/tree/af1a9d13767d7730576c899c74804682879936f6",
        "author": "Dan Flickinger, Stephan Oepen and others; authors of Wikipedia",
        "license": f"annotation MIT, text {CC_BY_SA_3}",
    },
    {
        "name": "UD English-EWT (text, tags, lemmas, sentence boundaries)",
        "url": "https://github.com/UniversalDependencies/UD_English-EWT/tree/15d613d8447b3478787d4c278730a1e48a945efb",
        "author": "Natalia Silveira and others",
        "license": CC_BY_SA_4,
    },
]
MINILM = {
    "name": "all-MiniLM-L6-v2",
    "url": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    "author": "sentence-transformers",
    "license": "Apache 2.0 (https://www.apache.org/licenses/LICENSE-2.0)",
}
# The maximum sizes of the wheels, in bytes.
LIMITS = {"en_sdp_dm_sm": 15e6, "en_sdp_dm_md": 60e6}


def read_scores(prefix: str) -> dict[str, float]:
    """RETURNS (Dict[str, float]): The scores of the model card, as fractions."""
    tags = srsly.read_json(f"{prefix}.tags.json")
    scores = {name: tags[name] for name in ("tag_acc", "lemma_acc", "sents_f")}
    for split in ("test", "ood"):
        gold = srsly.read_json(f"{prefix}.{split}.json")["with_tops"]
        raw = srsly.read_json(f"{prefix}.{split}.raw.json")
        for name in ("LF", "LP", "LR", "UF", "LM"):
            scores[f"sdp_{name.lower()}_{split}"] = gold[name]
        scores[f"sdp_lf_{split}_raw"] = raw["sdp_lf"]
    return scores


def make_meta(
    meta: dict[str, Any],
    name: str,
    version: str,
    metrics: str,
    larger: Path | None = None,
) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The metadata of the pipeline, with its model card."""
    lang, _, rest = name.partition("_")
    sources = SOURCES + [MINILM] * (name == "en_sdp_dm_md")
    if larger is not None:
        sources = [*sources, describe_larger(larger)]
    licences = "; ".join(f"{each['name']}: {each['license']}" for each in sources)
    return {
        **meta,
        "lang": lang,
        "name": rest,
        "version": version,
        "description": DESCRIPTION,
        "notes": NOTES.format(encoder=ENCODERS[name], licences=licences),
        "author": "spacy-sdp",
        "url": "",
        "license": CC_BY_SA_4,
        "sources": sources,
        "performance": read_scores(metrics),
    }


def describe_larger(wheel: Path) -> dict[str, str]:
    """RETURNS (Dict[str, str]): The pipeline as a source of silver data."""
    name, version, *_ = wheel.name.split("-")
    return {
        "name": f"{name} {version} (graphs of UD English-EWT, as silver data)",
        "author": "spacy-sdp",
        "license": CC_BY_SA_4,
    }


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
    """Remove local paths from the config of a pipeline."""
    nlp = spacy.load(model)
    # The pipeline includes all that it needs.
    if nlp.has_pipe(ENCODER):
        encoder = nlp.get_pipe(ENCODER).model
        encoder.attrs["name"] = MINILM["name"]
        encoder.transformer.config._name_or_path = MINILM["name"]
        # After fine-tuning, the name is no longer a variable of [paths].
        nlp.get_pipe_config(ENCODER)["model"]["name"] = MINILM["name"]
    # The encoder must have a name.
    names = {"transformer": MINILM["name"]}
    nlp.config["paths"] = {name: names.get(name) for name in nlp.config["paths"]}
    nlp.to_disk(model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--name", choices=list(ENCODERS), required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--metrics", required=True, help="prefix of the score files")
    parser.add_argument(
        "--larger", type=Path, help="wheel of the pipeline that annotated silver data"
    )
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model, packages = Path(folder, "model"), Path(folder, "packages")
        shutil.copytree(args.model, model)
        packages.mkdir()
        make_portable(model)
        meta = srsly.read_json(model / "meta.json")
        meta = make_meta(meta, args.name, args.version, args.metrics, args.larger)
        srsly.write_json(model / "meta.json", meta)
        write_licences(meta, model / "LICENSES_SOURCES")
        package(model, packages, create_sdist=False, create_wheel=True)
        (wheel,) = packages.glob("*/dist/*.whl")
        if wheel.stat().st_size > LIMITS[args.name]:
            parser.error(
                f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB, but the limit "
                f"is {LIMITS[args.name] / 1e6:.0f} MB: train a narrower network."
            )
        shutil.copy(wheel, args.output)
        print(f"{args.output / wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
