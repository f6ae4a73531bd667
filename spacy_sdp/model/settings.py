"""The settings of the network, and what they may be."""

from __future__ import annotations

from dataclasses import dataclass

# Kinds of neighbours that an arc may exchange messages with. A grandparent is a
# neighbour of its grandchild, and the other way round.
PARTS = ("sibling", "co-parent", "grandparent")

# The most words of a sentence in which all arcs are candidates, by inference. Memory
# grows with their square, and with their cube in belief propagation.
LONGEST_WITHOUT_PRUNING = {"mean_field": 1000, "none": 1000, "lbp": 150}


@dataclass(frozen=True)
class Settings:
    """The settings of the network; `MeanFieldParser` explains them."""

    hidden_width: int
    lstm_width: int
    lstm_depth: int
    bypass_lstm: bool
    mlp_width: int
    label_width: int | None
    factor_width: int
    rank: int
    embed_dropout: float
    lstm_dropout: float
    mlp_dropout: float
    inference: str
    labelled: bool
    factored: bool
    parts: tuple[str, ...]
    tied: bool
    exclude_self: bool
    null_factors: bool
    train_iterations: int
    predict_iterations: int
    damping: float
    tolerance: float
    prune: float
    max_heads: int
    supervise: str
    label_weight: float
    max_pairs: int

    @property
    def arcs_apart(self) -> bool:
        """Whether the scores of arcs are apart from those of their labels."""
        return self.factored or not self.labelled

    @property
    def exact(self) -> bool:
        """Whether all arcs take part in mean-field inference."""
        return self.inference == "mean_field" and not self.prune

    def check_length(self, words: int) -> None:
        """Refuse a sentence that needs more memory than a machine may have."""
        longest = LONGEST_WITHOUT_PRUNING[self.inference]
        if not self.prune and words > longest:
            raise ValueError(
                f"A sentence of {words} words is too long for a parser with 'prune' = "
                f"0, which holds all pairs of words in memory: {longest} words are the "
                "limit. Set sentence boundaries before the parser, or 'prune' to a "
                "small probability such as 0.01."
            )

    def __post_init__(self) -> None:
        for name, least in (
            ("hidden_width", 0),
            ("lstm_width", 1),
            ("lstm_depth", 0),
            ("mlp_width", 1),
            ("label_width", 1),
            ("factor_width", 1),
            ("rank", 1),
            ("train_iterations", 0),
            ("predict_iterations", 0),
            ("tolerance", 0),
            ("max_heads", 1),
            ("max_pairs", 1),
        ):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise ValueError(
                    f"The parser's setting '{name}' has to be at least {least}, not "
                    f"{value}."
                )
        for name in (
            "embed_dropout",
            "lstm_dropout",
            "mlp_dropout",
            "damping",
            "prune",
            "label_weight",
        ):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise ValueError(
                    f"The parser's setting '{name}' has to be at least 0 and less than "
                    f"1, not {value}."
                )
        for name, choices in (
            ("inference", ("mean_field", "lbp", "none")),
            ("supervise", ("all", "last")),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(
                    f"The parser's setting '{name}' has to be one of "
                    f"{', '.join(map(repr, choices))}, not {value!r}."
                )
        if not self.parts or not set(self.parts) <= set(PARTS):
            raise ValueError(
                "The parser's setting 'parts' has to name some of "
                f"{', '.join(map(repr, PARTS))}, not {list(self.parts)}."
            )
