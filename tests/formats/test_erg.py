# Quotes, dashes and markup are what these tests are about.
# ruff: noqa: RUF001

import gzip
import sys
import warnings
from collections import Counter

import pytest
from erg_profile import (
    MRS,
    SCHEMA,
    TEXT,
    TOKENS,
    one_node,
    write_profile,
    write_relation,
    yy,
)

from spacy_sdp.formats import FormatError, sdp
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.formats.erg import profile as erg


@pytest.fixture
def profile(tmp_path):
    pytest.importorskip("delphin")
    pytest.importorskip("lemminflect")
    return write_profile(tmp_path)


def read_one(profile):
    (sentence,) = erg.read(profile)
    return sentence


def reason_to_leave_out(profile):
    left_out = Counter()
    assert list(erg.read(profile, left_out)) == []
    ((reason, count),) = left_out.items()
    assert count == 1
    return reason


def test_a_gold_analysis_becomes_a_sentence(profile):
    sentence = read_one(profile)
    assert sentence.id == "71"
    assert sentence.text == "Owls hunted mice."
    assert sentence.words == ["Owls", "hunted", "mice", "."]
    assert sentence.tags == ["NNS", "VBD", "NNS", "."]
    assert sentence.arcs == [(1, 0, "ARG1"), (1, 2, "ARG2")]
    assert sentence.tops == [1]
    assert sentence.predicates == [False, True, False, False]


def test_lemmas_do_not_give_the_analysis_away(profile):
    assert read_one(profile).lemmas == ["owl", "hunt", "mouse", "."]


def test_the_sentence_makes_a_doc_with_true_spaces(profile, nlp):
    doc = to_doc([read_one(profile)], nlp.vocab)
    assert doc.text == "Owls hunted mice."
    assert [token.text for token in doc] == ["Owls", "hunted", "mice", "."]
    assert not doc.has_unknown_spaces


def test_relations_may_be_compressed(profile):
    expected = read_one(profile)
    for name in ("item", "parse", "tree", "result"):
        (profile / f"{name}.gz").write_bytes(
            gzip.compress((profile / name).read_bytes())
        )
        (profile / name).unlink()
    assert read_one(profile) == expected


def test_fields_are_unescaped(profile):
    # Backslashes are doubled once more in the tokens.
    tokens = [("a@b", 0, 3, "NN"), ("\\\\n", 4, 6, "NN")]
    write_profile(profile, "a@b \\n", tokens, one_node(0, 3))
    assert read_one(profile).words == ["a@b", "\\n"]


# The rule, the raw text, the tokens (those of the grammar, with the part of the raw
# text that they cover) and the text that is read.
TEXTS = [
    (
        "markup of all kinds",
        "⌊•⌊#The ⌊∗red ⌊/⌊>barn owl>⌋/⌋∗⌋s, ⌊>owl>⌋s#⌋•⌋",
        ["The", "red", "⌊/barn|⌊/⌊>barn", "owls|owl>⌋/⌋∗⌋s", ",", "owls|owl>⌋s"],
        "The red barn owls, owls",
    ),
    ("a heading with a level", "⌊=Barn owls¦2=⌋", ["Barn", "owls"], "Barn owls"),
    (
        "brackets from and to other sentences",
        'at night"⌋ ⌊"Owls ⌊∗hunt',
        ["at", "night", "Owls", "hunt"],
        "at night Owls hunt",
    ),
    (
        "spaces inside of brackets",
        "see ⌊> barn owls>⌋ ⌊∗(here)∗⌋",
        ["see", "barn", "owls", "(", "here", ")"],
        "see barn owls (here)",
    ),
    (
        "placeholders",
        "if ⌊×x < 3 ×⌋, say ⌊λ/ɔɪ/¦a b¦IPAλ⌋ -⌊λz¦IPAλ⌋",
        ["if", "<math/>|⌊", ",", "say", "<ipa/>|⌊", "-<ipa/>|-⌊"],
        "if <math/>, say <ipa/> -<ipa/>",
    ),
    (
        "quotes",
        "an \"owl\" 'owl' “owl” isn't",
        [
            "an",
            '“|"',
            "owl",
            '”|"',
            "‘|'",
            "owl",
            "’|'",
            "“",
            "owl",
            "”",
            "is",
            "n’t|n't",
        ],
        "an \"owl\" 'owl' “owl” isn't",
    ),
    (
        "dashes",
        "owls--red -- 1-2 — bats",
        ["owls", "–|-", "red", "–|-", "1", "–|-", "2", "—", "bats"],
        "owls--red -- 1-2 — bats",
    ),
    (
        "ellipses",
        "owls... or ... bats . . . .",
        ["owls", "…|.", "or", "…|.", "bats", "…|.", "."],
        "owls... or ... bats … .",
    ),
    (
        "words with spaces",
        "about 1 000 owls",
        ["about", "1 000", "owls"],
        "about 1_000 owls",
    ),
    ("a form that is not written", "owls fly", ["bats|owls", "fly"], "bats fly"),
    ("no-break spaces", "owls\u00a0fly", ["owls", "fly"], "owls fly"),
]


