import gc
import pickle
import re
import weakref
from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from util import count_lines

from spacy_sdp import SemanticGraph, formats, register_extensions
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.graph.arc import IndexedArc

FOLDER = Path(__file__).parent
# How clauses.txt calls the fields of a clause that are not there by default.
FIELDS = {
    "where": "where",
    "when": "when",
    "why": "why",
    "how": "how",
    "others": "others",
    "modality": "modality",
    "by": "attribution",
    "if": "conditional",
    "asked": "asked",
}


def read_expected():
    """Give the clauses of each sentence, as rows of a table."""
    expected = {}
    for line in (FOLDER / "clauses.txt").read_text(encoding="utf8").splitlines():
        if line.startswith("> "):
            rows = expected.setdefault(line[2:], [])
        elif line and not line.startswith("#"):
            rows.append(to_row(line.split(" | ")))
    return expected


def to_row(cells):
    row = dict.fromkeys(["subject", "verb", "objects", *FIELDS.values()], "")
    values = ["" if cell == "-" else cell for cell in cells[:3]]
    row |= zip(("subject", "verb", "objects"), values, strict=True)
    row["negated"] = "not" in cells
    for cell in cells[3:]:
        name, _, value = cell.partition(": ")
        if name != "not":
            row[FIELDS[name]] = value
    return row


def read_docs():
    """Give the sentences with their gold graphs and tags, by text."""
    nlp = spacy.blank("en")
    docs = {}
    records = formats.read(FOLDER / "clauses.sdp")
    for text, record in zip(read_expected(), records, strict=True):
        doc, gold = nlp(text), to_doc([record], nlp.vocab)
        for token, annotated in zip(doc, gold, strict=True):
            assert token.text == annotated.text
            token.tag_, token.lemma_ = annotated.tag_, annotated.lemma_
        doc._.sdp = gold._.sdp
        docs[text] = doc
    return docs


@pytest.fixture
def tagged(cat):
    for token, tag in zip(cat, ("DT", "JJ", "NN", "VBZ", "TO", "VB", "."), strict=True):
        token.tag_ = tag
    return cat


EXPECTED = read_expected()
DOCS = read_docs()


def clauses_of(text, **settings):
    return DOCS[text]._.sdp.clauses(**settings)


def test_there_are_a_hundred_sentences():
    assert len(EXPECTED) >= 100


@pytest.mark.parametrize("text", EXPECTED)
def test_clauses_are_those_that_a_person_would_write_down(text):
    rows = [clause.to_dict() for clause in clauses_of(text)]
    assert [{name: row[name] for name in to_row("---")} for row in rows] == (
        EXPECTED[text]
    )


@pytest.mark.parametrize(
    ("text", "propositions"),
    [
        ("The wound was washed by the nurse.", ["the wound was washed by the nurse"]),
        ("She turned the radio off.", ["she turned off the radio"]),
        ("Where does your sister work?", ["your sister does work where"]),
        ("There is a mouse in the kitchen.", ["there is a mouse in the kitchen"]),
        (
            "Rome, which attracts many tourists, has seven hills.",
            [
                "Rome attracts many tourists",
                "Rome, which attracts many tourists, has seven hills",
            ],
        ),
        ("Are there any questions?", ["there are any questions"]),
        ("We no longer use that machine.", ["we no longer use that machine"]),
        (
            "The teacher gave a pencil to the girl.",
            ["the teacher gave a pencil to the girl"],
        ),
        (
            "The children seem to like the teacher.",
            ["the children seem to like the teacher"],
        ),
        (
            "The thief tried to open the safe.",
            ["the thief tried to open the safe", "the thief to open the safe"],
        ),
        (
            "The house in which they live belongs to a banker.",
            [
                "they live in the house",
                "the house in which they live belongs to a banker",
            ],
        ),
        (
            "If it rains, we will stay at home.",
            ["it rains", "we will stay at home if it rains"],
        ),
        ("How old are you?", ["you are how old"]),
        (
            "It is too late to change the plan.",
            ["it is too late to change the plan", "to change the plan"],
        ),
        ("It was Tom who broke the window.", ["Tom broke the window"]),
        ("The price went up by 3%.", ["the price went up by 3%"]),
        (
            '"We have lost everything," a resident told reporters.',
            [
                "we have lost everything",
                "a resident told reporters we have lost everything",
            ],
        ),
        (
            "Yesterday the company opened a factory in Leeds.",
            ["the company opened a factory in Leeds yesterday"],
        ),
        (
            "She thanked the man whose dog had found the keys.",
            [
                "she thanked the man whose dog had found the keys",
                "the man's dog had found the keys",
            ],
        ),
        (
            "I'm looking forward to seeing you.",
            ["I'm looking forward to seeing you", "I seeing you"],
        ),
    ],
)
def test_text_is_a_plain_proposition(text, propositions):
    assert [clause.text for clause in clauses_of(text)] == propositions


