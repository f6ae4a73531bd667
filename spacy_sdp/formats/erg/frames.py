"""The frames of predicates: what kind of word they are, and of what their arguments.

The frame of `_chase_v_1` is `v:e-x-x`: a verb, which stands for an event (e) and has
two arguments, both of which are things (x). Before the colon is the predicate without
its lemma and without the number of its sense; after it are the types of what the
predicate stands for and of its arguments, and a c for a constant, as in `named:x-c`.

The types are those of the grammar's semantic interface (SEM-I), the files `*.smi` in
the folder `etc` of its repository. They say what an argument can be: h is a clause, e
an event, x a thing, i an event or a thing, p a thing or a clause, and u anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..files import FormatError, read_lines

# From `tsdb/gold/NAME`, where a profile is, to the files of the interface.
FOLDER = Path("../../../etc")
FILES = ("abstract.smi", "surface.smi")

# `_give_v_1 : ARG0 e { TENSE past }, ARG1 x, [ ARG2 x ].`
ENTRY = re.compile(r"\s+(\S+)\s+:\s+(.+)\.\s*")
PROPERTIES = re.compile(r"\{[^}]*\}")
ROLE = re.compile(r"(?:\[\s*)?(\S+)\s+(\w)(?:\s*\])?")

CONSTANT_ROLE, CONSTANT = "CARG", "c"
# Parts of a predicate that are neither its kind nor a sense.
NO_SENSE = re.compile(r"\d+|unknown")

# The types of the arguments by role.
Entry = dict[str, str]


class SemanticInterface:
    """The predicates of a release of the grammar, and what their arguments can be."""

    def __init__(self, entries: Mapping[str, list[Entry]]) -> None:
        """Keep what the files say.

        entries (Mapping[str, List[Dict[str, str]]]): The entries of each predicate,
            with the types of its arguments by role.
        """
        self._entries = entries

    @classmethod
    def read(cls, folder: Path) -> SemanticInterface:
        """Read the files of the interface.

        folder (Path): The folder with the files.
        RETURNS (SemanticInterface): The interface.
        """
        entries: defaultdict[str, list[Entry]] = defaultdict(list)
        for path in (folder / name for name in FILES):
            for number, line in read_lines(path):
                if match := ENTRY.fullmatch(line):
                    predicate, roles = match.groups()
                    try:
                        entries[predicate].append(_parse_roles(roles))
                    except FormatError as error:
                        reason = f"{predicate!r}: {error.reason}"
                        raise FormatError(reason, path, number) from None
        return cls(entries)

    def frame(self, predicate: str, types: Mapping[str, str]) -> str:
        """Give the frame of a predicate where it is used.

        predicate (str): The predicate.
        types (Mapping[str, str]): The types that its arguments have there, by role.
        RETURNS (str): The frame. Of a predicate that the interface does not have with
            these roles, such as that of an unknown word, it has these very types.
        """
        own = {role: type for role, type in types.items() if role != CONSTANT_ROLE}
        for entry in self._entries.get(predicate, ()):
            # The first entry with these roles; others differ in what is expected of
            # the arguments.
            if entry.keys() == own.keys():
                own = entry
                break
        constant = [CONSTANT] if CONSTANT_ROLE in types else []
        return f"{_kind(predicate)}:{'-'.join([*own.values(), *constant])}"


def find_interface(profile: Path) -> SemanticInterface | None:
    """Read the semantic interface of the grammar that a profile is part of.

    profile (Path): The folder of the profile.
    RETURNS (Optional[SemanticInterface]): The interface, None if it is not there.
    """
    folder = (profile.resolve() / FOLDER).resolve()
    if not all((folder / name).is_file() for name in FILES):
        return None
    return _read_once(folder)


_read_once = cache(SemanticInterface.read)


def _parse_roles(text: str) -> Entry:
    entry = {}
    for part in PROPERTIES.sub("", text).split(","):
        match = ROLE.fullmatch(part.strip())
        if match is None:
            raise FormatError(f"expected a role and a type, found {part.strip()!r}")
        entry[match[1]] = match[2]
    return entry


def _kind(predicate: str) -> str:
    if not predicate.startswith("_"):
        return predicate
    _, *parts = predicate.removeprefix("_").split("_")
    return "_".join(part for part in parts if not NO_SENSE.fullmatch(part))
