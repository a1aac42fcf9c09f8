"""A model: decisions, settings, weights; the packs that are installed and their models."""

from __future__ import annotations

import errno
import json
import re
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from overlapping import DOUBLED, FORM, ToyModel
from scipy.sparse import csr_array
from spacy.tokens import DocBin

from disambig import packs
from disambig.counts import open_table
from disambig.data import (
    CandidateLists,
    Columns,
    CrossedColumns,
    CrossedRows,
    DenseBlocks,
    Group,
    Instances,
    PrecisionPoint,
    PrecisionTable,
    numbered,
)
from disambig.decision import Corrections, Labels
from disambig.errors import UserError
from disambig.features import by_group, open_cloze, transform_checked
from disambig.features.rows import cross_rows
from disambig.formats import AnnotatedDocument, Document, records
from disambig.models import (
    HIGHEST_RATE,
    LinearScorer,
    Model,
    ModelSet,
    NoPreference,
    Undecided,
    deciding,
    iterate_features,
    load,
    load_standalone,
    rates_for_precision,
    storage,
    task_rates,
    with_plugins,
)
from disambig.packs import PackFolder, available, default_tasks, pack, read_pack
from disambig.spacy.component import Disambiguator
from disambig.testing import blocks, check_learner, crossed
from disambig.text import Words, hash_word
from disambig.types import Decides, Features

GROUPS = (Group("one", ("a", "b", "c")), Group("two", ("x", "y")))
NUMBERS, OBSERVED = np.array([0, 1, 0, 1, 1], np.int32), np.array([2, -1, 0, 1, 0], np.int32)
INSTANCES = Instances(np.arange(5), np.ones(5, np.int32), NUMBERS, OBSERVED)
POSITION_COLUMNS = Columns(np.full(5, -1, np.int32), np.zeros(5, np.int32), ("position",))


@dataclass
class Positions:
    """One column per position; the evidence is the position."""

    rows_are_shared: bool = True
    n_calls: int = 0

    @by_group
    def transform(self, view, instances, group):
        self.n_calls += 1
        n, k = len(instances), len(group.candidates)
        instances.costs(group)  # as extractors do
        rows = csr_array((np.ones(n), (np.arange(n), instances.positions)), (n, 5))
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        batch = CrossedRows(rows, costs, CrossedColumns(POSITION_COLUMNS, group.candidates))
        result = np.repeat(instances.positions, k).astype(np.int32)
        return Features(batch, result, result + 1)


def undecided(*extractors, instances=INSTANCES):
    model = SimpleNamespace(extractors=extractors, task=SimpleNamespace(groups=GROUPS), decides=Decides())
    return Undecided(model, None, instances)


@pytest.mark.parametrize("shared", [True, False])
def test_features_of_several_groups_equal_those_of_each_group(shared):
    extractor = Positions(shared)
    one = undecided(extractor, Positions(shared))
    (piece,) = iterate_features([one])
    for g, ((number, rows), result) in enumerate(zip(one.blocks(), piece.features, strict=True)):
        group = GROUPS[g]
        assert number == g and piece.table.groups[g] is group
        np.testing.assert_array_equal(rows, np.flatnonzero(INSTANCES.groups == g))
        np.testing.assert_array_equal(piece.table.parts[g][0].positions, INSTANCES.positions[rows])
        alone = transform_checked(Positions(), None, INSTANCES.take(rows), group)
        np.testing.assert_array_equal(result.batch.costs, alone.batch.costs)
        np.testing.assert_array_equal(result.batch.rows.toarray()[:, :5], alone.batch.rows.toarray())
        np.testing.assert_array_equal(result.n_hits, 2 * alone.n_hits)
        np.testing.assert_array_equal(result.n_queries, 2 * alone.n_queries)
        assert len(result.batch.columns) == 10 * len(group.candidates)
        assert result.batch.columns.candidates == group.candidates
    assert extractor.n_calls == len(GROUPS)