def test_active_and_passive_have_the_same_arguments():
    (active,) = clauses_of("The nurse washed the wound.")
    (passive,) = clauses_of("The wound was washed by the nurse.")
    assert active.subject.head.text == passive.subject.head.text == "nurse"
    assert active.objects[0].head.text == passive.objects[0].head.text == "wound"
    assert (active.voice, passive.voice) == ("active", "passive")


@pytest.mark.parametrize(
    ("text", "tense", "aspect"),
    [
        ("The nurse washed the wound.", "past", ""),
        ("The old mill has been sold by the city council.", "present", "perfect"),
        ("The new stadium is being built near the river.", "present", "progressive"),
        ("When will the concert begin?", "future", ""),
        ("You must lock the gate.", "", ""),
        ("The letter might have been lost.", "", "perfect"),
        ("The tenor was singing, and the pianist was too.", "past", "progressive"),
        (
            "He's been working here since 2010.",
            "present",
            "perfect progressive",
        ),
    ],
)
def test_tense_and_aspect(text, tense, aspect):
    clause = clauses_of(text)[0]
    assert (clause.tense, clause.aspect) == (tense, aspect)


@pytest.mark.parametrize(
    ("text", "asserted"),
    [
        # Statements, relative clauses and adverbial clauses …
        ("Rome, which attracts many tourists, has seven hills.", [True, True]),
        ("The match was cancelled because the field was wet.", [True, True]),
        ("Walking home, Lucy found a coin.", [True, True]),
        ("He works harder than anyone else.", [True]),
        # … but neither complements, infinitives and imperatives …
        ("The minister said that taxes would rise.", [True, False]),
        ("It surprised everyone that the queen laughed.", [True, False]),
        ("It is possible that the ship sank.", [True, False]),
        ("The news that the mayor had resigned shocked the town.", [False, True]),
        ("I wonder whether the museum opens on Mondays.", [True, False]),
        ("I was too tired to work last night.", [True, False]),
        ("She moved to Spain to learn the language.", [True, False]),
        ("Smoking cigarettes damages the lungs.", [False, True]),
        ("Close the door.", [False]),
        # … nor what is negated, possible, conditional, asked or an alternative.
        ("He left the shop without paying.", [True, False]),
        ("Hardly anyone came.", [False]),
        ("The suspect allegedly stole three cars.", [False]),
        ("If it rains, we will stay at home.", [False, False]),
        ("Is the coffee ready?", [False]),
        ("Either you leave or I call the police.", [False, False]),
    ],
)
def test_statements_are_asserted(text, asserted):
    assert [clause.asserted for clause in clauses_of(text)] == asserted


def test_a_part_of_an_alternative_is_not_asserted():
    text = "Either Tom or his sister feeds the cat."
    assert [clause.asserted for clause in clauses_of(text)] == [True]
    parts = clauses_of(text, conjuncts=True)
    assert [clause.asserted for clause in parts] == [False, False]


def test_coordination_is_distributed_on_request():
    text = "Clara and Paul painted the kitchen and the hall."
    assert len(clauses_of(text)) == 1
    rows = [clause.to_dict() for clause in clauses_of(text, conjuncts=True)]
    assert [(row["subject"], row["objects"]) for row in rows] == [
        ("Clara", "the kitchen"),
        ("Clara", "the hall"),
        ("Paul", "the kitchen"),
        ("Paul", "the hall"),
    ]


