"""Pages as a browser shows them."""

import json
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlparse
from xml.etree import ElementTree

import pytest
import spacy
from browser import PROGRAM, Browser
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from util import save_chain, serving

from spacy_sdp import SemanticGraph, explain, render
from spacy_sdp.cli.table_writer import write_table
from spacy_sdp.graph.table import CLAUSE_COLUMNS, clause_rows

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="needs Chromium: apt install chromium"
)

PROBES = (Path(__file__).parent / "probes.js").read_text(encoding="utf8")
PHONE, TABLET, DESKTOP = WIDTHS = (390, 800, 1400)
# Sentences of 6, 25 and 50 words.
TEXTS = [
    "Nobody gave the old man anything",
    "Although the council had promised to repair the bridge before winter the farmers "
    "who live beyond the river still carry their apples through cold water",
    "When the young doctor who had never seen the sea finally arrived at the small "
    "harbour town in March she was told by an old fisherman that the boat which she "
    "wanted to buy had been sold to two brothers from the north because nobody "
    "there believed her sad story",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open the page of some Docs; further options are those of Browser.open."""

    def show(docs, gold=None, fragment="", **options):
        page = render(docs, page=True, gold=gold)
        (tmp_path / "page.html").write_text(page, encoding="utf8")
        browser.open((tmp_path / "page.html").as_uri() + fragment, **options)
        browser.run(f"{PROBES}; 0")
        return browser

    return show


def make_doc(text, arcs, *, separator=" "):
    words = text.split()
    spaces = [bool(separator)] * len(words)
    doc = Doc(Vocab(), words=words, spaces=spaces)
    doc._.sdp = arcs
    return doc


def make_long_doc():
    """Forty words, with neighbours, far arcs, several heads and long labels."""
    arcs = [(-1, 5, "root")]
    for i in range(1, 40):
        arcs.append((i, i - 1, "ARG1" if i % 3 else "conj:and>nsubj"))
    arcs += [(i, i + 7, "ARG2") for i in range(0, 32, 4)]
    arcs += [(0, 39, "a"), (20, 2, "compound"), (38, 5, "loc")]
    return make_doc(" ".join(["it", "went", "incomprehensibly", "on"] * 10), arcs)


@pytest.fixture
def docs(cat):
    chinese = [(1, 0, "Desc"), (2, 1, "Exp"), (2, 3, "dCont"), (3, 4, "Pat")]
    hebrew = [(1, 0, "ARG1"), (1, 2, "ARG2"), (-1, 1, "root")]
    wide = "WWWWWWW MMMMMMM @@@@@@ %%%%%%% —————— mmmmmmm COMMUNICATION MANAGEMENT"
    labels = ["WWWWWWWW", "mmmmmmmmm", "@@@@@@", "MMMMM", "ARG1", "%%%", "A"]
    return [
        cat,
        make_long_doc(),
        make_doc("小 猫 想 吃 新鲜的大鱼", [*chinese, (-1, 2, "root")], separator=""),
        make_doc("הילדה אוכלת תפוח", hebrew),
        make_doc(wide, [(i + 1, i, label) for i, label in enumerate(labels)]),
    ]


@pytest.fixture
def tagged(cat):
    """The sentence with tags, so that it has clauses, and with probabilities."""
    for token, tag in zip(cat, ("DT", "JJ", "NN", "VBZ", "TO", "VB", "."), strict=True):
        token.tag_ = tag
    graph = cat._.sdp.to_dict()
    for arc, score in zip(graph["arcs"], (0.999, 0.8, 0.7, 0.6, 1.0), strict=True):
        arc[3] = score
    cat._.sdp = SemanticGraph.from_dict(cat, graph)
    return cat


@pytest.fixture(scope="module")
def parsed():
    nlp = pytest.importorskip("en_sdp_dm_sm").load()
    docs = [nlp(text) for text in TEXTS]
    assert list(map(len, docs)) == [6, 25, 50]
    return docs


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overlaps(show, docs, width):
    assert show(docs, width=width).run("probes.overlaps()") == []


@pytest.mark.parametrize("width", WIDTHS)
def test_sentences_of_any_length_fit(show, parsed, width):
    browser = show(parsed, width=width)
    assert browser.run("probes.overlaps()") == []
    assert browser.run("probes.tooWide()") == []
    words = [token.text for doc in parsed for token in doc]
    assert browser.texts(".word") == words
    rows = sum(len(doc._.sdp_clauses) for doc in parsed)
    assert len(browser.texts("tr[data-row]")) == rows > 5
    compared = show(parsed, gold=parsed, width=width)
    assert compared.run("probes.overlaps()") == []
    assert compared.run("probes.tooWide()") == []


def test_labels_between_rows_name_the_other_word(show, parsed):
    doc = parsed[1]
    labels = Counter(show([doc], width=PHONE).texts(".label"))
    assert labels["ARG1·council"] == 2
    assert "ARG1·council" not in show([doc], width=10_000).texts(".label")


def test_phones_show_the_clauses_first_and_words_of_12_pixels(show, parsed):
    for width in WIDTHS:
        browser = show([parsed[1]], width=width)
        clauses, picture = browser.run(
            "['.clauses', '.picture'].map((each) => "
            "document.querySelector(each).getBoundingClientRect().top)"
        )
        assert (clauses < picture) == (width == PHONE)
        scale = browser.run(
            "drawingOf(document).getBoundingClientRect().width"
            " / drawingOf(document).viewBox.baseVal.width"
        )
        assert 16 * scale >= 12


def test_a_very_wide_word_scrolls_and_the_page_does_not(show):
    doc = make_doc(f"a {'very' * 30} b", [(0, 1, "ARG1"), (2, 1, "ARG2")])
    assert show([doc], width=PHONE).run("probes.tooWide()") == ["picture"]


def test_the_filter_shows_what_matches(show, docs):
    browser = show(docs)
    pairs = [["", ""], ["SHY", ""], ["猫想", ""], ["", "Exp"], ["shy", "Exp"], ["", ""]]
    found = [browser.run(f"probes.filter(...{json.dumps(pair)})") for pair in pairs]
    everything = ["The", "it ", "小猫想", "היל", "WWW"]
    assert [result["texts"] for result in found] == [
        everything,
        ["The"],
        ["小猫想"],
        ["小猫想"],
        [],
        everything,
    ]
    counts = [result["count"] for result in found]
    assert counts[:2] == ["5 sentences", "1 of 5 sentences"]
    labels = browser.run("[...filter.elements.label].map((option) => option.value)")
    assert labels == sorted({*labels}) and "BV" in labels
    browser.run("probes.filter('', 'BV')")
    faint = browser.run(
        "drawingOf(shownArticles()[0]).querySelectorAll('g.faint').length"
    )
    assert faint == 4


def test_the_address_keeps_the_filter(show, docs):
    browser = show(docs, fragment="#text=SHY&label=BV")
    assert browser.texts("#count") == ["1 of 5 sentences"]
    browser.run("filter.elements.text.value = 'a&b'")
    browser.run("filter.dispatchEvent(new Event('input'))")
    assert browser.run("location.hash") == "#text=a%26b&label=BV"
    browser.run("location.hash = '#text=猫'; 0")
    browser.wait_until("document.getElementById('count').textContent[0] === '1'")
    assert browser.run("[filter.elements.text.value, filter.elements.label.value]") == [
        "猫",
        "",
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_an_arc_lights_up_with_its_words(show, tagged, width):
    browser = show(tagged, width=width)
    light = browser.tap if width == PHONE else browser.hover
    light('.label[data-label="ARG2"]')
    browser.wait_until("lit")
    found = browser.run("probes.lit()")
    assert found == {
        "words": ["wants", "eat"],
        "labels": ["ARG2"],
        "phrases": [],
        "tip": f"wants → ARG2 → eat (60%)\n{explain('ARG2')}",
    }
    box = browser.run("JSON.parse(JSON.stringify(tip.getBoundingClientRect()))")
    assert box["left"] >= 0 and box["right"] <= width and box["top"] >= 0
    light("h1")
    browser.wait_until("!lit")
    nothing = {"words": [], "labels": [], "phrases": [], "tip": ""}
    assert browser.run("probes.lit()") == nothing


def test_the_pointer_need_not_hit_the_line(show, tagged):
    browser = show(tagged)
    x, top = browser.run(
        """(() => {
          const edge = drawingOf(document).querySelector("[data-label=BV] .arc");
          const { left, top } = edge.getBoundingClientRect();
          return [left, top];
        })()"""
    )
    browser.point(x + 12, top + 5)
    assert browser.run("probes.lit()")["words"] == ["The", "cat"]
    browser.point(x + 12, top + 12)
    assert browser.run("probes.lit()")["words"] == []


def test_a_word_lights_up_with_its_arcs_and_phrases(show, tagged):
    browser = show(tagged)
    browser.hover('.word[data-word="5"]')
    assert browser.run("probes.lit()") == {
        "words": ["cat", "wants", "eat"],
        "labels": ["ARG2", "ARG1"],
        "phrases": ["to eat", "eat"],
        "tip": "wants → ARG2 → eat (60%)\neat → ARG1 → cat (100%)",
    }
    browser.hover('.word[data-word="0"]')
    assert browser.run("tip.textContent") == "The → BV → cat (>99%)"


def test_a_phrase_and_a_clause_light_up_their_words(show, tagged):
    browser = show(tagged)
    assert browser.texts("tbody td[data-name=subject]") == ["The shy cat"] * 2
    browser.hover("[data-name=objects] .phrase")
    found = browser.run("probes.lit()")
    assert (found["words"], found["phrases"]) == (["to", "eat"], ["to eat"])
    browser.hover("[data-name=subject] .phrase")
    found = browser.run("probes.lit()")
    assert found["words"] == ["The", "shy", "cat"]
    assert found["labels"] == ["BV", "ARG1"]
    x, y = browser.middle("tr[data-row] td:last-child")
    browser.point(x, y)
    assert browser.run("probes.lit()")["words"] == [
        *["The", "shy", "cat", "wants", "to", "eat"]
    ]


def test_the_keyboard_goes_through_words_and_arcs(show, tagged):
    browser = show(tagged)
    browser.run("document.querySelector('.picture').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert browser.run("probes.lit()")["words"] == ["shy", "cat"]
    browser.press("ArrowUp")
    found = browser.run("probes.lit()")
    assert found["labels"] == ["ARG1"] and found["tip"].startswith("shy → ARG1 → cat")
    browser.press("ArrowUp")
    assert browser.run("probes.lit()")["tip"] == "shy → ARG1 → cat (80%)"
    browser.press("End")
    assert browser.run("probes.lit()")["words"] == ["."]
    browser.press("ArrowRight", "Home", "ArrowLeft")
    assert browser.run("probes.lit()")["labels"] == ["BV"]
    browser.press("Escape")
    assert browser.run("probes.lit()")["words"] == []
    browser.press("ArrowLeft", "Tab")
    found = browser.run("probes.lit()")
    assert (found["words"], found["phrases"]) == (
        ["The", "shy", "cat"],
        ["The shy cat"],
    )


def test_a_click_keeps_the_highlighting(show, tagged):
    browser = show(tagged)
    browser.click('.word[data-word="1"]')
    browser.hover('.word[data-word="3"]')
    assert browser.run("probes.lit()")["words"] == ["shy", "cat"]
    browser.click("h1")
    browser.hover('.word[data-word="3"]')
    assert browser.run("probes.lit()")["words"] == ["cat", "wants", "eat"]


@pytest.mark.parametrize("dark", [False, True])
def test_colours_can_be_read(show, tagged, dark):
    browser = show(tagged, dark=dark)
    contrast = browser.run("probes.contrast()")
    assert min(contrast.values()) >= 4.5, contrast
    back = browser.run("getComputedStyle(document.querySelector('.back')).fill")
    assert back == ("rgb(27, 27, 31)" if dark else "rgb(255, 255, 255)")


def test_everything_can_be_saved(show, tagged, tmp_path):
    browser = show([tagged, tagged])
    browser.hover('.word[data-word="1"]')
    svg = browser.download("[data-action=save-svg]", "graph.svg").decode()
    root = ElementTree.fromstring(svg)
    assert (
        "<style>.sdp {" in svg.replace("\n", "")
        and "lit" not in svg.split("</style>")[1]
    )
    png = browser.download("[data-action=save-png]", "graph.png")
    assert png.startswith(b"\x89PNG")
    size = [int.from_bytes(png[i : i + 4], "big") for i in (16, 20)]
    assert size == [2 * int(root.get(name)) for name in ("width", "height")]
    first, second = json.loads(
        browser.download("[data-action=save-json]", "graphs.json")
    )
    for clause in second["clauses"]:
        assert clause.pop("doc") == 1
        clause["doc"] = 0
    assert first == second
    clauses = list(clause_rows(tagged._.sdp, 0))
    assert first == {
        "text": tagged.text.strip(),
        "words": [token.text for token in tagged],
        "tops": [3],
        "arcs": [
            {"head": head, "dep": dep, "label": label, "score": score}
            for head, dep, label, score in tagged._.sdp.indexed_arcs
        ],
        "clauses": clauses,
    }
    table = browser.download("[data-action=save-csv]", "clauses.csv").decode()
    # The same as the file of `parse --to clauses`.
    rows = [row for number in (0, 1) for row in clause_rows(tagged._.sdp, number)]
    write_table(rows, CLAUSE_COLUMNS, tmp_path / "clauses.csv", "csv")
    assert table.splitlines() == (tmp_path / "clauses.csv").read_text().splitlines()


def test_other_formalisms_have_no_clauses_and_no_explanations(show):
    doc = make_doc('Dogs, "or" cats', [(0, 1, "ACT-arg"), (1, 2, "PAT-arg")])
    browser = show(doc)
    assert browser.texts(".clauses") == [] and len(browser.texts(".argument")) == 2
    browser.hover('.label[data-label="ACT-arg"]')
    assert browser.run("probes.lit()")["tip"] == 'Dogs, → ACT-arg → "or"'
    table = browser.download("[data-action=save-csv]", "clauses.csv").decode()
    assert table.splitlines() == [
        "predicate,label,argument,sentence",
        '"Dogs,",ACT-arg,"""or""","Dogs, ""or"" cats"',
        '"""or""",PAT-arg,cats,"Dogs, ""or"" cats"',
    ]


def test_differences_are_coloured_and_found(show, tagged):
    other = tagged.copy()
    other._.sdp = [(-1, 3, "root"), (0, 2, "BV"), (3, 2, "ARG2")]
    browser = show([tagged, tagged], gold=[tagged, other])
    browser.click("[name=differences]")
    assert browser.texts("#count") == ["1 of 2 sentences"]
    assert browser.texts("caption") == ["predicted", "gold"]
    browser.hover('article:not([hidden]) .label[data-label="ARG2"]')
    tip = browser.run("probes.lit()")["tip"].splitlines()
    assert tip[:2] == ["wants → ARG2 → eat (60%)", "only predicted"]
    colours = browser.run(
        "[...drawingOf(shownArticles()[0]).querySelectorAll('.arc')]"
        ".map((arc) => getComputedStyle(arc).stroke)"
    )
    assert len(colours) == 7 and len({*colours}) == 3


@Language.component("test_fan")
def fan(doc):
    """Every word is the ARG1 of the last one, which is the top."""
    last = len(doc) - 1
    doc._.sdp = [(-1, last, "root"), *((last, i, "ARG1") for i in range(last))]
    return doc


@pytest.fixture
def server(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("test_fan")
    nlp.to_disk(tmp_path / "fan")
    with serving(
        [str(save_chain(tmp_path / "chain")), str(tmp_path / "fan")]
    ) as server:
        yield server


def address_of(browser):
    """RETURNS what the address says."""
    fragment = urlparse(browser.run("location.href")).fragment
    return {name: values[0] for name, values in parse_qs(fragment).items()}


def type_text(browser, text):
    browser.run(f"form.elements.text.value = {json.dumps(text)}; form.requestSubmit()")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_sentence_is_typed_and_its_graph_shown(server, browser, width):
    browser.open(server.url, width=width)
    browser.run(f"{PROBES}; 0")
    browser.wait_until("document.querySelector('.word')")
    assert browser.texts(".word") == ["The", "shy", "cat", "wants", "to", "eat", "."]
    assert browser.run("probes.tooWide()") == []
    type_text(browser, "<i>Dogs</i> bark & purr")
    browser.wait_until(
        "document.querySelector('article').dataset.text.includes('purr')"
    )
    assert "".join(browser.texts(".word")) == "<i>Dogs</i>bark&purr"
    assert browser.run("probes.overlaps()") == []
    assert address_of(browser)["text"] == "<i>Dogs</i> bark & purr"
    type_text(browser, "")
    browser.wait_until("note.className === 'error'")
    assert browser.texts("#note") == ["Type a sentence."]
    assert browser.texts(".word") == []


def test_an_example_is_clicked_and_saved(server, browser):
    browser.open(server.url)
    browser.wait_until("document.querySelector('.word')")
    browser.click(".examples button:nth-child(3)")
    browser.wait_until("document.querySelector('article').dataset.text[0] === 'A'")
    assert browser.texts(".word")[:3] == ["Anna", "and", "Ben"]
    record = json.loads(browser.download("[data-action=save-json]", "graphs.json"))
    assert record["text"] == "Anna and Ben bought tea and cake."
    assert record["triples"][0] == ["and", "ARG1", "Anna"]
    browser.run("filter.elements.label.value = 'ARG1'")
    assert browser.texts("#count") == ["1 sentence"]


def test_two_pipelines_are_compared_by_a_link(server, browser):
    chain, fan = server.pipelines
    state = {"text": "It rains. Dogs bark.", "pipeline": fan, "other": chain}
    browser.open(f"{server.url}#{urlencode(state)}")
    browser.wait_until("document.querySelector('.word')")
    assert address_of(browser) == state
    # The first pipeline finds no sentences.
    assert browser.texts("#count") == ["1 sentence"]
    kinds = browser.run(
        "[...drawingOf(document.querySelector('article')).querySelectorAll('.edge')]"
        ".map((edge) => edge.classList[1])"
    )
    assert Counter(kinds) == {"match": 2, "invented": 4, "missed": 3}
    legend = browser.texts(".legend span")
    assert legend == ["in both", f"only {fan} (above)", f"only {chain} (below)"]
    browser.run("location.hash = '#text=Cats'; 0")
    browser.wait_until("document.querySelector('article').dataset.text === 'Cats'")
    assert address_of(browser) == {"text": "Cats", "pipeline": chain}
    assert browser.texts(".legend") == []
