from pathlib import Path

from util import run

from spacy_sdp.formats import Record, conllu, docbin

ROOT = Path(__file__).parents[2]
TEXTS = ["The shy cat wants to eat.", "Hm.", "Colorless green ideas sleep furiously."]


def annotate(*args, output, repeated=0):
    code, out, err = run("annotate", *args, "--output", output, "--share", 0.5)
    assert code == 0, err
    assert out == (
        f"✔ {output}: 1 sentences, 7 tokens; left out: 1 too short or too long, "
        f"{repeated} repeated or held out, 1 less confident\n"
    )
    (doc,) = docbin.read_docs(output)
    assert doc.text.strip() == TEXTS[0]
    assert doc._.sdp.triples()[2] == ("wants", "ARG1", "cat")


def test_the_sentences_of_a_treebank_are_annotated_with_a_wheel(tmp_path):
    sentences = [
        Record(words=[*text[:-1].split(), "."], text=text, arcs=[], tops=[0])
        for text in TEXTS
    ]
    conllu.write(sentences, tmp_path / "texts.conllu")
    (wheel,) = (ROOT / "pipelines").glob("en_sdp_dm_md-*.whl")
    source = tmp_path / "texts.conllu"
    annotate(source, "--model", wheel, output=tmp_path / "silver.spacy")


def test_running_text_is_split_into_sentences(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(" ".join([*TEXTS, "The dog barks."]))
    held_out = tmp_path / "test.spacy"
    docbin.write([Record(words=["the", "dog", "barks", "."], arcs=[])], held_out)
    arguments = [path, "--model", "en_sdp_dm_sm", "--held-out", held_out]
    annotate(*arguments, output=tmp_path / "silver.spacy", repeated=1)


def test_nothing_is_written_without_sentences(tmp_path):
    path, output = tmp_path / "text.txt", tmp_path / "silver.spacy"
    path.write_text("Hm.")
    for source, message in (
        (path, "All sentences were left out, so no file was written."),
        (tmp_path / "x.conllu", "x.conllu: No such file"),
    ):
        code, _, err = run(
            "annotate", source, "--model", "en_sdp_dm_sm", "--output", output
        )
        assert code == 1
        assert message in err
    assert not output.exists()