def test_each_part_of_a_distributed_coordination_has_its_own_negation(nlp):
    doc = Doc(
        nlp.vocab,
        words=["She", "drinks", "tea", "but", "not", "coffee"],
        tags=["PRP", "VBZ", "NN", "CC", "RB", "NN"],
    )
    doc._.sdp = [(1, 0, "ARG1"), (1, 2, "ARG2"), (2, 5, "_but+not_c")]
    (one,) = doc._.sdp.clauses()
    assert (str(one.objects[0]), one.negated) == ("tea but not coffee", False)
    rows = doc._.sdp.clauses(conjuncts=True)
    assert [(str(row.objects[0]), row.negated) for row in rows] == [
        ("tea", False),
        ("coffee", True),
    ]


def read(nlp, tagged, arcs, top):
    """Make a Doc from "word/TAG" and "head-LABEL->dep"; "a.2" is the second "a"."""
    words, tags = zip(*(each.rsplit("/", 1) for each in tagged.split()), strict=True)
    names = [
        f"{word}.{words[:i].count(word) + 1}" if word in words[:i] else word
        for i, word in enumerate(words)
    ]
    doc = Doc(nlp.vocab, words=words, tags=tags, lemmas=[w.lower() for w in words])
    graph = [(-1, names.index(top), "root")]
    for arc in arcs.split():
        head, label, dep = re.fullmatch(r"(.+)-([^-]+)->(.+)", arc).groups()
        graph.append((names.index(head), names.index(dep), label))
    doc._.sdp = graph
    return doc


@pytest.mark.parametrize(
    ("tagged", "arcs", "top", "propositions"),
    [
        (
            "They/PRP sold/VBD it/PRP to/IN a/DT bank/NN on/IN Monday/NNP ./.",
            "sold-ARG1->They sold-ARG2->it sold-ARG3->bank to-ARG1->sold to-ARG2->bank"
            " a-BV->bank on-ARG1->sold on-ARG2->Monday",
            "sold",
            ["they sold it to a bank on Monday"],
        ),
        (
            "He/PRP said/VBD that/IN \"/`` all/DT is/VBZ fine/JJ \"/'' ./.",
            "said-ARG1->He said-ARG2->fine fine-ARG1->all",
            "said",
            ['he said that " all is fine "', "all is fine"],
        ),
        (
            "She/PRP was/VBD tired/JJ ,/, hungry/JJ and/CC cold/JJ ./.",
            "tired-ARG1->She tired-conj->hungry hungry-ARG1->She hungry-_and_c->cold"
            " cold-ARG1->She",
            "tired",
            ["she was tired", "she was hungry", "she was cold"],
        ),
        (
            "She/PRP can/MD sing/VB ,/, dance/VB and/CC act/VB ./.",
            "can-ARG1->sing sing-ARG1->She sing-conj->dance dance-ARG1->She"
            " dance-_and_c->act act-ARG1->She",
            "can",
            ["she can sing", "she can dance", "she can act"],
        ),
        (
            "He/PRP was/VBD not/RB working/VBG and/CC she/PRP was/VBD not/RB"
            " sleeping/VBG ./.",
            "not-neg->working not-_and_c->not.2 working-ARG1->He not.2-neg->sleeping"
            " sleeping-ARG1->she",
            "not",
            ["he was not working", "she was not sleeping"],
        ),
        (
            "I/PRP can/MD not/RB come/VB and/CC you/PRP can/MD not/RB drive/VB ./.",
            "can-ARG1->come can-_and_c->can.2 not-neg->can come-ARG1->I"
            " can.2-ARG1->drive not.2-neg->can.2 drive-ARG1->you",
            "not",
            ["I can not come", "you can not drive"],
        ),
        (
            "The/DT book/NN is/VBZ more/RBR interesting/JJ than/IN the/DT film/NN ./.",
            "The-BV->book more-comp->interesting more-than->film"
            " interesting-ARG1->book the-BV->film",
            "interesting",
            ["the book is more interesting than the film"],
        ),
        (
            "Both/DT Anna/NNP and/CC Ben/NNP like/IN tea/NN and/CC coffee/NN ./.",
            "Anna-_and_c->Ben like-ARG1->Anna like-ARG2->tea tea-_and_c->coffee",
            "like",
            ["both Anna and Ben like tea and coffee"],
        ),
        (
            "She/PRP picked/VBD them/PRP up/RB from/IN school/NN ./.",
            "picked-ARG1->She picked-ARG2->them from-ARG1->picked from-ARG2->school",
            "picked",
            ["she picked up them from school"],
        ),
        (
            "It/PRP rose/VBD to/TO 3,000/CD ,/, in/IN May/NNP ,/, June/NNP and/CC"
            " July/NNP ,/, again/RB ./.",
            "rose-ARG1->It to-ARG1->rose to-ARG2->3,000 in-ARG1->rose in-ARG2->May"
            " May-conj->June June-_and_c->July again-ARG1->rose",
            "rose",
            ["it rose to 3,000 in May , June and July, again"],
        ),
    ],
)
def test_propositions_of_small_graphs(nlp, tagged, arcs, top, propositions):
    clauses = read(nlp, tagged, arcs, top)._.sdp.clauses()
    assert [clause.text for clause in clauses] == propositions


