"""Configs of other learners' with one line changed: all kinds of tasks learn by exponentiated gradient."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
from commands import here

EG = '[learner]\n@disambig_learners = "exponentiated_gradient.EG.v1"\n'
ROOT = Path(__file__).parents[2]
SENTENCES = [
    "Please bring me a chair.",
    "She will bring her brother to the party.",
    "Bring your own cup when you come.",
    "It will take an hour.",
    "You should take care of it.",
    "Take a look at the map before you go.",
]
WORDS = {"river": "the muddy {} of the river", "money": "the {} lent me money"}
RIGHT = ["the", "quiet", "house", "by", "their", "lake"]
WRONG = {"quiet": "quite", "their": "there", "by": "buy"}


def changed(text):
    """Return a config with this learner, the settings of the other left out."""
    new, n = re.subn(r"\[learner\]\n.*?(?=\n\[(?!learner)|\Z)", EG, text, flags=re.S)
    assert n == 1
    return new


def train(folder, text, *arguments):
    (folder / "my.cfg").write_text(changed(text), encoding="utf8")
    done = here("train", "my.cfg", *arguments, "--output", "model", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "exponentiated_gradient.EG.v1" in (folder / "model" / "config.cfg").read_text(encoding="utf8")
    return done


def write_lists(path, n, seed):
    """Write lists whose source prefers wrong words half the time."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        words = [RIGHT[i] for i in np.sort(rng.choice(len(RIGHT), 4, replace=False))]
        texts = {" ".join(words)}
        texts |= {
            " ".join(WRONG[word] if other == word else other for other in words)
            for word in words
            if word in WRONG
        }
        candidates = [{"text": text, "score": float(rng.normal())} for text in sorted(texts)]
        lines.append(json.dumps({"candidates": candidates, "reference": " ".join(words)}))
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def test_words_of_text(tmp_path):
    example = here("train", "--example", folder=tmp_path).stdout
    (tmp_path / "texts.txt").write_text("\n".join(SENTENCES * 20) + "\n", encoding="utf8")
    done = train(tmp_path, example, "--text", "texts.txt", "--lines")
    assert "1 of 1 group learned" in done.stderr
    (tmp_path / "new.txt").write_text("You should bring care of him.\n", encoding="utf8")
    flags = here(
        "annotate",
        "new.txt",
        "--model",
        "model",
        "--format",
        "text",
        "--flags-per-1000",
        "5",
        folder=tmp_path,
    )
    assert "bring -> take" in flags.stdout
    why = here("explain", "You should bring care of it.", "--model", "model", folder=tmp_path)
    assert why.returncode == 0, why.stderr


def test_lists(tmp_path):
    write_lists(tmp_path / "train.jsonl", 150, 0)
    write_lists(tmp_path / "new.jsonl", 60, 1)
    rerank = (ROOT / "plugins" / "disambig_variance_svm" / "rerank.cfg").read_text(encoding="utf8")
    train(tmp_path, rerank, "--lists", "train.jsonl")
    judged = here("evaluate", "model", "--lists", "new.jsonl", folder=tmp_path)
    assert judged.returncode == 0, judged.stderr
    chosen, first = (
        float(re.search(rf"{of}: (0\.\d+)", judged.stdout)[1]) for of in ("choice", "first candidate")
    )
    assert chosen < 0.5 * first


def test_senses(tmp_path):
    lines = []
    for number in range(40):
        sense = sorted(WORDS)[number % 2]
        text = WORDS[sense].format("[[bank]]")
        lines.append(f"On day {number} {text}.\t{sense}")
    (tmp_path / "senses.tsv").write_text("\n".join(lines) + "\n", encoding="utf8")
    sense = (ROOT / "plugins" / "disambig_kernel_rls" / "sense.cfg").read_text(encoding="utf8")
    done = train(tmp_path, sense, "--labelled", "senses.tsv")
    assert "1 of 1 group learned" in done.stderr


def test_topics(tmp_path):
    rows = ["text,label"]
    for number in range(40):
        words = ("ball team goal", "bread oven soup")[number % 2]
        rows.append(f"Today it was {words} and {number}.,{('sport', 'cooking')[number % 2]}")
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n", encoding="utf8")
    topic = (ROOT / "plugins" / "disambig_random_subspace" / "topic.cfg").read_text(encoding="utf8")
    train(tmp_path, topic, "--labelled", "table.csv")
    (tmp_path / "new.txt").write_text("The team had a goal.\n", encoding="utf8")
    said = here("annotate", "new.txt", "--model", "model", "--format", "jsonl", folder=tmp_path)
    assert "sport" in said.stdout, said.stderr
