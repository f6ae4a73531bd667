"""The systems to compare, as changes to any config of this repository."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from spacy.util import registry
from thinc.api import Config

FIRST_ORDER = {"@misc": "spacy_sdp.first_order.v1"}
BELIEF_PROPAGATION = {"@misc": "spacy_sdp.belief_propagation.v1"}
# Labels do not affect messages, so NULL has no factors.
UNLABELLED = {"null_factors": False}
# All scores have the same width.
JOINT = {"scores": "joint", "label_width": None}
# The paper's parser, and the one that the configs recommend, whatever the config.
PUBLISHED = {
    "supervise": "last",
    "exclude_self": False,
    "null_factors": True,
    "train_iterations": 2,
    "predict_iterations": 10,
}
RECOMMENDED = {
    "supervise": "all",
    "exclude_self": True,
    "null_factors": False,
    "train_iterations": 2,
    "predict_iterations": 3,
}


@dataclass(frozen=True)
class System:
    """The changes of a system to [components.sdp_meanfield.model].

    title (str): The name in tables and figures.
    model (Dict[str, Any]): Settings of the model.
    inference (Dict[str, Any]): Settings of the inference block, including `@misc`.
    """

    title: str
    model: dict[str, Any] = field(default_factory=dict)
    inference: dict[str, Any] = field(default_factory=dict)


SYSTEMS = {
    "first-order": System("first order", inference=FIRST_ORDER),
    "unlabelled": System("unlabelled mean field", {"scores": "unlabelled"}, UNLABELLED),
    "lbp": System(
        "unlabelled belief propagation", {"scores": "unlabelled"}, BELIEF_PROPAGATION
    ),
    "labelled": System("labelled mean field"),
    "published": System("labelled, as published", {**JOINT, "prune": 0.0}, PUBLISHED),
    "recommended": System(
        "labelled, as recommended", {"scores": "factored", "prune": 0.01}, RECOMMENDED
    ),
    # The other systems are variants, one for each setting.
    "first-order-unlabelled": System(
        "first order, arcs and labels apart", {"scores": "unlabelled"}, FIRST_ORDER
    ),
    "first-order-joint": System("first order, joint scores", JOINT, FIRST_ORDER),
    "labelled-joint": System("labelled, joint scores", JOINT),
    "labelled-own-neighbour": System(
        "labelled, an arc is its own neighbour", inference={"exclude_self": False}
    ),
    "labelled-tied": System("labelled, tied", inference={"tied": True}),
    "labelled-exact": System("labelled, trained without pruning", {"prune": 0.0}),
    "labelled-null": System(
        "labelled, NULL has factors", inference={"null_factors": True}
    ),
    "labelled-last": System(
        "labelled, last iteration trained", inference={"supervise": "last"}
    ),
    "labelled-frames": System(
        "labelled, with frames", {"frames": True, "min_frame_count": 2}
    ),
}
# The systems that the paper compares.
COMPARED = [*SYSTEMS][:4]


def configure(config: Config, system: System) -> Config:
    """Create the config of a system.

    If the inference algorithm changes, it keeps the settings of the block that it
    supports. Other settings are removed.

    config (Config): A config with `spacy_sdp.MeanFieldParser.v2`, not interpolated.
    system (System): The system.
    RETURNS (Config): A changed copy.
    """
    config = config.copy()
    model = config["components"]["sdp_meanfield"]["model"]
    block = {**model["inference"], **system.inference}
    build = registry.get("misc", block["@misc"])
    known = {"@misc", *inspect.signature(build).parameters}
    inference = {name: value for name, value in block.items() if name in known}
    model.update(system.model, inference=inference)
    return config
