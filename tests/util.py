"""What several test files need to make small parsers."""

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_sdp.optimizer import make_adam


def to_examples(docs):
    return [
        Example(Doc(doc.vocab, words=[token.text for token in doc]), doc)
        for doc in docs
    ]


SMALL_MODEL = {
    "@architectures": "spacy_sdp.MeanFieldParser.v1",
    "lstm_width": 24,
    "mlp_width": 24,
    "rank": 12,
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


def small_model(**settings):
    return {**SMALL_MODEL, **settings}


def add_parser(nlp, examples, name="sdp_meanfield", *, seed=0, config=None, **settings):
    """A small parser, initialized on Examples, with weights that say something."""
    fix_random_seed(seed)
    parser = nlp.add_pipe(
        "sdp_meanfield", name, config={"model": small_model(**settings), **(config or {})}
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
