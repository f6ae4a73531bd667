"""What several test files need: small parsers, and commands."""

import sys
from contextlib import contextmanager
from dataclasses import fields
from itertools import pairwise
from threading import Thread

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from typer.testing import CliRunner

from spacy_sdp.cli import sdp
from spacy_sdp.cli.server import Server
from spacy_sdp.model.inference import BeliefPropagation, FirstOrder, MeanField
from spacy_sdp.model.settings import Settings
from spacy_sdp.training.optimizer import make_adam


def to_examples(docs):
    return [
        Example(Doc(doc.vocab, words=[token.text for token in doc]), doc)
        for doc in docs
    ]


SMALL_MODEL = {
    "@architectures": "spacy_sdp.MeanFieldParser.v2",
    "lstm_width": 24,
    "mlp_width": 24,
    "embed_dropout": 0.0,
    "lstm_dropout": 0.0,
    "mlp_dropout": 0.0,
    "tok2vec": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 24,
        "attrs": ["NORM", "SUFFIX"],
        "rows": [300, 100],
        "include_static_vectors": False,
    },
}


def small_model(inference="mean_field", **settings):
    """The config of a small model, with settings of the model or its inference."""
    block = {"@misc": f"spacy_sdp.{inference}.v1"}
    if inference != "first_order":
        block |= {"factor_width": 24, "rank": 12}
    names = {each.name for each in fields(BLOCKS[inference])}
    block |= {name: settings.pop(name) for name in names & set(settings)}
    return {**SMALL_MODEL, "inference": block, **settings}


def add_parser(nlp, examples, name="sdp_meanfield", *, seed=0, config=None, **settings):
    """A small parser, initialized on Examples, with weights that say something."""
    fix_random_seed(seed)
    parser = nlp.add_pipe(
        "sdp_meanfield",
        name,
        config={"model": small_model(**settings), **(config or {})},
    )
    parser.initialize(lambda: examples, nlp=nlp)
    return parser


def train(nlp, examples, *, steps, learn_rate=0.01):
    """Train on the same batch over and over; RETURNS the loss of each step."""
    optimizer = make_adam(learn_rate)
    history = []
    for _ in range(steps):
        losses = nlp.update(examples, sgd=optimizer)
        history.append(losses)
    return history


LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "pooling": {"@layers": "reduce_mean.v1"},
    "upstream": "*",
}


def embedding(attr):
    return {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 16,
        "attrs": [attr],
        "rows": [200],
        "include_static_vectors": False,
    }


def tiny_tok2vec(width=8):
    return {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "width": width,
        "depth": 1,
        "embed_size": 100,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": True,
        "pretrained_vectors": None,
    }


TOK2VEC = {
    "@layers": "concatenate.v1",
    "*": {
        "transformer": LISTENER,
        "tag": embedding("TAG"),
        "lemma": embedding("LEMMA"),
    },
}


def save_tiny_bert(path, words):
    """Make a random BERT that knows the given words, and save it in a folder."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path.mkdir()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = sorted({letter for word in words for letter in word})
    pieces = [*special, *letters, *(f"##{each}" for each in letters)]
    pieces += sorted(set(words) - set(pieces))
    (path / "vocab.txt").write_text("\n".join(pieces), encoding="utf8")
    BertTokenizerFast(
        str(path / "vocab.txt"), do_lower_case=False, model_max_length=64
    ).save_pretrained(path)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    fix_random_seed(0)
    BertModel(config).save_pretrained(path)


BLOCKS = {
    "mean_field": MeanField,
    "belief_propagation": BeliefPropagation,
    "first_order": FirstOrder,
}


def make_settings(inference="mean_field", **changes):
    """The settings of a small network without dropout, with exact inference.

    RETURNS those of the model, and those of its inference.
    """
    block = BLOCKS[inference]
    changes = {
        "scores": "joint",
        "lstm_width": 7,
        "lstm_depth": 2,
        "mlp_width": 6,
        "embed_dropout": 0.0,
        "lstm_dropout": 0.0,
        "mlp_dropout": 0.0,
        "prune": 0.0,
        "max_pairs": 10_000,
        **({} if inference == "first_order" else {"factor_width": 6, "rank": 5}),
        **changes,
    }
    names = {each.name for each in fields(block)}
    own = {name: changes.pop(name) for name in names & set(changes)}
    return Settings(**changes), block(**own)


def count_lines(function, *args):
    """RETURNS how many lines of the package's code a call runs."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if "spacy_sdp" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return lines


TEXTS = [
    "The shy cat wants to eat.",
    "",
    "It rains.",
    "  \n ",
    "The teacher promised to help the student.",
    "Snow",
    "John gave Mary  a book.\n",
]


def graph_data(doc, attr="sdp"):
    return doc._.get(attr).to_dict()


def assert_same_graphs(found, expected, tolerance=1e-5):
    for one, other in zip(found, expected, strict=True):
        one, other = graph_data(one), graph_data(other)
        assert one["tops"] == other["tops"]
        assert [arc[:3] for arc in one["arcs"]] == [arc[:3] for arc in other["arcs"]]
        assert [arc[3] for arc in one["arcs"]] == pytest.approx(
            [arc[3] for arc in other["arcs"]], abs=tolerance
        )


def run(*args, input=None):
    """RETURNS exit code, stdout and stderr of a command."""
    result = CliRunner().invoke(sdp, [str(arg) for arg in args], input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@Language.component("test_chain")
def chain(doc):
    """In each sentence, every word is the ARG1 of the next one; the last is the top."""
    arcs = []
    for sent in doc.sents:
        words = [token.i for token in sent if not token.is_space]
        arcs += [(b, a, "ARG1") for a, b in pairwise(words)]
        arcs += [(-1, words[-1], "root")] if words else []
    doc._.sdp = arcs
    return doc


def save_chain(path):
    """Save a pipeline that makes chains."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("test_chain")
    nlp.to_disk(path)
    return path


@contextmanager
def serving(pipelines):
    """Serve the page of `sdp serve` on any port that is free."""
    with Server(pipelines, spacy.load, attr="sdp", port=0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