@pytest.mark.parametrize(
    "raw_text, forms, text",
    [case[1:] for case in TEXTS],
    ids=[case[0] for case in TEXTS],
)
def test_the_text_is_that_of_the_item_without_markup(profile, raw_text, forms, text):
    tokens, end = [], 0
    for form in forms:
        form, _, covered = form.partition("|")
        start = raw_text.index(covered or form, end)
        end = start + len(covered or form)
        tokens.append((form, start, end, "NN"))
    write_profile(profile, raw_text, tokens, one_node(0, len(raw_text)))
    sentence = read_one(profile)
    assert sentence.text == text
    assert len(sentence.words) == len(forms)
    assert "".join(sentence.words) == text.replace(" ", "")


@pytest.mark.parametrize(
    "word, tag, lemma",
    [
        ("Mice", "NNS", "mouse"),
        ("Owl", "NN", "owl"),
        ("Athens", "NNP", "Athens"),
        ("Andes", "NNPS", "Andes"),
        ("flew", "VBD", "fly"),
        ("are", "VBP", "be"),
        ("bigger", "JJR", "big"),
        ("n't", "RB", "not"),
        ("n’t", "RB", "not"),
        ("'s", "VBZ", "'s"),
        ("Which", "WDT", "which"),
        ("I", "PRP", "I"),
        ("1990s", "NNS", "1990s"),
        ("<math/>", "NNS", "<math/>"),
        ("...", ":", "..."),
        ("Owls", None, "owls"),
    ],
)
def test_a_lemma_follows_from_word_and_tag(profile, word, tag, lemma):
    tokens = [(word, 0, len(word), tag), ("!", len(word), len(word) + 1, ".")]
    write_profile(profile, f"{word}!", tokens, one_node(0, len(word)))
    if tag is None:
        parse = profile / "parse"
        parse.write_text(parse.read_text().replace(', "None" 0.7500 "XX" 0.2500', ""))
    sentence = read_one(profile)
    assert sentence.tags == [tag, "."]
    assert sentence.lemmas == [lemma, "!"]


def test_punctuation_gets_the_tag_that_the_tagger_missed(profile):
    tokens = [("“", 0, 1, "NN"), ("owls", 1, 5, "NNS"), (",", 5, 6, "JJ")]
    write_profile(profile, '"owls,"', tokens, one_node(1, 5))
    assert read_one(profile).tags == ["``", "NNS", ","]


