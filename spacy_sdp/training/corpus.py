"""A corpus reader that keeps graphs and can pass gold tags and lemmas to the parser."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import cast

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.augment import dont_augment
from spacy.util import logger, registry
from thinc.types import Ints2d

from ..graph.spans import sentences

# The attributes of single words, which do not depend on other words.
COPYABLE = ("TAG", "POS", "MORPH", "LEMMA")


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
    copy_attrs (List[str]): Attributes of the gold tokens ("TAG", "POS", "MORPH",
        "LEMMA") to copy to the predicted Doc. Use it only for parsers that read these
        attributes, and for data with the same kind of annotation as in prediction.
        spaCy's own `evaluate` does not copy them.
    gold_tokens (bool): Whether the predicted Doc has the gold tokens, instead of the
        tokens of the tokenizer. Data without text always use the gold tokens.
    max_length (int): Leave out Docs with a longer sentence, in tokens; 0 means no
        limit.
    limit (int): Maximum number of Docs to read; 0 means no limit.
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
    """spaCy's corpus, but it never splits Docs, which would drop their graphs."""

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
            if name not in COPYABLE:
                raise ValueError(
                    f"The setting 'copy_attrs' cannot contain {name!r}: use "
                    f"{', '.join(COPYABLE)}."
                )
        if max_length < 0:
            raise ValueError(
                f"The setting 'max_length' is {max_length}; use 0 for no limit."
            )
        super().__init__(path, limit=limit, shuffle=shuffle)
        self.copy_attrs = copy_attrs
        # Not the attribute of spaCy's corpus, which would augment after copying.
        self.own_augmenter = augmenter or dont_augment
        self.gold_tokens = gold_tokens
        self.longest = max_length
        # Whether the warning was shown, so that it is not repeated in every epoch.
        self._has_reported = False

    def make_examples(
        self, nlp: Language, reference_docs: Iterable[Doc]
    ) -> Iterator[Example]:
        """Create Examples from gold Docs.

        nlp (Language): The current nlp object.
        reference_docs (Iterable[Doc]): The gold Docs.
        YIELDS (Example): The examples.
        """
        missing = set(self.copy_attrs)
        examples = too_long = 0
        # spaCy's own limit applies to each file of a folder.
        for reference in islice(reference_docs, self.limit or None):
            if len(reference) == 0:
                continue
            if self.longest and max(map(len, sentences(reference))) > self.longest:
                too_long += 1
                continue
            for example in self._augment(nlp, reference):
                missing -= self._copy_attrs(example)
                examples += 1
                yield example
        if missing and examples:
            raise ValueError(
                f"The setting 'copy_attrs' contains {', '.join(sorted(missing))}, but "
                f"no token of {self.path} has a value for it. Leave it out, or convert "
                "the data from a file that has this column."
            )
        if too_long and not self._has_reported:
            logger.warning(
                "%s: left out %d Docs with a sentence of more than %d tokens",
                self.path,
                too_long,
                self.longest,
            )
            self._has_reported = True

    def _augment(self, nlp: Language, reference: Doc) -> Iterator[Example]:
        """Yield the augmented Examples of a gold Doc, with its graph."""
        # Without spaces there is no text to tokenize.
        keep_tokens = self.gold_tokens or reference.has_unknown_spaces
        predicted = _make_predicted(nlp, reference, keep_tokens=keep_tokens)
        for example in self.own_augmenter(nlp, Example(predicted, reference)):
            new = example.reference
            if new is reference:
                yield example
                continue
            self._keep_graph(new, reference)
            if keep_tokens:
                yield Example(_make_predicted(nlp, new, keep_tokens=True), new)
            else:
                yield example

    def _keep_graph(self, new: Doc, old: Doc) -> None:
        """Copy the user data to an augmented Doc, as spaCy's augmenters do not."""
        if new.user_data == old.user_data:
            return
        if len(new) != len(old):
            raise ValueError(
                f"The augmenter of {self.path} changed the number of tokens from "
                f"{len(old)} to {len(new)}, so the graph cannot be kept: "
                f"{old.text[:50]!r}. Use an augmenter that keeps the tokens."
            )
        new.user_data = {**old.user_data, **new.user_data}

    def _copy_attrs(self, example: Example) -> set[str]:
        """Copy attributes to the predicted Doc, and get those that have values."""
        found = set()
        for name in self.copy_attrs:
            values = example.get_aligned(name)
            column = numpy.asarray([value or 0 for value in values], dtype="uint64")
            example.predicted.from_array([name], cast(Ints2d, column))
            if column.any():
                found.add(name)
        return found


def _make_predicted(nlp: Language, reference: Doc, *, keep_tokens: bool) -> Doc:
    if not keep_tokens:
        return nlp.make_doc(reference.text)
    return Doc(
        nlp.vocab,
        words=[token.text for token in reference],
        spaces=[bool(token.whitespace_) for token in reference],
    )
