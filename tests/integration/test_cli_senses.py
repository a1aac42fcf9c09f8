"""Senses of words from the shell: two columns, Senseval's XML with its key, and what goes wrong."""

from __future__ import annotations

import json

import pytest
from commands import here

SHORE = ["the muddy {} of the river", "a grassy {} by the stream", "fishing from the {} at dusk"]
SHORE.append("the left {} of a river")
MONEY = [
    "the {} lent me money",
    "an account at the {}",
    "the {} raised its interest",
    "a loan from our {} today",
]


def places():
    """Yield text before and behind the word, the word and its sense."""
    for number in range(6):
        for sense, texts in (("shore", SHORE), ("money", MONEY)):
            for i, text in enumerate(texts):
                before, after = text.split("{}")
                yield (
                    f"On day {number} {before}",
                    f"{after}.",
                    ("bank", "banks")[(i + number) % 4 == 0],
                    sense,
                )


def run(folder, *arguments, status=0):
    done = here(*arguments, folder=folder)
    assert done.returncode == status, done.stderr
    if status:
        assert done.stderr.startswith("disambig: [D") and done.stderr.count("\n") == 1, done.stderr
    return done


def xml(rows, *, answers=True):
    """Return the lexical sample of rows, every third one without a sense that is right."""
    lines = ['<?xml version="1.0" encoding="iso-8859-1"?>', "<corpus>", '<lexelt item="bank.n">']
    for number, (before, after, word, sense) in enumerate(rows):
        name = f"bank.n.{number}"
        lines += (
            [f'<instance id="{name}">', f'<answer instance="{name}" senseid="{sense}"/>'] if answers else []
        )
        lines += [] if answers else [f'<instance id="{name}">']
        lines += ["<context>", f"{before}<head>{word}</head>{after}", "</context>", "</instance>"]
    return "\n".join([*lines, "</lexelt>", "</corpus>"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("senses")
    rows = list(places())
    pairs = [f"{before}[[{word}]]{after}\t{sense}" for before, after, word, sense in rows]
    (folder / "my_words.tsv").write_text("\n".join(pairs) + "\n")
    (folder / "train.xml").write_text(xml(rows[:40]))
    (folder / "test.xml").write_text(xml(rows[40:], answers=False))
    key = [f"bank bank.n.{n} {sense}" for n, (*_, sense) in enumerate(rows[40:])]
    key[0] = "bank bank.n.0 U P"
    (folder / "key").write_text("\n".join([*key, "chair chair.1 seat"]))
    (folder / "map").write_text("shore 2 place\nmoney 2 place\nU 2 place\nplace\n")
    (folder / "new.txt").write_text(
        "The banks raised my account. We sat on the bank of the river. It is banking.\n"
    )
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    return run(folder, "train", "sense", "--labelled", "my_words.tsv", "--output", "my_senses")


def test_two_columns_are_enough(folder, trained):
    assert "sense, 1 of 1 group learned" in trained.stderr
    assert "48 examples, most frequent candidate" in trained.stderr
    found = run(folder, "annotate", "new.txt", "--model", "my_senses", "--format", "jsonl")
    decisions = json.loads(found.stdout)["decisions"]
    assert [(each["group"], each["observed"], each["chosen"]) for each in decisions] == [
        ("bank", "banks", "money"),
        ("bank", "bank", "shore"),
    ]


def test_senseval_gets_its_score(folder):
    run(folder, "train", "sense", "--labelled", "train.xml", "--output", "s2", "--no-test")
    options = ["--labelled", "test.xml", "--key", "key", "--sensemap", "map"]
    shown = run(folder, "evaluate", "s2", *options).stdout
    assert (
        "7 examples in 7 documents\n1 more example with labels unknown to the model: count as wrong" in shown
    )
    found = json.loads(run(folder, "evaluate", "s2", *options, "--json").stdout)["senseval"]
    fine, coarse = found["fine"], found["coarse"]
    assert fine["n"] == coarse["n"] == 9  # the key's other word is not attempted
    assert fine["tried"] == coarse["tried"] == 8
    assert fine["right"] == 7 and coarse["right"] == 8
    assert f"Senseval, fine: precision {7 / 8:.3f}, recall {7 / 9:.3f}, attempted 88.9% of 9" in shown


def test_a_broken_instance_is_a_note_or_stops(folder):
    text = (folder / "train.xml").read_text().replace("<head>bank</head>", "bank", 1)
    (folder / "broken.xml").write_text(text)
    options = ["--labelled", "broken.xml", "--output", "other", "--no-test"]
    noted = run(folder, "train", "sense", *options)
    assert noted.stderr.startswith("note: [D488] broken.xml, line 10: the target of 'bank.n.1'")
    assert "D488" in run(folder, "train", "sense", *options, "--force", "--strict", status=2).stderr
    refused = run(folder, "evaluate", "other", "--labelled", "broken.xml", "--strict", status=2)
    assert "broken.xml, line 10" in refused.stderr


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("no mark here\tshore\n", "D460"),
        ("the [[bank]]\tshore\n", "D467"),
        ("the [[ ]] x\tshore\nthe [[.]] x\tmoney\n", "D496"),
        ("the [[ ]] x\tshore\nthe [[ ]] x\tmoney\n", "D496"),
    ],
)
def test_bad_examples_are_one_line(folder, content, code):
    (folder / "bad.tsv").write_text(content)
    found = run(folder, "train", "sense", "--labelled", "bad.tsv", "--output", "bad", status=2)
    assert f"[{code}]" in found.stderr