@pytest.mark.parametrize(
    ("tagged", "arcs", "top", "negated"),
    [
        (
            "Nor/CC did/VBD he/PRP apologise/VB ./.",
            "Nor-ARG2->apologise apologise-ARG1->he",
            "Nor",
            True,
        ),
        (
            "Not/RB every/DT student/NN passed/VBD it/PRP ./.",
            "Not-ARG1->every every-BV->student passed-ARG1->student passed-ARG2->it",
            "passed",
            True,
        ),
        (
            "Not/RB many/JJ people/NNS came/VBD ./.",
            "Not-neg->many many-ARG1->people came-ARG1->people",
            "came",
            True,
        ),
        (
            "She/PRP by/IN no/DT means/NNS agreed/VBD ./.",
            "by-ARG2->means by-ARG1->agreed no-BV->means agreed-ARG1->She",
            "agreed",
            True,
        ),
        (
            "She/PRP not/RB only/RB sings/VBZ ./.",
            "not-neg->only only-ARG1->sings sings-ARG1->She",
            "sings",
            False,
        ),
    ],
)
def test_negation_of_small_graphs(nlp, tagged, arcs, top, negated):
    (clause,) = read(nlp, tagged, arcs, top)._.sdp.clauses()
    assert clause.negated is negated


@pytest.mark.parametrize(
    ("tagged", "arcs", "top"),
    [
        (
            "The/DT fact/NN is/VBZ that/IN he/PRP lied/VBD ./.",
            "The-BV->fact is-ARG1->fact is-ARG2->lied lied-ARG1->he",
            "is",
        ),
        (
            "I/PRP know/VBP what/WP you/PRP wrote/VBD ./.",
            "know-ARG1->I know-ARG2->wrote wrote-ARG1->you wrote-ARG2->what",
            "know",
        ),
        (
            "They/PRP make/VBP us/PRP laugh/VBP ./.",
            "make-ARG1->They make-ARG2->laugh laugh-ARG1->us",
            "make",
        ),
    ],
)
def test_only_reports_are_attributed(nlp, tagged, arcs, top):
    clauses = read(nlp, tagged, arcs, top)._.sdp.clauses()
    assert [clause.attribution for clause in clauses] == [None, None]


def test_relative_pronouns_of_statements_ask_for_nothing(nlp):
    doc = read(
        nlp,
        "What/WP he/PRP said/VBD was/VBD wrong/JJ ./.",
        "said-ARG2->What said-ARG1->he wrong-ARG1->What",
        "wrong",
    )
    assert [clause.asked for clause in doc._.sdp.clauses()] == [None, None]


def test_contractions_are_joined_as_in_the_text(nlp):
    doc = nlp.make_doc("She's happy.")
    for token, tag in zip(doc, ("PRP", "VBZ", "JJ", "."), strict=True):
        token.tag_ = tag
    doc._.sdp = [(-1, 2, "root"), (2, 0, "ARG1")]
    assert [clause.text for clause in doc._.sdp.clauses()] == ["she's happy"]


