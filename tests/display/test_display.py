"""Pictures: everything is there, and nothing overlaps."""

import re
import sys
from collections import Counter
from types import ModuleType
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_sdp import SemanticGraph, render
from spacy_sdp.display.layout import (
    Measures,
    PlacedArc,
    is_right_to_left,
    place,
    place_in_rows,
)
from spacy_sdp.display.picture import make_pictures
from spacy_sdp.display.svg import draw_svg
from spacy_sdp.graph.terminal import display_width

SVG = "{http://www.w3.org/2000/svg}"
MEASURES = Measures(between_words=2, between_ports=1, around_label=2)


@st.composite
def layouts(draw):
    size = draw(st.integers(2, 8))
    pairs = st.tuples(*[st.integers(0, size - 1)] * 2).filter(lambda p: p[0] != p[1])
    sides = [
        [
            PlacedArc(h, d, "x" * draw(st.integers(1, 9)))
            for h, d in draw(st.lists(pairs))
        ]
        for _ in range(2)
    ]
    widths = [draw(st.integers(1, 9)) for _ in range(size)]
    labels = [len(arc.label) for side in sides for arc in side]
    return widths, place(widths, *sides, labels, MEASURES)


@given(layouts())
def test_nothing_overlaps(result):
    widths, layout = result
    for i in range(1, len(widths)):
        gap = layout.word_x[i] - layout.word_x[i - 1]
        assert gap >= (widths[i] + widths[i - 1]) / 2 + MEASURES.between_words
    for side in (layout.above, layout.below):
        ports = [x for arc in side for x in (arc.head_x, arc.dep_x)]
        assert len(set(ports)) == len(ports)
        for arc in side:
            left, right = sorted((arc.head_x, arc.dep_x))
            assert right - left >= len(arc.label) + MEASURES.around_label - 1e-9
            for other in side:
                if other is not arc and other.level == arc.level:
                    low, high = sorted((other.head_x, other.dep_x))
                    assert high < left or low > right


@given(layouts())
def test_an_arc_is_above_those_within_it(result):
    _, layout = result
    for arc in layout.above:
        for other in layout.above:
            if arc.left <= other.left and other.right < arc.right:
                assert arc.level > other.level


@given(layouts(), st.integers(1, 60))
def test_rows_are_as_wide_as_they_may_be(result, width):
    widths, layout = result
    labels = [len(arc.label) for arc in layout.above + layout.below]
    rows = place_in_rows(
        widths, layout.above, layout.below, labels, MEASURES, width, [1.0] * len(widths)
    )
    assert [i for row in rows for i in row.words] == list(range(len(widths)))
    assert all(row.layout.width <= width or len(row.words) == 1 for row in rows)
    if layout.width <= width:
        (row,) = rows
        assert (row.word_x, row.layout.width) == (layout.word_x, layout.width)
    pieces = Counter()
    for row in rows:
        for piece in row.layout.above + row.layout.below:
            pieces[piece.number] += 1
            assert not (row.is_outside(piece.head) and row.is_outside(piece.dep))
    for number, arc in enumerate(layout.above + layout.below):
        ends = {
            i
            for i, row in enumerate(rows)
            for w in row.words
            if w in (arc.head, arc.dep)
        }
        assert pieces[number] == len(ends)


def elements(svg, name, kind=None):
    return [
        each
        for each in ElementTree.fromstring(svg).iter(f"{SVG}{name}")
        if kind is None or kind in each.get("class", "").split()
    ]


def test_a_picture_has_words_labels_and_the_top(cat):
    svg = render(cat)
    assert [e.text for e in elements(svg, "text", "word")] == [t.text for t in cat]
    assert [e.text for e in elements(svg, "text", "top")] == ["wants"]
    labels = sorted(e.text for e in elements(svg, "text", "label"))
    assert labels == ["ARG1", "ARG1", "ARG1", "ARG2", "BV"]
    assert render(cat._.sdp) == svg
    part = render(cat[2:6])
    assert len(elements(part, "text", "label")) == 3
    words = [e.text for e in elements(part, "text", "word")]
    assert words == ["cat", "wants", "to", "eat"]
    assert render(cat[2:2]) == ""


