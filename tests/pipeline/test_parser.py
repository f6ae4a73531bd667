import json

import pytest
import spacy
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from util import (
    TEXTS,
    add_parser,
    assert_same_graphs,
    graph_data,
    small_model,
    to_examples,
    train,
)

from spacy_sdp import register_extensions
from spacy_sdp.formats.bridge import to_doc


@pytest.fixture
def trained(nlp, examples):
    """A pipeline that knows the examples by heart."""
    add_parser(nlp, examples)
    train(nlp, examples, steps=60)
    return nlp


SYSTEMS = {
    "labelled mean field": {},
    "labelled mean field, exact": {"prune": 0.0},
    "labelled mean field, tied": {"tied": True},
    "unlabelled mean field": {"scores": "unlabelled"},
    "belief propagation": {"scores": "unlabelled", "inference": "belief_propagation"},
    "first order": {"inference": "first_order"},
    "first order, unlabelled": {"scores": "unlabelled", "inference": "first_order"},
}


@pytest.mark.parametrize("settings", SYSTEMS.values(), ids=SYSTEMS)
def test_overfitting_and_io(nlp, examples, tmp_path, settings):
    add_parser(nlp, examples, **settings)
    history = train(nlp, examples, steps=90)
    assert history[-1]["sdp_meanfield"] < 0.05 * history[0]["sdp_meanfield"]
    scores = nlp.evaluate(examples)
    assert scores["sdp_lf"] == 1.0 and scores["sdp_lm"] == 1.0
    docs = list(nlp.pipe(TEXTS))
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert_same_graphs(loaded.pipe(TEXTS), docs, tolerance=0)
    from_bytes = spacy.blank("en")
    from_bytes.add_pipe("sdp_meanfield", config={"model": small_model(**settings)})
    from_bytes.from_bytes(nlp.to_bytes())
    assert_same_graphs(from_bytes.pipe(TEXTS), docs, tolerance=0)
    cat = docs[0]
    assert [repr(arc) for arc in cat[2]._.sdp_heads] == [
        "Arc(The-BV->cat)",
        "Arc(shy-ARG1->cat)",
        "Arc(wants-ARG1->cat)",
        "Arc(eat-ARG1->cat)",
    ]
    assert cat._.sdp.tops == (cat[3],)
    assert all(0.5 < arc.score <= 1 for arc in cat._.sdp)


def test_the_factory_works_without_any_argument(nlp, examples):
    fix_random_seed(0)
    nlp.add_pipe("sdp_meanfield")
    optimizer = nlp.initialize(lambda: examples)
    first = nlp.update(examples, sgd=optimizer)["sdp_meanfield"]
    for _ in range(15):
        last = nlp.update(examples, sgd=optimizer)["sdp_meanfield"]
    assert last < 0.7 * first
    assert nlp("The cat sleeps.")._.sdp is not None


def test_labels(nlp, examples):
    parser = nlp.add_pipe("sdp_meanfield", config={"model": small_model()})
    assert parser.labels == ()
    assert parser.add_label("extra") == 1 and parser.add_label("extra") == 0
    parser.initialize(lambda: examples, nlp=nlp)
    found = ["ARG1", "ARG2", "ARG3", "BV", "_and_c", "neg", "poss"]
    assert parser.labels == ("extra", *found)
    assert json.loads(json.dumps(parser.label_data)) == ["extra", *found]
    assert parser.add_label("ARG1") == 0
    with pytest.raises(ValueError, match="E922"):
        parser.add_label("ARG9")
    for wrong, reason in ((5, "E187"), ("", "must not be empty")):
        with pytest.raises(ValueError, match=reason):
            parser.add_label(wrong)


def test_labels_can_be_given(nlp, examples):
    parser = nlp.add_pipe("sdp_meanfield", config={"model": small_model()})
    with pytest.raises(ValueError, match="does not know the label 'BV'"):
        parser.initialize(lambda: examples, nlp=nlp, labels=["ARG1"])
        assert parser.labels == ("ARG1",)
        nlp.update(examples)


