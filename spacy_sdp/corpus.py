"""A corpus reader that keeps graphs, and can hand tags and lemmas to the parser."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

import numpy
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.augment import dont_augment
from spacy.util import logger, registry
from thinc.types import Ints2d

from .sentences import sentences


@registry.readers("spacy_sdp.Corpus.v1")
def make_corpus(
    path: Path | None,
    copy_attrs: list[str] | None = None,
    gold_tokens: bool = False,
    max_length: int = 0,
    limit: int = 0,
    shuffle: bool = False,
    augmenter: Callable | None = None,
) -> "SdpCorpus":
    """Read Examples from `.spacy` files.

    path (Path): The file, or a directory with files.
    copy_attrs (List[str]): Attributes of the gold tokens, such as "TAG" and "LEMMA",
        that the predicted Doc gets to see. Only for data whose columns are what the
        pipeline would see too, and for parsers whose input they are: spaCy's own
        `evaluate` does not copy them.
    gold_tokens (bool): Whether the predicted Doc has the tokens of the data, not those
        that the tokenizer makes of its text. Data without text have them anyway.
    max_length (int): Leave out Docs with a sentence of more tokens; 0 means no limit.
    limit (int): Read that many Docs at the most; 0 means no limit.
    shuffle (bool): Whether to shuffle the Docs.
    augmenter (Callable): As in `spacy.Corpus.v1`.
    """
    if path is None:
        raise ValueError(
            "The corpus has no path. Set it in the config, or with --paths.train and "
            "--paths.dev on the command line."
        )
    return SdpCorpus(
        path,
        copy_attrs=copy_attrs or [],
        gold_tokens=gold_tokens,
        max_length=max_length,
        limit=limit,
        shuffle=shuffle,
        augmenter=augmenter,
    )


class SdpCorpus(Corpus):
    """spaCy's corpus, but never splitting Docs, which would lose their graphs."""

    def __init__(
        self,
        path: Path,
        *,
        copy_attrs: list[str],
        gold_tokens: bool = False,
        max_length: int = 0,
        limit: int = 0,
        shuffle: bool = False,
        augmenter: Callable | None = None,
    ) -> None:
        for name in copy_attrs:
            if name not in IDS:
                raise ValueError(
                    f"Unknown attribute {name!r} in the setting 'copy_attrs': use "
                    "names of token attributes such as 'TAG' or 'LEMMA'."
                )
        if max_length < 0:
            raise ValueError(
                f"The setting 'max_length' is {max_length}; use 0 for no limit."
            )
        super().__init__(path, limit=limit, shuffle=shuffle)
        self.copy_attrs = copy_attrs
        # Not the attribute of spaCy's corpus, which would augment what has been copied.
        self.own_augmenter = augmenter or dont_augment
        self.gold_tokens = gold_tokens
        self.longest = max_length
        # Said once, not in every epoch.
        self._has_reported = False

    def make_examples(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Yield Examples of gold Docs.

        nlp (Language): The current nlp object.
        reference_docs (Iterable[Doc]): The gold Docs.
        YIELDS (Example): The examples.
        """
        missing = set(self.copy_attrs)
        examples = too_long = 0
        for reference in reference_docs:
            if len(reference) == 0:
                continue
            if self.longest and max(map(len, sentences(reference))) > self.longest:
                too_long += 1
                continue
            original = Example(self._make_predicted(nlp, reference), reference)
            for example in self.own_augmenter(nlp, original):
                self._keep_graphs(example, original)
                missing -= self._copy_attrs(example)
                examples += 1
                yield example
        if missing and examples:
            raise ValueError(
                f"The setting 'copy_attrs' names {', '.join(sorted(missing))}, but no "
                f"token of {self.path} has a value for it. Leave it out, or convert "
                "the data from a file that has that column."
            )
        if too_long and not self._has_reported:
            logger.warning(
                "%s: %d Docs with a sentence of more than %d tokens are left out",
                self.path,
                too_long,
                self.longest,
            )
            self._has_reported = True

    def _keep_graphs(self, example: Example, original: Example) -> None:
        """Give an augmented Doc the user data, which spaCy's augmenters forget."""
        new, old = example.reference, original.reference
        if new is old or new.user_data == old.user_data:
            return
        if len(new) != len(old):
            raise ValueError(
                f"The augmenter of {self.path} has made {len(new)} tokens of "
                f"{len(old)}, so the graph cannot be kept: {old.text[:50]!r}. Use one "
                "that changes words only."
            )
        new.user_data = {**old.user_data, **new.user_data}

    def _copy_attrs(self, example: Example) -> set[str]:
        """Copy attributes to the predicted Doc; give the names of those with values."""
        found = set()
        for name in self.copy_attrs:
            values = example.get_aligned(name)
            column = numpy.asarray([value or 0 for value in values], dtype="uint64")
            example.predicted.from_array([name], cast(Ints2d, column))
            if column.any():
                found.add(name)
        return found

    def _make_predicted(self, nlp: Language, reference: Doc) -> Doc:
        if not self.gold_tokens and not reference.has_unknown_spaces:
            return nlp.make_doc(reference.text)
        return Doc(
            nlp.vocab,
            words=[token.text for token in reference],
            spaces=[bool(token.whitespace_) for token in reference],
        )
