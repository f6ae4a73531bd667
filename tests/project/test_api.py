"""The tables of settings in docs/api.md are those of the code."""

import json
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from spacy_sdp.model.inference import BeliefPropagation, MeanField, SecondOrderInference
from spacy_sdp.model.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf8")


def to_rows(settings, inherited=()):
    known = {each.name for cls in inherited for each in fields(cls)}
    return [
        f"| `{each.name}` | {to_type(each.type)} | `{json.dumps(each.default)}` | "
        f"{each.metadata['about']} |"
        for each in fields(settings)
        if each.name not in known
    ]


def to_type(annotation):
    if isinstance(annotation, type):
        return annotation.__name__
    name = str(annotation).removeprefix("collections.abc.")
    return name.replace(" | None", ", optional")


@pytest.mark.parametrize(
    "rows",
    [
        to_rows(Settings),
        to_rows(SecondOrderInference),
        to_rows(MeanField, [SecondOrderInference]),
    ],
)
def test_settings_are_documented(rows):
    assert "\n".join(rows) in PAGE


def test_belief_propagation_has_no_settings_of_its_own():
    assert fields(BeliefPropagation) == fields(SecondOrderInference)


def test_everything_that_a_config_can_name_is_documented():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [name for each in project["entry-points"].values() for name in each]
    assert [name for name in names if f"`{name}`" not in PAGE] == ["sdp"]
