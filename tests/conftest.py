import os

# One thread, before torch starts: small models are slower with more, and forked worker
# processes would wait for threads that they do not have.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import signal
from pathlib import Path

import pytest
import spacy
import torch
from hypothesis import HealthCheck, settings
from spacy.tokens import Doc
from spacy.util import fix_random_seed
from util import LISTENER, TOK2VEC, save_tiny_bert, small_model, to_examples

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.training.corpus import make_corpus

torch.set_num_threads(1)

# Under nohup, and in the background of a script, processes ignore the signals that some
# tests send to theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The same examples every time, on however slow a machine.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")


@pytest.fixture
def nlp():
    return spacy.blank("en")


@pytest.fixture
def cat(nlp):
    """The sentence of the paper's first figure, with its DM graph."""
    doc = Doc(nlp.vocab, words=["The", "shy", "cat", "wants", "to", "eat", "."])
    doc._.sdp = [
        (-1, 3, "root"),
        (0, 2, "BV"),
        (1, 2, "ARG1"),
        (3, 2, "ARG1"),
        (3, 5, "ARG2"),
        (5, 2, "ARG1"),
    ]
    return doc


@pytest.fixture
def example_docs(nlp):
    """The example sentences of the package, as Docs with gold graphs."""
    return [to_doc([sentence], nlp.vocab) for sentence in sdp.read(EXAMPLES)]


@pytest.fixture
def examples(example_docs):
    return to_examples(example_docs)


@pytest.fixture
def bert(tmp_path):
    path = tmp_path / "bert"
    save_tiny_bert(path, [word for each in sdp.read(EXAMPLES) for word in each.words])
    return path


@pytest.fixture(params=[TOK2VEC, LISTENER], ids=["with features", "alone"])
def pipeline(request, nlp, bert, tmp_path):
    """A pipeline and Examples whose predicted Docs have tags and lemmas."""
    docbin.write(sdp.read(EXAMPLES), tmp_path / "train.spacy")
    corpus = make_corpus(tmp_path / "train.spacy", copy_attrs=["TAG", "LEMMA"])
    examples = list(corpus(nlp))
    fix_random_seed(0)
    nlp.add_pipe(
        "transformer",
        config={
            "model": {
                "@architectures": "spacy_sdp.TransformerModel.v1",
                "name": str(bert),
                "get_spans": {"@span_getters": "spacy_sdp.sentence_spans.v1"},
            }
        },
    )
    nlp.add_pipe("sdp_meanfield", config={"model": small_model(tok2vec=request.param)})
    nlp.initialize(lambda: examples)
    return nlp, examples


@pytest.fixture
def shared_data():
    """The corpora that the package may not carry."""
    path = Path(os.environ.get("SPACY_SDP_DATA", "no such folder"))
    if not path.is_dir():
        pytest.skip(
            "needs the corpora sdp_sample and open_dm: set SPACY_SDP_DATA to their "
            "folder"
        )
    return path
