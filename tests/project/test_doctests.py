"""Every example in a docstring runs."""

import doctest
import importlib

import pytest

# `doc` and `graph` of an example are the sentence of the paper's first figure.
MODULES = (
    "display",
    "graph.arc",
    "graph.extensions",
    "graph.graph",
    "graph.join",
    "graph.labels",
    "graph.matcher",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name, cat):
    cat[0].is_sent_start = True
    for token in cat[1:]:
        token.is_sent_start = False
    module = importlib.import_module(f"spacy_sdp.{name}")
    result = doctest.testmod(module, extraglobs={"doc": cat, "graph": cat._.sdp})
    assert result.failed == 0 and result.attempted > 0