def test_initializing_without_gold_is_refused(nlp, examples):
    parser = nlp.add_pipe("sdp_meanfield", config={"model": small_model()})
    no_gold = [Example(eg.predicted, eg.predicted.copy()) for eg in examples]
    for labels in (None, ["ARG1"]):
        with pytest.raises(
            ValueError, match=r"No Example .* Doc._.sdp.*store_user_data"
        ):
            parser.initialize(lambda: no_gold, labels=labels)
    empty = no_gold[0].reference
    empty._.sdp = []
    with pytest.raises(ValueError, match="E143"):
        parser.initialize(lambda: [Example(empty.copy(), empty)])
    with pytest.raises(ValueError, match="E109"):
        nlp("Not initialized.")


def test_pipe_equals_call_in_any_order_and_company(trained):
    expected = [trained(text) for text in TEXTS]
    assert_same_graphs(trained.pipe(TEXTS), expected)
    assert_same_graphs(trained.pipe(TEXTS, batch_size=2), expected)
    assert_same_graphs(trained.pipe(TEXTS[::-1]), expected[::-1])
    long = " ".join(TEXTS)
    assert_same_graphs(list(trained.pipe([long, *TEXTS, long]))[1:-1], expected)


WORDS = st.sampled_from(["The", "cat", "eat", "wants", "to", "shy", "zebra", ".", "\n"])
DOCS = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def module_parser():
    from spacy_sdp.data import EXAMPLES
    from spacy_sdp.formats import sdp

    nlp = spacy.blank("en")
    examples = to_examples([to_doc([each], nlp.vocab) for each in sdp.read(EXAMPLES)])
    parser = add_parser(nlp, examples)
    train(nlp, examples, steps=20)
    return parser


@given(words=DOCS, data=st.data())
@hypothesis_settings(max_examples=30)
def test_scores_do_not_depend_on_the_batch(module_parser, words, data):
    docs = [Doc(module_parser.vocab, words=each) for each in words]
    order = data.draw(st.permutations(range(len(docs))))
    together = module_parser.model.predict([docs[i] for i in order])
    for position, i in enumerate(order):
        alone = module_parser.model.predict([docs[i]])
        for number, sentence in enumerate(together.batch.sentences):
            if sentence.doc == position:
                start, end = together.batch.arc_offsets[number : number + 2]
                own = (together.arcs >= start) & (together.arcs < end)
                assert (together.arcs[own] - start).tolist() == alone.arcs.tolist()
                for one, other in (
                    (together.null, alone.null),
                    (together.probability, alone.probability),
                ):
                    assert one[own] == pytest.approx(other, abs=1e-5)


def test_sentences_are_parsed_apart(trained):
    trained.add_pipe("sentencizer", first=True)
    both = trained("The shy cat wants to eat. It rains.")
    first = next(both.sents)
    assert [arc.label for arc in both._.sdp.args(both[3])] == ["ARG1", "ARG2"]
    assert both._.sdp.tops == (both[3], both[8])
    for arc in both._.sdp:
        assert arc.head.sent == arc.dep.sent
    alone = trained("The shy cat wants to eat.")
    assert [tuple(arc) for arc in alone._.sdp.indexed_arcs] == [
        (arc.head, arc.dep, arc.label, pytest.approx(arc.score, abs=1e-5))
        for arc in both._.sdp.indexed_arcs
        if arc.dep < first.end
    ]


def test_long_sentences_and_long_docs(trained):
    words = ["The", "shy", "cat", "wants", "to", "eat"] * 50
    doc = trained.get_pipe("sdp_meanfield")(Doc(trained.vocab, words=words))
    assert doc._.sdp is not None
    many = Doc(
        trained.vocab, words=words * 4, sent_starts=[i % 6 == 0 for i in range(1200)]
    )
    tops = trained.get_pipe("sdp_meanfield")(many)._.sdp.tops
    assert [top.i for top in tops] == list(range(3, 1200, 6))


def test_empty_and_blank_docs_have_empty_graphs(trained):
    for text in ("", " ", " \n\n "):
        assert (
            graph_data(trained(text))["arcs"] == graph_data(trained(text))["tops"] == []
        )


