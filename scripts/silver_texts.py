"""Collect English sentences from many genres for silver data.

    python scripts/assets.py assets/silver --files scripts/silver_texts.json
    python scripts/silver_texts.py assets/silver corpus/silver-texts.jsonl

silver_texts.json names the repositories, commits, licences and authors of the sources.
The folder of downloads has a subfolder for each source. The output is a JSONL file with
one sentence per line: {"text": ..., "source": ..., "kind": ...}. It is reproducible: if
a source has more sentences than needed, the sentences with the lowest hashes are kept.
Duplicates are removed, also across sources.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import srsly
from spacy.lang.en.stop_words import STOP_WORDS
from spacy.lang.en.tokenizer_exceptions import TOKENIZER_EXCEPTIONS
from spacy.lang.tokenizer_exceptions import BASE_EXCEPTIONS

MAX_WORDS = 40
LONGEST_WITHOUT_FUNCTION_WORD = 6
ABBREVIATIONS = TOKENIZER_EXCEPTIONS.keys() | BASE_EXCEPTIONS.keys()
WORD = re.compile(r"\w+(?:['\u2019.-]\w+)*")
PARAGRAPHS = re.compile(r"\n\s*\n")
FINAL = r"[.!?\u2026]+[\"\u201d\u2019')\]]*"
INITIAL = r"[\"\u201c\u2018'(\[]*[A-Z0-9]"
SENTENCE_END = re.compile(rf"{FINAL}\s+(?={INITIAL})")
MARKUP = re.compile(r"https?:|www\.|[|{}<>\\`^~=]|_{2,}|\*\*|\]\(|&\w+ ?;|\.{4,}|#{2,}")
LETTERS = re.compile(r"[^\W\d_]")
LAST_LATIN_LETTER = "\u024f"


# Sentences of test suites for this annotation.
HELD_OUT = {"what is the longest river in the united states"}


class Source(NamedTuple):
    """The files of a source, and the maximum number of sentences."""

    kind: str
    limit: int
    read: Callable[[Path], Iterable[str]]


def collect(folder: Path, sources: dict[str, Source]) -> Iterator[tuple[str, list]]:
    """Read every source.

    folder (Path): The folder with a subfolder for each source.
    sources (Dict[str, Source]): The sources by name.
    YIELDS (Tuple[str, List[dict]]): The name of a source and its sentences.
    """
    seen = set(HELD_OUT)
    for name, source in sources.items():
        paths = sorted(path for path in (folder / name).rglob("*") if path.is_file())
        if not paths:
            raise ValueError(f"There is no file in {folder / name}: download it first.")
        sentences: dict[str, str] = {}
        for path in paths:
            for text in source.read(path):
                sentence = normalize(text)
                key = sentence.lower().replace("\u2019", "'")
                if key not in seen and is_sentence(sentence):
                    sentences.setdefault(key, sentence)
        chosen = set(sorted(sentences, key=hash_of)[: source.limit])
        seen |= chosen
        yield (
            name,
            [
                {"text": sentence, "source": name, "kind": source.kind}
                for key, sentence in sentences.items()
                if key in chosen
            ],
        )


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf8")).hexdigest()


def normalize(text: str) -> str:
    """Compose characters, and replace all whitespace with single spaces."""
    text = unicodedata.normalize("NFC", text).replace("\ufeff", "")
    return re.sub(r"\s+", " ", text).strip()


def is_sentence(text: str) -> bool:
    """Check whether a text is a clean English sentence or phrase, and not too long."""
    words = WORD.findall(text)
    if not words or len(words) > MAX_WORDS or MARKUP.search(text):
        return False
    if any(text.count(left) != text.count(right) for left, right in ("()", "[]")):
        return False
    letters = LETTERS.findall(text)
    if len(letters) < 0.6 * len(text.replace(" ", "")):
        return False
    if any(letter > LAST_LATIN_LETTER for letter in letters):
        return False
    return len(words) <= LONGEST_WITHOUT_FUNCTION_WORD or function_words(words) > 0


def function_words(words: list[str]) -> int:
    """Count the function words, including contractions such as I'm."""
    return sum(re.split(r"['\u2019]", word.lower())[0] in STOP_WORDS for word in words)


def split_sentences(paragraph: str) -> Iterator[str]:
    """Split a paragraph after final punctuation, but not after abbreviations."""
    text = normalize(paragraph)
    start = 0
    for match in SENTENCE_END.finditer(text):
        sentence = text[start : match.end()].rstrip()
        if is_abbreviation(sentence.rpartition(" ")[2]):
            continue
        yield sentence
        start = match.end()
    yield text[start:]


def is_abbreviation(word: str) -> bool:
    word = word.lstrip("\"'(\u201c\u2018")
    return word in ABBREVIATIONS or re.fullmatch(r"(?:[A-Z]\.)+", word) is not None


