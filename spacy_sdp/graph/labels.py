"""Descriptions of the labels of DM, with examples that are tested."""

from __future__ import annotations

import warnings
from typing import NamedTuple


class Label(NamedTuple):
    """A label, or several labels of the same kind, with an example."""

    names: tuple[str, ...]  # the first one is used in the example
    head: str  # describes the head of the arc
    dep: str  # describes its dependent
    text: str  # the example sentence
    example: tuple[str, str]  # the head and the dependent in the sentence


LABELS = (
    Label(
        ("ARG1",),
        "predicate",
        "who does it, or what it is about",
        "The shy cat wants to eat.",
        ("shy", "cat"),
    ),
    Label(
        ("ARG2",),
        "predicate",
        "whom it is done to, or the rest of its meaning",
        "The shy cat wants to eat.",
        ("wants", "eat"),
    ),
    Label(
        ("ARG3", "ARG4"),
        "predicate",
        "a further participant",
        "He gave her a book.",
        ("gave", "her"),
    ),
    Label(
        ("BV",),
        "determiner",
        "noun, the variable that it binds",
        "The shy cat wants to eat.",
        ("The", "cat"),
    ),
    Label(
        ("compound",),
        "modifying noun",
        "noun",
        "She washed the coffee cup.",
        ("coffee", "cup"),
    ),
    Label(
        ("poss",), "possessive", "what is owned", "Her cup is empty.", ("Her", "cup")
    ),
    Label(
        ("loc",),
        "word of place or time",
        "what happens there or then",
        "Today she sings.",
        ("Today", "sings"),
    ),
    Label(
        ("neg",),
        "negation",
        "what is not the case",
        "He does not sleep.",
        ("not", "sleep"),
    ),
    Label(
        ("_and_c", "_or_c", "_but_c"),
        "part of a coordination",
        "the next part, after the conjunction",
        "Cats and dogs play.",
        ("Cats", "dogs"),
    ),
    Label(
        ("conj",),
        "part of a coordination",
        "the next part, after a comma",
        "Cats, dogs and birds play.",
        ("Cats", "dogs"),
    ),
    Label(
        ("mwe",),
        "last word of a fixed expression",
        "the word before it",
        "According to him, it works.",
        ("to", "According"),
    ),
    Label(
        ("appos",),
        "apposition",
        "noun that it explains",
        "Her brother, a doctor, lives here.",
        ("doctor", "brother"),
    ),
    Label(
        ("parenthetical",),
        "text in parentheses",
        "what it belongs to",
        "The linguist (born 1928) teaches.",
        ("born", "linguist"),
    ),
    Label(
        ("subord",),
        "subordinate clause without conjunction",
        "main clause",
        "Walking home, she sang.",
        ("Walking", "sang"),
    ),
    Label(
        ("part",),
        "number or quantity",
        "what it is a part of",
        "Three of the cats sleep.",
        ("Three", "cats"),
    ),
    Label(
        ("than",),
        "comparative",
        "what it is compared with",
        "He is taller than her.",
        ("taller", "her"),
    ),
    Label(
        ("comp", "comp_too", "comp_so", "comp_less", "comp_enough"),
        "word of degree",
        "what it compares",
        "It was more difficult.",
        ("more", "difficult"),
    ),
)


_BY_NAME = {name: label for label in LABELS for name in label.names}


def explain(label: str) -> str | None:
    """Get a description of a DM label, as `spacy.explain` does for other labels.

    label (str): The label.
    RETURNS (Optional[str]): A description of the head and the dependent of such an
        arc, with an example. Unknown labels return None with a warning.

    >>> explain("neg")
    'negation → what is not the case (not → sleep: He does not sleep.)'
    """
    found = _BY_NAME.get(label)
    if found is None:
        warnings.warn(
            f"No description found for the label {label!r}: only labels of DM have "
            "one.",
            stacklevel=2,
        )
        return None
    head, dep = found.example
    return f"{found.head} → {found.dep} ({head} → {dep}: {found.text})"


def to_markdown() -> str:
    """RETURNS (str): A Markdown table of the labels, for the documentation."""
    lines = ["| label | from → to | for example |", "|---|---|---|"]
    for label in LABELS:
        names = ", ".join(f"`{name}`" for name in label.names)
        head, dep = label.example
        arc = f"*{head}* → *{dep}*: {label.text}"
        lines.append(f"| {names} | {label.head} → {label.dep} | {arc} |")
    return "\n".join(lines)
