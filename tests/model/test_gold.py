import numpy
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_sdp.model.batch import Batch
from spacy_sdp.model.gold import find_gold_arcs
from spacy_sdp.model.labels import NULL

LABELS = ["ARG1", "ARG2"]
WORDS = ["Dogs", "bark", "Cats", "sleep"]


def find(predicted, *references):
    examples = [Example(predicted, each) for each in references]
    batch = Batch.from_docs([example.predicted for example in examples])
    gold = find_gold_arcs(examples, batch, LABELS, "sdp")
    rows = numpy.flatnonzero(gold.labels != NULL)
    places = batch.locate(rows)
    found = {(h, d): gold.labels[r] for (_, h, d), r in zip(places, rows, strict=True)}
    known = {(h, d) for _, h, d in batch.locate(numpy.flatnonzero(gold.known))}
    return found, known


def reference_of(nlp, arcs, words=WORDS):
    doc = Doc(nlp.vocab, words=words)
    doc._.sdp = arcs
    return doc


def test_labels_are_numbered_after_null_and_root(nlp):
    reference = reference_of(nlp, [(-1, 1, "root"), (1, 0, "ARG1"), (1, 2, "ARG2")])
    found, known = find(Doc(nlp.vocab, words=WORDS), reference)
    assert found == {(-1, 1): 1, (1, 0): 2, (1, 2): 3}
    # All arcs but those from a word to itself.
    assert len(known) == 5 * 4 - 4 and (1, 1) not in known


def test_without_a_graph_nothing_is_known(nlp):
    doc = Doc(nlp.vocab, words=WORDS)
    assert find(doc, doc.copy()) == ({}, set())
    # An empty graph says that there are no arcs.
    found, known = find(doc, reference_of(nlp, []))
    assert found == {} and len(known) == 16


def test_arcs_across_predicted_sentences_are_ignored(nlp):
    reference = reference_of(nlp, [(1, 0, "ARG1"), (3, 0, "ARG1"), (1, 2, "ARG2")])
    starts = [True, False, True, False]
    found, known = find(Doc(nlp.vocab, words=WORDS, sent_starts=starts), reference)
    assert found == {(1, 0): 2}
    assert known == {(-1, 0), (-1, 1), (0, 1), (1, 0), (-1, 2), (-1, 3), (2, 3), (3, 2)}


def test_tokens_without_counterpart_are_unknown(nlp):
    arcs = [(2, 0, "ARG1"), (1, 0, "ARG2")]
    reference = reference_of(nlp, arcs, ["Dogs", "can", "not", "bark"])
    predicted = Doc(nlp.vocab, words=["Dogs", "cannot", "bark"])
    found, known = find(predicted, reference)
    assert found == {}
    assert known == {(-1, 0), (-1, 2), (0, 2), (2, 0)}


def test_unknown_and_double_labels_are_refused(nlp):
    doc = Doc(nlp.vocab, words=WORDS)
    with pytest.raises(ValueError, match=r"label 'BV' .* \(\"Dogs bark Cats sleep"):
        find(doc, reference_of(nlp, [(1, 0, "BV")]))
    with pytest.raises(ValueError, match="several between 'bark' and 'Dogs'"):
        find(doc, reference_of(nlp, [(1, 0, "ARG1"), (1, 0, "ARG2")]))