@pytest.mark.parametrize(
    ("text", "tags", "arcs", "verb", "modality"),
    [
        ("He can't swim.", "PRP MD RB VB .", "1-ARG1-3 2-neg-1 3-ARG1-0", "can", "can"),
        ("We won\u2019t go.", "PRP MD RB VB .", "2-neg-3 3-ARG1-0", "will", ""),
        ("I'd stay.", "PRP MD VB .", "1-ARG1-2 2-ARG1-0", "would", "would"),
        ("I'd left.", "PRP VBD VBN .", "2-ARG1-0", "had", ""),
        ("It's gone.", "PRP VBZ VBN .", "2-ARG1-0", "is", ""),
        ("They're old.", "PRP VBP JJ .", "2-ARG1-0", "are", ""),
        ("Won't she come?", "MD RB PRP VB .", "1-neg-3 3-ARG1-2", "Will", ""),
    ],
)
def test_fields_have_contractions_in_full(nlp, text, tags, arcs, verb, modality):
    doc = nlp.make_doc(text)
    for token, tag in zip(doc, tags.split(), strict=True):
        token.tag_ = tag
    graph = [(each.split("-")) for each in arcs.split()]
    doc._.sdp = [
        (-1, int(graph[-1][0]), "root"),
        *((int(head), int(dep), label) for head, label, dep in graph),
    ]
    (clause,) = doc._.sdp.clauses()
    row = clause.to_dict()
    assert (row["verb"].split()[0], row["modality"]) == (verb, modality)


def test_whose_stands_for_its_owner():
    clause = clauses_of(
        "The airline will not refund passengers whose flights were cancelled because "
        "of the strike."
    )[1]
    (flights,) = clause.objects
    assert (flights.text, flights.owner.text) == ("passengers' flights", "passengers")
    assert [token.text for token in flights.tokens] == ["whose", "flights"]


def test_rows_have_text_booleans_and_numbers():
    clause = clauses_of("He never answers letters.")[0]
    row = clause.to_dict()
    assert (row["negated"], row["asserted"], row["score"]) == (True, False, None)
    others = set(row) - {"negated", "asserted", "score"}
    assert {type(row[name]) for name in others} == {str}


def test_long_coordinations_need_no_recursion(nlp):
    length = 600
    doc = Doc(
        nlp.vocab, words=["He", *["tired"] * length], tags=["PRP", *["JJ"] * length]
    )
    doc._.sdp = [
        (-1, 1, "root"),
        *((i, 0, "ARG1") for i in range(1, length + 1)),
        *((i, i + 1, "conj") for i in range(1, length)),
        *((i, i + 2, "conj") for i in range(1, length - 1)),
    ]
    assert len(doc._.sdp.clauses()) == length


def test_negation_has_the_words_that_negate():
    (clause,) = clauses_of("We no longer use that machine.")
    assert [token.text for token in clause.negation] == ["no", "longer"]


def test_nested_clauses_are_linked():
    said, rise = clauses_of("The minister said that taxes would rise.")
    assert said.object_clause is rise
    assert rise.attribution == said.subject
    laughed = clauses_of("It surprised everyone that the queen laughed.")
    assert laughed[0].subject_clause is laughed[1]


def test_phrases_have_heads_spans_and_markers():
    gave, given = (
        clauses_of(text)[0]
        for text in (
            "The teacher gave a pencil to the girl.",
            "The winner was given a medal by the mayor.",
        )
    )
    girl = gave.objects[1]
    assert (girl.head.text, girl.marker.text, girl.text) == ("girl", "to", "the girl")
    assert given.subject.marker.text == "by"
    (turned,) = clauses_of("She turned the radio off.")
    assert [span.text for span in turned.verb.spans] == ["turned", "off"]
    assert turned.verb.tokens == (turned.sentence[1], turned.sentence[4])


