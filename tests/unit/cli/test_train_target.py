from __future__ import annotations

import pytest
from commands import here


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    "said",
    [
        ("my.cfg", "--text", "texts"),
        ("topic", "--labelled", "topics.csv"),
        ("rerank", "--lists", "lists.jsonl"),
    ],
)
def test_a_folder_of_other_things_is_refused_before_anything_is_read(tmp_path, said, force):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "letter.txt").write_text("Dear Ann")
    done = here("train", *said, "--output", "foreign", *force, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "disambig: [D940] foreign exists and does not contain a model: --force only replaces models; "
        "choose another name\n"
    )
    assert [path.name for path in tmp_path.rglob("*")] == ["foreign", "letter.txt"]
    assert (tmp_path / "foreign" / "letter.txt").read_text() == "Dear Ann"


def test_an_empty_folder_is_replaced_when_asked(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "[D406]" in here("train", "my.cfg", "-o", "empty", folder=tmp_path).stderr
    assert "my.cfg" in here("train", "my.cfg", "-o", "empty", "--force", folder=tmp_path).stderr
