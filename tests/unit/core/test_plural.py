"""Numbers with their nouns, wherever a line for people is made."""

from __future__ import annotations

import re
from pathlib import Path

import disambig
from disambig.formatting import pluralize
from disambig.training import dataset_report, report_line


def test_one_is_singular():
    said = [pluralize(n, "document") for n in (0, 1, 2, 12_345)]
    assert said == ["0 documents", "1 document", "2 documents", "12,345 documents"]


def test_an_account_follows_the_rule():
    assert report_line(dataset_report(1, what="documents")) == "read 1 document: 1 used, none left out"
    assert report_line(dataset_report(2, what="lists")) == "read 2 lists: 2 used, none left out"


def test_no_line_of_a_command_has_a_rule_of_its_own():
    """A number and a noun in the plural, such as ``{n:,} documents``, is wrong where the number is one."""
    home = Path(disambig.__file__).parent
    counted = re.compile(
        r"\{[^{}]*:,\} (documents|words|examples|lists|lines|models|flags|decisions|groups)\b"
    )
    rooms = [
        path
        for room in ("cli", "checking", "training", "evaluation", "models")
        for path in (home / room).rglob("*.py")
    ]
    assert len(rooms) > 50
    assert not [
        f"{path.name}: {found[0]}" for path in rooms for found in counted.finditer(path.read_text("utf8"))
    ]
