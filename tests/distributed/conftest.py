import pytest
import spacy
from util import add_parser, to_examples

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import sdp
from spacy_sdp.formats.bridge import to_doc

# A text on which the pipeline fails: it is longer than nlp.max_length.
POISON = "a" * 1_000_001


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A small pipeline that other processes can load."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    docs = [to_doc([sentence], nlp.vocab) for sentence in sdp.read(EXAMPLES)]
    add_parser(nlp, to_examples(docs))
    path = tmp_path_factory.mktemp("pipelines") / "tiny"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture
def poison():
    return POISON
