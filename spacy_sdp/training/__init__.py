"""What a training config can name."""
