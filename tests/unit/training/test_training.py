"""Training from text: splits, examples, settings, configs, and what is rejected."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toy_components import toy_components
from toy_plugin import Pairs
from toy_texts import CONFIG, SENTENCES

from disambig.config import write_config
from disambig.decision import substitutes
from disambig.errors import UserError
from disambig.packs import available
from disambig.text import Words, view_of_texts
from disambig.training import (
    HASH_FOLDS,
    PARTS,
    TextExamples,
    document_fold,
    from_config as from_config,
    read_plan,
    run,
    split,
    train,
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


def test_split_has_the_right_shares():
    assert sorted(fold for folds in PARTS.values() for fold in folds) == list(range(HASH_FOLDS))
    parts = split(f"document {number}" for number in range(5000))
    assert [round(len(part) / 5000, 1) for part in parts.values()] == [0.6, 0.2, 0.2]
    assert document_fold("a text") == document_fold("\n a text  \n")


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


def test_substitutes_are_uniform():
    same = np.eye(4, dtype=bool)
    swapped, _ = substitutes(same[np.zeros(9000, np.int32)], np.random.default_rng(0))
    assert np.bincount(swapped, minlength=4)[1:] == pytest.approx([3000] * 3, rel=0.06)
    assert (swapped != 0).all()


def test_samples_examples_in_order_without_repetition():
    view = Words()(SENTENCES)
    examples = TextExamples.from_view(view, Pairs().instances(view))
    assert examples.n_words == sum(len(Words().words(text)) - 2 * text.count(". ") - 2 for text in SENTENCES)
    rows = examples.rows(0)
    assert len(rows) == 5
    sample = examples.rows(0, most=3, rng=np.random.default_rng(0))
    assert len(sample) == 3
    assert set(sample) <= set(rows)
    assert (np.diff(sample) > 0).all()


@pytest.mark.parametrize("empty", ["train", "dev"])
def test_rejects_text_without_instances(empty):
    texts = {"train": SENTENCES, "dev": SENTENCES} | {empty: ["Nothing here."]}
    with pytest.raises(UserError) as caught:
        train(toy_components(), texts, name="toys")
    assert caught.value.code == "D412"
    aim = "to learn from" if empty == "train" else "to tune on"
    assert f"none of the documents kept {aim} contains a candidate" in str(caught.value)


def test_names_equal_documents_if_a_part_is_empty():
    """Fifty equal lines are in one part, and the others have none; each line has a candidate all the same."""
    same = ["It was quite good."] * 50
    with pytest.raises(
        UserError, match="only 1 of 50 documents is different, and equal documents are never split"
    ):
        train(toy_components(), split(same), name="toys")
    with pytest.raises(UserError, match="only 2 of 51 documents are different"):
        train(toy_components(), {"train": [*same, "Nothing here."], "dev": []}, name="toys")
    with pytest.raises(UserError, match=r"to tune on .*; 1 document in all: add more"):
        train(toy_components(), {"train": same[:1], "dev": []}, name="toys")
    with pytest.raises(UserError, match="none has a candidate of the task pairs"):
        train(toy_components(), {"train": ["No."] * 50, "dev": ["No."]}, name="toys")


def test_training_is_reproducible_and_reports_progress():
    messages = []

    def progress(*step):
        messages.append(step)

    def model(seed):
        texts = {"train": SENTENCES * 4, "dev": SENTENCES}
        settings = {"max_examples": 8, "min_examples": 2, "seed": seed}
        return train(toy_components(), texts, name="toys", progress=progress, **settings)

    first, second = model(1), model(1)
    for one, two in zip(first.scorers, second.scorers, strict=True):
        assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(first.judge.calibration.groups, second.judge.calibration.groups)
    assert np.array_equal(first.judge.operating.thresholds, second.judge.operating.thresholds)
    assert first.provenance == second.provenance
    assert {stage for stage, _, _ in messages} >= {"learning", "calibrating", "setting thresholds"}
    assert all(0 <= done <= total for _, done, total in messages)


def test_does_not_tune_on_protected_words():
    texts = {"train": SENTENCES, "dev": ["Run `make it quite good` now."]}
    assert train(toy_components(), texts | {"dev": ["It is quite good."]}, name="t", min_examples=2)
    with pytest.raises(UserError, match="D412"):
        train(toy_components(), texts, name="t", min_examples=2)


def test_learns_from_protected_words_but_does_not_decide_them():
    """A name in quotes says how words are used; it is not the model's to correct."""
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
    "task": {"@disambig_tasks": "disambig.Candidates.v1", "candidates": ["bring", "take"]},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {"words": {"@disambig_extractors": "disambig.ContextWords.v1"}},
    "learner": {"@disambig_learners": "disambig.NoPreference.v1"},
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
    monkeypatch.setattr(from_config, "entry_points", lambda group: entries)
    yield home
    sys.modules.pop("some_package", None)


