"""The check that the ids of all rows are unique."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

import numpy

from .engine import Engine
from .inputs import Part
from .worker import FindIds, Plan

# Maximum number of duplicate ids in a message.
MAX_NAMED = 3
# Maximum number of duplicate hashes for which the ids are compared. Of a billion
# different ids, hardly any two have the same hash.
MAX_COMPARED = 100


def check_ids(
    engine: Engine, parts: Sequence[Part], plan: Plan, id_column: str
) -> dict[str, str]:
    """Raise an error if ids are missing or not unique.

    This takes between nine and ten bytes of memory per row: a hash, and one byte to
    compare it with the next one.

    engine (Engine): Runs the workers.
    parts (Sequence[Part]): All parts, including those that are already complete.
    plan (Plan): The configuration of the workers.
    id_column (str): The column with the ids.
    RETURNS (Dict[str, str]): Parts that cannot be read, with the reasons.
    """
    failures = {}
    hashes = bytearray()
    for report in engine.run(parts, FindIds, plan, id_column):
        if report.stop:
            raise ValueError(report.failure)
        if report.failure is not None:
            failures[report.name] = report.failure
        else:
            hashes += report.hashes
    values = numpy.frombuffer(hashes, "u8")
    values.sort()
    twice = numpy.unique(values[:-1][values[1:] == values[:-1]])
    if not len(twice):
        return failures
    wanted = frozenset(each.tobytes() for each in twice[:MAX_COMPARED])
    readable = [part for part in parts if part.name not in failures]
    files: dict[str, list[str]] = defaultdict(list)
    uris = {part.name: part.uri for part in parts}
    for report in engine.run(readable, FindIds, plan, id_column, wanted):
        for value in report.found:
            files[value].append(uris[report.name])
    found = sorted((value, uris) for value, uris in files.items() if len(uris) > 1)
    if not found:
        return failures
    count = len(found) if len(twice) <= MAX_COMPARED else len(twice)
    named = [
        f"{json.dumps(value)} in {' and '.join(sorted(set(uris)))}"
        for value, uris in found[:MAX_NAMED]
    ]
    more = f" and {count - MAX_NAMED:,} more" if count > MAX_NAMED else ""
    raise ValueError(
        f"The ids in {id_column!r} must be unique, but some occur several times: "
        f"{', '.join(named)}{more}."
    )
