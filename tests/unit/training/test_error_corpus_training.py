"""Training with error corpora, and with per-instance candidates."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from commands import here
from toy_components import toy_components
from toy_learners import MeanDifference, Perceptron
from toy_plugin import Marks, Pairs
from toy_texts import CONFIG as TOYS
from toy_ways import ListedWords

from disambig.counts import build_table
from disambig.decision import RATES, Corrections, Mistakes, default_rule_config
from disambig.errors import UserError
from disambig.evaluation import curve
from disambig.features import NgramCounts
from disambig.formats import Clean, Fix, Labelled, fix_kind
from disambig.models import NoPreference, card, load_model
from disambig.tasks import OwnCandidates
from disambig.text import Words, hash_words, view_of_texts
from disambig.training import ELSEWHERE, OTHER, SHIELDED, UNSURE, ErrorCorpus, train, train_labelled
from disambig.types import RaisesFlags, learns_mistakes

GO = ("go", "goes", "went")
BE = ("is", "are")
FORMS = ListedWords(dict.fromkeys((*GO, "gone"), GO) | dict.fromkeys(BE, BE), "forms")
FORM_TEXTS = ["He goes home and we go home . They went home . The house is old and the houses are old ."] * 40


@pytest.fixture(scope="module")
def form_components(tmp_path_factory):
    path = build_table(tmp_path_factory.mktemp("own") / "own.counts", FORM_TEXTS, Words())
    parts = {"extractors": {"counts": NgramCounts(counts=path)}, "learner": MeanDifference()}
    return toy_components(FORMS, baseline=NoPreference(), **parts)


def test_learns_and_corrects_per_instance_candidates(form_components):
    texts = {"train": [*FORM_TEXTS, "They have gone home ."], "dev": FORM_TEXTS}
    model = train(form_components, texts, name="forms", min_examples=2, flags_per_1000=1.0)
    assert model.scorers[0] is not None and isinstance(model.judge, RaisesFlags)
    view = view_of_texts(["He go home . The house are old .", "They have gone home ."], Words())
    decided = model.decide(view, flags_per_1000=1000.0)
    assert [decided.candidate_texts(i) for i in range(len(decided))] == [GO, BE, GO]
    chosen = [decided.candidate_texts(i)[c] for i, c in enumerate(decided.chosen)]
    assert chosen[:2] == ["goes", "is"]
    assert decided.flagged.tolist() == [True, True, False]  # where none of them stands nothing is corrected


def test_labels_must_be_in_the_list_of_their_place(form_components):
    labelled = [
        Labelled(f"He go home {i} .", 3, 5, "goes", f"text {i}", f"made, line {i}") for i in range(20)
    ]
    model = train_labelled(form_components, labelled, name="forms", min_examples=2)
    assert model.provenance["examples"]["account"]["used"] == 20
    with pytest.raises(UserError, match="not one of 'go', 'goes', 'went'"):
        strange = [Labelled("He go home .", 3, 5, "swims", "a", "made")]
        train_labelled(form_components, strange, name="forms")


WHO = "She He Anna Paul We They Maria Tom".split()
TEXTS = [
    f"{who} saw a {adverb} place there. {who} ate a piece of {what}. {who} hoped for peace at {what} time."
    for who in WHO
    for adverb, what in (("quiet", "bread"), ("quiet", "tea"), ("quiet", "lunch"))
] + [f"{who} was quite happy then. It was quite late for {who}." for who in WHO]


def fix(text: str, old: str, new: str, *, tier: int = 1, where: str = "") -> Fix:
    """Return a mistake at the first place of `old`, or at "^" if `old` is empty."""
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


def train_pairs(mistakes=tuple(MISTAKES), clean=tuple(CLEAN), *, config=None, progress=None, **changes):
    """Return a toy model that learned from texts and mistakes."""
    components = toy_components(learner=Perceptron(epochs=5), **changes)
    options = {"name": "pairs", "min_examples": 2, "flags_per_1000": 4.0, "config": config}
    options |= {} if progress is None else {"progress": progress}
    return train(components, {"train": TEXTS, "dev": TEXTS}, mistakes=mistakes, clean=clean, **options)


def test_uses_mistakes_or_gives_a_reason():
    corpus = ErrorCorpus.from_texts(Pairs(), Words(), [*MISTAKES, *LEFT_OUT], CLEAN)
    assert (corpus.report["read"], corpus.report["used"], corpus.n_mistakes) == (15, 11, 15)
    assert corpus.report["left_out"] == {ELSEWHERE: 1, OTHER: 1, SHIELDED: 1, UNSURE: 1}
    candidates = Pairs().groups[0].candidates
    both = zip(corpus.written, corpus.wrong.instances.observed, strict=True)
    pairs = [f"{candidates[written]}/{candidates[meant]}" for written, meant in both]
    assert pairs == ["quite/quiet"] * 8 + ["quiet/quite"] * 3
    assert corpus.right.n_words == corpus.right.view.hashes.size - 2 * (len(corpus.right.view.sentences) - 1)
    assert len(corpus.right.instances) == 3 * 24 + 2 * 8


def test_missing_and_extra_words_and_per_instance_candidates():
    task = OwnCandidates(candidates=["to", "about", ""])
    mistakes = [
        fix("We listen ^music.", "", "to"),
        fix("We discuss about it.", "about", ""),
        fix("We listen ^music.", "", "at", where="f, line 3"),
    ]
    corpus = ErrorCorpus.from_texts(task, Words(), mistakes, [Clean("We listen to music.", "r")])
    assert corpus.written.tolist() == [2, 1]
    assert corpus.wrong.instances.observed.tolist() == [0, 2]
    assert corpus.wrong.instances.lengths.tolist() == [0, 1]
    assert corpus.report["left_out"] == {OTHER: 1}
    mistakes = [fix("He go home and we go home .", "go", "goes"), fix("They wents home .", "wents", "went")]
    corpus = ErrorCorpus.from_texts(FORMS, Words(), mistakes, [Clean("They went home .", "r")])
    assert (corpus.written.tolist(), corpus.wrong.instances.observed.tolist()) == ([0], [1])
    assert corpus.report["left_out"] == {ELSEWHERE: 1}


def test_rule_learns_from_mistakes():
    model = train_pairs()
    assert isinstance(model.judge, Mistakes) and learns_mistakes(model.judge)
    assert not learns_mistakes(Corrections())
    assert model.provenance["examples"]["mistakes"]["used"] == 11
    assert model.provenance["examples"]["clean_words"] > 100
    view = Words()(["Eve saw a quite place there. Eve saw a quiet place there."])
    decided = model.decide(view, flags_per_1000=12)
    assert decided.flagged.tolist() == [True, False]
    assert len(model.judge.weighing.terms.keys)


def test_passes_neighbours_only_to_rules_that_use_them():
    view = Words()(["Eve saw a quite place there."])
    calls = []
    for model in (train_pairs(judge=Mistakes(sees_beside=True)), train_pairs(), train_pairs((), ())):
        instances = model.instances(view)
        scored = model.scored(model.features(view, instances, 0), instances, 0, view)
        calls.append(scored.neighbours)
    assert calls[0].tolist() == [hash_words(["a", "place"]).tolist()]
    assert calls[1:] == [None, None]


def test_default_and_configured_rules():
    model = train_pairs((), ())
    assert isinstance(model.judge, Corrections) and "mistakes" not in model.provenance["examples"]
    given = Mistakes(flags_per_1000=1.0, most_right=10)
    assert train_pairs(judge=given).judge.most_right == 10
    with pytest.raises(UserError, match=r"D429.*Corrections"):
        train_pairs(judge=Corrections())
    for task, mistakes, rule in (
        (Pairs(), True, "Mistakes"),
        (FORMS, True, "Mistakes"),
        (FORMS, False, "Corrections"),
        (Pairs(), False, "Corrections"),
        (Marks(), True, "Labels"),
    ):
        config = default_rule_config(task, mistakes=mistakes)
        assert config == {"@disambig_judges": f"disambig.{rule}.v1"}


def test_rule_of_mistakes_on_per_instance_candidates(form_components):
    mistakes = [fix("He go home and we rest .", "go", "goes"), fix("The house are old .", "are", "is")] * 5
    texts = {"train": FORM_TEXTS, "dev": FORM_TEXTS}
    errors = {"mistakes": mistakes, "clean": [Clean(text, "r") for text in FORM_TEXTS]}
    model = train(form_components, texts, name="forms", min_examples=2, **errors)
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
    ("mistakes", "clean", "changes", "message"),
    [
        (MISTAKES, (), {}, "D426.* clean is missing"),
        ((), CLEAN, {}, "D426.* fixes is missing"),
        (MISTAKES, CLEAN, {"task": Marks()}, "D427.*'marks' decides between labels"),
        (LEFT_OUT, CLEAN, {}, "D428.*'pairs': read 4 mistakes: 0 used, 4 left out"),
        (MISTAKES, [Clean("Nothing here.", "r")], {}, "D428.*nothing in the clean paragraphs"),
        (MISTAKES, CLEAN, {"task": Nothing()}, "D428.*11: the task decides nothing there"),
    ],
)
def test_rejects_unusable_corpora_before_training(mistakes, clean, changes, message):
    def never(*_, **__):
        raise AssertionError("the long work has begun")

    with pytest.raises(UserError, match=message):
        train_pairs(mistakes, clean, progress=never, **changes)


# The command
CONFIG = TOYS + "min_examples = 2\nlines = true\n"


@pytest.fixture
def home(load_with, tmp_path, monkeypatch):
    """A directory with a config, text, mistakes and clean paragraphs."""
    load_with(toys="toy_plugin")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cfg").write_text(CONFIG, encoding="utf8")
    (tmp_path / "text.txt").write_text("\n".join(text + f" {i}" for i, text in enumerate(TEXTS * 4)))
    for name, fixes in (("fixes", MISTAKES), ("more", LEFT_OUT)):
        keys = ("before", "start", "end", "old", "new", "tier")
        rows = [json.dumps({key: getattr(fix, key) for key in keys}) for fix in fixes]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    rows = [json.dumps({"text": item.text, "repo": item.repo}) for item in CLEAN]
    (tmp_path / "clean.jsonl").write_text("\n".join(rows))
    return tmp_path


def command(*arguments, name="train"):
    status, _, message = here(name, *arguments)
    return status, message


FILES = ("--fixes", "fixes.jsonl", "--fixes", "more.jsonl", "--clean", "clean.jsonl")
TEXT = ("--text", "text.txt", "--output", "made", "--no-test")


def test_command_reports_mistakes_and_saves_the_rule(home):
    status, message = command("a.cfg", *TEXT, *FILES)
    assert status == 0, message
    (line,) = (item for item in message.splitlines() if "mistakes" in item)
    assert line.startswith("read 15 mistakes: 11 used, 4 left out (1: ") and SHIELDED in line
    assert line.endswith(" clean words")
    model = load_model(home / "made")
    assert isinstance(model.judge, Mistakes) and len(model.judge.weighing.terms.keys)
    assert model.config["judge"] == {"@disambig_judges": "disambig.Mistakes.v1"}
    assert "Mistakes that people made: 11 of 15 read" in (home / "made" / "README.md").read_text()


def test_config_may_name_the_corpus(home):
    (home / "a.cfg").write_text(CONFIG + 'fixes = ["fixes.jsonl"]\nclean = ["clean.jsonl"]\n')
    status, message = command("a.cfg", *TEXT)
    assert status == 0 and "read 11 mistakes: 11 used, none left out" in message
    assert isinstance(load_model(home / "made").judge, Mistakes)
    status, message = command("a.cfg", *TEXT, "--force", "--fixes", "more.jsonl")
    assert status == 2 and "[D428]" in message  # the option stands in the place of what the config names


@pytest.mark.parametrize(
    ("more", "arguments", "message"),
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
def test_command_reports_errors_of_corpora_in_one_line(home, more, arguments, message, monkeypatch):
    # errors come before the text is read
    monkeypatch.setattr("disambig.training.from_config.read_texts", None)
    (home / "a.cfg").write_text(CONFIG + more.replace("'", '"'))
    status, actual = command("a.cfg", *arguments)
    assert status == 2 and message in actual and actual.count("\n") == 1
    assert not (home / "made").exists()


CORPUS_SETTINGS = 'fixes = ["fixes.jsonl"]\nclean = ["clean.jsonl"]\n'


def test_curve_uses_the_corpus_of_its_config(home, monkeypatch):
    calls = []
    whole = curve.train_examples
    monkeypatch.setattr(curve, "train_examples", lambda *a, **b: calls.append(whole(*a, **b)) or calls[-1])
    (home / "a.cfg").write_text(CONFIG + CORPUS_SETTINGS)
    options = ("--text", "text.txt", "--sizes", "8", "--draws", "2")
    status, message = command("a.cfg", *options, name="curve")
    assert status == 0, message
    assert len(calls) == 2 and all(isinstance(model.judge, Mistakes) for model in calls)
    assert all(model.provenance["examples"]["mistakes"]["used"] == 11 for model in calls)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ('fixes = ["fixes.jsonl"]\n', "D426"),
        (CORPUS_SETTINGS + '[judge]\n@disambig_judges = "disambig.Corrections.v1"\n', "D429"),
        (CORPUS_SETTINGS.replace("fixes.jsonl", "more.jsonl"), "D428"),
        (CORPUS_SETTINGS.replace("fixes.jsonl", "none.jsonl"), "D300"),
    ],
)
def test_curve_rejects_what_training_rejects(home, settings, code):
    (home / "a.cfg").write_text(CONFIG + settings)
    status, message = command("a.cfg", "--text", "text.txt", name="curve")
    assert status == 2 and f"[{code}]" in message and message.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "arguments"), [("evaluate", ("--folds", "2")), ("curve", ()), ("train", ("-o", "made"))]
)
def test_rejects_labelled_examples_with_a_corpus(home, name, arguments):
    """No command uses the decision rule without its corpus."""
    (home / "x.tsv").write_text("It was [quite] late.\tquite\nA [quiet] day.\tquiet\n")
    (home / "a.cfg").write_text(CONFIG + CORPUS_SETTINGS)
    status, message = command("a.cfg", "--labelled", "x.tsv", *arguments, name=name)
    assert status == 2 and "[D426] text is missing" in message and message.count("\n") == 1


def test_cross_validates_the_rule_without_a_corpus(home):
    """The rule is fitted to random replacements then, as in training."""
    rows = [f"It was [[quite]] late, {i}.\tquite\nA [[quiet]] day, {i}.\tquiet\n" for i in range(8)]
    (home / "x.tsv").write_text("".join(rows))
    judge = '\n[judge]\n@disambig_judges = "disambig.Mistakes.v1"\n'
    (home / "a.cfg").write_text(CONFIG.replace("lines = true\n", "") + judge)
    status, message = command("a.cfg", "--labelled", "x.tsv", "--folds", "2", name="evaluate")
    assert status == 0, message


def test_model_without_a_config_has_the_rule(tmp_path, load_with):
    load_with(toys="toy_plugin")
    model = train_pairs()
    assert model.config["judge"] == {"@disambig_judges": "disambig.Mistakes.v1"}
    assert "Mistakes that people made: 11 of 11 read" in card(model, "x")
