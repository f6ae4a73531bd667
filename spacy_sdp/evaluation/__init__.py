"""How good parses are, and what is in a corpus."""
