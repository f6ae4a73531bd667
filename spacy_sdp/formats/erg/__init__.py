"""DELPH-IN profiles: ERG analyses, their texts, and their reduction to DM."""
