"""The config that `disambig train --example` prints: it trains a model, from text and from ten labels."""

from __future__ import annotations

import pytest
from commands import here

BRING = [
    "Please bring me a chair.",
    "She will bring her brother to the party.",
    "Bring your own cup when you come.",
]
TAKE = ["It will take an hour.", "You should take care of it.", "Take a look at the map before you go."]
PLACES = ["chair", "map", "cup", "book", "coat"]
LABELLED = [f"Please [[bring]] me a {one}.\tbring" for one in PLACES]
LABELLED += [f"You should [[bring]] care of the {one}.\ttake" for one in PLACES]


def run(folder, *arguments, status=0):
    done = here(*arguments, folder=folder)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    printed = run(folder, "train", "--example")
    assert not printed.stderr
    (folder / "my.cfg").write_text(printed.stdout, encoding="utf8")
    (folder / "texts.txt").write_text("\n".join((BRING + TAKE) * 20) + "\n", encoding="utf8")
    (folder / "ten.tsv").write_text("\n".join(LABELLED) + "\n", encoding="utf8")
    return folder


def test_the_example_trains_from_text_and_the_model_finds_an_error(folder):
    done = run(folder, "train", "my.cfg", "--text", "texts.txt", "--lines", "--output", "model")
    assert "1 of 1 group learned" in done.stderr
    (folder / "new.txt").write_text("Could you bring care of it?\n", encoding="utf8")
    flags = run(
        folder, "annotate", "new.txt", "--model", "model", "--format", "text", "--flags-per-1000", "5"
    )
    assert "bring -> take" in flags.stdout
    card = (folder / "model" / "README.md").read_text(encoding="utf8")
    assert "*bring* / *take*" in card


def test_the_example_trains_from_ten_labels_and_says_that_they_are_few(folder):
    done = run(folder, "train", "my.cfg", "--labelled", "ten.tsv", "--output", "few")
    assert "10 labelled examples are few" in done.stderr
    assert "0 of 1 group learned" in done.stderr  # min_examples is 20


def test_a_wrong_candidate_in_the_example_is_one_line(folder):
    text = (folder / "my.cfg").read_text(encoding="utf8").replace('["bring", "take"]', '["bring", "bring"]')
    (folder / "wrong.cfg").write_text(text, encoding="utf8")
    done = run(folder, "train", "wrong.cfg", "--text", "texts.txt", "--output", "wrong", status=2)
    assert len(done.stderr.strip().splitlines()) == 1
    assert "D411" in done.stderr
