"""The component predicts frames, where its model has `frames = true`."""

import json

import pytest
import spacy
import srsly
from spacy.cli import app
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import minibatch
from typer.testing import CliRunner
from util import (
    SMALL_MODEL,
    TEXTS,
    add_parser,
    graph_data,
    small_model,
    to_examples,
    train,
)

from spacy_sdp import formats
from spacy_sdp.evaluation.metrics import score_sentences
from spacy_sdp.formats import docbin
from spacy_sdp.formats.bridge import from_doc, to_doc
from spacy_sdp.graph.graph import SemanticGraph
from spacy_sdp.training.optimizer import make_adam


def dm_frame(graph, token):
    """As in DM, all nodes have one, and that of a predicate has all its arguments."""
    arguments = ["i"] * len(graph.args(token))
    return ":".join([token.tag_[0].lower(), "-".join(["e", *arguments])])


def psd_frame(graph, token):
    """As in PSD, only verbs have one, that of the word."""
    return f"ev-{token.lemma_}f1" if token.tag_.startswith("V") else None


def add_frames(docs, make_frame):
    for doc in docs:
        graph = doc._.sdp
        nodes = {arc.head for arc in graph} | {arc.dep for arc in graph}
        frames = {node.i: make_frame(graph, node) for node in nodes}
        doc._.sdp = SemanticGraph.from_arcs(
            doc,
            graph.indexed_arcs,
            [top.i for top in graph.tops],
            frames={i: frame for i, frame in frames.items() if frame},
        )
    return docs


@pytest.fixture
def examples(example_docs):
    return to_examples(add_frames(example_docs, dm_frame))


def frames(doc):
    return graph_data(doc)["frames"]


@pytest.mark.parametrize("make_frame", [dm_frame, psd_frame])
@pytest.mark.parametrize("scores", ["factored", "unlabelled"])
def test_overfitting_and_io(nlp, example_docs, tmp_path, make_frame, scores):
    examples = to_examples(add_frames(example_docs, make_frame))
    settings = {"frames": True, "scores": scores}
    add_parser(nlp, examples, **settings)
    train(nlp, examples, steps=90)
    result = nlp.evaluate(examples)
    assert result["sdp_lf"] == result["sdp_frame_acc"] == 1.0
    for doc in example_docs:
        found = nlp.get_pipe("sdp_meanfield")(
            Doc(nlp.vocab, words=[token.text for token in doc])
        )
        assert frames(found) == frames(doc)
    expected = [frames(doc) for doc in nlp.pipe(TEXTS)]
    assert [frames(nlp(text)) for text in TEXTS] == expected
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert [frames(doc) for doc in loaded.pipe(TEXTS)] == expected
    from_bytes = spacy.blank("en")
    from_bytes.add_pipe("sdp_meanfield", config={"model": small_model(**settings)})
    from_bytes.from_bytes(nlp.to_bytes())
    assert [frames(doc) for doc in from_bytes.pipe(TEXTS)] == expected


@pytest.mark.parametrize("representation", ["dm", "psd"])
def test_the_official_sample_is_learned(nlp, shared_data, tmp_path, representation):
    path = shared_data / "sdp_sample" / f"{representation}.sdp"
    sentences = list(formats.read(path))
    gold = [to_doc([sentence], nlp.vocab) for sentence in sentences]

    def without_graphs():
        for doc in gold:
            words, tags = zip(*((token.text, token.tag_) for token in doc), strict=True)
            yield Doc(nlp.vocab, words=list(words), tags=list(tags))

    examples = list(map(Example, without_graphs(), gold))
    scorer = {"@scorers": "spacy_sdp.sdp_scorer.v1", "representation": representation}
    add_parser(
        nlp,
        examples,
        config={"scorer": scorer},
        inference="first_order",
        frames=True,
        lstm_width=48,
        mlp_width=64,
        tok2vec={**SMALL_MODEL["tok2vec"], "width": 48, "rows": [1000, 300]},
    )
    optimizer = make_adam(0.006)
    for _ in range(32):
        for batch in minibatch(examples, 15):
            nlp.update(batch, sgd=optimizer)
    records = [record for doc in nlp.pipe(without_graphs()) for record in from_doc(doc)]
    for record, sentence in zip(records, sentences, strict=True):
        record.id = sentence.id
    parsed = tmp_path / "parsed.sdp"
    formats.write(records, parsed)
    sides = score_sentences(sentences, formats.read(parsed), representation)
    official = sides["with_tops"]
    assert official["LF"] >= 0.98 and official["FF"] >= 0.95
    # What spaCy reports is the same.
    result = nlp.evaluate(examples)
    assert result["sdp_lf"] == pytest.approx(official["LF"])
    assert result["sdp_ff"] == pytest.approx(official["FF"])


