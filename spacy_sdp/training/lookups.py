"""Reads the tables of a lemmatizer from a file."""

from pathlib import Path

import srsly
from spacy.lookups import Lookups
from spacy.util import registry


@registry.readers("spacy_sdp.Lookups.v1")
def make_lookups(path: Path | None) -> Lookups:
    """Read lookup tables from a `.json` file.

    spaCy's own loader only finds tables of installed packages. A trained pipeline keeps
    its tables, so it does not need the file.

    path (Path): The file, an object that maps names to tables.
    RETURNS (Lookups): The tables, such as those of the component `lemmatizer`.
    """
    if path is None:
        raise ValueError(
            "The tables of the lemmatizer have no path. Set it in the config, or with "
            "--paths.lemmas on the command line."
        )
    tables = srsly.read_json(path)
    if not isinstance(tables, dict):
        raise ValueError(f"{path} contains no tables: it must be an object.")
    lookups = Lookups()
    for name, table in tables.items():
        lookups.add_table(name, table)
    return lookups
