"""Label and frame indices; those of the corpus start at FIRST_LABEL and FIRST_FRAME."""

NULL, ROOT, FIRST_LABEL = 0, 1, 2
NO_FRAME, FIRST_FRAME = 0, 1
