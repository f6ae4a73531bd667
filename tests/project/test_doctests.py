"""The examples in docstrings run."""

import doctest
import importlib
from pathlib import Path

import pytest

import spacy_sdp

PACKAGE = Path(spacy_sdp.__file__).parent
NAMES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf8")
]


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings(name, cat):
    # `doc` and `graph` of an example are the sentence of the paper's first figure.
    cat[0].is_sent_start = True
    for token in cat[1:]:
        token.is_sent_start = False
    for token, tag in zip(cat, ("DT", "JJ", "NN", "VBZ", "TO", "VB", "."), strict=True):
        token.tag_ = tag
    module = importlib.import_module(name.removesuffix(".__init__"))
    result = doctest.testmod(module, extraglobs={"doc": cat, "graph": cat._.sdp})
    assert result.failed == 0