def detokenize(text: str) -> str:
    """Undo a tokenization in the style of the Penn Treebank."""
    text = re.sub(r"``|''", '"', text)
    text = re.sub(r" ?['\u2019\u00b4] ?(?=(?:s|re|ve|ll|d|m|t)\b)", "'", text)
    text = re.sub(r" (?=n't\b)", "", text)
    text = re.sub(r"([\"']) ([^\"']*?) \1", r"\1\2\1", text)
    text = re.sub(r"(?<=[(\[$#@]) ", "", text)
    return re.sub(r" (?=(?:[.,;:!?%)\]]+|\.\.\.)(?: |$|[\"”]))", "", text)


def read_text(path: Path) -> str:
    """Read a text file, in UTF-8 or the Windows code page."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def read_lines(path: Path) -> Iterator[str]:
    yield from read_text(path).splitlines()


def read_conllu(path: Path) -> Iterator[str]:
    """Read the text of a CoNLL-U treebank, without footnote marks."""
    for line in read_lines(path):
        if line.startswith("# text = "):
            yield re.sub(r" ?\[\d+\]", "", line.removeprefix("# text = "))


def read_trivia(path: Path) -> Iterator[str]:
    """Read questions between #Q and ^, which may span several lines."""
    for match in re.finditer(r"^#Q ([^^]*)^\^", read_text(path), re.MULTILINE):
        yield from split_sentences(match.group(1))


def read_rated_questions(path: Path) -> Iterator[str]:
    """Read questions, with the share of raters who consider them well-formed."""
    for line in read_lines(path):
        question, rating = line.split("\t")
        if float(rating) >= 0.6:
            yield detokenize(question)


def read_json(path: Path, field: str) -> Iterator[str]:
    """Read a text field of the records of a JSON or JSONL file."""
    jsonl = path.suffix == ".jsonl"
    for record in srsly.read_jsonl(path) if jsonl else srsly.read_json(path):
        yield record[field]


def read_split_wikipedia(path: Path) -> Iterator[str]:
    """Read the simpler of two versions of Wikipedia's sentences."""
    for line in read_lines(path):
        for sentence in line.split("\t")[1].split("<::::>"):
            sentence = re.sub(r"(?<=\w) - (?=\w)", "-", sentence.strip())
            yield detokenize(sentence)


def read_dialogues(path: Path) -> Iterator[str]:
    for dialogue in srsly.read_json(path):
        for turn in dialogue["turns"]:
            yield from split_sentences(turn["utterance"])


def read_intents(path: Path) -> Iterator[str]:
    for rows in srsly.read_json(path).values():
        for text, _ in rows:
            yield text


def read_intent_table(path: Path) -> Iterator[str]:
    for line in list(read_lines(path))[1:]:
        text = line.rpartition(",")[0]
        yield from split_sentences(text.strip('"').replace('""', '"'))


def read_captions(path: Path) -> Iterator[str]:
    for annotation in srsly.read_json(path)["annotations"]:
        yield annotation["caption"]


def read_tweets(path: Path) -> Iterator[str]:
    """Read tweets or comments from a corpus in the CoNLL format for named entities.

    Removes links, and texts that are probably not English: at least a fifth of the
    words must be function words.
    """
    for lines in PARAGRAPHS.split(read_text(path)):
        tokens = [line.split("\t")[0] for line in lines.splitlines()]
        tokens = [token for token in tokens if not token.startswith("http")]
        text = detokenize(" ".join(tokens))
        words = WORD.findall(text)
        if function_words(words) >= 0.2 * len(words):
            yield text


def read_chat(path: Path) -> Iterator[str]:
    """Read the messages of a chat, except for bots, without names of addressees."""
    for line in read_lines(path):
        match = re.match(r"\[\d\d:\d\d\] <(\w+)> (?:[\w|`\[\]-]+[:,] )?(.*)", line)
        if match and not match.group(1).startswith("ubot"):
            message = match.group(2)
            if len(WORD.findall(message)) > 2 and not message.startswith(("!", "/")):
                yield message


def read_book(path: Path) -> Iterator[str]:
    """Read the paragraphs of an ebook of Project Gutenberg."""
    for paragraph in book_paragraphs(path):
        if not re.match(r" {2}|\*|\[", paragraph) and not paragraph.isupper():
            yield from split_sentences(paragraph)


def read_play(path: Path) -> Iterator[str]:
    """Read the spoken lines of a play, without the names of speakers."""
    for paragraph in book_paragraphs(path):
        match = re.match(r"[A-Z][A-Z.' ]*[A-Z]\b\.?", paragraph)
        speech = paragraph[match.end() :] if match else paragraph
        speech = re.sub(r"\[[^]]*\]\.?|\([^)]*\)\.?", " ", speech)
        yield from split_sentences(speech.lstrip(" ."))


def read_dictionary(path: Path) -> Iterator[str]:
    """Read definitions: the text after the headword and its part of speech."""
    for paragraph in book_paragraphs(path):
        match = re.match(r"[A-Z' -]+, (?:n|adj|adv|v\.[it]|n\.pl|pp)\.\s+", paragraph)
        if match:
            yield from split_sentences(paragraph[match.end() :])


def book_paragraphs(path: Path) -> Iterator[str]:
    """Read the paragraphs between the header and the footer of the ebook."""
    text = read_text(path).replace("\r\n", "\n")
    body = re.split(r"\*\*\* ?(?:START|END) OF TH[^*]*\*\*\*", text)[1]
    for paragraph in PARAGRAPHS.split(body):
        yield re.sub(r"_([^_]*)_", r"\1", paragraph.strip("\n"))


