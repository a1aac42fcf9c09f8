"""Learning curves: sizes, draws, what is learned from and judged on, the plot and the command."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import numpy as np
import pytest
from toy_learners import Constant, Perceptron
from toy_plugin import NearbyWords, Pairs
from toy_texts import CONFIG

from disambig.cli import main
from disambig.cli.commands.curve import curve_lines
from disambig.errors import UserError
from disambig.evaluation import curve as curves
from disambig.evaluation import curve_of_labelled, curve_of_texts, plot_curve
from disambig.formats import Labelled
from disambig.text import Words
from disambig.types import Decides

PLACES = "house street room garden village valley harbour library chapel forest".split()
TEXTS = [
    sentence.format(place, number)
    for number in range(8)
    for place in PLACES
    for sentence in ("The {} is quite old, says number {}.", "We like a quiet {} with number {}.")
]
LABELLED = [
    Labelled(text, start, start + 5, text[start : start + 5], text, f"line {number}")
    for number, text in enumerate(TEXTS[:60])
    for start in [text.index("qui")]
]


def parts(**changes):
    found = {
        "task": Pairs(),
        "tokenisation": Words(),
        "extractors": {"near": NearbyWords()},
        "learner": Perceptron(),
        "baseline": Constant(),
    }
    return found | changes


@dataclass(frozen=True)
class Speed(Pairs):
    """Labels of places, not words: "quite" and "quiet" only mark where."""

    decides = Decides(between="labels")

    def instances(self, view):
        found = Pairs.instances(self, view)
        return replace(found, observed=np.full_like(found.observed, -1))


def test_more_examples_are_better_and_the_lines_are_there():
    found = curve_of_texts(parts(), TEXTS, sizes=(2, 30), draws=6)
    few, many = found["points"]
    assert (few["size"], many["size"]) == (2, 30) and few["draws"] == 6
    assert few["examples"] == 2 and many["examples"] == 30
    assert few["lowest"] <= few["accuracy"] <= few["highest"]
    assert few["accuracy"] < many["accuracy"] and many["accuracy"] == 1.0
    assert 0.3 < found["majority"] < 0.7 and found["baseline"] < 0.8
    low, high = found["baseline_interval"]
    assert low < found["baseline"] < high
    assert found["source"] == "text" and found["task"] == "pairs"


def test_curves_are_repeatable_and_seeds_differ():
    def values(seed):
        return [p["accuracy"] for p in curve_of_texts(parts(), TEXTS, sizes=(3, 6), seed=seed)["points"]]

    assert values(1) == values(1) != values(2)


def test_sizes_end_at_what_there_is():
    found = curve_of_texts(parts(), TEXTS, draws=1)
    assert [point["size"] for point in found["points"]] == [10, 30, found["available"]]
    assert found["points"][-1]["spread"] is None
    found = curve_of_texts(parts(), TEXTS, sizes=[500, 4], draws=1, max_examples=20)
    assert [point["size"] for point in found["points"]] == [4, 20]
    assert [point["asked"] for point in found["points"]] == [[], [500]]


def test_a_size_with_too_few_examples_to_learn_from_is_told():
    few, many = curve_of_texts(parts(), TEXTS, sizes=(5, 30), draws=2, min_examples=10)["points"]
    assert (few["learned"], many["learned"]) == (0, 1) and few["groups"] == many["groups"] == 1
    assert few["p_baseline"] == 1.0


def test_small_samples_are_drawn_more_often():
    told = []
    found = curve_of_texts(
        parts(), TEXTS, sizes=[5], progress=lambda stage, done, total: told.append((done, total))
    )
    assert found["points"][0]["draws"] == 10
    assert told == [(done, 10) for done in range(10)]


def test_what_is_judged_was_never_learned_from(monkeypatch):
    seen = []
    judge = curves._run_trial

    def watch(model, plain, n, learned, test):
        learned_at, test_at = (
            {e.view.texts[d] for d in e.view.document_indices(e.instances.positions)} for e in (learned, test)
        )
        assert learned_at and test_at and not learned_at & test_at
        seen.append(frozenset(test_at))
        return judge(model, plain, n, learned, test)

    monkeypatch.setattr(curves, "_run_trial", watch)
    curve_of_texts(parts(), TEXTS, sizes=[10], draws=2)
    curve_of_labelled(parts(), LABELLED, sizes=[10])
    assert len(seen) == 12
    assert len(set(seen[:2])) == 1 and len(set(seen[2:])) == 5  # all labelled documents in turn


def test_labelled_words():
    found = curve_of_labelled(parts(), LABELLED, sizes=[4, 10_000])
    assert [point["size"] for point in found["points"]] == [4, found["available"]]
    assert [point["draws"] for point in found["points"]] == [10, 10]
    assert found["tested"] == len(LABELLED)  # each document once, whatever the number of draws
    assert found["points"][-1]["accuracy"] > 0.9 > found["majority"]


def test_labelled_labels():
    marks = [
        replace(e, label="quiet" if "quite" in e.text else "quite") for e in LABELLED
    ]  # not as it stands
    found = curve_of_labelled(parts(task=Speed()), marks, sizes=[40], draws=5)
    assert found["points"][0]["accuracy"] > 0.9


@pytest.mark.parametrize("sizes", [[1], [10, 0], [-3]])
def test_impossible_sizes(sizes):
    with pytest.raises(UserError, match="D481"):
        curve_of_texts(parts(), TEXTS, sizes=sizes)


def test_too_little_to_judge_on():
    with pytest.raises(UserError, match=r"D412.*none of the documents kept to \w+ \w+ contains a candidate"):
        curve_of_texts(parts(), TEXTS[:1])
    with pytest.raises(UserError, match="D464"):
        curve_of_labelled(parts(), LABELLED[:1])


@pytest.mark.parametrize("ending", ["svg", "PNG", "pdf"])
def test_a_plot(tmp_path, ending):
    pytest.importorskip("matplotlib")
    found = curve_of_texts(parts(), TEXTS, sizes=[3, 9], draws=2)
    path = tmp_path / f"curve.{ending}"
    plot_curve(found, path)
    first = path.read_bytes()
    plot_curve(found, path)
    assert path.read_bytes() == first and len(first) > 1000
    if ending == "svg":
        shown = " ".join("".join(node.itertext()) for node in ElementTree.fromstring(first).iter())
        assert "unsupervised baseline" in shown
        assert "pairs: accuracy by number of training examples" in shown


def test_a_plot_that_cannot_be_made(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"D483.*curve\.jpg.*\.svg, \.png, \.pdf"):
        plot_curve({}, tmp_path / "curve.jpg")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"D482.*matplotlib>=3.8"):
        plot_curve({}, tmp_path / "curve.svg")


@pytest.fixture
def call(load_with, tmp_path, capsys):
    load_with(toys="toy_plugin")
    (tmp_path / "small.cfg").write_text(CONFIG)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    rows = [e.text[: e.start] + f"[[{e.label}]]" + e.text[e.end :] + f"\t{e.label}" for e in LABELLED]
    (tmp_path / "labelled.tsv").write_text("\n".join(rows))

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main.run(["curve", str(tmp_path / "small.cfg"), *map(str, arguments)])
        told = capsys.readouterr()
        return end.value.code, told.out, told.err

    return run


def test_the_command_on_text(call, tmp_path):
    status, out, _ = call("--text", tmp_path / "texts.txt", "--lines", "--sizes", "4, 20", "--draws", 2)
    lines = out.splitlines()
    assert status == 0 and lines[0].startswith("pairs: tested on ") and "the test part" in lines[0]
    assert [line.split()[0] for line in lines[2:]] == ["4", "20", "baseline", "majority"]
    assert "2 draws" in lines[2] and "cut from" not in out and "repeat" not in lines[3]


def test_the_command_says_where_a_size_was_cut_and_where_nothing_was_learned(call, tmp_path):
    with (tmp_path / "small.cfg").open("a") as config:
        config.write("min_examples = 9\n")
    status, out, _ = call("--text", tmp_path / "texts.txt", "--lines", "--sizes", "4,9000,8000", "--draws", 1)
    lines = out.splitlines()
    assert status == 0 and len(lines) == 6
    assert lines[2].endswith("; repeats the baseline: too few examples to learn from")
    assert lines[3].endswith("; cut from 8,000, 9,000: there are no more examples")


@pytest.mark.parametrize(
    ("groups", "learned", "note"),
    [
        (1, 1.0, "80.0% to 99.0%"),
        (1, 0.75, "; repeats the baseline in 25% of draws: too few examples to learn from"),
        (4, 3.0, "; repeats the baseline in 25% of groups and draws: too few examples to learn from"),
        (4, 0.0, "; repeats the baseline: too few examples to learn from"),
    ],
)
def test_the_share_of_what_is_left_to_the_baseline(groups, learned, note):
    point = {"size": 10, "asked": [], "draws": 4, "examples": 10.0, "groups": groups, "learned": learned}
    point |= {"accuracy": 0.9, "spread": 0.01, "lowest": 0.8, "highest": 0.99, "p_before": None}
    point |= {"p_baseline": 0.0}
    result = {"task": "x", "source": "text", "points": [point], "tested": 9, "baseline": 0.5}
    result |= {"baseline_interval": (0.4, 0.6), "baseline_is": "unsupervised", "majority": 0.5}
    line = curve_lines(result)[2]
    assert line.endswith(note) and "< 0.0001" in line


def test_the_command_on_labelled_examples(call, tmp_path):
    status, out, _ = call("--labelled", tmp_path / "labelled.tsv", "--sizes", "4", "--draws", 1, "--json")
    found = json.loads(out)
    assert status == 0 and found["source"] == "labelled" and found["points"][0]["size"] == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sizes", "ten", "--text", "x"], "whole numbers"),
        (["--text", "x", "--labelled", "y"], "D484"),
        (["--plot", "curve.gif", "--text", "x"], "D483"),
        ([], "D412"),
    ],
)
def test_the_command_refuses(call, arguments, said):
    status, _, err = call(*arguments)
    assert status == 2 and said in err and err.count("\n") == 1
