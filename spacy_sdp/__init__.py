"""Semantic dependency parsing for spaCy.

Importing the package registers `Doc._.sdp`, `Span._.sdp`, `Token._.sdp_heads`,
`Token._.sdp_args` and `Token._.sdp_top`.
"""

from .about import __version__
from .arc import Arc, Predicate
from .docs import merge, split_sents
from .drawing import render
from .extensions import register_extensions
from .graph import SemanticGraph
from .matcher import SemanticMatcher

register_extensions()

__all__ = [
    "Arc",
    "Predicate",
    "SemanticGraph",
    "SemanticMatcher",
    "__version__",
    "merge",
    "register_extensions",
    "render",
    "split_sents",
]