def read_article(path: Path) -> Iterator[str]:
    """Read an article with one paragraph per line, starting with the headline."""
    for line in read_lines(path):
        if line.strip() not in {"Elementary", "Intermediate", "Advanced"}:
            yield from split_sentences(line)


def read_markdown(path: Path) -> Iterator[str]:
    """Read the prose of a page in Markdown: title, headings, paragraphs and lists.

    Sentences that start with a lower-case letter are removed, because they continue
    something that is not prose.
    """
    text = read_text(path)
    if front := re.match(r"---[ ]*\n.*?\n---[ ]*\n", text, re.DOTALL):
        text = text[front.end() :]
        title = re.search(r"^title: *([\"']?)(.+?)\1 *$", front.group(), re.MULTILINE)
        if title:
            yield title.group(2)
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|<(\w+)[^>]*>.*?</\1>", "{}", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^]]*)\](?:\([^)]*\)|\[[^]]*\])", r"\1", text)
    text = re.sub(r"(?<!\w)(\*\*|__|[*_`])(?=\S)([^*_`\n]+?)\1(?!\w)", r"\2", text)
    text = re.sub(r"\\(?=[^\w\s])", "", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]|#+|>)\s)", text):
        block = re.sub(r"\A\s*(?:(?:[-*+]|\d+[.)]|#+|>)\s+)+|#+\s*\Z", "", block)
        for sentence in split_sentences(block.replace("\n> ", " ")):
            if not sentence[:1].islower():
                yield sentence


def read_recipe(path: Path) -> Iterator[str]:
    """Read a recipe without most of its ingredients."""
    for sentence in read_markdown(path):
        if re.match(r"[A-Z]", sentence) and len(WORD.findall(sentence)) > 2:
            yield sentence


def read_command_help(path: Path) -> Iterator[str]:
    """Read the descriptions of a command and of its examples."""
    for line in read_lines(path):
        line = re.sub(r"\[([A-Za-z]+)\]", r"\1", line.replace("`", ""))
        if line.startswith("- "):
            yield line[2:].rstrip(":")
        elif line.startswith("> ") and not re.match(r"> (More info|See also)", line):
            yield line[2:]


def field(name: str) -> Callable[[Path], Iterable[str]]:
    return lambda path: read_json(path, name)


SOURCES = {
    "opentrivia": Source("question", 2000, read_trivia),
    "wellformed": Source("question", 1800, read_rated_questions),
    "strategyqa": Source("question", 1000, field("question")),
    "nqopen": Source("question", 600, field("question")),
    "webquestions": Source("question", 500, field("qText")),
    "banking": Source("question", 800, read_intent_table),
    "clinc": Source("command", 1000, read_intents),
    "commonvoice": Source("everyday", 4800, read_lines),
    "sgd": Source("dialogue", 2200, read_dialogues),
    "pygmalion": Source("dialogue", 900, read_play),
    "nevercantell": Source("dialogue", 900, read_play),
    "idealhusband": Source("dialogue", 900, read_play),
    "paintgirl": Source("dialogue", 500, read_play),
    "recipes": Source("instruction", 1400, read_recipe),
    "tldr": Source("instruction", 700, read_command_help),
    "alice": Source("story", 600, read_book),
    "anne": Source("story", 600, read_book),
    "dubliners": Source("story", 600, read_book),
    "fatherbrown": Source("story", 600, read_book),
    "littlecolonel": Source("story", 600, read_book),
    "oz": Source("story", 600, read_book),
    "railway": Source("story", 600, read_book),
    "secretgarden": Source("story", 600, read_book),
    "steps": Source("story", 600, read_book),
    "timemachine": Source("story", 600, read_book),
    "pud": Source("news", 1000, read_conllu),
    "gum": Source("mixed", 2800, read_conllu),
    "onestop": Source("news", 1500, read_article),
    "wikisplit": Source("encyclopaedia", 2200, read_split_wikipedia),
    "18f": Source("blog", 1300, read_markdown),
    "carpentries": Source("blog", 1300, read_markdown),
    "osguide": Source("documentation", 800, read_markdown),
    "kubernetes": Source("documentation", 700, read_markdown),
    "mdn": Source("documentation", 700, read_markdown),
    "captions": Source("caption", 1200, read_captions),
    "devils": Source("definition", 500, read_dictionary),
    "tweets": Source("tweet", 1800, read_tweets),
    "wnut17": Source("tweet", 800, read_tweets),
    "ubuntu": Source("chat", 1200, read_chat),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, help="folder of downloaded sources")
    parser.add_argument("output", type=Path, help="JSONL file to write")
    args = parser.parse_args()
    args.output.parent.mkdir(parents=True, exist_ok=True)
    texts = []
    for name, sentences in collect(args.sources, SOURCES):
        print(f"{len(sentences):6,} {name}")
        texts += sentences
    srsly.write_jsonl(args.output, texts)


if __name__ == "__main__":
    main()
