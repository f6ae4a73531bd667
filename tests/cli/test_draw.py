"""`draw`: pages of pictures."""

import json
import re
from html.parser import HTMLParser

import pytest
from spacy.vocab import Vocab
from util import run

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import Record, sdp, write
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.graph.table import CLAUSE_COLUMNS, clause_rows


@pytest.fixture
def page(tmp_path):
    """Draw a file; RETURNS the page."""

    def draw(*args):
        code, out, _ = run("draw", *args, "-o", tmp_path / "page.html")
        assert (code, out) == (0, "")
        return (tmp_path / "page.html").read_text()

    return draw


def count_articles(page):
    return len(re.findall("<article ", page))


def test_a_page_has_a_picture_and_a_table_of_each_sentence(page, tmp_path):
    content = page(EXAMPLES)
    sentences = list(sdp.read(EXAMPLES))
    assert count_articles(content) == content.count('class="picture"') == len(sentences)
    # Sentences that are too wide for a phone have a second drawing.
    narrow, wide = content.count('class="narrow"'), content.count('class="wide"')
    assert 0 < narrow == wide < content.count("</svg>") == len(sentences) + wide
    assert content.count('<span class="argument">') == sum(
        len(sentence.arcs) for sentence in sentences
    )
    assert f"<h1>{EXAMPLES.name}</h1>" in content
    assert count_articles(page(EXAMPLES, "--limit", 2)) == 2
    assert "<h1>A &amp; B</h1>" in page(EXAMPLES, "--title", "A & B")


class References(HTMLParser):
    """Collects what a page would load."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [(tag, k, v) for k, v in attrs if k in ("src", "href", "action")]


def test_a_page_has_the_clauses_of_each_sentence(page):
    content = page(EXAMPLES)
    docs = [to_doc([each], Vocab()) for each in sdp.read(EXAMPLES)]
    expected = [
        row for number, doc in enumerate(docs) for row in clause_rows(doc._.sdp, number)
    ]
    rows = [json.loads(row) for row in re.findall("data-row='(.*?)'", content)]
    assert rows == expected and list(rows[0]) == list(CLAUSE_COLUMNS)
    phrases = re.findall('data-words="([0-9 ]+)"><bdi>([^<]+)', content)
    assert phrases[0] == ("0 1 2 ", "The shy cat")
    assert content.count(" data-explained>") == len(docs)


def test_a_page_asks_for_nothing(page):
    content = page(EXAMPLES)
    references = References()
    references.feed(content)
    assert references.found == []
    assert "default-src 'none'" in content
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", content)


def test_text_cannot_leave_its_place(page, tmp_path):
    words = ["</title><script>alert(1)</script>", '"><img src=x>', "&amp;"]
    sentence = Record(words=words, arcs=[(0, 1, "<i>'\""), (1, 2, "B")], tops=[0])
    write([sentence], tmp_path / "odd.mrp")
    content = page(tmp_path / "odd.mrp")
    assert content.count("<script") == 2 and "<img" not in content
    assert "<i>" not in content and "&lt;i&gt;&#x27;&quot;" in content


def test_a_comparison_marks_mistakes(page, tmp_path):
    sentences = list(sdp.read(EXAMPLES))
    first = sentences[0]
    first.arcs = first.arcs[1:]
    head, dep, _ = first.arcs.pop()
    first.arcs.append((head, dep, "WRONG"))
    write(sentences, tmp_path / "system.sdp")
    content = page(tmp_path / "system.sdp", "--gold", EXAMPLES)
    drawing = content.partition('<div class="wide">')[2].partition("</svg>")[0]
    assert drawing.count('class="edge invented"') == 1
    assert drawing.count('class="edge missed"') == 2
    assert "only sentences with differences" in content
    assert "only sentences with differences" not in page(EXAMPLES)


def test_what_cannot_be_compared_is_refused(tmp_path):
    sentences = list(sdp.read(EXAMPLES))
    output = tmp_path / "page.html"
    write(sentences[:-1], tmp_path / "fewer.sdp")
    code, _, err = run("draw", EXAMPLES, "--gold", tmp_path / "fewer.sdp", "-o", output)
    assert code == 1 and f"--gold ends before sentence {len(sentences)}" in err
    code, _, err = run("draw", tmp_path / "fewer.sdp", "--gold", EXAMPLES, "-o", output)
    assert code == 1 and f"the input ends before sentence {len(sentences)}" in err
    sentences[1].words[0] = "Other"
    write(sentences, tmp_path / "other.sdp")
    code, _, err = run("draw", EXAMPLES, "--gold", tmp_path / "other.sdp", "-o", output)
    assert code == 1 and "sentence 2: " in err and "the same words" in err
    assert not output.exists()
    assert run("draw", EXAMPLES)[0] == 2
    assert run("draw", EXAMPLES, "-o", tmp_path / "page.pdf")[0] == 2


def test_the_input_is_not_replaced(tmp_path):
    path = tmp_path / "graphs.html"
    path.write_text(EXAMPLES.read_text())
    code, _, err = run("draw", path, "--from", "sdp", "-o", path)
    assert code == 1 and "would overwrite the input" in err


def test_another_top_is_a_mistake(page, tmp_path):
    sentences = list(sdp.read(EXAMPLES))
    gold_top = sentences[0].tops[0]
    other = next(i for i in range(len(sentences[0].words)) if i != gold_top)
    sentences[0].tops = [other]
    write(sentences, tmp_path / "system.sdp")
    content = page(tmp_path / "system.sdp", "--gold", EXAMPLES)
    # The first sentence is drawn in two widths.
    assert content.count('class="word top missed"') == 2
    assert content.count('class="word top invented"') == 2


def test_very_long_sentences_have_a_table_only(page, tmp_path):
    words = [f"w{i}" for i in range(200)]
    arcs = [(i, i + 1, "A") for i in range(199)]
    write([Record(words=words, arcs=arcs, tops=[0])], tmp_path / "long.sdp")
    content = page(tmp_path / "long.sdp")
    assert "too long for a picture (200 words)" in content
    assert "<svg" not in content and content.count('class="argument"') == 199