def test_finds_configs_of_plugins_by_name(shipped_configs):
    assert from_config.plugin_configs() == {
        "mine": shipped_configs / "mine.cfg",
        "other": shipped_configs / "other.cfg",
    }
    assert from_config.config_path("mine") == shipped_configs / "mine.cfg"
    assert "some_package" not in sys.modules  # found, and not run


def test_files_take_precedence_over_names(shipped_configs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("a file")
    (tmp_path / "other").mkdir()  # such as the model trained before
    assert str(from_config.config_path("mine")) == "mine"
    assert from_config.config_path("other") == shipped_configs / "other.cfg"
    for name in ("no.cfg", "some/mine", "some/other.cfg"):
        assert str(from_config.config_path(name)) == name  # whoever reads it says that it is missing


def test_unknown_config_names_list_the_valid_ones(shipped_configs):
    with pytest.raises(UserError, match=r"D472.*'mone'.*: mine, other"):
        from_config.config_path("mone")


def test_tasks_of_words_need_a_baseline(tmp_path):
    write_config(WORDS, tmp_path / "a.cfg")
    with pytest.raises(UserError, match=r"D005.*section \[baseline\] is missing"):
        read_plan(tmp_path / "a.cfg")


def test_candidates_of_words_do_not_come_from_examples(tmp_path):
    write_config({**WORDS, "baseline": WORDS["learner"]}, tmp_path / "a.cfg")
    plan = read_plan(tmp_path / "a.cfg")
    assert plan.with_learned_settings([]) is plan


@pytest.mark.parametrize("encoding", [3, True, ["latin-1"]])
def test_rejects_invalid_encodings(tmp_path, encoding):
    config = {**WORDS, "baseline": WORDS["learner"], "training": {"encoding": encoding}}
    write_config(config, tmp_path / "a.cfg")
    with pytest.raises(UserError, match=r"D005.*training.encoding"):
        read_plan(tmp_path / "a.cfg")


COUNTS_CONFIG = """
[model]
name = "words"

[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["{0}", "{1}"]
name = "words"
language = "{2}"

[tokenisation]
@disambig_tokenisations = "disambig.words.v1"

[extractors]

[extractors.counts]
@disambig_extractors = "disambig.NgramCounts.v1"
counts = "disambig_en"

[learner]
@disambig_learners = "variance_svm.SumLM.v1"

[baseline]
@disambig_learners = "variance_svm.SumLM.v1"

[training]
lines = true
"""


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
        (
            GERMAN,
            ("auf", "mit"),
            "de",
            "counts english.counts are of the language 'en', but the task 'words'",
        ),
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


def test_no_folds_of_domains_if_they_are_few_unknown_or_share_documents():
    documents = np.arange(4)
    assert whole_domains(["a", "b", "a", "b"], documents, 3) is None
    assert whole_domains(["a", "b", "c", ""], documents, 3) is None
    assert whole_domains(["a", "b", "c", "a"], np.array([0, 1, 2, 1]), 3) is None
    assert whole_domains(["a", "b", "c", "a"], documents, 1) is None
