"""Every example in a docstring runs."""

import doctest
import importlib
import inspect

import pytest

import spacy_sdp

# `doc` and `graph` of an example are the sentence of the paper's first figure.
MODULES = ("arc", "docs", "drawing", "extensions", "graph", "matcher")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name, cat):
    cat[0].is_sent_start = True
    for token in cat[1:]:
        token.is_sent_start = False
    module = importlib.import_module(f"spacy_sdp.{name}")
    result = doctest.testmod(module, extraglobs={"doc": cat, "graph": cat._.sdp})
    assert result.failed == 0 and result.attempted > 0


def public_names():
    """YIELDS the names of the package's public objects, and their docstrings."""
    for name in spacy_sdp.__all__:
        value = getattr(spacy_sdp, name)
        if not callable(value):
            continue
        yield name, value.__doc__
        for member in vars(value) if inspect.isclass(value) else ():
            attribute = inspect.getattr_static(value, member)
            if not member.startswith("_") and hasattr(attribute, "__doc__"):
                yield f"{name}.{member}", inspect.getdoc(attribute)


def test_every_public_name_has_an_example():
    documented = {name: doc for name, doc in public_names() if name != "Arc.score"}
    assert len(documented) > 30
    assert [name for name, doc in documented.items() if ">>>" not in (doc or "")] == []
