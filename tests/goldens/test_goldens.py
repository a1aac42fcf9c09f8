"""Every output equals the recorded one: commands, formats, components, saved models, names, servers."""

from __future__ import annotations

import re
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from golden_cases import record
from golden_forms import CASES, OUTPUTS

NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
LAST_DIGIT, INEXACT = 2e-6, 5e-3
"""By how much decimal fractions may differ on another processor, and those of `INEXACT_CASES`. Solvers add up
in another order there and stop elsewhere, and rounding moves numbers of an encoder to the next of 255 steps:
probabilities were seen to differ by 2e-3."""
INEXACT_CASES = ("train", "annotate", "check", "explain", "components", "packs", "saved", "server", "lsp")
"""Beginnings of the names of cases that train a model or ask an encoder."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("goldens")


def same(first: str | None, second: str | None, room: float = LAST_DIGIT) -> bool:
    """Compare two lines; decimal fractions may differ by `room`, since processors round differently."""
    if first is None or second is None or first == second:
        return first == second
    if NUMBER.sub("#", first) != NUMBER.sub("#", second):
        return False
    pairs = zip(NUMBER.findall(first), NUMBER.findall(second), strict=True)
    return all(abs(float(a) - float(b)) <= room + 1e-6 * abs(float(b)) for a, b in pairs)


def differences(name: str, made: dict[str, str]) -> list[str]:
    """Return a line for each file that differs from the recorded one, with the first difference."""
    recorded = {p.name: p.read_bytes().decode() for p in (OUTPUTS / name).iterdir()}
    room = INEXACT if name.startswith(INEXACT_CASES) else LAST_DIGIT
    problems = [f"{name}/{file}: not made any more" for file in recorded.keys() - made.keys()]
    problems += [f"{name}/{file}: new, not recorded" for file in made.keys() - recorded.keys()]
    for file in sorted(recorded.keys() & made.keys()):
        lines = zip_longest(recorded[file].split("\n"), made[file].split("\n"))
        for number, (old, new) in enumerate(lines, 1):
            if not same(old, new, room):
                problems.append(f"{name}/{file}, line {number}:\n  recorded: {old}\n  now:      {new}")
                break
    return problems


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if slow else ()) for n, (_, slow) in CASES.items()]
)
def test_what_is_put_out_is_what_was_recorded(home, name):
    problems = differences(name, record(home, [name])[name])
    record_anew = f"If the change is meant: python -m tests.goldens.record {name}"
    assert not problems, "\n".join([*problems, record_anew])


def test_a_difference_is_shown():
    recorded = {p.name: p.read_bytes().decode() for p in (OUTPUTS / "names").iterdir()}
    assert differences("names", recorded) == []
    (problem,) = differences("names", {**recorded, "plugins": "core tasks nothing\n"})
    assert problem.startswith("names/plugins, line 1:\n  recorded: ") and "now:      core" in problem
    assert same("0.870", "0.874", INEXACT) and not same("0.87", "0.88", INEXACT)
    assert same("0.123456", "0.123457") and not same("0.12345", "0.12346") and not same("1", "2")