def test_a_sense_that_the_inventory_does_not_know_is_not_used(folder, trained):
    (folder / "more.tsv").write_text("the muddy [[bank]] of a river\tshore\nthe [[bank]] shot\tbilliards\n")
    found = run(folder, "evaluate", "my_senses", "--labelled", "more.tsv")
    assert "1 example in 1 document\n1 more example with labels unknown to the model" in found.stdout


def test_what_cannot_be_scored_is_said_and_words_without_a_model_are_not_attempted(folder, trained):
    rows = ["text,label,word", "the muddy [[bank]] of a river,shore,bank"]
    (folder / "fine.csv").write_text("\n".join([*rows, "the [[cow]] slept,animal,cow"]))
    found = run(folder, "evaluate", "my_senses", "--labelled", "fine.csv", "--strict")
    assert found.stdout.splitlines()[:3] == [
        "1 example in 1 document",
        "1 more example of words unknown to the model: not attempted",
        "model, all: accuracy 50.00% (9.45% to 90.55%), attempted 50.00%",
    ]
    (folder / "broken.csv").write_text("\n".join([*rows, "the [[bank]] shot,billiards,bank"]))
    found = run(folder, "evaluate", "my_senses", "--labelled", "broken.csv")
    assert "1 example in 1 document\n1 more example with labels unknown to the model" in found.stdout
    assert "[D488] broken.csv, line 3: the label 'billiards' is not one of 'money', 'shore'" in found.stderr
    refused = run(folder, "evaluate", "my_senses", "--labelled", "broken.csv", "--strict", status=2)
    assert "broken.csv, line 3: the label 'billiards'" in refused.stderr


def test_xml_without_answers_asks_for_their_key(folder, trained):
    done = run(folder, "evaluate", "my_senses", "--labelled", "test.xml", status=2)
    assert (
        "[D461] there is no labelled example in test.xml; if the answers" in done.stderr
        and "--key FILE" in done.stderr
    )


@pytest.mark.parametrize("options", [["--sensemap", "map"], ["--key", "key"]])
def test_a_key_needs_examples(folder, trained, options):
    done = here("evaluate", "my_senses", "--text", "new.txt", *options, folder=folder)
    assert done.returncode == 2 and "--key" in done.stderr


def test_a_key_of_other_instances(folder, trained):
    (folder / "other.key").write_text("chair chair.1 seat\n")
    options = ["--labelled", "test.xml", "--key", "other.key"]
    assert "[D497]" in run(folder, "evaluate", "my_senses", *options, status=2).stderr


def test_of_many_words_with_few_examples_some_are_named(tmp_path):
    words = ["light", "note", "plant", "spring", "match"]
    pairs = [f"Once a [[{word}]] number {n}.\tsense {n}" for word in words for n in range(2)]
    (tmp_path / "few.tsv").write_text("\n".join(pairs) + "\n")
    done = run(tmp_path, "train", "sense", "--labelled", "few.tsv", "--output", "few", "--no-test")
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert sum("too few examples to learn from" in note for note in notes) == 3
    assert any(note == "note: ... and 2 more groups like these" for note in notes)


def test_a_word_that_nothing_was_learned_of_is_named(tmp_path):
    pairs = [
        f"They saw number {4 * n + i} of a [[{word}]].\t{sense}"
        for n in range(12)
        for i, (word, sense) in enumerate(WORDS)
    ]
    (tmp_path / "noise.tsv").write_text("\n".join(pairs) + "\n")
    done = run(tmp_path, "train", "sense", "--labelled", "noise.tsv", "--output", "noise", "--no-test")
    assert "note: plant: in cross-validation no better than" in done.stderr
    assert "note: match: in cross-validation" not in done.stderr


WORDS = [("plant", "factory"), ("plant", "flora"), ("match", "game"), ("matches", "fire")]
