"""What ``disambig plugins`` says of a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from disambig.cli import main
from disambig.cli.commands.plugins import entry_lines, format_parameters
from disambig.registry import Entry


@dataclass
class Toy:
    """Learn as in Someone et al. 2006. Then forget.

    The second paragraph.
    """

    words: Sequence[str]
    C: float | None = None
    more: list[int] = field(default_factory=lambda: [3])


def by_function(rate=0.5, *, seed: int = 3, **rest):
    return rate, seed, rest


def test_parameters_and_defaults():
    assert format_parameters(Toy) == [
        "words: Sequence[str]",
        "C: float | None = None",
        "more: list[int] = [3]",
    ]
    assert format_parameters(by_function) == ["rate=0.5", "seed: int = 3", "**rest"]


def test_a_part_in_short_and_in_full():
    part = Entry("learners", "toys.Toy.v1", "toys", Toy)
    first, *parameters = entry_lines(part)
    assert first == "Learn as in Someone et al. 2006."
    assert parameters == [f"  {parameter}" for parameter in format_parameters(Toy)]
    whole = list(entry_lines(part, whole=True))
    assert whole[:4] == ["Learn as in Someone et al. 2006. Then forget.", "", "The second paragraph.", ""]
    assert whole[4:] == parameters
    assert next(entry_lines(Entry("learners", "toys.F.v1", "toys", by_function))) == "  rate=0.5"
    (broken,) = entry_lines(Entry("learners", "toys.B.v1", "toys", "no_such_module_anywhere:B"))
    assert broken.startswith("BROKEN: [D007]")


def call(*arguments):
    with pytest.raises(SystemExit) as caught:
        main.run(["plugins", *arguments])
    return caught.value.code


def test_a_plugin_and_a_part_are_shown(load_with, capsys):
    load_with(toys="toy_plugin")
    assert call("toys") == 0
    out = capsys.readouterr().out
    assert "  task: toys.Pairs.v1\n    Decide between words of a pair, wherever one stands.\n" in out
    assert "      name: str = 'pairs'\n" in out
    assert "core" not in out
    assert call("toys.Pairs.v1") == 0
    assert capsys.readouterr().out.startswith("task toys.Pairs.v1 of toys, ")


def test_what_there_is_not(capsys):
    assert call("cor") == 2
    assert "[D010] no plugin or entry 'cor' is installed; available: core, " in (
        shown := capsys.readouterr().err
    )
    assert len(shown.splitlines()) == 1 and len(shown) < 200
