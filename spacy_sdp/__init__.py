"""Semantic dependency parsing for spaCy.

Importing the package registers `Doc._.sdp`, `Token._.sdp_heads`,
`Token._.sdp_args` and `Token._.sdp_top`.
"""

from .about import __version__
from .extensions import register_extensions
from .graph import Arc, SemanticGraph

register_extensions()

__all__ = ["Arc", "SemanticGraph", "__version__", "register_extensions"]
