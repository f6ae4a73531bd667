"""EDS here are written much as the grammar prints them, one node a line:

    _chase_v_1 "chased" [ARG1 _dog_n_1, ARG2 _cat_n_1]

with the words that the node covers, and the predicates as ids.
"""

import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from spacy_sdp.evaluation.metrics import score_sentences
from spacy_sdp.formats import Record, sdp
from spacy_sdp.formats.erg.eds_to_dm import (
    ABSTRACT_LEXICAL_PREDICATES,
    RELATIONS,
    TRANSPARENT_PREDICATES,
    Node,
    Token,
    convert,
    find_frames,
)
from spacy_sdp.formats.erg.frames import SemanticInterface

NODE = re.compile(r'(?P<predicate>\S+) "(?P<words>[^"]*)"(?: \[(?P<args>.*)\])?')


def find(text, words):
    # Not inside of another word.
    start = re.search(rf"(?<!\S){re.escape(words)}(?!\S)", text).start()
    return start, start + len(words)


def parse_eds(text, eds):
    nodes = []
    for line in eds.strip().splitlines():
        match = NODE.fullmatch(line.strip())
        args = dict(
            arg.split(" ", 1) for arg in (match["args"] or "").split(", ") if arg
        )
        constant = args.pop("CARG", None)
        predicate = match["predicate"]
        nodes.append(
            Node(predicate, predicate, *find(text, match["words"]), args, constant)
        )
    return nodes


def convert_text(text, top, eds):
    words = text.split()
    tokens = [Token(match[0], *match.span()) for match in re.finditer(r"\S+", text)]
    arcs, tops = convert(parse_eds(text, eds), top, tokens)
    return [f"{words[h]} {label} {words[d]}" for h, d, label in arcs], [
        words[top] for top in tops
    ]


