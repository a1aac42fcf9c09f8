"""The n-best parses of any parser are reranked by a config: trees as texts, bracket F1 as the measure."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import here

CONFIG = Path(__file__).parents[2] / "plugins" / "disambig_exponentiated_gradient" / "rerank_trees.cfg"
EVALUATE = ("evaluate", "model", "--lists", "bad.jsonl")
BEGIN = "(TOP (S (NP (PRP {who})) (VP (VBD {verb}) "
LOW = BEGIN + "(NP (NP (DT the) (NN {what})) (PP (IN {by}) (NP (NN {where})))))))"
HIGH = BEGIN + "(NP (DT the) (NN {what})) (PP (IN {by}) (NP (NN {where}))))))"


def write_lists(path, n, seed):
    """Write lists in which "of" belongs to the noun and "at" to the verb; the source tosses a coin."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(n):
        said = {
            "who": rng.choice(["we", "they"]),
            "verb": rng.choice(["found", "bought"]),
            "what": rng.choice(["key", "bread"]),
            "by": ("of", "at")[number % 2],
            "where": rng.choice(["home", "night"]),
        }
        trees = [LOW.format(**said), HIGH.format(**said)]
        scores = rng.normal(size=2) - 60.0
        candidates = [{"text": t, "score": float(s)} for t, s in zip(trees, scores, strict=True)]
        candidates.sort(key=lambda each: -each["score"])
        lines.append(
            json.dumps(
                {
                    "id": number,
                    "candidates": candidates,
                    "reference": trees[number % 2],
                    "document": f"d{number}",
                }
            )
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def test_parses_are_reranked(tmp_path):
    write_lists(tmp_path / "train.jsonl", 120, 0)
    write_lists(tmp_path / "new.jsonl", 60, 1)
    done = here("train", str(CONFIG), "--lists", "train.jsonl", "--output", "model", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    judged = here("evaluate", "model", "--lists", "new.jsonl", folder=tmp_path)
    assert judged.returncode == 0, judged.stderr
    assert "bracket F1" in judged.stdout
    chosen, first = (
        float(re.search(rf"{of}: ([\d.]+)%", judged.stdout)[1]) for of in ("choice", "first candidate")
    )
    assert chosen == 100.0 > first
    best = here(
        "annotate",
        "new.jsonl",
        "--from",
        "nbest",
        "--model",
        "model",
        "--output",
        "best.jsonl",
        folder=tmp_path,
    )
    assert best.returncode == 0, best.stderr
    lines = [json.loads(line) for line in (tmp_path / "best.jsonl").read_text(encoding="utf8").splitlines()]
    assert all(line["candidates"][0]["text"] == line["reference"] for line in lines)
    lines[3]["candidates"][1]["text"] = "(TOP"
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf8")
    for command in (("annotate", "bad.jsonl", "--from", "nbest", "--model", "model"), EVALUATE):
        bad = here(*command, folder=tmp_path)
        assert bad.returncode == 2 and "[D630] bad.jsonl:4, candidate 2, line 1: " in bad.stderr


@pytest.mark.parametrize("found_by", ["measure", "extractor"])
def test_a_text_that_is_no_tree_is_told_with_its_list(tmp_path, found_by):
    said = {"who": "we", "verb": "saw", "what": "key", "by": "of", "where": "home"}
    low, high = LOW.format(**said), HIGH.format(**said)

    def line(other: str) -> str:
        candidates = [{"text": low, "cost": 0}, {"text": other, "cost": 1}]
        if found_by == "extractor":
            return json.dumps({"candidates": candidates})
        return json.dumps({"candidates": [{"text": each["text"]} for each in candidates], "reference": low})

    lines = [line(high)] * 20
    lines[7] = line(high[:-1])
    (tmp_path / "lists.jsonl").write_text("\n".join(lines), encoding="utf8")
    done = here("train", str(CONFIG), "--lists", "lists.jsonl", "--output", "model", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "disambig: [D630] lists.jsonl:8, candidate 2, line 1: the bracket that opens here is never "
        "closed; expected trees of the form (LABEL child ...) with words (TAG word)"
    )
