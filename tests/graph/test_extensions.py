import gc
import multiprocessing
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from spacy.tokens import Doc, DocBin, Token
from spacy.vocab import Vocab
from util import add_parser

from spacy_sdp import SemanticGraph, merge, register_extensions
from spacy_sdp.graph.extensions import storage_key


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
            ValueError, match=r"Invalid arc \(-1, .*: a top is given as"
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
    with pytest.raises(ValueError, match="made for 7 tokens, but the Doc now has 6"):
        cat._.sdp = graph


def words_of(arcs):
    return [(arc.head.text, arc.label, arc.dep.text) for arc in arcs]


def seen_by_tokens(doc):
    """RETURNS all that the tokens and the whole Doc as a Span say of the graph."""
    heads = [arc for token in doc for arc in words_of(token._.sdp_heads)]
    args = [arc for token in doc for arc in words_of(token._.sdp_args)]
    tops = [token.text for token in doc if token._.sdp_top]
    assert sorted(heads) == sorted(args) == sorted(words_of(doc[:]._.sdp))
    return args, tops


def test_a_doc_has_one_index_for_all_of_its_words(cat):
    arcs = cat._.sdp.indexed_arcs
    seen_by_tokens(cat)
    assert cat._.sdp.indexed_arcs is arcs
    again = through_bytes(cat)
    assert again._.sdp.indexed_arcs is again._.sdp.indexed_arcs


@pytest.mark.parametrize(
    "journey", [lambda doc: doc, through_bytes, through_docbin, through_pickle]
)
def test_words_see_every_change_of_the_graph(cat, journey):
    doc = journey(cat)
    key = storage_key("sdp")
    first = ([("wants", "ARG1", "cat")], ["wants"])
    second = ([("eat", "ARG1", "cat")], ["wants"])
    assert len(seen_by_tokens(doc)[0]) == 5
    doc._.sdp = [(3, 2, "ARG1"), (-1, 3, "root")]
    assert seen_by_tokens(doc) == first
    doc.user_data[key] = {"tokens": 7, "arcs": [[5, 2, "ARG1", None]], "tops": [3]}
    assert seen_by_tokens(doc) == second
    doc.user_data[key]["arcs"] = ((3, 2, "ARG1", None),)
    assert seen_by_tokens(doc) == first
    with pytest.raises(AttributeError, match="'tuple' object has no attribute"):
        doc.user_data[key]["arcs"].append([5, 2, "ARG1", None])
    doc.user_data = {key: {"tokens": 7, "arcs": [], "tops": [5]}}
    assert seen_by_tokens(doc) == ([], ["eat"])
    doc.user_data.clear()
    assert doc._.sdp is None and doc[2]._.sdp_heads == ()


def test_a_copy_has_a_graph_of_its_own(cat):
    seen = seen_by_tokens(cat)
    copy = cat.copy()
    assert seen_by_tokens(copy) == seen
    copy._.sdp = [(3, 2, "ARG1")]
    assert seen_by_tokens(copy) == ([("wants", "ARG1", "cat")], [])
    assert seen_by_tokens(cat) == seen
    assert copy[3]._.sdp_args[0].head.doc is copy


def test_reading_adds_nothing_to_what_is_saved(cat):
    data, pickled = cat.to_bytes(), pickle.dumps(cat)
    seen_by_tokens(cat)
    assert cat.to_bytes() == data
    assert pickle.dumps(cat) == pickled
    assert list(cat.user_data) == [storage_key("sdp")]


def test_a_doc_whose_graph_was_read_goes_without_the_garbage_collector(nlp):
    doc = Doc(nlp.vocab, words=["Dogs", "bark"])
    doc._.sdp = [(1, 0, "ARG1")]
    assert doc[0]._.sdp_heads
    gone = weakref.ref(doc)
    index = weakref.ref(doc._.sdp._index)
    assert gc.isenabled()
    gc.disable()
    try:
        del doc
        assert gone() is None and index() is None
    finally:
        gc.enable()


def chain_of(nlp, size):
    doc = Doc(nlp.vocab, words=[f"w{i}" for i in range(size)])
    doc._.sdp = [(b, a, f"L{b}") for a, b in pairwise(range(size))]
    return doc


def test_threads_read_graphs_at_the_same_time(nlp):
    docs = [through_bytes(chain_of(nlp, size)) for size in range(2, 40)]
    with ThreadPoolExecutor(8) as pool:
        # Each Doc in several threads, from the first time that its graph is read.
        found = list(pool.map(seen_by_tokens, [d for d in docs for _ in range(8)]))
    for number, (arcs, tops) in enumerate(found):
        size = 2 + number // 8
        expected = [(f"w{b}", f"L{b}", f"w{b - 1}") for b in range(1, size)]
        assert (arcs, tops) == (expected, [])


def test_spans_have_their_part_of_everything(cat):
    cat[0].is_sent_start = True
    for token in cat[1:]:
        token.is_sent_start = False
    cat._.sdp = SemanticGraph.from_arcs(
        cat,
        [(3, 2, "ARG1"), (5, 2, "ARG1")],
        [3],
        frames={3: "v", 5: "w"},
        predicates=[0, 4],
    )
    both = merge([cat, cat])
    one, other = (sent._.sdp for sent in both.sents)
    assert one.to_dict() == {
        "tokens": 14,
        "arcs": [[3, 2, "ARG1", None], [5, 2, "ARG1", None]],
        "tops": [3],
        "frames": [[3, "v"], [5, "w"]],
        "predicates": [0, 4],
    }
    assert other.to_dict()["arcs"] == [[10, 9, "ARG1", None], [12, 9, "ARG1", None]]
    assert other.to_dict()["predicates"] == [7, 11]
    assert both[1:4]._.sdp.to_dict() == {
        "tokens": 14,
        "arcs": [[3, 2, "ARG1", None]],
        "tops": [3],
        "frames": [[3, "v"]],
    }


def test_what_is_taken_out_of_a_memory_zone_as_text_or_numbers_stays(nlp):
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("test_chain")
    with nlp.memory_zone():
        doc = nlp("Gostaks distim doshes.")
        held = doc._.sdp
        data, triples, saved = held.to_dict(), held.triples(), doc.to_bytes()
        predicates = [each.to_dict() for each in held.predicates()]
    assert data["arcs"][0] == [1, 0, "ARG1", None]
    assert triples[0] == ("distim", "ARG1", "Gostaks")
    assert predicates[0] == {"predicate": "distim", "ARG1": "Gostaks"}
    # Numbers and labels do not depend on the vocabulary. The words do, and are gone,
    # so that spaCy forbids to look at them.
    assert held.to_dict() == doc._.sdp.to_dict() == data
    assert held.indexed_arcs[0].label == "ARG1"
    # Saved Docs, and those made after the zone, have their own words.
    again = Doc(nlp.vocab).from_bytes(saved)
    assert again._.sdp.triples() == triples
    assert nlp("Gostaks distim doshes.")._.sdp.triples() == triples


def test_several_attributes_side_by_side(cat):
    register_extensions("psd")
    register_extensions("psd")
    cat._.psd = [(3, 2, "ACT-arg"), (-1, 3, "root")]
    assert len(cat._.psd) == 1 and len(cat._.sdp) == 5
    assert [repr(arc) for arc in cat[2]._.psd_heads] == ["Arc(wants-ACT-arg->cat)"]
    assert cat[3]._.psd_top


def test_bad_names_of_attributes_are_refused():
    for name in ("my graph", "get", "class", ""):
        with pytest.raises(ValueError, match="'attr' must be a Python identifier"):
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