def test_shared_rows_must_be_crossed():
    class Blocks:
        rows_are_shared = True

        @by_group
        def transform(self, view, instances, group):
            n, k = len(instances), len(group.candidates)
            values, costs = np.zeros((n, k, 1), np.float32), np.ones((n, k), np.float32)
            none = np.zeros(n * k, np.int32)
            return Features(DenseBlocks(values, np.zeros((k, 1), np.int64), numbered(1), costs), none, none)

    with pytest.raises(UserError, match=r"D414.*extractor Blocks: transform gave DenseBlocks;.* CrossedRows"):
        list(iterate_features([undecided(Blocks())]))


def test_features_of_lists_are_computed_per_group():
    lists = CandidateLists.from_texts([GROUPS[group].candidates for group in INSTANCES.groups])
    per_instance = replace(INSTANCES, lists=lists)

    class Lists:
        rows_are_shared = True

        def transform(self, view, table):
            return cross_rows(made(table.instances), POSITION_COLUMNS, table, self)

    def made(instances):
        n = len(instances)
        return csr_array((np.ones(n), (np.arange(n), instances.positions)), (n, 5)), np.ones(n), np.ones(n)

    (piece,) = iterate_features([undecided(Lists(), instances=per_instance)])
    result = piece.features[1]
    assert result.batch.labels is not None and result.batch.labels.values.tolist() == [0, 1] * 3


def test_transforms_several_groups_at_once_up_to_a_limit(monkeypatch):
    sizes = []

    class Together(Positions):
        def transform(self, view, table):
            sizes.append([len(instances) for instances, _ in table.parts])
            return Positions.transform(self, view, table)

    monkeypatch.setattr(deciding, "TOGETHER", 3)
    monkeypatch.setattr(deciding, "BLOCK", 1)
    result = list(iterate_features([undecided(Together(rows_are_shared=False))]))
    assert sizes == [[1, 1, 1], [1, 1]]
    assert [[part.positions.tolist() for part, _ in piece.table.parts] for piece in result] == [
        [[0], [2], [1]],
        [[3], [4]],
    ]


def test_models_with_an_extractor_of_the_same_source_transform_together():
    class Sourced(Positions):
        source = object()

        @property
        def feature_source(self):
            return self.source

    class WithSettings(Sourced):
        """A subclass that does not declare the source: two of them may give different features."""

    extractors = [Sourced(), Sourced(), Positions(), WithSettings(), WithSettings()]
    several = [
        undecided(extractors[0], extractors[3]),
        undecided(extractors[1], extractors[2], extractors[4]),
    ]
    (piece,) = iterate_features(several, check=False)
    assert [extractor.n_calls for extractor in extractors] == [4, 0, 2, 2, 2]
    assert [run.numbers for run in piece.runs] == [[0, 1], [0, 1]]
    n_extractors = [len(run.undecided.model.extractors) for run in piece.runs for _ in run.numbers]
    for n, (part, group), features in zip(n_extractors, piece.table.parts, piece.features, strict=True):
        assert features.n_hits.tolist() == np.repeat(n * part.positions, len(group.candidates)).tolist()


BANK = Group("bank.n", ("money", "river"), glosses=("bank%1", "bank%2"))
BAT = Group("bat.n", ("animal",), glosses=("",))
BANK_TEXT = "near the bank, far from a bank; a bat"


@dataclass(frozen=True)
class SenseTask:
    """A task of the senses of "bank" and "bat"."""

    name: str = "sense"
    language: str = "en"
    decides = Decides(between="labels")
    groups: tuple = (BANK, BAT)

    def instances(self, view):
        numbers = np.full(len(view), -1, np.int32)
        for g, word in enumerate(("bank", "bat")):
            numbers[view.hashes == hash_word(word)] = g
        at = np.flatnonzero(numbers >= 0)
        return Instances(at, np.ones(len(at), np.int32), numbers[at], np.full(len(at), -1, np.int32))


@dataclass(frozen=True)
class WordsBefore:
    """The number of words before the place."""

    rows_are_shared: bool = True

    @by_group
    def transform(self, view, instances, group):
        n, k = len(instances), len(group.candidates)
        shared = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), ("before",))
        rows = csr_array(instances.positions[:, None].astype(float))
        ones = np.ones(n * k, np.int32)
        columns = CrossedColumns(shared, group.candidates)
        return Features(CrossedRows(rows, np.ones((n, k), np.float32), columns), ones, ones)