def test_what_is_said_is_a_conjunction_of_clauses_not_one_of_them(profile):
    # Both verbs and "and" have the label h10, and "flew" would represent it.
    mrs = """[ LTOP: h0 INDEX: e2 [ e SF: prop TENSE: past ] RELS: <
      [ _someone_n_1<0:7> LBL: h4 ARG0: x3 ]
      [ _say_v_to<8:12> LBL: h1 ARG0: e2 ARG1: x3 ARG2: h5 ]
      [ _owl_n_1<13:17> LBL: h6 ARG0: x7 ]
      [ _fly_v_1<27:31> LBL: h10 ARG0: e8 [ e TENSE: past ] ARG1: x7 ]
      [ _and_c<23:26> LBL: h10 ARG0: e9 [ e TENSE: past ] ARG1: e11 ARG2: e8 ]
      [ _sing_v_1<18:22> LBL: h10 ARG0: e11 [ e TENSE: past ] ARG1: x7 ] >
      HCONS: < h0 qeq h1 h5 qeq h10 > ]"""
    words = ["Someone", "said", "owls", "sang", "and", "flew"]
    text = " ".join(words)
    starts = [text.index(word) for word in words]
    tokens = [
        (word, start, start + len(word), "NN")
        for word, start in zip(words, starts, strict=True)
    ]
    write_profile(profile, text, tokens, mrs)
    arcs = {(words[h], label, words[d]) for h, d, label in read_one(profile).arcs}
    assert ("sang", "_and_c", "flew") in arcs
    assert ("said", "ARG2", "sang") in arcs and ("said", "ARG2", "flew") not in arcs


def with_arguments(first, second):
    """An analysis in which "Owls" has one argument, and "mice" another."""
    return MRS.replace("LBL: h7 ARG0: x3", f"LBL: h7 ARG0: x3 ARG1: {first}").replace(
        "LBL: h12 ARG0: x8", f"LBL: h12 ARG0: x8 ARG1: {second}"
    )


@pytest.mark.parametrize(
    "reason, changes",
    [
        ("no gold analysis", {"active": 0}),
        ("no gold analysis", {"active": -1}),
        ("no gold analysis", {"mrs": []}),
        ("several analyses, none marked as gold", {"mrs": [MRS, MRS]}),
        ("analysis cannot be read", {"mrs": ""}),
        ("analysis cannot be read", {"mrs": MRS[:200]}),
        ("analysis cannot be read", {"mrs": "[ LTOP: h0 RELS: < ] > ]"}),
        ("analysis cannot be read", {"mrs": "owls \x01 hunt"}),
        ("analysis cannot be read", {"tokens": ""}),
        ("analysis cannot be read", {"tokens": yy(TOKENS).replace('"hunted"', "")}),
        ("token that is only markup", {"tokens": [*TOKENS[:2], ("⌋", 23, 24, "NN")]}),
        ("overlapping tokens", {"tokens": [*TOKENS, ("wls", 3, 6, "NN")]}),
        ("one token", {"tokens": TOKENS[1:2]}),
        ("marked as ill-formed", {"well_formed": 0}),
        ("no top", {"mrs": one_node(9, 15, "addressee")}),
        ("cyclic", {"mrs": with_arguments("x8", "x3")}),
    ],
)
def test_a_sentence_without_a_usable_graph_is_counted(profile, reason, changes):
    write_profile(profile, **changes)
    assert reason_to_leave_out(profile) == reason


def test_nobody_has_to_count_what_is_left_out(profile):
    assert list(erg.read(write_profile(profile, active=0))) == []


def test_an_unsound_analysis_is_used_without_a_warning(profile):
    write_profile(profile, mrs=MRS.replace("h0 qeq h1 ", "h0 qeq h99 "))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_one(profile).tops == [1]


def test_a_profile_is_a_folder_with_a_schema(profile):
    assert erg.is_profile(profile) and erg.is_profile(str(profile))
    assert not erg.is_profile(profile / "item")
    assert not erg.is_profile(profile / "missing")
    (profile / "relations").unlink()
    assert not erg.is_profile(profile)


def break_schema(profile):
    (profile / "relations").write_text("  i-id :integer :key\n")


def break_field(profile):
    (profile / "relations").write_text(SCHEMA.replace("i-input", "text"))


def break_relation(profile):
    (profile / "tree").unlink()


def break_record(profile):
    (profile / "tree").write_text("5@1\n6\n")


def break_item(profile):
    write_relation(profile, "item", (72, TEXT, 1, ""))


def break_encoding(profile):
    (profile / "item").write_bytes(b"71@Owls \xff@\n")


def break_compression(profile):
    (profile / "item").rename(profile / "item.gz")


def break_length(profile):
    data = gzip.compress((profile / "item").read_bytes())
    (profile / "item.gz").write_bytes(data[:-12])
    (profile / "item").unlink()


