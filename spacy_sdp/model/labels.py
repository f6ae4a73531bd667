"""The numbers of labels: those of the corpus follow these two."""

NULL, ROOT, FIRST_LABEL = 0, 1, 2