@pytest.fixture
def sense_model():
    scorers = LinearScorer(np.array([-1.0, 0.0])), LinearScorer(np.array([1.0]))
    bias = np.array([[5.0, 0.0], [5.0, 0.0]])  # margins of 5 - position: 2 and -3; 5 for a single sense
    rule = Labels(np.ones(2), bias, np.zeros((2, 2)))
    parts = SenseTask(), Words(), (WordsBefore(),), NoPreference()
    return Model("fake/sense", "0.0.1", *parts, scorers, rule)


def test_a_model_is_shown_in_one_line(sense_model):
    n = len(sense_model.task.groups)
    assert repr(sense_model) == f"<Model fake/sense 0.0.1, task {sense_model.task.name!r}: {n} groups>"


def test_leaves_out_labels_of_small_margins(sense_model):
    view = sense_model.tokenisation([BANK_TEXT])
    assert labels_and_margins(sense_model.decide(view)) == [("money", 2.0), ("river", 3.0), ("animal", 5.0)]
    surer = sense_model.with_least_margin(2.5)
    assert labels_and_margins(surer.decide(view)) == [("river", 3.0), ("animal", 5.0)]
    anything = surer.with_least_margin(0).decide(view)
    assert labels_and_margins(anything) == labels_and_margins(sense_model.decide(view))
    assert len(sense_model.with_least_margin(10).decide(view)) == 0


def labels_and_margins(decisions):
    records = [decisions.record(index, BANK_TEXT) for index in range(len(decisions))]
    return [(record["chosen"], record["margin"]) for record in records]


@pytest.mark.parametrize("value", [-0.1, 99.5, 1e308, 10**400, float("nan"), float("inf"), "2", True, None])
def test_rejects_invalid_least_margins(sense_model, value):
    with pytest.raises(UserError, match="D477"):
        sense_model.with_least_margin(value)
    with pytest.raises(UserError, match="D477"):  # a model of words has no least margin
        replace(sense_model, judge=Corrections()).with_least_margin(1.0)


def decided_spans(model, text=BANK_TEXT):
    nlp = spacy.blank("en")
    return Disambiguator(nlp, model, name="sense", spans_key="sense", protect=False)(nlp(text))


def test_records_and_spans_have_glosses(sense_model):
    doc = decided_spans(sense_model)
    expected = [("bank", "money", "bank%1"), ("bank", "river", "bank%2"), ("bat", "animal", "")]
    (again,) = DocBin(store_user_data=True, docs=[doc]).get_docs(spacy.blank("en").vocab)
    for item in (doc, again):
        assert [(span.text, span.label_, span.kb_id_) for span in item.spans["sense"]] == expected
    assert [span._.disambig["gloss"] for span in again.spans["sense"]] == ["bank%1", "bank%2", ""]


def test_all_records_have_a_gloss_if_some_groups_do(sense_model):
    some = replace(sense_model, task=SenseTask(groups=(BANK, replace(BAT, glosses=()))))
    decisions = some.decide(some.tokenisation([BANK_TEXT]))
    expected = ["bank%1", "bank%2", ""]
    assert [decisions.record(i, BANK_TEXT)["gloss"] for i in range(3)] == expected
    result = records(AnnotatedDocument(Document("a", BANK_TEXT, "a.txt"), (decisions,)))
    assert [record["gloss"] for record in result] == expected
    for text, glosses in ((BANK_TEXT, expected), ("a bat", [""])):
        doc = decided_spans(some, text)
        assert [span._.disambig["gloss"] for span in doc.spans["sense"]] == glosses
        assert [span.kb_id_ for span in doc.spans["sense"]] == glosses


def test_annotations_with_glosses_have_another_layout(sense_model):
    plain = replace(sense_model, task=SenseTask(groups=(replace(BANK, glosses=()), replace(BAT, glosses=()))))
    kept = [decided_spans(item).user_data["disambig.sense"] for item in (sense_model, plain)]
    assert [item["layout"] for item in kept] == [2, 1]
    assert [[len(row) for row in item["table"]] for item in kept] == [[3, 3], [2, 2]]
    decisions = plain.decide(plain.tokenisation([BANK_TEXT]))
    assert "gloss" not in decisions.record(0, BANK_TEXT)


