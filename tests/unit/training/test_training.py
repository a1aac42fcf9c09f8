"""Training from text: splits, examples, settings, configs, and what is rejected."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError, replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given, strategies as st
from model_configs import model_config
from toy_components import toy_components
from toy_learners import Constant
from toy_plugin import Marks, Pairs
from toy_texts import CONFIG, SENTENCES, WORDS_CONFIG

from disambig import registry
from disambig.config import write_config
from disambig.decision import Corrections, Mistakes, substitutes
from disambig.errors import UserError
from disambig.formats import Labelled
from disambig.models import NoPreference
from disambig.packs import available
from disambig.text import Words, view_of_texts
from disambig.training import (
    HASH_FOLDS,
    PARTS,
    ResolvedConfig,
    TextExamples,
    document_fold,
    from_config as from_config,
    read_plan,
    run,
    split,
    train,
    train_labelled,
    whole_domains,
)


@given(st.lists(st.text(max_size=20), max_size=40))
def test_split_is_a_stable_partition(texts):
    parts = split(texts)
    assert sorted(text for part in parts.values() for text in part) == sorted(texts)
    for name, part in parts.items():
        assert all(document_fold(text) in PARTS[name] for text in part)
    assert split(texts) == parts
    assert split(reversed(texts))["train"] == parts["train"][::-1]


def test_substitutes_are_uniform_and_splits_have_the_right_shares():
    assert sorted(fold for folds in PARTS.values() for fold in folds) == list(range(HASH_FOLDS))
    parts = split(f"document {number}" for number in range(5000))
    assert [round(len(part) / 5000, 1) for part in parts.values()] == [0.6, 0.2, 0.2]
    assert document_fold("a text") == document_fold("\n a text  \n")
    same = np.eye(4, dtype=bool)
    swapped, _ = substitutes(same[np.zeros(9000, np.int32)], np.random.default_rng(0))
    assert np.bincount(swapped, minlength=4)[1:] == pytest.approx([3000] * 3, rel=0.06)
    assert (swapped != 0).all()


@given(st.integers(0, 50), st.integers(1, 5), st.integers(0, 10**6))
def test_substitutes_are_candidates_but_not_variants(n, k, seed):
    rng = np.random.default_rng(seed)
    same = np.eye(k, dtype=bool)
    if k > 2:
        same[0, 1] = same[1, 0] = True
    truth = rng.integers(k, size=n).astype(np.int32)
    swapped, rows = substitutes(same[truth], rng)
    assert len(swapped) == n and (swapped[np.setdiff1d(np.arange(n), rows)] == -1).all()
    assert not same[truth[rows], swapped[rows]].any()
    assert len(rows) == (n if k > 1 else 0)


def test_samples_examples_in_order_without_repetition():
    view = Words()(SENTENCES)
    examples = TextExamples.from_view(view, Pairs().instances(view))
    assert examples.n_words == sum(len(Words().words(text)) - 2 * text.count(". ") - 2 for text in SENTENCES)
    rows = examples.rows(0)
    assert len(rows) == 5
    sample = examples.rows(0, maximum=3, rng=np.random.default_rng(0))
    assert len(sample) == 3
    assert set(sample) <= set(rows)
    assert (np.diff(sample) > 0).all()


SAME = ["It was quite good."] * 50
NO_CANDIDATE = "none of the documents kept to {} contains a candidate"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"train": ["Nothing here."], "dev": SENTENCES}, NO_CANDIDATE.format("learn from")),
        ({"train": SENTENCES, "dev": ["Nothing here."]}, NO_CANDIDATE.format("tune on")),
        # fifty equal lines are in one part, and the others have none; each line has a candidate all the same
        (split(SAME), "only 1 of 50 documents is different, and equal documents are never split"),
        ({"train": [*SAME, "Nothing here."], "dev": []}, "only 2 of 51 documents are different"),
        ({"train": SAME[:1], "dev": []}, r"to tune on .*; 1 document in all: add more"),
        ({"train": ["No."] * 50, "dev": ["No."]}, "none has a candidate of the task pairs"),
    ],
)
def test_rejects_text_without_instances(texts, message):
    with pytest.raises(UserError, match=f"D412.*{message}"):
        train(toy_components(), texts, name="toys")


class NeedsPatterns(NoPreference):
    """A baseline for columns that no extractor of these tests provides."""

    def fit(self, batch, **_):
        raise UserError("D451", setting="patterns", name="3-gram", names=())


def test_a_baseline_that_does_not_fit_the_extractors_stops_before_learning():
    """The model could be saved, but not tested, and would fail for a group that is not learned."""
    parts = toy_components(baseline=NeedsPatterns())
    with pytest.raises(UserError, match=r"D451.*patterns.*'3-gram'"):
        train(parts, {"train": SENTENCES * 4, "dev": SENTENCES}, name="toys", min_examples=2)
    labelled = [
        Labelled(f"It was {word} {i}.", 7, 12, word, f"text {i}")
        for i, word in enumerate(("quite", "quiet") * 6)
    ]
    with pytest.raises(UserError, match=r"D451.*patterns.*'3-gram'"):
        train_labelled(parts, labelled, name="toys")
    assert train_labelled(toy_components(), labelled, name="toys").scorers


def test_training_is_reproducible_and_reports_progress():
    messages, texts = [], {"train": SENTENCES * 4, "dev": SENTENCES}
    settings = {"max_examples": 8, "min_examples": 2, "seed": 1}
    first, second = (
        train(toy_components(), texts, name="toys", progress=lambda *step: messages.append(step), **settings)
        for _ in range(2)
    )
    for one, two in zip(first.scorers, second.scorers, strict=True):
        assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(first.judge.calibration.groups, second.judge.calibration.groups)
    assert np.array_equal(first.judge.operating.thresholds, second.judge.operating.thresholds)
    assert first.provenance == second.provenance
    assert {stage for stage, _, _ in messages} >= {"learning", "calibrating", "setting thresholds"}
    assert all(0 <= done <= total for _, done, total in messages)


def test_does_not_tune_on_or_decide_protected_words():
    texts = {"train": SENTENCES, "dev": ["Run `make it quite good` now."]}
    assert train(toy_components(), texts | {"dev": ["It is quite good."]}, name="t", min_examples=2)
    with pytest.raises(UserError, match="D412"):
        train(toy_components(), texts, name="t", min_examples=2)
    # A name in quotes says how words are used; it is not the model's to correct
    view = view_of_texts(["Run `make it quite good` now. It is quite good."], Words(), protected=True)
    assert len(Pairs().instances(view)) >= 1
    model = train(toy_components(), {"train": SENTENCES * 4, "dev": SENTENCES}, name="t", min_examples=2)
    decided = model.decide(view)
    assert [view.texts[0][a:b] for a, b in zip(decided.starts, decided.ends, strict=True)] == ["quite"]
    assert decided.starts[0] == view.texts[0].rindex("quite")


def test_learns_from_examples_of_the_task_and_decides_its_instances():
    class FirstHalf(Pairs):
        """Decides in the first half of each text alone, and learns from all of it."""

        def instances(self, view):
            result = super().instances(view)
            document = view.document_indices(result.positions)
            middle = (view.documents[document] + view.documents[document + 1]) // 2
            return result.take(result.positions < middle)

        def examples(self, view):
            return super().instances(view)

    texts = dict.fromkeys(("train", "dev"), [" ".join(SENTENCES)] * 3)
    results = {}
    for name, task in (("all", Pairs()), ("half", FirstHalf())):
        model = train(toy_components(task), texts, name="t", min_examples=1)
        results[name] = [report["examples"] for report in model.provenance["groups"].values()]
        results[f"{name} decided"] = len(model.decide(Words()(texts["dev"])))
    assert results["all"] == results["half"]
    assert 0 < results["half decided"] < results["all decided"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("flags_per_1000 = -1", "training.flags_per_1000 is -1, not a number of at least 0"),
        ('flags_per_1000 = "many"', "training.flags_per_1000 is 'many'"),
        ("least_margin = 1" + "0" * 400, "not a number from 0 to 99"),
        ("max_examples = 0", "training.max_examples is 0"),
        ("least_margin = 100", "training.least_margin is 100, not a number from 0 to 99"),
        ("least_margin = 0.5", "training.least_margin is for tasks with labels"),
        ("max_examples = 2.5", "training.max_examples is 2.5, not a whole number of at least 1"),
        ("max_examples = null", "training.max_examples is None"),
        ("min_examples = true", "training.min_examples is True"),
        ('seed = "x"', "training.seed is 'x'"),
        ("seed = -1", "training.seed is -1"),
        ('lines = "no"', "training.lines is 'no', not true or false"),
        ('text = "texts"', "training.text is 'texts', not a list"),
        ("text = [1]", "training.text is [1]"),
        ("max_exampels = 5", "unknown setting training.max_exampels; known settings: max_examples"),
    ],
)
def test_rejects_invalid_settings(load_with, tmp_path, setting, message):
    load_with(toys="toy_plugin")
    (tmp_path / "small.cfg").write_text(CONFIG + setting)
    with pytest.raises(UserError) as caught:
        run(tmp_path / "small.cfg")
    assert caught.value.code == "D005"
    assert message in str(caught.value)


def test_accepts_valid_settings(load_with, tmp_path):
    load_with(toys="toy_plugin")
    (tmp_path / "some.txt").write_text("Nothing to decide.")
    settings = "flags_per_1000 = 1\nmax_examples = 10\nmin_examples = 0\nseed = 3\nlines = true\n"
    (tmp_path / "small.cfg").write_text(CONFIG + settings + f'text = ["{tmp_path / "some.txt"}"]')
    with pytest.raises(UserError, match="D412"):
        run(tmp_path / "small.cfg")
    (tmp_path / "none.cfg").write_text(CONFIG + settings)
    with pytest.raises(UserError, match=r"D412.* text .*--text, labelled examples with --labelled"):
        run(tmp_path / "none.cfg")


def test_the_rate_of_the_decision_rule(load_with, tmp_path):
    load_with(toys="toy_plugin")
    judge = '\n[judge]\n@disambig_judges = "disambig.Corrections.v1"\n'
    for config in (CONFIG + "flags_per_1000 = 3", CONFIG + judge + "flags_per_1000 = 3"):
        (tmp_path / "small.cfg").write_text(config)
        plan = read_plan(tmp_path / "small.cfg")
        assert (plan.parts.judge.flags_per_1000, plan.config["judge"]["flags_per_1000"]) == (3, 3)
    for rule, message in (
        (judge + "flags_per_1000 = 2", r"is in \[training\] and in \[judge\]; keep one"),
        (judge.replace("Corrections", "Labels"), "rule disambig.Labels.v1 has no such setting"),
    ):
        (tmp_path / "small.cfg").write_text(CONFIG + "flags_per_1000 = 3\n" + rule)
        with pytest.raises(UserError, match=f"D005.*flags_per_1000.*{message}"):
            read_plan(tmp_path / "small.cfg")


JUDGE = """
[judge]
@disambig_judges = "disambig.{}.v1"
"""
LISTS = CONFIG.replace("toys.Pairs.v1", "disambig.Lists.v1")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            LISTS.replace("toys.NearbyWords.v1", "disambig.SourceFeatures.v1") + JUDGE.format("Labels"),
            r"D422.*rule Labels is for .* a group or labels, but 'rerank' .* candidates of each instance",
        ),
        (
            CONFIG.replace("toys.Pairs.v1", "toys.Marks.v1") + JUDGE.format("Corrections"),
            r"D422.*rule Corrections .*'marks' decides between labels: omit \[judge\]",
        ),
        (LISTS.replace("toys.NearbyWords.v1", "disambig.ContextWords.v1"), "D419.*extractor ContextWords "),
        (CONFIG.replace("toys.NearbyWords.v1", "disambig.TextNgrams.v1"), "D418.*extractor TextNgrams "),
    ],
)
def test_rejects_components_for_other_candidates(load_with, tmp_path, config, message):
    load_with(toys="toy_plugin")
    (tmp_path / "small.cfg").write_text(config)
    with pytest.raises(UserError, match=message):
        read_plan(tmp_path / "small.cfg")


WORDS = {
    "model": {"name": "my/words"},
    **model_config(
        ("disambig.Candidates.v1", {"candidates": ["bring", "take"]}),
        {"words": "disambig.ContextWords.v1"},
        baseline=None,
    ),
}


@pytest.fixture
def shipped_configs(tmp_path, monkeypatch):
    """A package with a plugin and two configs; other entry points name modules without any."""
    home = tmp_path / "site" / "some_package"
    home.mkdir(parents=True)
    for name in ("__init__.py", "plugin.py", "mine.cfg", "other.cfg", "no.txt"):
        (home / name).write_text("")
    monkeypatch.syspath_prepend(home.parent)
    names = ("some_package.plugin", "alone", "gone.package.plugin", "some_package.none.plugin")
    entries = [EntryPoint(f"e{i}", name, "disambig") for i, name in enumerate(names)]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    yield home
    sys.modules.pop("some_package", None)


def test_finds_configs_of_plugins_by_name(shipped_configs):
    paths = {name: shipped_configs / f"{name}.cfg" for name in ("mine", "other")}
    assert registry.plugin_configs() == paths
    assert from_config.config_path("mine") == paths["mine"]
    assert "some_package" not in sys.modules  # found, and not run
    with pytest.raises(UserError, match=r"D472.*'mone'.*: mine, other"):
        from_config.config_path("mone")


def test_files_take_precedence_over_names(shipped_configs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("a file")
    (tmp_path / "other").mkdir()  # such as the model trained before
    assert str(from_config.config_path("mine")) == "mine"
    assert from_config.config_path("other") == shipped_configs / "other.cfg"
    for name in ("no.cfg", "some/mine", "some/other.cfg"):
        assert str(from_config.config_path(name)) == name  # whoever reads it says that it is missing


def test_tasks_of_words_need_a_baseline_and_valid_encodings(tmp_path):
    write_config(WORDS, tmp_path / "a.cfg")
    with pytest.raises(UserError, match=r"D005.*section \[baseline\] is missing"):
        read_plan(tmp_path / "a.cfg")
    whole = {**WORDS, "baseline": WORDS["learner"]}
    write_config(whole, tmp_path / "a.cfg")
    plan = read_plan(tmp_path / "a.cfg")
    assert plan.with_learned_settings([]) is plan  # candidates do not come from examples
    write_config({**whole, "model": {"name": "", "version": ""}}, tmp_path / "a.cfg")
    unnamed = read_plan(tmp_path / "a.cfg")
    assert (unnamed.name, unnamed.version) == (unnamed.parts.task.name, "0.1.0")
    for encoding in (3, True, ["latin-1"]):
        write_config({**whole, "training": {"encoding": encoding}}, tmp_path / "a.cfg")
        with pytest.raises(UserError, match=r"D005.*training.encoding"):
            read_plan(tmp_path / "a.cfg")


COUNTS_CONFIG = (
    WORDS_CONFIG.replace('["bring", "take"]', '["{0}", "{1}"]\nname = "words"\nlanguage = "{2}"')
    .replace("my/words", "words")
    .replace("disambig.NoPreference", "variance_svm.SumLM")
    + "[training]\nlines = true\n"
)
GERMAN = (
    "Wir warten auf den Bus, der heute schon wieder zu spät kommt.",
    "Das alte Haus mit dem grünen Dach steht neben einer kleinen Kirche.",
    "Die Kinder spielen auf der Wiese und freuen sich über das schöne Wetter.",
    "Er schreibt mit einem Bleistift, weil er seine Fehler sonst nicht verbessern kann.",
)
ENGLISH = (
    "We took the bus, which is late again today, because it was raining.",
    "They bring flowers to the old house with the green roof near the church.",
    "The children take their toys outside and enjoy the good weather.",
    "He can bring a pencil, since otherwise he cannot correct his mistakes.",
)


@pytest.mark.skipif("spelling" not in available(), reason="needs the English pack")
@pytest.mark.parametrize(
    ("lines", "candidates", "language", "note"),
    [
        (GERMAN, ("auf", "mit"), "de", "english.counts are for the language 'en', but the task 'words'"),
        (GERMAN, ("auf", "mit"), "", "of the words of the text ("),
        (ENGLISH, ("bring", "take"), "en", ""),
        (ENGLISH, ("bring", "take"), "", ""),
    ],
)
def test_warns_of_counts_of_another_language(tmp_path, lines, candidates, language, note):
    (tmp_path / "words.cfg").write_text(COUNTS_CONFIG.format(*candidates, language))
    text = "".join(f"{number} {line}\n" for number in range(30) for line in lines)
    (tmp_path / "words.txt").write_text(text, encoding="utf8")
    warnings: list[str] = []
    model, _, _ = run(tmp_path / "words.cfg", text=[str(tmp_path / "words.txt")], tell=warnings.append)
    notes = [one for one in model.provenance.get("notes", ()) if "counts" in one]
    assert notes == warnings
    assert len(warnings) == (1 if note else 0)
    assert all(note in one for one in warnings)


def test_folds_of_whole_domains():
    domains = ["a"] * 6 + ["b"] * 3 + ["c"] * 3 + ["d"] * 2
    folds = whole_domains(domains, np.arange(14), 3)
    assert len({(d, f) for d, f in zip(domains, folds.tolist(), strict=True)}) == 4
    assert sorted(np.bincount(folds).tolist()) == [3, 5, 6]
    documents = np.arange(4)  # no folds of few or unknown domains, or of such that share documents
    assert whole_domains(["a", "b", "a", "b"], documents, 3) is None
    assert whole_domains(["a", "b", "c", ""], documents, 3) is None
    assert whole_domains(["a", "b", "c", "a"], np.array([0, 1, 2, 1]), 3) is None
    assert whole_domains(["a", "b", "c", "a"], documents, 1) is None


@pytest.mark.parametrize("name", ["task", "tokenisation", "extractors", "learner", "baseline"])
def test_a_part_is_missing(name):
    parts = {part: made for part, made in toy_components().items() if part != name}
    with pytest.raises(TypeError, match=rf"missing 1 required positional argument: '{name}'"):
        ResolvedConfig.from_parts(parts)
    with pytest.raises(TypeError, match=name):
        train(parts, {"train": [], "dev": []}, name="t")


def test_a_part_is_unknown_and_other_sections_are_ignored():
    parts = {**toy_components(), "lerner": Constant()}
    with pytest.raises(TypeError, match="unexpected keyword argument 'lerner'"):
        ResolvedConfig.from_parts(parts)
    with pytest.raises(TypeError, match="lerner"):
        train_labelled(parts, [], name="t")
    parts = {**toy_components(), "model": {"name": "x"}, "training": {"seed": 3}}
    made = ResolvedConfig.from_parts(parts)
    assert made.task is parts["task"] and made.judge is None
    assert ResolvedConfig.from_parts(made) is made


def test_changed_parts_have_their_own_traits():
    made = ResolvedConfig.from_parts({**toy_components(), "baseline": NoPreference()})
    assert made.decides.between == "words" and not made.has_baseline
    other = replace(made, task=Marks(("quite/quiet",)), baseline=Constant())
    assert other.decides.between == "labels" and other.has_baseline
    assert made.decides.between == "words" and not made.has_baseline
    with pytest.raises(FrozenInstanceError):
        made.learner = Constant()


def test_the_decision_rule_accepts_its_settings():
    made = ResolvedConfig.from_parts(toy_components())
    rule = made.decision_rule({"flags_per_1000": 2.0, "least_margin": 0.5, "seed": 3})
    assert isinstance(rule, Corrections) and rule.flags_per_1000 == 2.0
    assert made.decision_rule({"flags_per_1000": None}).flags_per_1000 == Corrections().flags_per_1000
    with pytest.raises(UserError, match="D422"):
        replace(made, task=Marks(("quite/quiet",)), judge=Corrections()).decision_rule({})


def test_error_rule_unless_there_is_a_rule():
    made = ResolvedConfig.from_parts(toy_components())
    with_rule, config = made.with_error_rule({"learner": 1})
    assert isinstance(with_rule.judge, Mistakes) and made.judge is None
    assert config == {"learner": 1, "judge": {"@disambig_judges": "disambig.Mistakes.v1"}}
    assert with_rule.with_error_rule({}) == (with_rule, {})
    with pytest.raises(UserError, match="D429"):
        replace(made, judge=Corrections()).with_error_rule({})
    with pytest.raises(UserError, match="D427"):
        replace(made, task=Marks(("quite/quiet",))).with_error_rule({})
