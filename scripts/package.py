"""Make the wheel of a trained pipeline, with a model card.

    python scripts/package.py training/small/rounded packages \\
        --name en_sdp_dm_sm --version 0.2.0 --metrics metrics/small

The scores are read from METRICS.test.json and METRICS.ood.json (on gold tokens), and
from METRICS.test.raw.json and METRICS.ood.raw.json (from raw text).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import srsly
from spacy.cli.package import package
from thinc.api import Config

TEXT = "WeScience articles of Wikipedia (test) and a Sherlock Holmes story (ood)"
DESCRIPTION = (
    "English text to DM semantic dependency graphs in Doc._.sdp, with sentence "
    "boundaries, tags and lemmas. {encoder} Trained on Wikipedia articles of 2008 "
    "about computing and linguistics, so it knows other kinds of text less well. The "
    f"scores are labelled F1, tops included, on {TEXT}: on the tokens of the treebank "
    "with predicted tags (sdp_lf_*), and from raw text through the whole pipeline "
    "(sdp_lf_*_raw). They are not comparable with scores on the DM of SemEval 2015: "
    "other text, and a newer grammar. Made from data under these licences: {licences}."
)
ENCODERS = {
    "en_sdp_dm_sm": "Hash embeddings and a BiLSTM, no transformer.",
    "en_sdp_dm_md": (
        "MiniLM-L6, a transformer small enough for CPUs, fine-tuned, also on sentences "
        "of UD English-EWT as parsed by its first version."
    ),
}
SOURCES: list[dict[str, str]] = [
    {
        "name": "English Resource Grammar 2025, treebanks ws201 to ws211 (WeScience)",
        "url": "https://github.com/delph-in/erg",
        "author": "Dan Flickinger, Stephan Oepen and others; authors of Wikipedia",
        "license": "annotation MIT, text CC BY-SA 3.0",
    },
    {
        "name": "UD English-EWT (text, tags, lemmas, sentence boundaries)",
        "url": "https://github.com/UniversalDependencies/UD_English-EWT",
        "author": "Natalia Silveira and others",
        "license": "CC BY-SA 4.0",
    },
]
MINILM = {
    "name": "all-MiniLM-L6-v2 (encoder, fine-tuned)",
    "url": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    "author": "sentence-transformers",
    "license": "Apache 2.0",
}


def read_scores(prefix: str) -> dict[str, float]:
    """RETURNS (Dict[str, float]): The scores of the model card, as fractions."""
    scores: dict[str, float] = {}
    for split in ("test", "ood"):
        gold = srsly.read_json(f"{prefix}.{split}.json")["with_tops"]
        raw = srsly.read_json(f"{prefix}.{split}.raw.json")
        for name in ("LF", "LP", "LR", "UF", "LM"):
            scores[f"sdp_{name.lower()}_{split}"] = gold[name]
        scores[f"sdp_lf_{split}_raw"] = raw["sdp_lf"]
    return scores


def make_meta(
    meta: dict[str, Any], name: str, version: str, metrics: str
) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The meta data of the pipeline, with its model card."""
    lang, _, rest = name.partition("_")
    sources = SOURCES + [MINILM] * (name == "en_sdp_dm_md")
    licences = "; ".join(f"{each['name']}: {each['license']}" for each in sources)
    return {
        **meta,
        "lang": lang,
        "name": rest,
        "version": version,
        "description": DESCRIPTION.format(encoder=ENCODERS[name], licences=licences),
        "author": "spacy-sdp",
        "url": "",
        "license": "CC BY-SA 4.0",
        "sources": sources,
        "performance": read_scores(metrics),
    }


def forget_paths(path: Path) -> None:
    """Take the files of this machine out of a config: a pipeline has all it needs."""
    config = Config().from_disk(path, interpolate=False)
    for name in config["paths"]:
        # An encoder has to have some name.
        config["paths"][name] = "all-MiniLM-L6-v2" if name == "transformer" else None
    config.to_disk(path, interpolate=False)


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
        meta = srsly.read_json(model / "meta.json")
        meta = make_meta(meta, args.name, args.version, args.metrics)
        srsly.write_json(model / "meta.json", meta)
        forget_paths(model / "config.cfg")
        package(model, packages, create_sdist=False, create_wheel=True)
        (wheel,) = packages.glob("*/dist/*.whl")
        shutil.copy(wheel, args.output)
        print(f"{args.output / wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