@dataclass(frozen=True)
class FlaggingRule:
    """A decision rule that raises flags."""

    flags_per_1000: float = 0.5

    def limit(self, flags_per_1000=None):
        return 0.5


@dataclass(frozen=True)
class RuleWithGains(FlaggingRule):
    """A decision rule that knows its recall."""

    recall: tuple[float, float] = (0.0, 0.0)

    def gains(self):
        return np.array([1.0, 2.0]), np.array(self.recall)


def make_models(**judges):
    return [SimpleNamespace(task=SimpleNamespace(name=task), judge=judge) for task, judge in judges.items()]


HIGH, LOW = RuleWithGains(recall=(0.5, 0.6)), RuleWithGains(recall=(0.05, 0.08))


@pytest.mark.parametrize(
    ("models", "rate", "expected"),
    [
        (make_models(high=HIGH, low=LOW), 1.0, {"high": 1.0, "low": 0.0}),
        (make_models(low=LOW, high=HIGH), 3.0, {"low": 1.0, "high": 2.0}),
        (make_models(high=HIGH, other=FlaggingRule()), 1.0, {"high": 0.5, "other": 0.5}),  # unknown gains
    ],
)
def test_shares_one_rate_by_gains(models, rate, expected):
    assert task_rates(models, rate) == pytest.approx(expected)


def test_rates_are_for_models_that_flag_and_for_their_own_task():
    models = make_models(high=HIGH, labels=object())
    assert task_rates(models, 1.5) == {"high": 1.5}
    with pytest.raises(UserError, match=r"D950.*'labels'.*available: high"):
        task_rates(models, {"labels": 1.0})
    assert task_rates(make_models(high=HIGH, low=LOW), {"low": 2}) == {"low": 2.0}
    assert task_rates(make_models(high=HIGH), None) == {}
    for rate in (-1.0, float("nan"), {"high": -1.0}):
        with pytest.raises(UserError, match="D401"):
            task_rates(make_models(high=HIGH), rate)


def precision_table(task, *points, **pairs):
    """Return a table of points (minimum probability, precision)."""
    rows = [
        tuple(PrecisionPoint(least, share, share, share, 9, 0, 1) for least, share in item)
        for item in (points, *pairs.values())
    ]
    return PrecisionTable(task, "t", 5, rows[0], dict(zip(pairs, rows[1:], strict=True)))


TEXT = "I saw a a box of a old house. He went to to home, and I seen it with a owl."
TABLES = {
    "form": precision_table("form", (0.0, 0.2), (0.5, 0.6), (0.85, 0.9)),
    "doubled": precision_table("doubled", (0.0, 0.3), (0.9, 0.95)),
}
RATES = {"form": 1.0, "doubled": 1.0}


def trusted_flags(least, tables=TABLES, rates=RATES):
    result = ModelSet((FORM, DOUBLED), rates, trust=tables, least=least).annotate([TEXT])
    flags = [(item, item.record(int(i), TEXT)) for item in result for i in np.flatnonzero(item.flagged)]
    return [(item.task, record["observed"], len(record["alternatives"])) for item, record in flags]


def test_raises_precise_flags_only():
    assert trusted_flags(0.8) == [("form", "a", 0), ("form", "a", 0), ("doubled", "to to", 0)]
    assert trusted_flags(0.92) == [("doubled", "to to", 0)]
    assert trusted_flags(0.96) == []
    # "to" of forms, with probability 0.6, is right as often
    assert ("doubled", "to to", 1) in trusted_flags(0.5)
    imprecise = TABLES | {"doubled": precision_table("doubled", (0.0, 0.2))}
    assert ("form", "a", 0) in trusted_flags(0.25, imprecise)
    assert {task for task, *_ in trusted_flags(0.1, {"form": TABLES["form"]})} == {"form"}
    assert trusted_flags(0.1, rates={"form": 0.0, "doubled": 0.0}) == []
    pairs = {"form": precision_table("form", (0.0, 0.2), **{"a/an": [(0.0, 0.99)]})}
    assert trusted_flags(0.98, pairs) == [("form", "a", 0)] * 3
    result = ModelSet((FORM, DOUBLED), RATES, trust=TABLES, least=0.5).annotate([TEXT])
    assert [item.in_document(0).take(np.arange(1)).trust for item in result] == list(TABLES.values())