def test_long_sentences_are_wrapped(cat):
    (picture,) = make_pictures(cat._.sdp)
    svg = draw_svg(picture, 330)
    assert int(ElementTree.fromstring(svg).get("width")) <= 330
    words = elements(svg, "text", "word")
    assert [e.text for e in words] == [token.text for token in cat]
    assert len({e.get("y") for e in words}) == 2
    # An arc between rows has a piece in each, but only one tip.
    labels = Counter("".join(e.itertext()) for e in elements(svg, "text", "label"))
    assert labels["ARG1·wants"] == labels["ARG1·cat"] - 1 == labels["ARG1·eat"] == 1
    assert len(elements(svg, "path", "tip")) == 5


def test_sentences_are_drawn_apart(nlp):
    nlp.add_pipe("sentencizer")
    doc = nlp("Dogs bark. \n Cats purr.")
    doc._.sdp = [(1, 0, "ARG1")]
    assert render(doc).count("<svg") == 2


def test_comparison_tells_matches_from_mistakes(cat):
    system = cat.copy()
    system._.sdp = [(0, 2, "BV"), (3, 2, "ARG2"), (-1, 3, "root")]
    svg = render(system, gold=cat)
    kinds = [e.get("class").split()[1] for e in elements(svg, "g", "edge")]
    assert sorted(kinds) == ["invented", *["match"] * 2, *["missed"] * 4]
    other = Doc(cat.vocab, words=["Hello"])
    other._.sdp = []
    with pytest.raises(ValueError, match="have the same words"):
        render(system, gold=other)


def test_tops_are_compared_too(cat):
    system = cat.copy()
    system._.sdp = [(-1, 5, "root")]
    words = elements(render(system, gold=cat), "text", "top")
    assert {e.text: e.get("class").split()[2] for e in words} == {
        "wants": "missed",
        "eat": "invented",
    }
    text = render(system, "text", gold=cat)
    assert "╌" * len("wants") in text and "~" * len("eat") in text
    dot = render(system, "dot", gold=cat)
    assert 'label="wants", fontcolor="#a86400"' in dot
    assert 'label="eat", fontcolor="#b3261e"' in dot


def test_what_is_no_graph_cannot_be_drawn():
    with pytest.raises(TypeError, match="to draw, or several of them, not a str"):
        render("abc")


def test_odd_characters_do_not_break_lines():
    doc = Doc(Vocab(), words=["\u0301a", "b\tc\nd", "e"])
    doc._.sdp = [(1, 0, "x\ny"), (-1, 1, "root")]
    lines = render(doc, "text").splitlines()
    assert len(lines) == 4 and "b c d" in lines[2] and "x y" in lines[0]


def test_any_text_is_escaped():
    doc = Doc(Vocab(), words=["<b>", "&", '"', "\x00"])
    doc._.sdp = [(0, 1, "<i>&\x07")]
    svg = render(doc)
    assert [e.text for e in elements(svg, "text", "word")][:3] == ["<b>", "&", '"']
    assert elements(svg, "text", "label")[0].text == "<i>&\N{REPLACEMENT CHARACTER}"


def test_right_to_left_scripts_begin_at_the_right():
    words = ["הילדה", "אוכלת", "תפוח"]
    doc = Doc(Vocab(), words=words)
    doc._.sdp = [(1, 0, "ARG1")]
    xs = [float(e.get("x")) for e in elements(render(doc), "text", "word")]
    assert xs == sorted(xs, reverse=True)
    assert is_right_to_left("שלום") and not is_right_to_left("abc א")


def test_widths_are_those_of_a_terminal():
    assert [display_width(text) for text in ("cat", "猫", "e\u0301")] == [3, 2, 1]