def test_only_words_of_the_graph_have_frames(nlp, examples):
    add_parser(nlp, examples, frames=True)
    train(nlp, examples, steps=30)
    doc = nlp("The shy cat  wants to eat .")
    graph = doc._.sdp
    nodes = {arc.head for arc in graph} | {arc.dep for arc in graph}
    assert {token for token in doc if graph.frame(token)} == nodes
    for text in ("", " \n"):
        assert nlp(text)._.sdp.has_frames and frames(nlp(text)) == []


def test_without_the_setting_frames_are_neither_learned_nor_predicted(nlp, examples):
    parser = add_parser(nlp, examples)
    assert parser.frames == () and isinstance(parser.label_data, list)
    for text in ("", "The cat sleeps."):
        assert not nlp(text)._.sdp.has_frames


def test_the_loss_of_arcs_is_the_same_with_and_without_frames(examples):
    results = []
    for setting in (False, True):
        nlp = spacy.blank("en")
        parser = add_parser(nlp, examples, frames=setting, frame_weight=1.0)
        docs = [example.predicted for example in examples]
        scores, _ = parser.model.begin_update(docs)
        results.append(parser.get_loss(examples, scores))
    (loss, gradient), (more, gradient_with_frames) = results
    for one, other in zip(gradient[:3], gradient_with_frames[:3], strict=True):
        assert (one == other).all()
    assert gradient_with_frames[3].any()
    assert more > loss + 1


def test_docs_without_frames_have_no_part_in_their_loss(nlp, examples, cat):
    parser = add_parser(nlp, examples, frames=True)
    example = Example(cat.copy(), cat)
    assert not cat._.sdp.has_frames
    scores, _ = parser.model.begin_update([example.predicted])
    _, gradient = parser.get_loss([example], scores)
    assert gradient[1].any() and not gradient[3].any()
    # Together with others they are learned from as far as they go.
    history = train(nlp, [*examples, example], steps=2)
    assert history[-1]["sdp_meanfield"] > 0


def test_frames_have_a_weight_in_the_loss(nlp, examples):
    losses = []
    for weight in (0.0, 1.0, 2.0):
        parser = add_parser(
            spacy.blank("en"), examples, frames=True, frame_weight=weight
        )
        scores, _ = parser.model.begin_update([each.predicted for each in examples])
        losses.append(parser.get_loss(examples, scores)[0])
    assert losses[2] - losses[0] == pytest.approx(2 * (losses[1] - losses[0]))
    assert losses[1] > losses[0]


