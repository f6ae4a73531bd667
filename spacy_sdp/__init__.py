"""Semantic dependency parsing for spaCy.

Importing the package registers `Doc._.sdp`, `Span._.sdp`, `Token._.sdp_heads`,
`Token._.sdp_args` and `Token._.sdp_top`.
"""

from .about import __version__
from .display import render
from .graph.arc import Arc, Predicate
from .graph.extensions import register_extensions
from .graph.graph import SemanticGraph
from .graph.join import merge, split_sents
from .graph.matcher import SemanticMatcher

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