def test_without_a_graph_there_is_nothing_to_draw(nlp):
    with pytest.raises(ValueError, match=r"no graph in Doc\._\.sdp"):
        render(nlp("Hello"))


def test_text_for_a_terminal(cat):
    lines = render(cat, "text").splitlines()
    assert lines[0].split("╭")[1].strip("─╮ ") == "BV"
    words, marks = lines[-2], lines[-1]
    assert words.split() == [token.text for token in cat]
    assert marks.strip() == "═" * len("wants")
    assert marks.index("═") == words.index("wants")
    # Each arc ends in a tip above its dependent.
    tips = [i for i, char in enumerate(lines[-3]) if char == "▼"]
    start = words.index("cat")
    assert sum(start - 3 <= tip <= start + 5 for tip in tips) == 4


def test_text_lines_up_for_wide_characters(nlp):
    doc = Doc(nlp.vocab, words=["小", "猫", "想", "吃", "鱼", "。"])
    doc._.sdp = [(1, 0, "Desc"), (2, 1, "Exp"), (2, 3, "dCont"), (-1, 2, "root")]
    lines = render(doc, "text").splitlines()

    def column(line, char):
        return display_width(line[: line.index(char)])

    words = lines[-2]
    assert column(lines[-1], "═") == column(words, "想")
    tips = lines[-3].index("▼"), lines[-3].rindex("▼")
    assert column(words, "小") <= tips[0] <= column(words, "小") + 1
    assert column(words, "吃") <= tips[1] <= column(words, "吃") + 1


def test_text_below_is_upside_down(cat):
    text = render(cat, "text", gold=cat)
    above, below = text.split("\n═")[0], text.rsplit("═\n", 1)[1]
    assert "╭" in above and "╭" not in below
    assert below.count("╰") == 5 and below.count("▲") == 5


def test_graphviz_gets_words_arcs_and_the_top(cat):
    assert render(cat, "dot").splitlines() == [
        "digraph {",
        "  node [shape=plaintext];",
        '  0 [label="The"];',
        '  1 [label="shy"];',
        '  2 [label="cat"];',
        '  3 [label="wants", fontcolor="#1f5fa8"];',
        '  5 [label="eat"];',
        '  0 -> 2 [label="BV"];',
        '  1 -> 2 [label="ARG1"];',
        '  3 -> 2 [label="ARG1"];',
        '  3 -> 5 [label="ARG2"];',
        '  5 -> 2 [label="ARG1"];',
        "}",
    ]
    system = cat.copy()
    system._.sdp = [(0, 2, "BV"), (3, 2, "ARG2"), (-1, 3, "root")]
    arcs = render(system, "dot", gold=cat).splitlines()[7:-1]
    assert len(arcs) == 6 and sum("style=dashed" in arc for arc in arcs) == 4
    odd = Doc(cat.vocab, words=['"\\n', "\n"])
    odd._.sdp = [(-1, 0, "root")]
    assert '0 [label="\\"\\\\n", ' in render(odd, "dot")


@pytest.fixture
def shown(monkeypatch):
    """What is shown in a notebook, with IPython's display replaced."""
    html = []
    module = ModuleType("IPython.display")
    module.HTML, module.display = str, html.append
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return html


def test_notebooks_show_pictures_of_graphs(cat, nlp):
    assert cat._.sdp._repr_svg_() == render(cat)
    html = cat._.sdp._repr_html_()
    assert render(cat) in html and 'style="overflow-x: auto;' in html
    nlp.add_pipe("sentencizer")
    doc = nlp("Dogs bark. Cats purr.")
    doc._.sdp = [(1, 0, "ARG1")]
    assert doc._.sdp._repr_svg_() is None
    assert doc._.sdp._repr_html_().count("<svg") == 2