def test_score_is_that_of_the_least_certain_arc():
    doc = DOCS["The nurse washed the wound."]
    graph = doc._.sdp
    scored = {(2, 1): 0.9, (2, 4): 0.7}
    arcs = [
        IndexedArc(*arc[:3], scored.get(arc[:2], 0.5)) for arc in graph.indexed_arcs
    ]
    (clause,) = SemanticGraph.from_arcs(doc, arcs, [2]).clauses()
    assert clause.score == 0.7
    doc = DOCS["No student failed the test."]
    arcs = [
        IndexedArc(*arc[:3], 0.3 if arc[:2] == (0, 1) else 0.5)
        for arc in doc._.sdp.indexed_arcs
    ]
    (clause,) = SemanticGraph.from_arcs(doc, arcs, [2]).clauses()
    assert clause.score == 0.3
    assert graph.clauses()[0].score is None


def test_attributes_follow_the_name_of_the_graph(tagged):
    register_extensions("other")
    assert tagged._.other_clauses == tagged[:3]._.other_clauses == []
    tagged._.other = tagged._.sdp
    assert [str(clause.verb) for clause in tagged._.other_clauses] == ["wants", "eat"]
    assert tagged._.other_clauses == tagged._.sdp_clauses
    assert [str(clause.verb) for clause in tagged[4:]._.sdp_clauses] == ["eat"]


def make_text(*sentences):
    """A Doc of several sentences with their graphs."""
    docs = [DOCS[each] for each in sentences]
    tokens = [token for each in docs for token in each]
    doc = Doc(
        docs[0].vocab,
        words=[token.text for token in tokens],
        spaces=[bool(token.whitespace_) for token in tokens],
        tags=[token.tag_ for token in tokens],
        lemmas=[token.lemma_ for token in tokens],
        sent_starts=[not token.i for token in tokens],
    )
    starts = [sent.start for sent in doc.sents]
    doc._.sdp = SemanticGraph.from_arcs(
        doc,
        [
            (arc.head + start, arc.dep + start, arc.label)
            for each, start in zip(docs, starts, strict=True)
            for arc in each._.sdp.indexed_arcs
        ],
        [
            top.i + start
            for each, start in zip(docs, starts, strict=True)
            for top in each._.sdp.tops
        ],
    )
    return doc


def of_spans(spans):
    return [clause for span in spans for clause in span._.sdp_clauses]


def rows_of(clauses):
    return [clause.to_dict() for clause in clauses]


def test_clauses_of_a_text_stay_in_their_sentences():
    doc = make_text(*DOCS)
    assert rows_of(doc._.sdp_clauses) == [
        row for each in DOCS.values() for row in rows_of(each._.sdp_clauses)
    ]
    assert all(clause.verb.head.sent == clause.sentence for clause in doc._.sdp_clauses)


@pytest.mark.parametrize(("word", "tag"), [("there", "EX"), ("to", "TO")])
def test_words_of_the_sentence_before_are_not_part_of_a_clause(word, tag):
    close = DOCS["Close the door."]
    doc = Doc(
        close.vocab,
        words=[word, *(token.text for token in close)],
        tags=[tag, *(token.tag_ for token in close)],
        sent_starts=[True, *(token.i == 0 for token in close)],
    )
    arcs = close._.sdp.indexed_arcs
    doc._.sdp = [(arc.head + 1, arc.dep + 1, arc.label) for arc in arcs]
    assert [clause.text for clause in doc._.sdp_clauses] == ["close the door"]


def test_spans_have_the_clauses_of_the_doc_whose_verbs_they_contain():
    doc = make_text(*DOCS)
    clauses = doc._.sdp_clauses
    assert of_spans(doc.sents) == clauses
    assert of_spans(doc[i : i + 1] for i in range(len(doc))) == clauses
    assert doc[:]._.sdp_clauses == clauses
    assert doc[2:2]._.sdp_clauses == []


def test_clauses_of_all_sentences_take_linear_time():
    texts = [*DOCS][:20]
    for read in (lambda doc: doc._.sdp_clauses, lambda doc: of_spans(doc.sents)):
        one, four = (count_lines(read, make_text(*texts * n)) for n in (1, 4))
        assert four < 4.1 * one


