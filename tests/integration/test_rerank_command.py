"""Rerankers from the shell: training on n-best lists and trees with several learners, and evaluation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import here

ROOT = Path(__file__).parents[2]
RIGHT = ["the", "quiet", "house", "by", "their", "lake"]
WRONG = {"quiet": "quite", "their": "there", "by": "buy"}


def run(folder, *arguments):
    """Run a command in a folder; each argument is split into words."""
    done = here(*(word for argument in arguments for word in str(argument).split()), folder=folder)
    assert done.returncode == 0, done.stderr
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


CONFIG = """
[model]
name = "my/rerank"

[task]
@disambig_tasks = "disambig.Lists.v1"
name = "rerank"
measure = "wer"

[extractors]

[extractors.source]
@disambig_extractors = "disambig.SourceFeatures.v1"
rank = false

[extractors.text]
@disambig_extractors = "disambig.TextNgrams.v1"
unit = "words"
order = 2
least = 2

[learner]
@disambig_learners = "{learner}.v1"
"""
LEARNERS = [f"boosted_lasso.{name}" for name in ("BLasso", "Boosting", "AveragedPerceptron", "PairwiseL2")]
CONFIGS = {name: CONFIG.format(learner=name) for name in (*LEARNERS, "exponentiated_gradient.EG")}
CONFIGS["as shipped"] = (ROOT / "plugins/disambig_variance_svm/rerank.cfg").read_text(encoding="utf8")


def test_training_notes_a_model_that_is_not_better_than_the_first_candidate(tmp_path):
    write_lists(tmp_path / "train.jsonl", 60, 0)
    (tmp_path / "my.cfg").write_text(CONFIG.format(learner="disambig.NoPreference"), encoding="utf8")
    done = run(tmp_path, "train my.cfg --lists train.jsonl --output model")
    note = "on the held-out lists the model is not better than always taking the first candidate ("
    assert f"note: {note}" in done.stderr
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf8")
    assert f"* {note}" in card.partition("## Limits")[2]


@pytest.mark.parametrize("name", CONFIGS)
def test_lists_are_learned_from_and_decided(tmp_path, name):
    write_lists(tmp_path / "train.jsonl", 120, 0)
    write_lists(tmp_path / "new.jsonl", 60, 1)
    (tmp_path / "my.cfg").write_text(CONFIGS[name], encoding="utf8")
    lines = run(tmp_path, "train my.cfg --lists train.jsonl --output model").stderr.splitlines()
    assert any(line.startswith("  the model's choice: ") for line in lines), lines
    assert lines[-1] == "(lists held out before training)"
    judged = run(tmp_path, "evaluate model --lists new.jsonl").stdout
    chosen, first = (float(re.search(rf"{of}: (0\.\d+)", judged)[1]) for of in ("choice", "first candidate"))
    assert chosen < 0.5 * first
    reports = (tmp_path / "model" / "model.json").read_text(encoding="utf8")
    assert ('"steps_back"' in reports) == name.endswith(("BLasso", "Boosting"))


TREE_CONFIG = ROOT / "plugins" / "disambig_exponentiated_gradient" / "rerank_trees.cfg"
EVALUATE = ("evaluate", "model", "--lists", "bad.jsonl")
BEGIN = "(TOP (S (NP (PRP {who})) (VP (VBD {verb}) "
LOW = BEGIN + "(NP (NP (DT the) (NN {what})) (PP (IN {by}) (NP (NN {where})))))))"
HIGH = BEGIN + "(NP (DT the) (NN {what})) (PP (IN {by}) (NP (NN {where}))))))"


def write_tree_lists(path, n, seed):
    """Write lists in which "of" belongs to the noun and "at" to the verb; the source tosses a coin."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(n):
        output = {
            "who": rng.choice(["we", "they"]),
            "verb": rng.choice(["found", "bought"]),
            "what": rng.choice(["key", "bread"]),
            "by": ("of", "at")[number % 2],
            "where": rng.choice(["home", "night"]),
        }
        trees = [LOW.format(**output), HIGH.format(**output)]
        scores = rng.normal(size=2) - 60.0
        candidates = [{"text": t, "score": float(s)} for t, s in zip(trees, scores, strict=True)]
        candidates.sort(key=lambda item: -item["score"])
        about = {"id": number, "reference": trees[number % 2], "document": f"d{number}"}
        lines.append(json.dumps({"candidates": candidates, **about}))
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def test_parses_are_reranked(tmp_path):
    write_tree_lists(tmp_path / "train.jsonl", 120, 0)
    write_tree_lists(tmp_path / "new.jsonl", 60, 1)
    run(tmp_path, "train", TREE_CONFIG, "--lists train.jsonl --output model")
    judged = run(tmp_path, "evaluate model --lists new.jsonl").stdout
    assert "bracket F1" in judged
    chosen, first = (float(re.search(rf"{of}: ([\d.]+)%", judged)[1]) for of in ("choice", "first candidate"))
    assert chosen == 100.0 > first
    run(tmp_path, "annotate new.jsonl --from nbest --model model --output best.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "best.jsonl").read_text(encoding="utf8").splitlines()]
    assert all(line["candidates"][0]["text"] == line["reference"] for line in lines)
    lines[3]["candidates"][1]["text"] = "(TOP"
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf8")
    for command in (("annotate", "bad.jsonl", "--from", "nbest", "--model", "model"), EVALUATE):
        bad = here(*command, folder=tmp_path)
        assert bad.returncode == 2 and "[D630] bad.jsonl:4, candidate 2, line 1: " in bad.stderr
    lines[3]["candidates"][1]["text"] = lines[3]["reference"].replace("DT the", "DT a")
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf8")
    bad = here(*EVALUATE, folder=tmp_path)
    assert bad.returncode == 2 and "[D636] bad.jsonl:4, candidate 2: word 3 is 'a', and 'the'" in bad.stderr
    assert "in 1 of 120 trees" in bad.stderr
    (tmp_path / "text.txt").write_text("We saw the key.\n" * 100, encoding="utf8")
    text = here("annotate", "text.txt", "--from", "nbest", "--model", "model", folder=tmp_path)
    assert text.returncode == 2 and text.stderr.startswith("disambig: [D334] text.txt:1: not JSON")
    others = "[D334] text.txt: the same in 99 more lines: 2, 3, 4, ...\n0 lists, 100 lines skipped\n"
    assert text.stderr.split("\n", 1)[1] == f"disambig: {others}"


@pytest.mark.parametrize("found_by", ["measure", "extractor"])
def test_an_invalid_tree_is_reported_with_its_list(tmp_path, found_by):
    output = {"who": "we", "verb": "saw", "what": "key", "by": "of", "where": "home"}
    low, high = LOW.format(**output), HIGH.format(**output)

    def line(other: str) -> str:
        candidates = [{"text": low, "cost": 0}, {"text": other, "cost": 1}]
        if found_by == "extractor":
            return json.dumps({"candidates": candidates})
        return json.dumps({"candidates": [{"text": item["text"]} for item in candidates], "reference": low})

    lines = [line(high)] * 20
    lines[7] = line(high[:-1])
    (tmp_path / "lists.jsonl").write_text("\n".join(lines), encoding="utf8")
    done = here("train", str(TREE_CONFIG), "--lists", "lists.jsonl", "--output", "model", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "disambig: [D630] lists.jsonl:8, candidate 2, line 1: the bracket that opens here is never "
        "closed; expected trees of the form (LABEL child ...) with words (TAG word)"
    )