@dataclass(frozen=True)
class CautiousModel(ToyModel):
    """A toy model that leaves protected words alone."""

    def decide(self, view, *, flags_per_1000=None, near=None):
        decisions = super().decide(view, flags_per_1000=flags_per_1000)
        tokens = np.searchsorted(view.starts, decisions.starts, "right") - 1  # of a single text
        protected = view.layers.get("protected", np.zeros(len(view), bool))
        return decisions.take(np.flatnonzero(~protected[tokens]))


def test_models_of_another_language_do_not_verify_corrections():
    """The English model would correct what the French one writes, if it decided French."""
    text = "Marie à un livre et deux enfants, mais elle ne sait pas où est la gare de la ville."
    french = replace(CautiousModel.of("homophones", (r"\b(à) un", "à", "a", 0.8)), language="fr")
    english = CautiousModel.of("form", (r"\b(a) un", "a", "an", 0.9))
    for language, detect_language, n_flags in (("fr", True, 1), ("fr", False, 0), ("en", False, 0)):
        models = replace(french, language=language), english
        kept, none = ModelSet(models, detect_language=detect_language).annotate([text])
        assert (int(kept.flagged.sum()), int(none.flagged.sum())) == (n_flags, 0)


@dataclass(frozen=True)
class FallingLimit:
    """A decision rule whose threshold falls as the rate of flags rises."""

    flags_per_1000: float = 0.5

    def limit(self, flags_per_1000=None):
        return 1 / (1 + flags_per_1000)


@pytest.mark.parametrize(("least", "probability"), [(0.9, 0.85), (0.6, 0.5), (0.3, 0.1), (0.2, 0.0)])
def test_rates_for_precision_admit_all_precise_flags(least, probability):
    model = replace(FORM, judge=FallingLimit())
    tables = {"form": precision_table("form", (0.0, 0.2), (0.1, 0.3), (0.5, 0.6), (0.85, 0.9))}
    rate = rates_for_precision([model], tables, least)["form"]
    assert rate <= HIGHEST_RATE
    assert rate == HIGHEST_RATE or model.judge.limit(rate) < probability


def test_rates_for_precision_are_zero_without_precise_flags():
    tables = {"form": precision_table("form", (0.0, 0.2), (0.85, 0.9))}
    model = replace(FORM, judge=FallingLimit())
    assert rates_for_precision([model], tables, 0.95) == {"form": 0.0}
    assert rates_for_precision([model], {}, 0.1) == {"form": 0.0}


@pytest.mark.parametrize("batch", [None, crossed()], ids=["blocks", "crossed"])
def test_no_preference_keeps_the_contract(batch):
    for check in check_learner(NoPreference(), batch):
        check()


def test_linear_weights_must_match_the_columns():
    scorer = LinearScorer.from_state({"weights": np.ones(4, np.float32)})
    assert scorer.weights.dtype == np.float64
    with pytest.raises(ValueError, match="4 weights for 15 columns"):
        scorer.scores(blocks(3))
    scores = NoPreference().fit(blocks()).scorer.scores(blocks())
    assert len(scores) == len(blocks().cost) and not scores.any()


GOOD = {
    "name": "toy_pack",
    "version": "1.0",
    "language": "xx",
    "counts": "toy.counts",
    "models": {"preposition": "models/preposition"},
}


def write_pack(home, description):
    home.mkdir(exist_ok=True)
    (home / "pack.json").write_text(description if isinstance(description, str) else json.dumps(description))
    return home


def test_reads_a_pack(tmp_path):
    home = tmp_path / "toy_pack"
    result = read_pack(write_pack(home, GOOD))
    assert (result.name, result.version, result.language) == ("toy_pack", "1.0", "xx")
    assert (result.counts, result.folders) == (home / "toy.counts", {})
    assert result.models == {"preposition": home / "models" / "preposition"}
    result = read_pack(write_pack(home, {**GOOD, "folders": {"converter": "models/converter"}}))
    assert result.folders == {"converter": home / "models" / "converter"}