# The rule, the sentence in tokens, its top node, its EDS, the arcs and the top.
CASES = [
    (
        "arguments of a word are arcs",
        "The dog chased two cats .",
        "_chase_v_1",
        """
        _the_q "The" [BV _dog_n_1]
        _dog_n_1 "dog"
        _chase_v_1 "chased" [ARG1 _dog_n_1, ARG2 _cat_n_1]
        udef_q "two cats" [BV _cat_n_1]
        card "two" [ARG1 _cat_n_1, CARG 2]
        _cat_n_1 "cats ."
        """,
        ["The BV dog", "chased ARG1 dog", "chased ARG2 cats", "two ARG1 cats"],
        "chased",
    ),
    (
        "a conjunction is an arc between its parts, and the first stands for all",
        "Owls and bats hunt",
        "_hunt_v_1",
        """
        _owl_n_1 "Owls"
        _and_c "and" [ARG1 _owl_n_1, ARG2 _bat_n_1]
        _bat_n_1 "bats"
        _hunt_v_1 "hunt" [ARG1 _and_c]
        """,
        ["Owls _and_c bats", "hunt ARG1 Owls"],
        "hunt",
    ),
    (
        "a conjunction of an older release prefers events to entities",
        "Owls hunt or sleep",
        "_or_c",
        """
        _owl_n_1 "Owls"
        _hunt_v_1 "hunt" [ARG1 _owl_n_1]
        _or_c "or" [L-INDEX _owl_n_1, L-HNDL _hunt_v_1, R-INDEX _sleep_v_1]
        _sleep_v_1 "sleep" [ARG1 _owl_n_1]
        """,
        ["hunt ARG1 Owls", "hunt _or_c sleep", "sleep ARG1 Owls"],
        "hunt",
    ),
    (
        "a conjunction with nothing to its left is a word",
        "But owls hunt",
        "_but_c",
        """
        _but_c "But" [ARG2 _hunt_v_1]
        _owl_n_1 "owls"
        _hunt_v_1 "hunt" [ARG1 _owl_n_1]
        """,
        ["But ARG2 hunt", "hunt ARG1 owls"],
        "But",
    ),
    (
        "parts without a conjunction",
        "Owls watched , waited",
        "implicit_conj",
        """
        _owl_n_1 "Owls"
        implicit_conj "watched , waited" [ARG1 _watch_v_1, ARG2 _wait_v_1]
        _watch_v_1 "watched ," [ARG1 _owl_n_1]
        _wait_v_1 "waited" [ARG1 _owl_n_1]
        """,
        ["watched ARG1 Owls", "watched conj waited", "waited ARG1 Owls"],
        "watched",
    ),
    (
        "a construction is an arc between its arguments",
        "tea cup handles",
        "_handle_n_1",
        """
        _handle_n_1 "handles"
        compound "tea cup handles" [ARG1 _handle_n_1, ARG2 _cup_n_1]
        compound_name "tea cup" [ARG1 _cup_n_1, ARG2 _tea_n_1]
        _cup_n_1 "cup"
        _tea_n_1 "tea"
        """,
        ["tea compound cup", "cup compound handles"],
        "handles",
    ),
    (
        "a counted noun belongs to the last of the numbers",
        "three thousand owls",
        "_owl_n_1",
        """
        times "three thousand" [ARG1 _owl_n_1, ARG2 card, ARG3 ord]
        card "three" [CARG 3]
        ord "thousand" [CARG 1000]
        _owl_n_1 "owls"
        """,
        ["three times thousand", "thousand ARG1 owls"],
        "owls",
    ),
    (
        "foreign words are an expression",
        "the ballon d'essai",
        "fw_seq",
        """
        _the_q "the" [BV fw_seq]
        fw_seq "ballon d'essai" [ARG1 quoted, ARG2 named]
        quoted "ballon"
        named "d'essai"
        """,
        ["the BV d'essai", "d'essai mwe ballon"],
        "d'essai",
    ),
    (
        "a sequence of one foreign word is that word",
        "the ballon",
        "fw_seq",
        """
        _the_q "the" [BV fw_seq]
        fw_seq "ballon" [ARG1 quoted]
        quoted "ballon"
        """,
        ["the BV ballon"],
        "ballon",
    ),
    (
        "a transparent node is its argument",
        "Swimming tires owls",
        "_tire_v_1",
        """
        nominalization "Swimming" [ARG1 _swim_v_1]
        _swim_v_1 "Swimming"
        _tire_v_1 "tires" [ARG1 nominalization, ARG2 _owl_n_1]
        _owl_n_1 "owls"
        """,
        ["tires ARG1 Swimming", "tires ARG2 owls"],
        "tires",
    ),
    (
        "a heading has a transparent top",
        "Sleepy owls",
        "unknown",
        """
        unknown "Sleepy owls" [ARG _owl_n_1]
        _sleepy_a_1 "Sleepy" [ARG1 _owl_n_1]
        _owl_n_1 "owls"
        """,
        ["Sleepy ARG1 owls"],
        "owls",
    ),
    (
        "an abstract top is the first of its arguments that is there",
        "Hello , owls sleep",
        "discourse",
        """
        discourse "Hello , owls sleep" [ARG1 greet, ARG2 _sleep_v_1]
        greet "Hello ,"
        _owl_n_1 "owls"
        _sleep_v_1 "sleep" [ARG1 _owl_n_1]
        """,
        ["sleep ARG1 owls"],
        "sleep",
    ),
    (
        "the last of several words has the arcs",
        "By and large , owls sleep",
        "_sleep_v_1",
        """
        _by+and+large_a_1 "By and large ," [ARG1 _sleep_v_1]
        _owl_n_1 "owls"
        _sleep_v_1 "sleep" [ARG1 _owl_n_1]
        """,
        ["large mwe By", "large mwe and", "large ARG1 sleep", "sleep ARG1 owls"],
        "sleep",
    ),
    (
        "an abstract node of several words is none of them",
        "the day before",
        "_day_n_of",
        """
        _day_n_of "day"
        time_n "the day before" [ARG1 _day_n_of]
        _before_p "before" [ARG1 _day_n_of, ARG2 time_n]
        """,
        ["before ARG1 day"],
        "day",
    ),
    (
        "an abstract node with a constant is all of them",
        "New York sleeps",
        "_sleep_v_1",
        """
        named "New York" [CARG NewYork]
        _sleep_v_1 "sleeps" [ARG1 named]
        """,
        ["York mwe New", "sleeps ARG1 York"],
        "sleeps",
    ),
    (
        "a pronoun may have two words",
        "Owls saw each other",
        "_see_v_1",
        """
        _owl_n_1 "Owls"
        _see_v_1 "saw" [ARG1 _owl_n_1, ARG2 recip_pro]
        recip_pro "each other"
        """,
        ["saw ARG1 Owls", "saw ARG2 other", "other mwe each"],
        "saw",
    ),
    (
        "a contraction is a verb and a negation",
        "Owls ca n't read",
        "neg",
        """
        _owl_n_1 "Owls"
        _can_v_modal "ca n't" [ARG1 _read_v_1]
        neg "ca n't" [ARG1 _can_v_modal]
        _read_v_1 "read" [ARG1 _owl_n_1]
        """,
        ["ca ARG1 read", "n't neg ca", "read ARG1 Owls"],
        "n't",
    ),
    (
        "comparatives have labels of their own",
        "bats are smaller than owls",
        "_small_a_1",
        """
        _bat_n_1 "bats"
        _small_a_1 "smaller" [ARG1 _bat_n_1]
        more_comp "smaller" [ARG1 _small_a_1, ARG2 _owl_n_1]
        _owl_n_1 "owls"
        """,
        ["smaller ARG1 bats", "smaller than owls"],
        "smaller",
    ),
    (
        "a comparative with a word of its own points to what it compares",
        "bats are less sleepy than owls",
        "_sleepy_a_1",
        """
        _bat_n_1 "bats"
        _less_x_comp "less" [ARG1 _sleepy_a_1, ARG2 _owl_n_1]
        _sleepy_a_1 "sleepy" [ARG1 _bat_n_1]
        _owl_n_1 "owls"
        """,
        ["less comp_less sleepy", "less than owls", "sleepy ARG1 bats"],
        "sleepy",
    ),
    (
        "a part points to the whole",
        "most of them",
        "part_of",
        """
        part_of "most" [ARG1 pron]
        pron "them"
        """,
        ["most part them"],
        "most",
    ),
    (
        "of two arcs between the same words, there is the first",
        "owls shave themselves",
        "_shave_v_1",
        """
        _owl_n_1 "owls"
        _shave_v_1 "shave" [ARG1 _owl_n_1, ARG2 _owl_n_1]
        """,
        ["shave ARG1 owls"],
        "shave",
    ),
    (
        "what points nowhere, to itself or in a circle is no arc",
        "owls sleep",
        "_sleep_v_1",
        """
        _owl_n_1 "owls" [ARG1 _owl_n_1, ARG2 missing]
        _sleep_v_1 "sleep" [ARG1 nominalization]
        nominalization "sleep" [ARG1 eventuality]
        eventuality "sleep" [ARG1 nominalization]
        """,
        [],
        "sleep",
    ),
]


