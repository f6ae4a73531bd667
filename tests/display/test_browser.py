"""Pages as a browser shows them."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab
from util import save_chain, serving

from spacy_sdp.display.page import draw_page
from spacy_sdp.display.picture import make_pictures

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="needs Chromium: apt install chromium"
)

PROBES = (Path(__file__).parent / "probes.js").read_text(encoding="utf8")


def with_probe(page, name):
    """Have a page leave what a probe gives in an element of its own."""
    code = f"""<script>{PROBES}
    (async () => {{
      const pre = document.createElement("pre");
      try {{ pre.textContent = JSON.stringify(await probes.{name}()); }}
      catch (error) {{ pre.textContent = JSON.stringify(String(error)); }}
      pre.id = "result";
      document.body.append(pre);
    }})();
    </script></body>"""
    return page.replace("</body>", code)


def open_page(url, path):
    """Open a page with a probe; RETURNS what the probe gave."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800"]
    options += ["--virtual-time-budget=20000", f"--user-data-dir={path / 'profile'}"]
    result = subprocess.run(
        [BROWSER, *options, "--dump-dom", url],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r'<pre id="result">(.*?)</pre>', result.stdout, re.S)
    assert found, result.stderr[-2000:]
    return json.loads(unescape(found[1]))


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


def draw_and_probe(docs, name, path):
    graphs = [doc._.sdp for doc in docs]
    pictures = (picture for graph in graphs for picture in make_pictures(graph))
    page = with_probe("".join(draw_page(pictures, "Test")), name)
    (path / "page.html").write_text(page, encoding="utf8")
    return open_page((path / "page.html").as_uri(), path)


def test_nothing_overlaps(docs, tmp_path):
    assert draw_and_probe(docs, "overlaps", tmp_path) == []


def test_the_filter_shows_what_matches(docs, tmp_path):
    found = draw_and_probe(docs, "filter", tmp_path)
    everything = ["The", "it ", "小猫想", "היל", "WWW"]
    assert [result["texts"] for result in found["results"]] == [
        everything,
        ["The"],
        ["小猫想"],
        ["小猫想"],
        [],
        everything,
    ]
    counts = [result["count"] for result in found["results"]]
    assert counts[:2] == ["5 sentences", "1 of 5 sentences"]
    assert found["labels"] == sorted({*found["labels"]}) and "BV" in found["labels"]
    assert found["faint"] == 4
    assert found["copied"].startswith("<svg") and "faint" not in found["copied"]
    assert "<style>" in found["copied"]


def test_a_wide_picture_scrolls_and_the_page_does_not(docs, tmp_path):
    found = draw_and_probe(docs, "scrolling", tmp_path)
    assert found == {"picture": True, "page": False}


def test_a_sentence_is_typed_and_its_graph_shown(tmp_path):
    names = [str(save_chain(tmp_path / name)) for name in ("one", "two")]
    with serving(names) as server:
        page = with_probe(server.page(), "typing")
        server.page = lambda: page
        found = open_page(server.url, tmp_path)
    assert found["first"] == ["The", "shy", "cat", "wants", "to", "eat", "."]
    assert "".join(found["second"]) == "<i>Dogs</i>bark&purr"
    assert found["overlaps"] == []
    assert found["saved"] == "<i>Dogs</i> bark & purr"
    assert (found["error"], found["left"]) == ("Type a sentence.", [])