def test_whitespace_is_no_word(trained):
    doc = trained("The shy  cat wants to eat.")
    assert doc[2].is_space
    plain = trained("The shy cat wants to eat.")
    skip = {i: i if i < 2 else i + 1 for i in range(len(plain))}
    assert [(arc.head, arc.dep, arc.label) for arc in doc._.sdp.indexed_arcs] == [
        (skip[arc.head], skip[arc.dep], arc.label) for arc in plain._.sdp.indexed_arcs
    ]


def test_the_threshold_trades_recall_for_precision(nlp, examples, tmp_path):
    parser = add_parser(nlp, examples, prune=0.0)
    train(nlp, examples, steps=25)
    text = "The old teacher wants to see the quiet park and the house."
    counts = []
    for threshold in (0.01, 0.3, 0.5, 0.9, 1.0):
        parser.threshold = threshold
        graph = nlp(text)._.sdp
        counts.append(len(graph) + len(graph.tops))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2] > counts[-1] == 0
    parser.threshold = 0.0
    full = nlp("Dogs bark")._.sdp
    assert [arc[:2] for arc in full.indexed_arcs] == [(0, 1), (1, 0)]
    assert len(full.tops) == 2
    # Unlike a probability of 0.5, the best label need not be likelier than all others.
    parser.threshold = None
    arg_max = nlp(text)._.sdp
    assert all(arc.score is not None and arc.score > 0 for arc in arg_max)
    nlp.to_disk(tmp_path)
    override = {"components": {"sdp_meanfield": {"threshold": 0.9}}}
    loaded = spacy.load(tmp_path, config=override)
    assert loaded.get_pipe("sdp_meanfield").threshold == 0.9
    assert len(loaded(text)._.sdp) + len(loaded(text)._.sdp.tops) == counts[3]


@pytest.mark.parametrize("threshold", [-0.1, 1.5, 2])
def test_wrong_thresholds_are_refused(nlp, threshold):
    with pytest.raises(ValueError, match="'threshold' of 'sdp_meanfield'"):
        nlp.add_pipe("sdp_meanfield", config={"threshold": threshold})


def test_wrong_settings_are_refused(nlp):
    for settings, reason in (
        ({"rank": 0}, "'rank' must be at least 1"),
        ({"scores": "magic"}, "'scores' must be one of"),
    ):
        with pytest.raises(ValueError, match=reason):
            nlp.add_pipe("sdp_meanfield", config={"model": small_model(**settings)})
    with pytest.raises(ValueError, match="'attr' must be a Python identifier"):
        nlp.add_pipe("sdp_meanfield", config={"attr": "a b"})


def test_a_wrong_number_of_labels_is_refused(nlp, examples):
    nlp.add_pipe("sdp_meanfield", config={"model": small_model(nO=20)})
    with pytest.raises(ValueError, match=r"'nO' .* is 20, but there are 7 labels"):
        nlp.initialize(lambda: examples)


def test_two_labels_of_one_pair_are_refused(nlp, examples):
    add_parser(nlp, examples)
    reference = Doc(nlp.vocab, words=["Dogs", "bark"])
    reference._.sdp = [(1, 0, "ARG1"), (1, 0, "ARG2")]
    predicted = Doc(nlp.vocab, words=["Dogs", "bark"])
    with pytest.raises(ValueError, match="several between 'bark' and 'Dogs'"):
        nlp.update([Example(predicted, reference)])


def test_two_parsers_in_one_pipeline(nlp, examples):
    add_parser(nlp, examples)
    register_extensions("reverse")
    for example in examples:
        example.reference._.reverse = [
            (arc.dep, arc.head, f"{arc.label}-of")
            for arc in example.reference._.sdp.indexed_arcs
        ]
    add_parser(nlp, examples, "reverse", seed=1, config={"attr": "reverse"})
    losses = train(nlp, examples, steps=60)[-1]
    assert set(losses) == {"sdp_meanfield", "reverse"}
    doc = nlp("The shy cat wants to eat.")
    assert [repr(arc) for arc in doc[3]._.reverse_heads] == [
        "Arc(cat-ARG1-of->wants)",
        "Arc(eat-ARG2-of->wants)",
    ]
    assert doc[3]._.sdp_top and not doc[3]._.reverse_top
    scores = nlp.evaluate(examples)
    assert scores["sdp_lf"] > 0.9 and scores["reverse_lf"] > 0.9