@pytest.mark.parametrize(
    "text, top, eds, arcs, top_word",
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_rule(text, top, eds, arcs, top_word):
    assert convert_text(text, top, eds) == (arcs, [top_word])


@pytest.mark.parametrize("predicate", sorted(RELATIONS))
def test_every_relation_is_an_arc_and_its_head_stands_for_it(predicate):
    relation = RELATIONS[predicate][0]
    eds = f"""
        {predicate} "one two" [{relation.head} _one_n_1, {relation.dep} _two_n_1]
        _one_n_1 "one"
        _two_n_1 "two"
        _see_v_1 "see" [ARG1 {predicate}]
        """
    arcs, tops = convert_text("see one two", predicate, eds)
    assert arcs == ["see ARG1 one", f"one {relation.label} two"]
    assert tops == ["one"]


@pytest.mark.parametrize("predicate", sorted(ABSTRACT_LEXICAL_PREDICATES))
def test_every_abstract_lexical_predicate_has_a_token(predicate):
    eds = f"""
        _see_v_1 "see" [ARG1 {predicate}]
        {predicate} "it"
        """
    assert convert_text("see it", "_see_v_1", eds) == (["see ARG1 it"], ["see"])


def test_no_predicate_has_two_kinds():
    kinds = [ABSTRACT_LEXICAL_PREDICATES, set(RELATIONS), set(TRANSPARENT_PREDICATES)]
    assert sum(map(len, kinds)) == len(set().union(*kinds))


@pytest.mark.parametrize("top", [None, "missing", "udef_q"])
def test_without_a_token_for_the_top_there_is_no_top(top):
    assert convert_text("owls", top, 'udef_q "owls"\n_owl_n_1 "owls"') == ([], [])


# Where the tokens of the official sample differ from its raw text.
RAW_FORMS = {"–": "--", "“": "``", "”": "''", "…": "..."}  # noqa: RUF001
STRAIGHT = str.maketrans("“”’‘–—…", "\"\"''--.")  # noqa: RUF001


def locate(words, text):
    """Find the tokens of the official sample in its raw text."""
    tokens, start = [], 0
    for word in words:
        start += len(text[start:]) - len(text[start:].lstrip())
        form = next(
            form
            for form in (RAW_FORMS.get(word, word), word)
            if text.translate(STRAIGHT).startswith(form.translate(STRAIGHT), start)
        )
        tokens.append(Token(word, start, start + len(form)))
        start += len(form)
    return tokens


def read_eds(path):
    """Yield id, text, nodes and top of the graphs of an MRP file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        graph = json.loads(line)
        args = {node["id"]: {} for node in graph["nodes"]}
        for edge in graph["edges"]:
            args[edge["source"]][edge["label"]] = str(edge["target"])
        nodes = [
            Node(
                str(node["id"]),
                node["label"],
                node["anchors"][0]["from"],
                node["anchors"][0]["to"],
                args[node["id"]],
                node.get("values", [None])[0],
            )
            for node in graph["nodes"]
        ]
        yield graph["id"], graph["input"], nodes, str(graph["tops"][0])


def test_the_official_sample_has_frames_of_the_same_predicates(shared_data):
    """The part before the colon; the types of arguments depend on the grammar release.

    The official frames lack the senses of most prepositions and of words of degree.
    """
    gold = {each.id: each for each in sdp.read(shared_data / "sdp_sample" / "dm.sdp")}
    interface = SemanticInterface({})
    counts = Counter()
    for sentence_id, text, nodes, _ in read_eds(shared_data / "sdp_sample/eds.mrp"):
        nodes = [replace(n, frame=interface.frame(n.predicate, {})) for n in nodes]
        sentence = gold[sentence_id]
        found = find_frames(nodes, locate(sentence.words, text))
        for frames in zip(sentence.frames, found, strict=True):
            if any(frames):
                one, other = ((each or "").split(":")[0] for each in frames)
                counts[one == other, one == other.split("_")[0]] += 1
    same_sense = counts[True, True] + counts[True, False]
    assert (same_sense, counts[False, True], counts.total()) == (1499, 39, 1552)


def test_the_official_sample_has_the_same_graphs_in_eds_and_in_dm(shared_data):
    gold = {each.id: each for each in sdp.read(shared_data / "sdp_sample" / "dm.sdp")}
    converted = []
    for sentence_id, text, nodes, top in read_eds(shared_data / "sdp_sample/eds.mrp"):
        words = gold[sentence_id].words
        arcs, tops = convert(nodes, top, locate(words, text))
        converted.append(Record(words, arcs, tops, sentence_id))
    scores = score_sentences([gold[each.id] for each in converted], converted)
    assert len(converted) == len(gold) == 89
    assert scores["with_tops"]["LF"] > 0.999
    assert round(scores["with_tops"]["LM"] * 89) == 88
