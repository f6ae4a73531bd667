"""Training: corpora, optimizers, checkpoints, silver data and weights."""
