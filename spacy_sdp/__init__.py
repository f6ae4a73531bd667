"""Semantic dependency parsing for spaCy.

Importing the package registers `Doc._.sdp`, `Span._.sdp`, `Token._.sdp_heads`,
`Token._.sdp_args` and `Token._.sdp_top`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .about import __version__
from .graph.arc import Arc, Predicate, Triple
from .graph.extensions import register_extensions
from .graph.graph import SemanticGraph
from .graph.join import merge, split_sents
from .graph.labels import explain
from .graph.matcher import Match, SemanticMatcher
from .graph.table import to_frame

if TYPE_CHECKING:
    from .display import render

register_extensions()

__all__ = [
    "Arc",
    "Match",
    "Predicate",
    "SemanticGraph",
    "SemanticMatcher",
    "Triple",
    "__version__",
    "explain",
    "merge",
    "register_extensions",
    "render",
    "split_sents",
    "to_frame",
]


def __getattr__(name: str) -> Any:
    # spaCy imports this package for every pipeline, but few of them draw graphs.
    if name == "render":
        from .display import render

        return render
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
