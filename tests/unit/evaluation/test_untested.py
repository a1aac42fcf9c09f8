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
    ("documents", "said"),
    [
        ({"train": 2, "dev": 0, "test": 0}, "but none of these 2; add more"),
        (
            {"train": 9, "dev": 2, "test": 3},
            "nothing for the task words is in the 3 documents held out for testing",
        ),
        ({"train": 9, "dev": 2, "test": 1}, "is in the 1 document held out for testing"),
        (1, r"at least two documents \(there are 1\)"),
    ],
)
def test_a_model_that_was_not_tested_says_why(documents, said):
    assert re.search(f"^not tested: .*{said}", why_untested(model(documents)))


def test_one_that_was_tested_or_has_said_why_not_says_nothing():
    assert why_untested(model({"test": 1}, test={"n": 3})) == ""
    assert why_untested(model({"test": 0}, notes=["not tested: [D461] ..."])) == ""


@pytest.mark.parametrize(
    ("options", "said"), [((), "give other text"), (("--test-part",), "a fifth of them")]
)
def test_text_without_a_place_of_the_task_is_named(tmp_path, capsys, options, said):
    text = tmp_path / "nothing.txt"
    text.write_text("Zebras sleep.\n")
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "spelling", "--text", str(text), *options])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err.startswith("disambig: [D664]") and str(text) in shown.err and said in shown.err
    assert "decisions of the task 'spelling': none" in shown.err