def break_compressed_encoding(profile):
    (profile / "item.gz").write_bytes(gzip.compress(b"71@Owls \xff@\n"))
    (profile / "item").unlink()


@pytest.mark.parametrize(
    "damage, message",
    [
        (break_schema, "relations, line 1: field 'i-id' does not belong to a relation"),
        (break_field, "relations: relation 'item' has no field 'i-input'"),
        (break_relation, "relation 'tree' has no file"),
        (break_record, "tree, line 2: 1 fields, expected 2"),
        (break_item, "parse 5 refers to item 71, which does not exist"),
        (break_encoding, "item, line 1: not UTF-8"),
        (break_compression, "item.gz: not a valid gzip file"),
        (break_length, "item.gz: not a valid gzip file"),
        (break_compressed_encoding, "item.gz, line 1: not UTF-8"),
    ],
)
def test_a_broken_profile_is_refused_with_its_path(profile, damage, message):
    damage(profile)
    with pytest.raises(FormatError) as error:
        list(erg.read(profile))
    assert str(error.value).startswith(str(profile))
    assert message in str(error.value)


def test_a_folder_that_is_no_profile_is_refused(profile):
    with pytest.raises(FormatError, match="not a profile: it has no file 'relations'"):
        list(erg.read(profile / "missing"))


@pytest.mark.parametrize(
    "module, package", [("delphin", "pydelphin"), ("lemminflect", "lemminflect")]
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, module, package):
    write_profile(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FormatError, match=rf"{package}.*spacy-sdp\[erg\]"):
        list(erg.read(tmp_path))


@pytest.mark.parametrize(
    "name, profiles",
    [
        ("wescience.train", [f"ws2{number:02}" for number in range(1, 12)]),
        ("wescience.dev", ["ws212"]),
        ("wescience.test", ["ws213", "ws214"]),
        ("sherlock.ood", ["sh-spec"]),
    ],
)
def test_the_corpora_are_reproduced(shared_data, name, profiles):
    pytest.importorskip("delphin")
    pytest.importorskip("lemminflect")

    def graphs(sentences):
        return {
            each.id: (len(each.words), sorted(each.arcs), each.tops, each.predicates)
            for each in sentences
        }

    sentences = [
        sentence
        for profile in profiles
        for sentence in erg.read(shared_data / "erg/tsdb/gold" / profile)
    ]
    gold = graphs(sdp.read(shared_data / "open_dm" / f"{name}.dm.sdp"))
    found = graphs(sentences)
    # The corpora were made when fragments without a noun or verb were left out.
    assert {each: found.get(each) for each in gold} == gold
    assert len(gold) < len(found) < 1.05 * len(gold)
    for sentence in sentences:
        # Nothing is left of the markup, and the words are those of the text.
        assert not set("⌊⌋¦") & set(sentence.text)
        assert "".join(sentence.words) == "".join(sentence.text.split())


def test_a_fragment_is_what_stands_beside_the_empty_frame(tmp_path):
    pytest.importorskip("delphin")
    mrs = """[ LTOP: h0 INDEX: e2 RELS: <
      [ unknown<0:8> LBL: h1 ARG0: e2 ARG: u4 ]
      [ _of_p<0:2> LBL: h1 ARG0: e5 ARG1: i6 ARG2: x7 ]
      [ udef_q<3:8> LBL: h8 ARG0: x7 RSTR: h9 BODY: h10 ]
      [ _value_n_1<3:8> LBL: h11 ARG0: x7 ] > HCONS: < h0 qeq h1 h9 qeq h11 > ]"""
    tokens = [("of", 0, 2, "IN"), ("value", 3, 8, "NN")]
    sentence = read_one(write_profile(tmp_path, "of value", tokens, mrs))
    assert sentence.arcs == [(0, 1, "ARG2")] and sentence.tops == [0]


def test_a_sentence_that_is_marked_as_somewhat_odd_is_kept(tmp_path):
    pytest.importorskip("delphin")
    assert read_one(write_profile(tmp_path, well_formed=2)).tops == [1]
