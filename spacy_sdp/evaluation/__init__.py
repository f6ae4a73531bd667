"""Evaluation of parses, and statistics of corpora."""