def test_counts_are_optional_and_some_models_run_by_name_only(installed):
    description = {key: value for key, value in GOOD.items() if key != "counts"}
    quiet = {"name": "quiet_pack", "models": {"tag": "models/tag"}, "by_name": ["tag"]}
    installed("quiet_pack", {**description, **quiet})
    installed("toy_pack", GOOD)
    assert pack("quiet_pack").counts is None
    assert default_tasks() == ("preposition",)
    assert {"tag", "quiet_pack/tag"} <= set(available())
    with pytest.raises(UserError, match=r"D413.*'quiet_pack'"):
        open_table("quiet_pack")


@pytest.mark.parametrize(
    "description",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        *({key: GOOD[key] for key in GOOD if key != missing} for missing in GOOD if missing != "counts"),
        {**GOOD, "models": ["preposition"]},
        {**GOOD, "models": None},
        {**GOOD, "by_name": 3},
    ],
)
def test_rejects_a_damaged_description(tmp_path, description):
    with pytest.raises(UserError) as caught:
        read_pack(write_pack(tmp_path / "toy_pack", description))
    assert caught.value.code == "D403"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("outside", ["../other.counts", "/etc/passwd", "models/../../x", "link/x"])
@pytest.mark.parametrize("key", ["counts", "models", "folders"])
def test_rejects_paths_outside_of_the_pack(tmp_path, outside, key):
    home = write_pack(tmp_path / "toy_pack", {**GOOD, key: outside if key == "counts" else {"it": outside}})
    (home / "link").symlink_to(tmp_path)
    with pytest.raises(UserError, match=r"D403.*outside"):
        read_pack(home)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install packs: ``installed("toy_pack", description)``."""
    entries = []
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(packs, "entry_points", lambda group: entries)

    def install(name, description):
        if description is not None:
            write_pack(tmp_path / name, description)
        entries.append(EntryPoint(name, name, packs.GROUP))
        return tmp_path / name

    return install


def test_finds_packs_without_importing_them_and_ignores_missing_ones(installed):
    installed("gone_pack", None)
    home = installed("toy_pack", GOOD)
    (home / "__init__.py").write_text("raise RuntimeError('a pack has no code to run')")
    assert pack("toy_pack").counts == home / "toy.counts"
    assert set(available()) == {"preposition", "toy_pack/preposition"}
    assert set(packs.packs()) == {"toy_pack"}


def test_a_pack_without_a_description_is_named_once(installed, caplog):
    (installed("bare_pack", None)).mkdir()
    installed("toy_pack", GOOD)
    assert set(packs.packs()) == set(packs.packs()) == {"toy_pack"}
    (record,) = caplog.records
    message = record.getMessage()
    assert "[D403] pack" in message and "bare_pack is damaged: it has no pack.json; install it" in message
    with pytest.raises(UserError, match=r"D403.*it has no pack\.json"):
        pack("bare_pack")


@pytest.fixture
def with_torn(installed):
    """Install a good pack and a damaged one, and return the directory of the damaged one."""
    installed("toy_pack", GOOD)
    return installed("torn_pack", "{")


def test_a_damaged_pack_stops_no_other(with_torn, caplog):
    assert pack("toy_pack").version == "1.0"
    assert set(packs.packs()) == {"toy_pack"}
    assert set(available()) == {"preposition", "toy_pack/preposition"}
    assert default_tasks() == ("preposition",)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert "[D403]" in message and str(with_torn) in message and "install it again" in message
    write_pack(with_torn, "[")
    assert set(packs.packs()) == {"toy_pack"}
    assert len(caplog.records) == 2  # another damage is named again
    write_pack(with_torn, {**GOOD, "name": "torn_pack"})
    assert set(packs.packs()) == {"toy_pack", "torn_pack"}


@pytest.mark.parametrize(
    "use",
    [
        lambda: pack("torn_pack"),
        lambda: packs.find_pack("torn_pack"),
        lambda: load("torn_pack/preposition"),
        lambda: load_standalone("torn_pack"),
        lambda: load_standalone("torn_pack/parser"),
        lambda: open_table("torn_pack"),
        lambda: open_table("torn_pack/words"),
        lambda: open_cloze("torn_pack"),
        lambda: PackFolder("x", "x", "x", lambda _: False, "torn_pack").locate("torn_pack"),
        lambda: PackFolder("x", "x", "x", lambda _: False, "torn_pack").locate("torn_pack/x"),
    ],
)
def test_who_needs_a_damaged_pack_gets_the_error(with_torn, use):
    for _ in range(2):
        with pytest.raises(UserError, match=r"D403.*torn_pack is damaged"):
            use()


def test_a_model_whose_pack_is_damaged_is_not_called_unknown(with_torn, monkeypatch):
    monkeypatch.setattr(packs, "providing_pack", lambda name: "torn_pack" if name == "verb" else None)
    with pytest.raises(UserError, match=r"D403.*torn_pack"):
        load("verb")
    with pytest.raises(UserError, match=r"D404.*may be in torn_pack, which is damaged.*preposition"):
        load("verbs")


def test_a_model_whose_plugin_is_missing_stops_no_other(caplog):
    def load(name):
        if name == "damaged":
            raise UserError("D405", path=name, problem="damaged")
        if name != "good":
            raise UserError("D001", kind="task", name=f"{name}.Task.v1", names="none")

    for _ in range(2):
        assert with_plugins(["absent", "good"], load) == ("good",)
    (record,) = caplog.records  # once
    assert re.search("D001.*'absent.Task.v1'.*the other models are used without it", record.getMessage())
    with pytest.raises(UserError, match=r"D001.*'gone.Task.v1'"):
        with_plugins(["gone"], load)
    with pytest.raises(UserError, match="D405"):
        with_plugins(["damaged", "good"], load)
    assert with_plugins([], load) == ()


def test_a_damaged_pack_alone_is_the_reason_why_no_model_is_found(installed):
    installed("torn_pack", "{")
    with pytest.raises(UserError, match=r"D403.*torn_pack"):
        default_tasks()


def test_a_model_folder_that_may_not_be_read(tmp_path, monkeypatch):
    stat = Path.stat

    def refuse(path, **options):
        if path.name == "model.json":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(UserError, match=r"D308.*cannot read .*: Permission denied"):
        load(tmp_path)


def test_unknown_packs_and_models_list_the_valid_names(installed, tmp_path):
    installed("toy_pack", GOOD)
    with pytest.raises(UserError, match=r"D402.*installed packs: toy_pack"):
        pack("toy_pick")
    with pytest.raises(UserError, match=r"D404.*give a model directory or one of preposition$"):
        load("prepositions")
    with pytest.raises(UserError, match=r"D404.*or one of toy_pack/preposition, preposition"):
        load("toy_pack/prepositions")
    with pytest.raises(UserError, match=r"D666.*does not contain a model"):
        load(tmp_path)
    (tmp_path / "my.cfg").write_text("[model]")
    with pytest.raises(UserError, match=r"D404.*my.cfg': it is a config, from which `disambig train` makes"):
        load(tmp_path / "my.cfg")
    with pytest.raises(
        UserError, match=r"D404.*'preposition,it': several models cannot be joined by a comma"
    ):
        load("preposition,it")
    with pytest.raises(UserError, match="D405"):  # it is missing from its pack
        load("preposition")


def test_a_component_that_cannot_be_loaded_gives_no_hint(monkeypatch):
    class Broken:
        name, value = "disambig_other", "nowhere"

        def load(self):
            raise ImportError("no")

    monkeypatch.setattr(packs, "entry_points", lambda *, group: [Broken()])
    assert packs.providing_pack("other") is None


def test_loads_a_changed_model_again(tmp_path, monkeypatch):
    """A long-lived process, such as a notebook, loads the current model, not the former one."""
    monkeypatch.setattr(storage, "load_model", lambda home: (home / "model.json").read_text())
    (tmp_path / "model.json").write_text("first")
    assert load(tmp_path) == "first"
    assert load(tmp_path) is load(tmp_path)
    (tmp_path / "model.json").write_text("the second")
    assert load(tmp_path) == "the second"
