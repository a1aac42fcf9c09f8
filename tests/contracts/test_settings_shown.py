"""What `disambig plugins` shows of the parts that learn is what their docstrings call parameters."""

from __future__ import annotations

import inspect
import re

import pytest

from disambig import registry
from disambig.settings import get_settings

PARTS = [
    pytest.param(factory, id=name)
    for kind in ("tasks", "extractors", "learners", "judges", "decoders")
    for name, factory in registry.load_all(kind).items()
]


def described(factory):
    """The names in the section of parameters; of a method in that of its class."""
    said = inspect.getdoc(factory) or ""
    owner = getattr(factory, "__self__", None)
    said += inspect.getdoc(owner) or "" if inspect.isclass(owner) else ""
    return {name for line in re.findall(r"^(\w[\w, ]*) : ", said, re.M) for name in line.split(", ")}


@pytest.mark.parametrize("factory", PARTS)
def test_every_setting_is_described(factory):
    assert set(get_settings(factory)) <= described(factory)


def test_what_is_learned_is_not_shown():
    learned = {"seen", "tables", "known", "keys", "weights", "calibration", "operating"}
    parts = {**registry.load_all("extractors"), **registry.load_all("judges")}
    assert not [name for name, part in parts.items() if learned & set(get_settings(part))]
