"""What is said where nothing was tested, and nothing could be scored."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from disambig.cli.main import run
from disambig.evaluation import why_untested


def model(documents, **more):
    provenance = {"examples": {"documents": documents}, **more}
    return SimpleNamespace(provenance=provenance, task=SimpleNamespace(name="words"))


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ({"train": 2, "dev": 0, "test": 0}, "but none of these 2; add more"),
        ({"train": 9, "dev": 2, "test": 3}, "for the task words is in the 3 documents held out for testing"),
        ({"train": 9, "dev": 2, "test": 1}, "is in the 1 document held out for testing"),
        (1, r"at least two documents \(there are 1\)"),
    ],
)
def test_reason_for_an_untested_model(documents, expected):
    assert re.search(f"^not tested: .*{expected}", why_untested(model(documents)))


def test_no_reason_for_a_tested_model():
    assert why_untested(model({"test": 1}, test={"n": 3})) == ""
    assert why_untested(model({"test": 0}, notes=["not tested: [D461] ..."])) == ""


@pytest.mark.parametrize(
    ("options", "expected"), [((), "give other text"), (("--test-part",), "a fifth of them")]
)
def test_command_names_text_without_decisions(tmp_path, capsys, options, expected):
    text = tmp_path / "nothing.txt"
    text.write_text("Zebras sleep.\n")
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "spelling", "--text", str(text), *options])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err.startswith("disambig: [D664]") and str(text) in shown.err and expected in shown.err
    assert "decisions of the task 'spelling': none" in shown.err
