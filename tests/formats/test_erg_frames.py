"""The frames that the ERG's own predicates and interface give."""

import pytest

from spacy_sdp.formats import sdp
from spacy_sdp.formats.erg.eds_to_dm import Node, Token, find_frames
from spacy_sdp.formats.erg.frames import SemanticInterface, find_interface
from spacy_sdp.formats.erg.profile import read
from spacy_sdp.formats.files import FormatError

ABSTRACT = """predicates:

  named : ARG0 x { IND + }.
  neg : ARG0 e, ARG1 h.
"""
SURFACE = """predicates:

  _chase_v_1 : ARG0 e { TENSE past }, ARG1 x, [ ARG2 x ].
  _chase_v_1 : ARG0 e, ARG1 h.
  _say_v_to : ARG0 e, ARG1 x, ARG2 h, ARG3 x.
"""


@pytest.fixture
def interface(tmp_path):
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "abstract.smi").write_text(ABSTRACT)
    (folder / "surface.smi").write_text(SURFACE)
    return SemanticInterface.read(folder)


@pytest.mark.parametrize(
    ("predicate", "types", "frame"),
    [
        # The types of the interface, not those of the sentence.
        ("_chase_v_1", {"ARG0": "e", "ARG1": "i", "ARG2": "x"}, "v:e-x-x"),
        ("_chase_v_1", {"ARG0": "e", "ARG1": "x"}, "v:e-h"),
        (
            "_say_v_to",
            {"ARG0": "e", "ARG1": "x", "ARG2": "h", "ARG3": "x"},
            "v_to:e-x-h-x",
        ),
        ("named", {"ARG0": "x", "CARG": "c"}, "named:x-c"),
        ("neg", {"ARG0": "e", "ARG1": "h"}, "neg:e-h"),
        # Roles or a predicate that the interface does not have.
        ("_chase_v_1", {"ARG0": "e", "ARG2": "p"}, "v:e-p"),
        ("_burlap/nn_u_unknown", {"ARG0": "x"}, "u:x"),
    ],
)
def test_a_frame_has_the_types_of_the_interface(interface, predicate, types, frame):
    assert interface.frame(predicate, types) == frame


def test_an_interface_is_looked_for_beside_the_treebanks(interface, tmp_path):
    profile = tmp_path / "tsdb" / "gold" / "ws201"
    profile.mkdir(parents=True)
    found = find_interface(profile)
    assert found is not None and found.frame("neg", {"ARG0": "i", "ARG1": "h"})
    (tmp_path / "etc" / "abstract.smi").unlink()
    assert find_interface(profile) is None


def test_an_interface_that_cannot_be_read_names_the_line(tmp_path):
    (tmp_path / "abstract.smi").write_text(ABSTRACT)
    (tmp_path / "surface.smi").write_text("predicates:\n\n  _a_q : ARG0 x, RSTR.\n")
    with pytest.raises(FormatError, match=r"surface\.smi.*3.*'_a_q'.*found 'RSTR'"):
        SemanticInterface.read(tmp_path)


def frames_of(text, *nodes):
    tokens, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        tokens.append(Token(word, start, end))
    return find_frames(nodes, tokens)


def node(predicate, start, end, frame, **args):
    return Node(f"{predicate}-{start}", predicate, start, end, args, frame=frame)


@pytest.mark.parametrize(
    ("word", "weaker", "stronger", "frame"),
    [
        ("taller", ("comp", "comp:e-u"), ("_tall_a_1", "a:e-x"), "a:e-x"),
        ("two", ("part_of", "part_of:x-x"), ("card", "card:i-u-c"), "card:i-u-c"),
        ("cannot", ("neg", "neg:e-h"), ("_can_v_modal", "v_modal:e-h"), "v_modal:e-h"),
        ("most", ("superl", "superl:e-u"), ("part_of", "part_of:x-x"), "part_of:x-x"),
        ("her", ("def_explicit_q", "q:x-h-h"), ("pron", "pron:x"), "q:i-h-h"),
        ("she", ("pronoun_q", "q:x-h-h"), ("pron", "pron:x"), "pron:x"),
    ],
)
def test_the_strongest_node_of_a_token_gives_the_frame(word, weaker, stronger, frame):
    nodes = [node(name, 0, len(word), each) for name, each in (weaker, stronger)]
    assert frames_of(word, *nodes) == frames_of(word, *nodes[::-1]) == [frame]


def test_of_nodes_as_strong_the_first_gives_the_frame():
    time, now = node("time_n", 0, 3, "time_n:x"), node("_now_a_1", 0, 3, "a:e-e")
    assert frames_of("now", time, now) == ["time_n:x"]
    assert frames_of("now", now, time) == ["a:e-e"]


def test_a_compound_has_the_frame_of_its_last_part():
    water, cool = (
        node("_water_n_1", 0, 12, "n:x"),
        node("_cool_v_1", 0, 12, "v:e-x-x"),
    )
    assert frames_of("water-cooled", water, cool) == ["v:e-x-x"]
    weak = node("comp", 0, 12, "comp:e-u")
    assert frames_of("water-cooled", water, cool, weak) == ["v:e-x-x"]


def test_all_words_of_an_expression_have_its_frame():
    found = frames_of(
        "tea because of it",
        node("_tea_n_1", 0, 3, "n:x"),
        node("_because+of_p", 4, 14, "p:e-u-i"),
        node("pron", 15, 17, "pron:x"),
    )
    assert found == ["n:x", "p:e-u-i", "p:e-u-i", "pron:x"]
    assert frames_of("of it", node("udef_q", 0, 2, "q:x-h-h")) == [None, None]


def test_the_corpora_have_the_same_frames(shared_data):
    pytest.importorskip("delphin")
    pytest.importorskip("lemminflect")
    folder = shared_data / "open_dm"
    gold = {each.id: each.frames for each in sdp.read(folder / "wescience.dev.dm.sdp")}
    found = {each.id: each.frames for each in read(shared_data / "erg/tsdb/gold/ws212")}
    assert {each: found.get(each) for each in gold} == gold
