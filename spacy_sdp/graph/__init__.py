"""What a parse is: arcs, graphs, and where spaCy keeps them."""
