"""Reading and writing semantic graphs, one file a format.

Each format has `read(path)`, which yields sentences one by one, and
`write(sentences, path)`, which writes all or nothing.
"""

from .files import FormatError
from .sentence import Sentence

__all__ = ["FormatError", "Sentence"]
