"""The numbers of labels and frames: those of the corpus follow these."""

NULL, ROOT, FIRST_LABEL = 0, 1, 2
NO_FRAME, FIRST_FRAME = 0, 1
