"""Parsing of large corpora, on one or several machines with Ray Data."""

from __future__ import annotations

from .job import Summary, apply
from .parse_batch import ParseBatch
from .schema import parse_schema

__all__ = ["ParseBatch", "Summary", "apply", "parse_schema"]