def test_render_shows_pictures_in_a_notebook(cat, shown, monkeypatch):
    svg = render(cat)
    assert render(cat, jupyter=True) is None
    assert shown == [cat._.sdp._repr_html_()]
    monkeypatch.setattr("spacy_sdp.display.is_in_jupyter", lambda: True)
    assert render([cat, cat]) is None and shown[1].count("<svg") == 2
    assert render(cat, jupyter=False) == svg
    assert render(cat, "text") and render(cat, page=True)
    assert len(shown) == 2


def test_pictures_keep_their_size_and_the_theme_of_the_notebook(cat):
    svg = ElementTree.fromstring(render(cat))
    assert svg.get("style") == "max-width: none"
    style = next(svg.iter(f"{SVG}style")).text
    assert "@media (prefers-color-scheme: dark)" in style
    assert "[data-jp-theme-light=false], .vscode-dark" in style


def test_several_are_drawn_one_after_the_other(cat):
    svg = render(cat)
    assert render([cat, cat._.sdp, cat[:]]) == "\n".join([svg] * 3)
    assert render(doc for doc in [cat, cat]) == "\n".join([svg] * 2)
    assert render([]) == ""
    other = cat.copy()
    other._.sdp = []
    both = render([cat, other], gold=[other, cat])
    assert both == "\n".join([render(cat, gold=other), render(other, gold=cat)])
    with pytest.raises(ValueError, match="are 2 graphs to draw, but 1 in 'gold'"):
        render([cat, cat], gold=cat)
    with pytest.raises(TypeError, match="or several of them, not a str"):
        render([cat, "abc"])
    with pytest.raises(TypeError, match="or several of them, not a NoneType"):
        render(None)


def test_a_page_has_all_pictures(cat):
    page = render([cat, cat], page=True)
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert page.count("<article") == page.count('class="wide"') == 2
    assert "only sentences with differences" not in page
    assert "only sentences with differences" in render(cat, page=True, gold=cat)


def test_any_text_is_escaped_on_a_page():
    doc = Doc(Vocab(), words=['<b>"', "&", "\x00"], spaces=[True, True, False])
    doc._.sdp = [(0, 1, "<i>"), (0, 2, "\x07")]
    page = render(doc, page=True)
    assert "<b>" not in page and "<i>" not in page
    assert "<bdi>&lt;b&gt;&#34;</bdi>" in page and "<bdi>&amp;</bdi>" in page
    assert 'data-text="&lt;b&gt;&#34; &amp; \N{REPLACEMENT CHARACTER}"' in page
    assert "\x00" not in page and "\x07" not in page


def test_minified_pictures_have_no_line_breaks(cat):
    def parts(svg):
        return [(e.tag, e.attrib) for e in ElementTree.fromstring(svg).iter()]

    svg = render(cat, minify=True)
    assert "\n" not in svg and parts(svg) == parts(render(cat))
    drawings = re.findall("<svg.*?</svg>", render(cat, page=True, minify=True), re.S)
    assert len(drawings) == 2 and not any("\n" in drawing for drawing in drawings)
    assert svg in render([cat, cat], minify=True)


@pytest.mark.parametrize("option", ["page", "minify", "jupyter"])
def test_options_of_pictures_are_refused_for_other_styles(cat, option):
    with pytest.raises(ValueError, match="with style='arcs', not with 'text'"):
        render(cat, "text", **{option: True})


def test_a_page_is_not_for_notebooks(cat):
    with pytest.raises(ValueError, match="Set only 'page' or 'jupyter'"):
        render(cat, page=True, jupyter=True)


def test_unknown_styles_are_refused(cat):
    with pytest.raises(ValueError, match="'ascii': choose one of arcs, dot, text"):
        render(cat, "ascii")


@pytest.mark.parametrize("style", ["arcs", "dot", "text"])
def test_frames_are_drawn_on_request(cat, style):
    graph = SemanticGraph.from_arcs(cat, [(3, 2, "ARG1")], frames={3: "v:e-i-h"})
    assert "v:e-i-h" not in render(graph, style)
    drawn = render(graph, style, frames=True)
    assert "wants/v:e-i-h" in drawn and "cat/" not in drawn
