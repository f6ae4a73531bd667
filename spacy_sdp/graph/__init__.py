"""Semantic graphs: arcs, matching, and storage in Docs."""
