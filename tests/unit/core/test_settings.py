"""What of a part is a setting: what it takes, but for what it learns or declares."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from disambig.config import check_settings
from disambig.errors import UserError
from disambig.settings import fitted_field, get_settings


@dataclass(frozen=True)
class Words:
    least: int = 2
    names: list[str] = field(default_factory=lambda: ["a"])
    known: tuple[str, ...] = fitted_field(())
    cross_fit: ClassVar[bool] = True


def by_function(rate=0.5, *, seed: int = 3):
    return rate, seed


def test_what_fit_learns_is_no_setting_and_still_a_field():
    assert {name: each.default for name, each in get_settings(Words).items()} == {"least": 2, "names": ["a"]}
    learned = replace(Words(least=3), known=("x",))
    assert (learned.least, learned.known, Words().known) == (3, ("x",), ())


def test_a_function_has_its_parameters():
    assert list(get_settings(by_function)) == ["rate", "seed"]


def test_a_config_cannot_give_what_is_learned():
    config = {"extractors": {"words": {"@disambig_extractors": "toys.Words.v1", "known": ["x"]}}}
    with pytest.raises(UserError, match=r"toys\.Words\.v1 has no setting 'known': it has") as caught:
        check_settings(config, lambda kind, name: Words, "my.cfg")
    assert caught.value.code == "D005"
    config["extractors"]["words"] = {"@disambig_extractors": "toys.Words.v1", "least": 3}
    check_settings(config, lambda kind, name: Words, "my.cfg")
