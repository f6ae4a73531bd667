"""Example sentences with graphs, free to use."""

from pathlib import Path

# An SDP file of 24 English sentences with DM graphs.
EXAMPLES = Path(__file__).parent / "examples.sdp"
