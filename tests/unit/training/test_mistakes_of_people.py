"""Training with mistakes that people made: what is used and what not, the judge, the config that is saved."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from test_own_candidates import Forms
from toy_learners import Constant, MeanDifference, Perceptron
from toy_plugin import Marks, NearbyWords, Pairs
from toy_texts import CONFIG as TOYS

from disambig.cli import main
from disambig.decision import RATES, Corrections, Mistakes, default_rule_config
from disambig.errors import UserError
from disambig.formats import Clean, Fix, fix_kind
from disambig.models import card, load_model
from disambig.tasks import OwnCandidates
from disambig.text import Words, hash_words
from disambig.training import ELSEWHERE, OTHER, SHIELDED, UNSURE, ErrorCorpus, train
from disambig.types import learns_mistakes

WHO = "She He Anna Paul We They Maria Tom".split()
TEXTS = [
    f"{who} saw a {adverb} place there. {who} ate a piece of {what}. {who} hoped for peace at {what} time."
    for who in WHO
    for adverb, what in (("quiet", "bread"), ("quiet", "tea"), ("quiet", "lunch"))
] + [f"{who} was quite happy then. It was quite late for {who}." for who in WHO]


def fix(text: str, old: str, new: str, *, tier: int = 1, where: str = "") -> Fix:
    """The first place of `old` (of an empty one, of the "^") is a mistake."""
    start = text.index(old or "^")
    before = text if old else text.replace("^", "")
    return Fix(before, start, start + len(old), old, new, "x", "", fix_kind(old, new), tier, text, where)


MISTAKES = [fix(f"{who} saw a quite place there.", "quite", "quiet") for who in WHO] + [
    fix(f"{who} was quiet happy then.", "quiet", "quite") for who in WHO[:3]
]
CLEAN = [Clean(text, f"r{i}") for i, text in enumerate(TEXTS)]
LEFT_OUT = [
    fix("She saw a quite house there.", "house", "home", where="f, line 1"),
    fix("She was quite happy.", "quite", "very", where="f, line 2"),
    fix("She saw `a quite place` there.", "quite", "quiet", where="f, line 3"),
    fix("She saw a quite place there.", "quite", "quiet", tier=2, where="f, line 4"),
]


def parts(**changes):
    return {
        "task": Pairs(),
        "tokenisation": Words(),
        "extractors": {"near": NearbyWords()},
        "learner": Perceptron(epochs=5),
        "baseline": Constant(),
        **changes,
    }


def trained(mistakes=tuple(MISTAKES), clean=tuple(CLEAN), **changes):
    texts = {"train": TEXTS, "dev": TEXTS}
    about = {"name": "pairs", "min_examples": 2, "flags_per_1000": 4.0}
    return train(parts(**changes), texts, mistakes=mistakes, clean=clean, **about)


def test_each_mistake_is_used_or_left_out_for_a_reason():
    people = ErrorCorpus.from_texts(Pairs(), Words(), [*MISTAKES, *LEFT_OUT], CLEAN)
    assert (people.account["read"], people.account["used"], people.n_mistakes) == (15, 11, 15)
    assert people.account["left_out"] == {ELSEWHERE: 1, OTHER: 1, SHIELDED: 1, UNSURE: 1}
    candidates = Pairs().groups[0].candidates
    pairs = [
        (candidates[written], candidates[meant])
        for written, meant in zip(people.written, people.wrong.instances.observed, strict=True)
    ]
    assert pairs == [("quite", "quiet")] * 8 + [("quiet", "quite")] * 3
    assert people.right.n_words == people.right.view.hashes.size - 2 * (len(people.right.view.sentences) - 1)
    assert len(people.right.instances) == 3 * 24 + 2 * 8


def test_a_word_that_is_missing_or_one_too_many():
    task = OwnCandidates(candidates=["to", "about", ""])
    mistakes = [
        fix("We listen ^music.", "", "to"),
        fix("We discuss about it.", "about", ""),
        fix("We listen ^music.", "", "at", where="f, line 3"),
    ]
    people = ErrorCorpus.from_texts(task, Words(), mistakes, [Clean("We listen to music.", "r")])
    assert people.written.tolist() == [2, 1]
    assert people.wrong.instances.observed.tolist() == [0, 2]
    assert people.wrong.instances.lengths.tolist() == [0, 1]
    assert people.account["left_out"] == {OTHER: 1}


def test_candidates_of_ones_own():
    mistakes = [fix("He go home and we go home .", "go", "goes"), fix("They wents home .", "wents", "went")]
    people = ErrorCorpus.from_texts(Forms(), Words(), mistakes, [Clean("They went home .", "r")])
    assert (people.written.tolist(), people.wrong.instances.observed.tolist()) == ([0], [1])
    assert people.account["left_out"] == {ELSEWHERE: 1}


def test_the_judge_learns_what_is_written_for_what():
    model = trained()
    assert isinstance(model.judge, Mistakes) and learns_mistakes(model.judge)
    assert not learns_mistakes(Corrections())
    assert model.provenance["examples"]["mistakes"]["used"] == 11
    assert model.provenance["examples"]["clean_words"] > 100
    view = Words()(["Eve saw a quite place there. Eve saw a quiet place there."])
    decided = model.decide(view, flags_per_1000=12)
    assert decided.flagged.tolist() == [True, False]
    assert len(model.judge.weighing.terms.keys)


def test_only_judges_that_look_at_the_words_beside_are_told_of_them():
    view = Words()(["Eve saw a quite place there."])
    seen = []
    for model in (trained(judge=Mistakes(sees_beside=True)), trained(), trained((), ())):
        instances = model.instances(view)
        scored = model.scored(model.features(view, instances, 0), instances, 0, view)
        seen.append(scored.neighbours)
    assert seen[0].tolist() == [hash_words(["a", "place"]).tolist()]
    assert seen[1:] == [None, None]


def test_without_mistakes_the_judge_is_the_usual_one():
    model = trained((), ())
    assert isinstance(model.judge, Corrections) and "mistakes" not in model.provenance["examples"]


def test_a_judge_that_is_named_stays():
    given = Mistakes(flags_per_1000=1.0, most_right=10)
    assert trained(judge=given).judge.most_right == 10
    with pytest.raises(UserError, match=r"D429.*Corrections"):
        trained(judge=Corrections())


def test_lists_of_ones_own_are_judged_by_mistakes(tmp_path):
    from disambig.counts import build_table
    from disambig.features import NgramCounts

    texts = ["He goes home and we go home . They went home . The house is old and the houses are old ."] * 40
    path = build_table(tmp_path / "own.counts", texts, Words())
    changes = {"task": Forms(), "extractors": {"counts": NgramCounts(counts=path)}}
    mistakes = [fix("He go home and we rest .", "go", "goes"), fix("The house are old .", "are", "is")] * 5
    model = train(
        parts(**changes, learner=MeanDifference()),
        {"train": texts, "dev": texts},
        name="forms",
        min_examples=2,
        mistakes=mistakes,
        clean=[Clean(text, "r") for text in texts],
    )
    assert isinstance(model.judge, Mistakes) and model.provenance["examples"]["mistakes"]["used"] == 10
    assert len(model.judge.gains()[1]) == len(RATES)
    decided = model.decide(Words()(["He go home and we go home . They have gone home ."]), flags_per_1000=12)
    chosen = [decided.candidate_texts(i)[c] for i, c in enumerate(decided.chosen)]
    assert chosen[:2] == ["goes", "go"] and decided.flagged.tolist()[1:] == [False, False]
    assert decided.probabilities[0] > decided.probabilities[1]
    again = Mistakes().from_state(model.judge.state(), model.task.groups)
    assert np.array_equal(again.operating.thresholds, model.judge.operating.thresholds)


@dataclass(frozen=True)
class Nothing(Pairs):
    """A task that finds no place."""

    def instances(self, view):
        return super().instances(view).take(np.zeros(0, np.int64))


@pytest.mark.parametrize(
    ("mistakes", "clean", "changes", "said"),
    [
        (MISTAKES, (), {}, "D426.* clean is missing"),
        ((), CLEAN, {}, "D426.* fixes is missing"),
        (MISTAKES, CLEAN, {"task": Marks()}, "D427.*'marks' decides between labels"),
        (LEFT_OUT, CLEAN, {}, "D428.*'pairs': read 4 mistakes: 0 used, 4 left out"),
        (MISTAKES, [Clean("Nothing here.", "r")], {}, "D428.*nothing in the clean paragraphs"),
        (MISTAKES, CLEAN, {"task": Nothing()}, "D428.*11: the task decides nothing there"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_before_the_work(mistakes, clean, changes, said):
    def never(*_, **__):
        raise AssertionError("the long work has begun")

    with pytest.raises(UserError, match=said):
        train(
            parts(**changes),
            {"train": TEXTS, "dev": TEXTS},
            name="x",
            mistakes=mistakes,
            clean=clean,
            progress=never,
        )


def test_which_judge_stands_where_none_is_named():
    assert default_rule_config(Pairs(), mistakes=True) == {"@disambig_judges": "disambig.Mistakes.v1"}
    assert default_rule_config(Forms(), mistakes=True) == {"@disambig_judges": "disambig.Mistakes.v1"}
    assert default_rule_config(Pairs()) == {"@disambig_judges": "disambig.Corrections.v1"}
    assert default_rule_config(Marks(), mistakes=True) == {"@disambig_judges": "disambig.Labels.v1"}


# The command


CONFIG = TOYS + "min_examples = 2\nlines = true\n"


@pytest.fixture
def home(load_with, tmp_path, monkeypatch):
    """A directory with a config, text, mistakes and clean paragraphs."""
    load_with(toys="toy_plugin")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cfg").write_text(CONFIG, encoding="utf8")
    (tmp_path / "text.txt").write_text("\n".join(text + f" {i}" for i, text in enumerate(TEXTS * 4)))
    for name, some in (("fixes", MISTAKES), ("more", LEFT_OUT)):
        rows = [
            {"before": f.before, "start": f.start, "end": f.end, "old": f.old, "new": f.new, "tier": f.tier}
            for f in some
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [json.dumps({"text": each.text, "repo": each.repo}) for each in CLEAN]
    (tmp_path / "clean.jsonl").write_text("\n".join(rows))
    return tmp_path


def command(capsys, *arguments, name="train"):
    with pytest.raises(SystemExit) as caught:
        main.run([name, *map(str, arguments)])
    return caught.value.code, capsys.readouterr().err


FILES = ("--fixes", "fixes.jsonl", "--fixes", "more.jsonl", "--clean", "clean.jsonl")
TEXT = ("--text", "text.txt", "--output", "made", "--no-test")


def test_the_command_says_how_many_mistakes_it_used_and_saves_its_judge(home, capsys):
    status, said = command(capsys, "a.cfg", *TEXT, *FILES)
    assert status == 0, said
    (line,) = (each for each in said.splitlines() if "mistakes" in each)
    assert line.startswith("read 15 mistakes: 11 used, 4 left out (1: ") and SHIELDED in line
    assert line.endswith(" clean words")
    model = load_model(home / "made")
    assert isinstance(model.judge, Mistakes) and len(model.judge.weighing.terms.keys)
    assert model.config["judge"] == {"@disambig_judges": "disambig.Mistakes.v1"}
    assert "Mistakes that people made: 11 of 15 read" in (home / "made" / "README.md").read_text()


def test_the_config_may_name_the_files(home, capsys):
    (home / "a.cfg").write_text(CONFIG + 'fixes = ["fixes.jsonl"]\nclean = ["clean.jsonl"]\n')
    status, said = command(capsys, "a.cfg", *TEXT)
    assert status == 0 and "read 11 mistakes: 11 used, none left out" in said
    assert isinstance(load_model(home / "made").judge, Mistakes)
    status, said = command(capsys, "a.cfg", *TEXT, "--force", "--fixes", "more.jsonl")
    assert status == 2 and "[D428]" in said  # the option stands in the place of what the config names


@pytest.mark.parametrize(
    ("more", "arguments", "said"),
    [
        ("", (*TEXT, "--fixes", "fixes.jsonl"), "[D426] clean is missing"),
        ("", (*TEXT, "--clean", "clean.jsonl"), "[D426] fixes is missing"),
        ("", (*TEXT, "--fixes", "none.jsonl", "--clean", "clean.jsonl"), "[D300] none.jsonl"),
        ("", (*TEXT, "--fixes", "clean.jsonl", "--clean", "clean.jsonl"), "[D345] clean.jsonl, line 1"),
        ("", ("--output", "made", "--labelled", "x.tsv", *FILES), "[D426] text is missing"),
        ("", ("--output", "made", *FILES), "[D412]"),
        ("\n[judge]\n@disambig_judges = 'disambig.Corrections.v1'\n", (*TEXT, *FILES), "[D429]"),
        ("fixes = 'fixes.jsonl'", TEXT, "training.fixes is 'fixes.jsonl', not a list"),
        ("clean = 3", TEXT, "training.clean is 3, not a list"),
    ],
)
def test_what_the_command_refuses_in_one_line(home, capsys, more, arguments, said, monkeypatch):
    monkeypatch.setattr(
        "disambig.training.from_config.read_texts", None
    )  # errors come before the text is read
    (home / "a.cfg").write_text(CONFIG + more.replace("'", '"'))
    status, seen = command(capsys, "a.cfg", *arguments)
    assert status == 2 and said in seen and seen.count("\n") == 1
    assert not (home / "made").exists()


NAMED = 'fixes = ["fixes.jsonl"]\nclean = ["clean.jsonl"]\n'


def test_a_curve_has_the_judge_and_the_mistakes_that_its_config_names(home, capsys, monkeypatch):
    from disambig.evaluation import curve

    seen = []
    whole = curve.train_examples
    monkeypatch.setattr(curve, "train_examples", lambda *a, **b: seen.append(whole(*a, **b)) or seen[-1])
    (home / "a.cfg").write_text(CONFIG + NAMED)
    status, said = command(
        capsys, "a.cfg", "--text", "text.txt", "--sizes", "8", "--draws", "2", name="curve"
    )
    assert status == 0, said
    assert len(seen) == 2 and all(isinstance(model.judge, Mistakes) for model in seen)
    assert all(model.provenance["examples"]["mistakes"]["used"] == 11 for model in seen)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ('fixes = ["fixes.jsonl"]\n', "D426"),
        (NAMED + '[judge]\n@disambig_judges = "disambig.Corrections.v1"\n', "D429"),
        (NAMED.replace("fixes.jsonl", "more.jsonl"), "D428"),
        (NAMED.replace("fixes.jsonl", "none.jsonl"), "D300"),
    ],
)
def test_a_curve_refuses_what_training_refuses(home, capsys, settings, code):
    (home / "a.cfg").write_text(CONFIG + settings)
    status, said = command(capsys, "a.cfg", "--text", "text.txt", name="curve")
    assert status == 2 and f"[{code}]" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "arguments"), [("evaluate", ("--folds", "2")), ("curve", ()), ("train", ("-o", "made"))]
)
def test_with_labelled_examples_a_config_that_names_mistakes_is_refused(home, capsys, name, arguments):
    """No command takes the judge without the mistakes that it is to learn from."""
    (home / "x.tsv").write_text("It was [quite] late.\tquite\nA [quiet] day.\tquiet\n")
    (home / "a.cfg").write_text(CONFIG + NAMED)
    status, said = command(capsys, "a.cfg", "--labelled", "x.tsv", *arguments, name=name)
    assert status == 2 and "[D426] text is missing" in said and said.count("\n") == 1


def test_folds_of_a_judge_of_mistakes_that_names_none(home, capsys):
    """It learns from words replaced at random then, as in training."""
    rows = [f"It was [[quite]] late, {i}.\tquite\nA [[quiet]] day, {i}.\tquiet\n" for i in range(8)]
    (home / "x.tsv").write_text("".join(rows))
    judge = '\n[judge]\n@disambig_judges = "disambig.Mistakes.v1"\n'
    (home / "a.cfg").write_text(CONFIG.replace("lines = true\n", "") + judge)
    status, said = command(capsys, "a.cfg", "--labelled", "x.tsv", "--folds", "2", name="evaluate")
    assert status == 0, said


def test_for_labels_there_are_no_mistakes(home, capsys):
    (home / "a.cfg").write_text(CONFIG.replace("toys.Pairs.v1", "toys.Marks.v1"))
    status, said = command(capsys, "a.cfg", *TEXT, *FILES)
    assert status == 2 and "[D427]" in said


def test_a_model_saved_without_a_config_is_read_again(tmp_path, load_with):
    load_with(toys="toy_plugin")
    model = trained()
    assert model.config["judge"] == {"@disambig_judges": "disambig.Mistakes.v1"}
    assert "Mistakes that people made: 11 of 11 read" in card(model, "x")