def test_label_data_has_labels_and_frames(nlp, examples):
    parser = add_parser(nlp, examples, frames=True)
    data = json.loads(json.dumps(parser.label_data))
    assert data["labels"] == list(parser.labels)
    found = {frame for each in examples for _, frame in frames(each.reference)}
    assert data["frames"] == sorted(found) == list(parser.frames)

    def initialize(labels, **settings):
        again = spacy.blank("en").add_pipe(
            "sdp_meanfield", config={"model": small_model(**settings)}
        )
        again.initialize(lambda: examples[:1], labels=labels)
        return again

    assert initialize(data, frames=True).label_data == data
    # A plain list says nothing about frames.
    some = initialize(["ARG1", "ARG2", "BV"], frames=True)
    assert some.labels == ("ARG1", "ARG2", "BV")
    assert set(some.frames) == {frame for _, frame in frames(examples[0].reference)}
    assert initialize(data).label_data == data["labels"]
    twice = initialize({"frames": ["n:x", "v:e-x", "n:x"]}, frames=True)
    assert twice.frames == ("n:x", "v:e-x")
    with pytest.raises(ValueError, match=r"'labels' and 'frames'.*\['senses'\]"):
        initialize({"senses": []}, frames=True)
    for labels in ("ARG1", {"labels": "ARG1"}):
        with pytest.raises(ValueError, match=r"The labels .* a list, not 'ARG1'"):
            initialize(labels)
    with pytest.raises(ValueError, match=r"The frames .* a list, not None"):
        initialize({"frames": None}, frames=True)
    for frame in ("", 1):
        with pytest.raises(ValueError, match=rf"not empty, but found {frame!r}\."):
            initialize({"frames": ["n:x", frame]}, frames=True)


def test_rare_frames_are_not_learned(nlp, examples):
    counts = [frame for each in examples for _, frame in frames(each.reference)]
    parser = add_parser(nlp, examples, frames=True, min_frame_count=3)
    assert set(parser.frames) == {f for f in counts if counts.count(f) >= 3}
    assert 0 < len(parser.frames) < len(set(counts))
    train(nlp, examples, steps=3)
    with pytest.raises(ValueError, match="lower 'min_frame_count'"):
        add_parser(spacy.blank("en"), examples, frames=True, min_frame_count=1000)


def test_data_without_frames_are_refused(nlp, cat):
    with pytest.raises(ValueError, match=r"No Example .* has a frame in Doc._.sdp"):
        add_parser(nlp, [Example(cat.copy(), cat)], frames=True)


def test_init_labels(nlp, examples, tmp_path):
    data = tmp_path / "data.spacy"
    docbin.write(
        [record for each in examples for record in from_doc(each.reference)], data
    )
    nlp.add_pipe("sdp_meanfield", config={"model": small_model(frames=True)})
    corpus = {"@readers": "spacy_sdp.Corpus.v1", "path": str(data)}
    config = nlp.config.merge({"corpora": {"train": corpus, "dev": corpus}})
    config.to_disk(tmp_path / "config.cfg")
    command = ["init", "labels", str(tmp_path / "config.cfg"), str(tmp_path)]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    path = tmp_path / "sdp_meanfield.json"
    config["initialize"]["components"]["sdp_meanfield"] = {
        "labels": {"@readers": "spacy.read_labels.v1", "path": str(path)}
    }
    parser = init_nlp(config).get_pipe("sdp_meanfield")
    assert parser.label_data == srsly.read_json(path)
    assert set(parser.label_data) == {"labels", "frames"}


def test_pipelines_of_older_versions_have_no_frames(nlp, examples, tmp_path):
    add_parser(nlp, examples)
    nlp.to_disk(tmp_path)
    path = tmp_path / "sdp_meanfield" / "cfg"
    cfg = srsly.read_json(path)
    assert cfg.pop("frames") == []
    srsly.write_json(path, cfg)
    loaded = spacy.load(tmp_path)
    assert loaded.get_pipe("sdp_meanfield").frames == ()
    assert not loaded("The cat sleeps.")._.sdp.has_frames


def test_scores_of_frames_that_are_not_numbers_are_reported(nlp, examples):
    parser = add_parser(nlp, examples, frames=True)
    network = parser.model.get_ref("network").shims[0].network
    network.frames.output.bias.data[1] = float("nan")
    with pytest.raises(ValueError, match="loss of 'sdp_meanfield' is not a finite"):
        nlp.update(examples)
    with pytest.raises(ValueError, match="'sdp_meanfield' produced NaN scores"):
        nlp("The cat sleeps.")
