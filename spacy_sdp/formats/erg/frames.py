"""The frames of predicates: their part of speech and the types of their arguments.

The frame of `_chase_v_1` is `v:e-x-x`: a verb, which represents an event (e) and has
two arguments, both of which are things (x). The part before the colon is the predicate
without its lemma and sense number. The part after it has the types of the predicate
itself and of its arguments, and a c for a constant, as in `named:x-c`.

The types are defined in the grammar's semantic interface (SEM-I), the files `*.smi` in
the folder `etc` of its repository: h is a clause, e an event, x a thing, i an event or
a thing, p a thing or a clause, and u anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..files import FormatError, read_lines

# The path from a profile in `tsdb/gold/NAME` to the files of the interface.
FOLDER = Path("../../../etc")
FILES = ("abstract.smi", "surface.smi")

# `_give_v_1 : ARG0 e { TENSE past }, ARG1 x, [ ARG2 x ].`
ENTRY = re.compile(r"\s+(\S+)\s+:\s+(.+)\.\s*")
PROPERTIES = re.compile(r"\{[^}]*\}")
ROLE = re.compile(r"(?:\[\s*)?(\S+)\s+(\w)(?:\s*\])?")

CONSTANT_ROLE, CONSTANT = "CARG", "c"
# Parts of a predicate to leave out: sense numbers, and the mark of unknown words.
NO_SENSE = re.compile(r"\d+|unknown")

# The types of the arguments by role.
Entry = dict[str, str]


class SemanticInterface:
    """The predicates of a grammar release, with the types of their arguments."""

    def __init__(self, entries: Mapping[str, list[Entry]]) -> None:
        """Create an interface from its entries.

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
        """Get the frame of an occurrence of a predicate.

        predicate (str): The predicate.
        types (Mapping[str, str]): The types of its arguments in this occurrence, by
            role.
        RETURNS (str): The frame, with the types of the interface. If it has no entry
            with these roles, as for unknown words, the given types are used.
        """
        own = {role: type for role, type in types.items() if role != CONSTANT_ROLE}
        for entry in self._entries.get(predicate, ()):
            # Use the first entry with these roles. Others have different types.
            if entry.keys() == own.keys():
                own = entry
                break
        constant = [CONSTANT] if CONSTANT_ROLE in types else []
        return f"{_kind(predicate)}:{'-'.join([*own.values(), *constant])}"


def find_interface(profile: Path) -> SemanticInterface | None:
    """Read the semantic interface of the grammar that a profile is part of.

    profile (Path): The folder of the profile.
    RETURNS (Optional[SemanticInterface]): The interface, or None if it does not exist.
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
