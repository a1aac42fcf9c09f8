"""Two models on the same labelled places, texts and lists."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from disambig.cli.evaluating import comparison_lines
from disambig.cli.main import run
from disambig.config import resolve
from disambig.errors import UserError
from disambig.evaluation import SharedDecisions, compare, on_labelled, on_lists, on_texts
from disambig.formats import Labelled, parse_line
from disambig.metrics import Accuracy, Outcomes, mcnemar_from_counts
from disambig.models import save_model
from disambig.testing import outcomes
from disambig.training import train_labelled

LEARNERS = ("disambig.NoPreference.v1", "random_subspace.Perceptron.v1")
PLACES = ("room", "house", "park", "road", "street", "library")
HOWS = ("warm", "cold", "dark", "late", "good", "old")


def config(learner, candidates=("quite", "quiet")):
    return {
        "task": {"@disambig_tasks": "disambig.Candidates.v1", "candidates": list(candidates)},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"words": {"@disambig_extractors": "disambig.ContextWindow.v1"}},
        "learner": {"@disambig_learners": learner},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }


LISTS = {
    "task": {"@disambig_tasks": "disambig.Lists.v1", "measure": "cer"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {"source": {"@disambig_extractors": "disambig.SourceFeatures.v1"}},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}


def example(number, text, label):
    start = text.index("[")
    end = text.index("]") - 1
    plain = text.replace("[", "").replace("]", "")
    return Labelled(plain, start, end, label, f"document {number}", f"made, line {number + 1}")


EXAMPLES = [example(i, f"The {place} was [quiet] today.", "quiet") for i, place in enumerate(PLACES)]
EXAMPLES += [example(i + 6, f"It was [quite] {how} today.", "quite") for i, how in enumerate(HOWS)]


@pytest.fixture(scope="module")
def models():
    made = []
    for number, learner in enumerate(LEARNERS):
        said = config(learner)
        made.append(
            train_labelled(resolve(said), EXAMPLES, name=f"model {number}", config=said, min_examples=2)
        )
    return tuple(made)


def test_labelled_places(models):
    same = on_labelled(*models, EXAMPLES)
    found = compare(models, same)
    assert found["n"] == 12
    assert found["account"]["left_out"] == {}
    accuracy = [system["value"] for system in found["systems"]]
    assert accuracy[1] == 1.0 > accuracy[0]
    table = found["table"]
    assert (table["both"], table["second"]) == (round(12 * accuracy[0]), 12 - round(12 * accuracy[0]))
    assert table["first"] == table["neither"] == 0
    assert found["mcnemar"] == mcnemar_from_counts(0, table["second"])
    assert found["difference"]["value"] == pytest.approx(1 - accuracy[0])
    assert found["difference"]["p"] < 0.05
    (pair,) = found["pairs"]
    assert {pair["first"], pair["second"]} == {"quite", "quiet"}
    assert (pair["right"], pair["n"]) == (pair["second"], table["second"])
    assert found["units"] == {"what": "instances", "n": 12}
    lines = comparison_lines(found)
    assert sum(line.startswith("B minus A: ") for line in lines) == 1
    assert lines[0] == "accuracy (more is better) of 12 examples:"
    assert f"only B {table['second']}" in "\n".join(lines)
    turned = compare(models[::-1], on_labelled(*models[::-1], EXAMPLES))
    assert turned["difference"]["value"] == -found["difference"]["value"]
    assert turned["table"] == table | {"first": table["second"], "second": 0}


def test_what_one_model_cannot_use_is_left_out_and_told(models):
    more = [*EXAMPLES, example(99, "A [cat] sat.", "quite"), example(98, "So [quite] right.", "very")]
    found = compare(models, on_labelled(*models, more))
    assert found["n"] == 12
    assert sum(found["account"]["left_out"].values()) == 2
    assert found["account"]["read"] == 14


def test_equal_texts_count_each(models):
    assert len(on_labelled(*models, [*EXAMPLES, *EXAMPLES[:3]]).first) in (12, 15)


def test_texts(models):
    texts = [each.text for each in EXAMPLES]
    same = on_texts(*models, texts)
    assert len(same.first) == 12
    assert np.array_equal(same.first.gold, same.second.gold)
    assert compare(models, same, draws=200)["table"]["both"] >= 6


def test_models_that_decide_at_other_places_cannot_be_compared(models):
    said = config(LEARNERS[0], ("cat", "dog"))
    examples = [example(0, "A [cat] sat.", "cat"), example(1, "A [dog] sat.", "dog")]
    other = train_labelled(resolve(said), examples, name="other", config=said, min_examples=2)
    with pytest.raises(UserError, match=r"D436.*model 0 and other"):
        on_texts(models[0], other, ["It is quite good.", "A cat sat."])


def test_documents_are_drawn_whole_where_there_are_enough(models):
    one, other = outcomes(90, seed=1), outcomes(90, seed=2)
    found = compare(models, SharedDecisions(one, other, []), measure="cost", draws=500)
    assert found["units"] == {"what": "documents", "n": 30}
    assert found["mcnemar"] is None
    assert found["measure"] == {"name": "mean cost", "unit": "cost", "more_is_better": False}
    assert "mean cost, cost (less is better) of 90 examples:" in comparison_lines(found)
    exact = compare(models, SharedDecisions(one, other, []), measure="exact", draws=500)
    assert exact["mcnemar"] is not None
    assert exact["systems"][0]["value"] == pytest.approx(Accuracy().value(one))


def test_a_figure_that_is_not_defined_is_shown_as_such(models):
    one = Outcomes.from_group(("a", "b"), [0, 0], [0, 0])
    found = compare(models, SharedDecisions(one, one, []), measure="f1:b", draws=50)
    lines = comparison_lines(found)
    assert "A  - (- to -)" in lines[1] and not any("nan" in line for line in lines)


@pytest.fixture(scope="module")
def saved(models, tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    for name, model in zip(("a", "b"), models, strict=True):
        save_model(model, home / name)
    lines = [json.dumps({"text": e.text, "start": e.start, "end": e.end, "label": e.label}) for e in EXAMPLES]
    (home / "examples.jsonl").write_text("\n".join(lines))
    (home / "text.txt").write_text("\n".join(each.text for each in EXAMPLES))
    return home


def said(capsys, *arguments, status=0):
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", *map(str, arguments)])
    assert ended.value.code == status
    return capsys.readouterr()


def test_the_command(saved, capsys):
    a, b = saved / "a", saved / "b"
    labelled = ["--labelled", saved / "examples.jsonl"]
    shown = said(capsys, a, b, *labelled)
    assert "accuracy (more is better) of 12 examples:" in shown.out
    assert "read 12 examples: 12 used, none left out" in shown.err
    found = json.loads(said(capsys, a, b, *labelled, "--measure", "macro_f1", "--json").out)
    assert found["measure"]["name"] == "macro F1"
    assert found["systems"][1]["value"] == 1.0
    by_text = json.loads(said(capsys, a, b, "--text", saved / "text.txt", "--lines", "--json").out)
    assert by_text["n"] == 12
    one = json.loads(said(capsys, a, "--text", saved / "text.txt", "--json").out)  # as ever
    assert one["decisions"] == 12


def test_two_models_of_one_name_are_told_apart_by_where_they_are(saved, models, capsys):
    """As two trainings of one config are."""
    a, twin = saved / "a", saved / "twin"
    save_model(replace(models[1], name=models[0].name, version=models[0].version), twin)
    labelled = ["--labelled", saved / "examples.jsonl"]
    lines = [line.split("  ")[-1] for line in said(capsys, a, twin, *labelled).out.splitlines()[1:3]]
    name = f"{models[0].name} {models[0].version}"
    assert lines == [f"{a}: {name}", f"{twin}: {name}"]
    other = [line.split("  ")[-1] for line in said(capsys, a, saved / "b", *labelled).out.splitlines()[1:3]]
    assert other == [name, f"{models[1].name} {models[1].version}"]


def test_what_cannot_be_compared_is_refused_in_a_line(saved, capsys):
    a, b = saved / "a", saved / "b"
    labelled = ["--labelled", saved / "examples.jsonl"]
    assert (
        "to compare two models, give --text PATH, --labelled PATH or --lists FILE"
        in said(capsys, a, b, status=2).err
    )
    assert "D431" in said(capsys, a, b, *labelled, "--measure", "acuracy", status=2).err
    assert "--measure requires two models" in said(capsys, a, *labelled, "--measure", "auc", status=2).err
    assert "D525" in said(capsys, a, saved / "text.txt", *labelled, status=2).err
    assert "D433" in said(capsys, a, b, *labelled, "--measure", "cer", status=2).err
    assert "D336" in said(capsys, a, b, "--lists", saved / "examples.jsonl", status=2).err
    for names in ((a,), (a, b)):
        of_lists = said(capsys, *names, "--lists", saved / "none.jsonl", "--measure", "f1:to", status=2)
        assert "D437" in of_lists.err and "available: accuracy" in of_lists.err


def test_what_is_not_defined_is_null_in_json(saved, capsys):
    of_none = ("--labelled", saved / "examples.jsonl", "--measure", "f1:nowhere", "--json")
    shown = said(capsys, saved / "a", saved / "b", *of_none).out
    found = json.loads(shown, parse_constant=lambda name: pytest.fail(f"no JSON: {name}"))
    assert [system["value"] for system in found["systems"]] == [None, None]


def test_lists():
    from disambig.training import train_lists

    items = [
        parse_line(
            json.dumps(
                {
                    "reference": f"{word} goes",
                    "candidates": [
                        {"text": f"{word} go", "score": 1.0, "features": {"s": 0}},
                        {"text": f"{word} goes", "score": 0.5, "features": {"s": 1}},
                    ],
                }
            ),
            f"made:{number}",
        )
        for number, word in enumerate("he she it Ann Bob Eve Tom Kim Sue Max Lee Pat".split() * 3)
    ]
    made = []
    for learner in LEARNERS:
        said = LISTS | {"learner": {"@disambig_learners": learner}}
        made.append(train_lists(resolve(said), items, name=learner, config=said, min_examples=2))
    found = compare(tuple(made), on_lists(*made, items), measure="cer", draws=300)
    assert found["measure"]["name"] == "CER"
    assert found["systems"][1]["value"] == 0.0 < found["systems"][0]["value"]
    assert found["units"] == {"what": "instances", "n": 36}
    assert found["table"]["second"] == 36
