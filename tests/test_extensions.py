import multiprocessing
import pickle

import pytest
from spacy.tokens import Doc, DocBin, Token
from spacy.vocab import Vocab
from util import add_parser

from spacy_sdp import SemanticGraph, register_extensions


def test_attributes_of_a_doc_and_its_tokens(cat):
    assert isinstance(cat._.sdp, SemanticGraph)
    assert cat._.sdp.tops == (cat[3],)
    assert [token._.sdp_top for token in cat] == [0, 0, 0, 1, 0, 0, 0]
    assert [arc.head.text for arc in cat[2]._.sdp_heads] == [
        "The",
        "shy",
        "wants",
        "eat",
    ]
    assert [(arc.label, arc.dep.text) for arc in cat[3]._.sdp_args] == [
        ("ARG1", "cat"),
        ("ARG2", "eat"),
    ]


def test_none_is_not_the_empty_graph(nlp):
    doc = nlp("Hello world")
    assert doc._.sdp is None
    assert doc[0]._.sdp_heads == doc[0]._.sdp_args == ()
    assert doc[0]._.sdp_top is False
    doc._.sdp = []
    assert doc._.sdp is not None and len(doc._.sdp) == 0
    doc._.sdp = None
    assert doc._.sdp is None


def test_triples_are_checked(nlp):
    doc = nlp("Hello world")
    with pytest.raises(ValueError, match=r"Invalid arc \(0, 2, 'A'\)"):
        doc._.sdp = [(0, 2, "A")]
    for top in ((-1, 7, "root"), (-1, 1), (-1, "a", "root")):
        with pytest.raises(
            ValueError, match=r"Invalid arc \(-1, .*: a top is marked by"
        ):
            doc._.sdp = [top]
    for wrong in ([3], [()], [(0, 1, "A", 0.5, 6)]):
        with pytest.raises(
            ValueError, match=r"Invalid arc .*: expected \(head, dep, label"
        ):
            doc._.sdp = wrong
    assert doc._.sdp is None


def test_a_graph_can_be_set_on_another_doc_with_the_same_tokens(cat):
    other = Doc(Vocab(), words=[token.text for token in cat])
    other._.sdp = cat._.sdp
    assert other._.sdp == cat._.sdp
    assert other._.sdp.doc is other
    other._.sdp = list(cat._.sdp)
    assert len(other._.sdp) == 5 and other._.sdp.tops == ()
    shorter = Doc(Vocab(), words=["The", "cat"])
    with pytest.raises(ValueError, match="made for 7 tokens, but the Doc has 2"):
        shorter._.sdp = cat._.sdp


def through_bytes(doc):
    return Doc(Vocab()).from_bytes(doc.to_bytes())


def through_docbin(doc):
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(Vocab()))


def through_pickle(doc):
    return pickle.loads(pickle.dumps(doc))


@pytest.mark.parametrize(
    "journey", [through_bytes, through_docbin, through_pickle, Doc.copy]
)
def test_graphs_survive(cat, journey):
    cat._.sdp = SemanticGraph.from_arcs(
        cat, [(3, 2, "ARG1", 0.75)], [3], frames={3: "v"}, predicates=[0]
    )
    again = journey(cat)
    assert again is not cat
    assert again._.sdp == cat._.sdp
    assert again._.sdp.to_dict() == cat._.sdp.to_dict()
    empty = Doc(Vocab(), words=["a"])
    assert journey(empty)._.sdp is None
    empty._.sdp = []
    assert len(journey(empty)._.sdp) == 0


def test_a_graph_is_not_carried_to_where_its_indices_are_wrong(cat):
    assert cat[2:5].as_doc(copy_user_data=True)._.sdp is None
    with pytest.warns(UserWarning, match="W101"):
        assert Doc.from_docs([cat, cat])._.sdp is None
    graph = cat._.sdp
    with cat.retokenize() as retokenizer:
        retokenizer.merge(cat[0:2])
    with pytest.raises(ValueError, match="it was retokenized"):
        _ = cat._.sdp
    with pytest.raises(ValueError, match="it was retokenized"):
        _ = cat[0]._.sdp_heads
    with pytest.raises(ValueError, match="made for 7 tokens, but the Doc has 6"):
        cat._.sdp = graph


def test_several_attributes_side_by_side(cat):
    register_extensions("psd")
    register_extensions("psd")
    cat._.psd = [(3, 2, "ACT-arg"), (-1, 3, "root")]
    assert len(cat._.psd) == 1 and len(cat._.sdp) == 5
    assert [repr(arc) for arc in cat[2]._.psd_heads] == ["Arc(wants-ACT-arg->cat)"]
    assert cat[3]._.psd_top


def test_bad_names_of_attributes_are_refused():
    for name in ("my graph", "get", "class", ""):
        with pytest.raises(ValueError, match="'attr' has to be a Python name"):
            register_extensions(name)
    Token.set_extension("taken_top", default=None)
    with pytest.raises(ValueError, match=r"Token._.taken_top is already in use"):
        register_extensions("taken")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_return_graphs(monkeypatch, nlp, examples, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method} processes")
    monkeypatch.setattr(
        "spacy.language.mp", multiprocessing.get_context(method), raising=True
    )
    add_parser(nlp, examples)
    texts = ["The cat sleeps.", "", "A dog wants to eat the bread."] * 2
    expected = [doc._.sdp.to_dict() for doc in nlp.pipe(texts)]
    found = [doc._.sdp.to_dict() for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    assert [data["arcs"] for data in found] == [
        [pytest.approx(arc, rel=1e-5) for arc in data["arcs"]] for data in expected
    ]
    assert [data["tops"] for data in found] == [data["tops"] for data in expected]
