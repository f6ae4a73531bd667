"""DELPH-IN profiles: ERG analyses, their texts, and their conversion to DM."""
