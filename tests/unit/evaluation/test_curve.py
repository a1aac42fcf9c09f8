"""Learning curves: sizes, draws, training and test data, the plot and the command."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from toy_components import toy_components
from toy_plugin import Marks
from toy_texts import CONFIG, QUIET_PLACES

from disambig.cli import main
from disambig.cli.commands.curve import curve_lines
from disambig.errors import UserError
from disambig.evaluation import (
    curve as curves,
    curve_of_labelled,
    curve_of_texts,
    plot_curve,
    plot_reliability,
)
from disambig.formats import Labelled
from disambig.metrics import reliability

LABELLED = [
    Labelled(text, start, start + 5, text[start : start + 5], text, f"line {number}")
    for number, text in enumerate(QUIET_PLACES[:60])
    for start in [text.index("qui")]
]


def test_more_examples_are_better():
    result = curve_of_texts(toy_components(), QUIET_PLACES, sizes=(2, 30), draws=6)
    few, many = result["points"]
    assert (few["size"], many["size"]) == (2, 30) and few["draws"] == 6
    assert few["examples"] == 2 and many["examples"] == 30
    assert few["lowest"] <= few["accuracy"] <= few["highest"]
    assert few["accuracy"] < many["accuracy"] and many["accuracy"] == 1.0
    assert 0.3 < result["majority"] < 0.7 and result["baseline"] < 0.8
    low, high = result["baseline_interval"]
    assert low < result["baseline"] < high
    assert result["source"] == "text" and result["task"] == "pairs"


def test_seed_determines_the_curve():
    one, same, other = (
        curve_of_texts(toy_components(), QUIET_PLACES, sizes=(3, 6), seed=seed)["points"]
        for seed in (1, 1, 2)
    )
    assert [p["accuracy"] for p in one] == [p["accuracy"] for p in same] != [p["accuracy"] for p in other]


def test_sizes_are_limited_by_the_examples():
    result = curve_of_texts(toy_components(), QUIET_PLACES, draws=1)
    assert [point["size"] for point in result["points"]] == [10, 30, result["available"]]
    assert result["points"][-1]["spread"] is None
    result = curve_of_texts(toy_components(), QUIET_PLACES, sizes=[500, 4], draws=1, max_examples=20)
    assert [point["size"] for point in result["points"]] == [4, 20]
    assert [point["asked"] for point in result["points"]] == [[], [500]]
    few, many = curve_of_texts(toy_components(), QUIET_PLACES, sizes=(5, 30), draws=2, min_examples=10)[
        "points"
    ]
    assert (few["learned"], many["learned"]) == (0, 1) and few["groups"] == many["groups"] == 1
    assert few["p_baseline"] == 1.0


def test_draws_small_samples_more_often():
    reported = []
    result = curve_of_texts(
        toy_components(), QUIET_PLACES, sizes=[5], progress=lambda *note: reported.append(note)
    )
    assert result["points"][0]["draws"] == 10
    assert [note[1:] for note in reported] == [(done, 10) for done in range(10)]


def test_training_and_test_documents_are_disjoint(monkeypatch):
    calls = []
    judge = curves._run_trial

    def watch(model, plain, n, learned, test):
        learned_at, test_at = (
            {e.view.texts[d] for d in e.view.document_indices(e.instances.positions)} for e in (learned, test)
        )
        assert learned_at and test_at and not learned_at & test_at
        calls.append(frozenset(test_at))
        return judge(model, plain, n, learned, test)

    monkeypatch.setattr(curves, "_run_trial", watch)
    curve_of_texts(toy_components(), QUIET_PLACES, sizes=[10], draws=2)
    curve_of_labelled(toy_components(), LABELLED, sizes=[10])
    assert len(calls) == 12
    assert len(set(calls[:2])) == 1 and len(set(calls[2:])) == 5  # all labelled documents in turn


def test_labelled_words_and_labels():
    result = curve_of_labelled(toy_components(), LABELLED, sizes=[4, 10_000])
    assert [point["size"] for point in result["points"]] == [4, result["available"]]
    assert [point["draws"] for point in result["points"]] == [10, 10]
    assert result["tested"] == len(LABELLED)  # each document once, whatever the number of draws
    assert result["points"][-1]["accuracy"] > 0.9 > result["majority"]
    # the labels are not the observed words
    marks = [replace(e, label="quiet" if "quite" in e.text else "quite") for e in LABELLED]
    result = curve_of_labelled(toy_components(task=Marks()), marks, sizes=[40], draws=5)
    assert result["points"][0]["accuracy"] > 0.9


def test_rejects_invalid_sizes_and_too_little_test_data():
    for sizes in ([1], [10, 0], [-3]):
        with pytest.raises(UserError, match="D481"):
            curve_of_texts(toy_components(), QUIET_PLACES, sizes=sizes)
    with pytest.raises(UserError, match=r"D412.*none of the documents kept to \w+ \w+ contains a candidate"):
        curve_of_texts(toy_components(), QUIET_PLACES[:1])
    with pytest.raises(UserError, match="D464"):
        curve_of_labelled(toy_components(), LABELLED[:1])


@pytest.mark.parametrize("ending", ["svg", "PNG", "pdf"])
def test_plot(tmp_path, ending):
    pytest.importorskip("matplotlib")
    result = curve_of_texts(toy_components(), QUIET_PLACES, sizes=[3, 9], draws=2)
    path = tmp_path / f"curve.{ending}"
    plot_curve(result, path)
    first = path.read_bytes()
    plot_curve(result, path)
    assert path.read_bytes() == first and len(first) > 1000
    if ending == "svg":
        shown = " ".join("".join(node.itertext()) for node in ElementTree.fromstring(first).iter())
        assert "unsupervised baseline" in shown
        assert "pairs: accuracy by number of training examples" in shown


def test_rejects_plots_that_cannot_be_drawn(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"D483.*curve\.jpg.*\.svg, \.png, \.pdf"):
        plot_curve({}, tmp_path / "curve.jpg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"D482.*matplotlib>=3.8"):
        plot_curve({}, tmp_path / "curve.svg")


def test_reliability_plot_is_reproducible_and_its_suffix_is_checked(tmp_path):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    result = reliability(rng.random(200), rng.random(200) < 0.5)
    for name in ("one.svg", "two.svg"):
        plot_reliability(result, tmp_path / name, title="pairs")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "pairs" in "".join(ElementTree.parse(tmp_path / "one.svg").getroot().itertext())
    with pytest.raises(UserError, match="D483"):
        plot_reliability(result, tmp_path / "plot.txt", title="pairs")


@pytest.fixture
def call(load_with, tmp_path, capsys):
    load_with(toys="toy_plugin")
    (tmp_path / "small.cfg").write_text(CONFIG)
    (tmp_path / "texts.txt").write_text("\n".join(QUIET_PLACES))
    rows = [e.text[: e.start] + f"[[{e.label}]]" + e.text[e.end :] + f"\t{e.label}" for e in LABELLED]
    (tmp_path / "labelled.tsv").write_text("\n".join(rows))

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main.run(["curve", str(tmp_path / "small.cfg"), *map(str, arguments)])
        reported = capsys.readouterr()
        return end.value.code, reported.out, reported.err

    return run


def test_command_on_text_and_on_labelled_examples(call, tmp_path):
    status, out, _ = call("--text", tmp_path / "texts.txt", "--lines", "--sizes", "4, 20", "--draws", 2)
    lines = out.splitlines()
    assert status == 0 and lines[0].startswith("pairs: tested on ") and "the test part" in lines[0]
    assert [line.split()[0] for line in lines[2:]] == ["4", "20", "baseline", "majority"]
    assert "2 draws" in lines[2] and "cut from" not in out and "repeat" not in lines[3]
    status, out, _ = call("--labelled", tmp_path / "labelled.tsv", "--sizes", "4", "--draws", 1, "--json")
    result = json.loads(out)
    assert status == 0 and result["source"] == "labelled" and result["points"][0]["size"] == 4


def test_command_reports_reduced_and_unlearned_sizes(call, tmp_path):
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
def test_reports_the_share_of_the_baseline(groups, learned, note):
    point = {"size": 10, "asked": [], "draws": 4, "examples": 10.0, "groups": groups, "learned": learned}
    point |= {"accuracy": 0.9, "spread": 0.01, "lowest": 0.8, "highest": 0.99, "p_before": None}
    point |= {"p_baseline": 0.0}
    result = {"task": "x", "source": "text", "points": [point], "tested": 9, "baseline": 0.5}
    result |= {"baseline_interval": (0.4, 0.6), "baseline_is": "unsupervised", "majority": 0.5}
    line = curve_lines(result)[2]
    assert line.endswith(note) and "< 0.0001" in line


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--sizes", "ten", "--text", "x"], "whole numbers"),
        (["--text", "x", "--labelled", "y"], "D484"),
        (["--plot", "curve.gif", "--text", "x"], "D483"),
        ([], "D412"),
    ],
)
def test_command_rejects_invalid_options(call, arguments, expected):
    status, _, err = call(*arguments)
    assert status == 2 and expected in err and err.count("\n") == 1