def test_clauses_keep_arcs_between_sentences_that_were_split_later():
    texts = ("The river is deep.", "Close the door.", "He never answers letters.")
    doc = make_text(*texts)
    arcs = doc._.sdp.indexed_arcs
    for start in (5, 9):
        doc[start].is_sent_start = False
    doc._.sdp = [*(arc[:3] for arc in arcs), (11, 7, "ARG3")]
    objects = [str(each) for each in doc._.sdp_clauses[-1].objects]
    assert objects == ["letters", "the door"]
    for start in (5, 9):
        doc[start].is_sent_start = True
    assert [str(each) for each in doc[9:]._.sdp_clauses[-1].objects] == objects
    assert of_spans(doc.sents) == doc._.sdp_clauses
    assert [str(clause.verb) for clause in doc[:5]._.sdp_clauses] == ["is deep"]


def test_clauses_of_a_span_follow_every_change():
    doc = make_text("The river is deep.", "He never answers letters.")
    second = doc[5:]
    (clause,) = second._.sdp_clauses
    assert clause.tense == "present" and clause.negated
    doc[7].tag_ = "VBD"
    assert second._.sdp_clauses[0].tense == "past"
    copy = pickle.loads(pickle.dumps(doc))
    doc._.sdp = [(7, 8, "ARG1")]
    (clause,) = second._.sdp_clauses
    assert (str(clause.subject), clause.negated) == ("letters", False)
    (clause,) = copy[5:]._.sdp_clauses
    assert (str(clause.subject), clause.negated) == ("He", True)
    assert clause.sentence.doc is copy
    doc._.sdp = None
    assert second._.sdp_clauses == []


def test_a_doc_whose_clauses_were_read_goes_without_the_garbage_collector():
    doc = make_text("The river is deep.", "He never answers letters.")
    gone = weakref.ref(doc)
    gc.disable()
    try:
        assert len(doc[5:]._.sdp_clauses) == 1
        del doc
        assert gone() is None
    finally:
        gc.enable()


def test_other_formalisms_are_refused_by_name(tagged):
    tagged._.sdp = [(3, 2, "ACT-arg"), (3, 5, "PAT-arg")]
    with pytest.raises(
        ValueError, match=r"from DM graphs, but this one has .* 'ACT-arg'"
    ):
        tagged._.sdp.clauses()


def test_graphs_with_cycles_or_without_arcs_have_no_endless_clauses(tagged):
    tagged._.sdp = []
    assert tagged._.sdp.clauses() == []
    tagged._.sdp = [(3, 5, "ARG2"), (5, 3, "ARG2"), (3, 2, "_and_c"), (2, 3, "_and_c")]
    assert [str(clause.verb) for clause in tagged._.sdp.clauses()] == ["wants", "eat"]
    assert len(tagged._.sdp.clauses(conjuncts=True)) == 2


TAGS = ("VBD", "VBG", "VBN", "MD", "NN", "JJ", "RB", "IN", "TO", "DT", "CC", "WP", "EX")
LABELS = ("ARG1", "ARG2", "ARG3", "neg", "loc", "_and_c", "_nor_c", "mwe", "BV", "than")


@given(
    st.lists(st.sampled_from(TAGS), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(LABELS))),
    st.integers(0, 7),
)
def test_any_graph_has_clauses_whose_words_are_its_own(tags, arcs, top):
    vocab = next(iter(DOCS.values())).vocab
    doc = Doc(vocab, words=[tag.lower() for tag in tags], tags=tags)
    unique = {
        (head, dep): (head, dep, label)
        for head, dep, label in arcs
        if head != dep and max(head, dep) < len(doc)
    }
    graph = SemanticGraph.from_arcs(doc, unique.values(), [top % len(doc)])
    for conjuncts in (False, True):
        for clause in graph.clauses(conjuncts=conjuncts):
            assert clause.verb.head in clause.verb.tokens
            assert clause.text
            assert set(clause.to_dict()) >= {"subject", "verb", "objects", "text"}
            for phrase in (clause.subject, *clause.objects):
                assert phrase is None or phrase.head in phrase.tokens


def test_a_doc_without_tags_is_refused(cat):
    with pytest.raises(ValueError, match=r"has none. Add a tagger"):
        cat._.sdp.clauses()
