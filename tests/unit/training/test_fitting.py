"""Learners are fitted to batches, and examples are resampled before."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import spacy
from hypothesis import given, strategies as st
from model_configs import model_config
from scipy.sparse import csr_array
from spacy.tokens import Doc
from toy_components import toy_components
from toy_learners import Constant, MeanDifference, Perceptron
from toy_plugin import Marks, NearbyWords, Pairs
from toy_ways import OwnLists

from disambig import data
from disambig.config import resolve
from disambig.counts import build_table
from disambig.data import (
    CandidateLists,
    CandidateWords,
    Columns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    Group,
    Ragged,
    SparseRows,
    convert,
    numbered,
    stack_batches,
)
from disambig.decision import Corrections, Labels
from disambig.errors import UserError
from disambig.features import NgramCounts, by_group, ngram_columns
from disambig.formats import (
    AnnotatedDocument,
    Document,
    Labelled,
    corrected_text,
    parse_line,
    records,
    to_candidate_lists,
)
from disambig.models import LinearScorer, NoPreference, annotate, decide_lists
from disambig.spacy.component import Disambiguator
from disambig.tasks import OwnCandidates
from disambig.testing import blocks, crossed, dense_lists, lists
from disambig.text import Words
from disambig.training import (
    MIN_BASELINE_EXAMPLES,
    FoldResampling,
    HeldOutCalibration,
    HeldOutResampling,
    ResolvedConfig,
    TextExamples,
    balanced_sample,
    baseline_warnings,
    bias_column,
    check_scores,
    fit,
    label_instances,
    mean_cost,
    restore_bias,
    sanity_baseline,
    to_accepted_storage,
    train,
    train_by,
    train_candidates,
    train_labelled,
    train_lists,
)
from disambig.types import Features, Fitted


@dataclass(frozen=True)
class Sparse(Perceptron):
    """Learns from sparse rows alone."""

    takes = (SparseRows,)
    seen: list = field(default_factory=list)

    def fit(self, batch, *, dev=None, rng=None):
        self.seen.append((type(batch), type(dev)))
        return super().fit(batch)


@pytest.mark.parametrize("batch", [blocks(), lists(), dense_lists(), crossed()])
def test_converts_examples_to_the_accepted_storage(batch):
    learner = Sparse(epochs=30)
    fitted = fit(learner, batch, dev=batch)
    assert learner.seen == [(SparseRows, SparseRows)]
    assert mean_cost(fitted.scorer, batch) == 0.0
    assert learner.from_state(fitted.scorer.state()).scores(batch).shape == batch.cost.shape


def test_keeps_accepted_storages_and_converts_others():
    @dataclass(frozen=True)
    class Several(Perceptron):
        takes = (DenseBlocks, SparseRows, DenseLists)

    for batch in (blocks(3), lists(3), dense_lists(3)):
        assert to_accepted_storage(Several(), batch) is batch
    assert type(to_accepted_storage(Several(), crossed(3))) is SparseRows
    assert to_accepted_storage(Perceptron(), crossed(3)).rows.shape == (3, 8)  # it says nothing: any

    class Rows(Perceptron):
        takes = (CrossedRows,)

    with pytest.raises(UserError, match=r"D459.*CrossedRows.*SparseRows"):
        fit(Rows(), lists(3))


def returning(scorer=None, **report):
    """Return a learner that gives this."""

    @dataclass(frozen=True)
    class Given(Perceptron):
        def fit(self, batch, *, dev=None, rng=None):
            return Fitted(LinearScorer(np.zeros(len(batch.columns))) if scorer is None else scorer, report)

    return Given()


class Scores:
    """A scorer that gives something."""

    def __init__(self, scores, state=None):
        self.gives, self.keeps = scores, {} if state is None else state

    def scores(self, batch):
        return self.gives(batch)

    def state(self):
        return self.keeps


def zeros_for(batch):
    return np.zeros(len(batch.cost))


@pytest.mark.parametrize(
    ("scorer", "message"),
    [
        (Scores(lambda b: np.zeros((len(b.cost), 1))), r"shape \(\d+, 1\).*one finite float for"),
        (Scores(lambda b: np.zeros(3)), r"scores gave an array of shape \(3,\)"),
        (Scores(lambda b: np.zeros(len(b.cost), int)), "an array of int64"),
        (Scores(lambda b: [0.0] * len(b.cost)), "scores gave a list"),
        (Scores(lambda b: None), "scores gave None"),
        (Scores(lambda b: np.full(len(b.cost), np.nan)), "scores are nan, the first of row 0"),
        (Scores(zeros_for, {"words": np.array(["a"])}), "under 'words'.*arrays of numbers"),
        (Scores(zeros_for, [1.0]), "state returned a list"),
        (type("Half", (), {"scores": staticmethod(zeros_for)})(), "Half of .* no method state"),
        (type("Half", (), {"state": dict})(), "no method scores"),
    ],
)
def test_names_a_scorer_that_breaks_the_contract(scorer, message):
    learner = returning(scorer)
    with pytest.raises(UserError, match=message) as caught:
        fit(learner, lists())
    assert caught.value.code == "D414"
    assert f"the learner {type(learner).__name__}" in str(caught.value)
    assert "a mistake in the plugin" in str(caught.value)


def test_names_a_learner_that_breaks_the_contract():
    class Silent(Perceptron):
        def fit(self, batch, *, dev=None, rng=None):
            return None

    class Names(Perceptron):
        takes = ("SparseRows",)

    for learner, message in (
        (returning(found=np.zeros(3)), "report has an array.*under 'found'.*plain values"),
        (Silent(), "learner Silent: fit gave None; expected Fitted"),
        (object(), "no method fit"),
        (Names(), r"takes is \('SparseRows',\)"),
    ):
        with pytest.raises(UserError, match=f"D414.*{message}"):
            fit(learner, lists())
    check_scores(np.zeros(len(lists().cost), np.float32), lists(), part="anything")


def test_names_a_learner_whose_fit_lacks_a_parameter():
    class Alone(Perceptron):
        def fit(self, batch, rng=None):
            raise AssertionError("not called")

    with pytest.raises(
        UserError, match=r"D414.*Alone: fit\(batch, rng=None\) .* 'dev'; .*fit\(batch, \*, dev"
    ):
        fit(Alone(), lists())


CONFIG = model_config(
    "disambig.Lists.v1",
    {"heads": ("disambig.HeadwordBigrams.v1", {"tags": ["N"]}), "words": "disambig.TextNgrams.v1"},
)
DOCUMENTS = [f"document {i // 2}" for i in range(60)]


def make_lists(n=60, seed=0):
    """Return lists of texts without blanks; the right candidate has the head words a and b."""
    draw = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(n):
        between = ["x"] * int(draw.integers(0, 3))
        words += [["a", *between, "c"], ["a", *between, "b"]]
        tags += [["N", *["P"] * len(between), "N"]] * 2
    texts = ["".join(of_candidate) for of_candidate in words]
    without_blanks = CandidateLists.from_texts(list(zip(texts[::2], texts[1::2], strict=True)))
    costs = np.tile(np.array([1, 0], np.float32), n)
    return replace(without_blanks, costs=costs, words=CandidateWords.from_words(words, tags))


@dataclass(frozen=True)
class ReportsSizes(MeanDifference):
    """Reports the numbers of lists for fitting and for tuning."""

    def fit(self, batch, *, dev=None, rng=None):
        result = super().fit(batch, dev=dev, rng=rng)
        sizes = {"learned": len(batch.offsets) - 1, "dev": None if dev is None else len(dev.offsets) - 1}
        return Fitted(result.scorer, {**result.report, **sizes})


def train_on_lists(lists, documents=DOCUMENTS, learner=MeanDifference, **settings):
    parts = {**resolve(CONFIG), "learner": learner()}
    return train_candidates(parts, lists, documents, name="made", min_examples=2, **settings)


def test_lists_are_learned_from_and_decided():
    model, other = train_on_lists(make_lists()), make_lists(seed=1)
    decisions = decide_lists(model, other)
    assert decisions.chosen.tolist() == [1] * 60
    assert len(decisions.scores) == len(other.texts)
    names = list(model.extractors[0].ngrams.names)
    assert names == ["a b", "a c"]
    unknown = replace(other, costs=np.full(120, np.nan, np.float32))
    assert np.array_equal(decide_lists(model, unknown).scores, decisions.scores)  # costs are not looked at
    examples = model.provenance["examples"]
    assert (examples["lists"], examples["documents"]) == (60, 30)
    assert examples["account"] == {"what": "lists", "read": 60, "used": 60, "left_out": {}}


def test_learners_get_the_tuning_lists():
    (report,) = train_on_lists(make_lists(), learner=ReportsSizes).provenance["groups"].values()
    assert report["dev"] == 12 and report["learned"] == 48  # a fifth of the documents
    model = train_on_lists(make_lists(), learner=ReportsSizes, tune=make_lists(7, seed=2))
    (report,) = model.provenance["groups"].values()
    assert report["dev"] == 7 and report["learned"] == 60


def test_lists_without_costs_are_left_out_and_reported():
    without_blanks = make_lists()
    costs = without_blanks.costs.copy()
    costs[:20] = np.nan
    sizes = train_on_lists(replace(without_blanks, costs=costs)).provenance["examples"]["account"]
    assert (sizes["read"], sizes["used"]) == (60, 50) and list(sizes["left_out"].values()) == [10]
    for none in (np.nan, 1.0):
        with pytest.raises(UserError, match=r"D337.*60 lists"):
            train_on_lists(replace(without_blanks, costs=np.full(120, none, np.float32)))
    with pytest.raises(UserError, match=r"D337.*3 lists"):
        train_on_lists(without_blanks, tune=replace(make_lists(3), costs=np.full(6, np.nan, np.float32)))
    with pytest.raises(ValueError, match="expected one document per list: 2 documents for 60 lists"):
        train_on_lists(without_blanks, documents=["a", "b"])


def test_tunes_on_the_training_lists_if_there_are_few_documents():
    model = train_on_lists(make_lists(4), documents=["one"] * 4, learner=ReportsSizes)
    (report,) = model.provenance["groups"].values()
    assert (report["learned"], report["dev"]) == (4, 4)
    assert "too few to hold any out for tuning: 1 document" in model.provenance["notes"][0]
    with pytest.raises(UserError, match="D336"):  # a model of places
        decide_lists(replace(model, task=Pairs(("quite/quiet",))), make_lists())


def test_files_and_columns_give_the_same_model():
    items = []
    for i in range(40):
        one = {"text": f"a {i}", "cost": 0, "words": ["a", str(i % 7)], "tags": ["N", "N"]}
        other = {"text": f"b {i}", "cost": 1, "words": ["b", str(i % 5)], "tags": ["N", "N"]}
        line = {"id": str(i), "document": str(i // 2), "candidates": [one, other]}
        items.append(parse_line(json.dumps(line), f"x:{i}"))
    parts = {**resolve(CONFIG), "learner": MeanDifference()}
    by_file = train_lists(parts, items, name="made", min_examples=2)
    columns = to_candidate_lists(items), [item.document for item in items]
    by_columns = train_candidates(parts, *columns, name="made", min_examples=2)
    assert np.array_equal(by_file.scorers[0].weights, by_columns.scorers[0].weights)
    assert by_file.provenance == by_columns.provenance


TEXTS = [
    "It was quite good. The room is quiet now.",
    "He is quite sure. A quiet place is nice.",
    "I am quite happy. The quiet street is long.",
    "You are quite right. Keep quiet now, please.",
] * 3


def components(task=None, **changes):
    return toy_components(task or Pairs(("quite/quiet",)), **changes)


def examples(texts=TEXTS):
    view = Words()(texts)
    return TextExamples.from_view(view, Pairs(("quite/quiet",)).instances(view))


@dataclass
class FirstExamples:
    """A plan that learns from the first examples and calibrates on the others."""

    n: int
    calls: list = field(default_factory=list)

    def prepare(self, parts, progress):
        progress("preparing", 0, 1)
        self.all = examples()
        learned = self.all.view, self.all.instances.take(slice(0, self.n)), parts.task.groups
        self.extractors = tuple(extractor.fit(*learned) for extractor in parts.extractors.values())
        return self

    def shared(self, model, learner, rng):
        self.calls.append("shared")
        return None

    def fit(self, model, learner, group, rng):
        self.calls.append(("fit", group, model.scorers))
        features = self.all.features(np.arange(self.n), group, model.task, self.extractors)
        result = learner.fit(features.batch, rng=rng)
        return result.scorer, {"examples": self.n, **result.report}

    def calibration_data(self, model, rng):
        self.calls.append(("material", tuple(type(scorer) for scorer in model.scorers)))
        others = self.all.instances.take(slice(self.n, None))
        return HeldOutCalibration(model, TextExamples.from_view(self.all.view, others), rng)

    def provenance(self, model):
        self.calls.append(("provenance", type(model.judge)))
        return {"examples": {"mine": self.n}, "settings": {"n": self.n}}


def test_calls_a_plan_in_order():
    plan, messages = FirstExamples(8), []
    settings = {"version": "3", "seed": 5, "flags_per_1000": 2.0, "nothing_of_the_judge": 1}
    settings["progress"] = lambda *step: messages.append(step)
    model = train_by(plan, components(), name="mine", **settings)
    assert plan.calls == [("fit", 0, (None,)), ("material", (LinearScorer,)), ("provenance", Corrections)]
    assert (model.name, model.version, model.flags_per_1000) == ("mine", "3", 2.0)
    assert model.extractors is plan.extractors
    assert model.provenance["examples"] == {"mine": 8}
    assert model.provenance["settings"] == {"n": 8, "seed": 5}
    assert model.provenance["groups"] == {"quite/quiet": {"examples": 8, "mistakes": 0}}
    assert {stage for stage, *_ in messages} >= {"preparing", "learning", "calibrating", "setting thresholds"}
    assert model.judge.calibration.groups.shape == (1, 4)  # fitted, to the others
    decided = model.decide(Words()(["The quiet street."]))
    assert len(decided) == 1


def test_held_out_resampling_equals_train():
    texts = {"train": TEXTS, "dev": TEXTS[:4]}
    one = train(components(), texts, name="t", min_examples=2, max_examples=50, seed=3)
    learn, tune = examples(), examples(TEXTS[:4])
    plan = HeldOutResampling(learn, tune, learn, max_examples=50, min_examples=2)
    other = train_by(plan, components(), name="t", seed=3, max_examples=50)
    assert np.array_equal(one.scorers[0].weights, other.scorers[0].weights)
    for name, array in one.judge.state().items():
        assert np.array_equal(array, other.judge.state()[name]), name
    assert one.provenance == other.provenance


def test_settings_of_a_configured_rule():
    given = Corrections(flags_per_1000=4.0, max_examples=7)
    model = train_by(FirstExamples(8), components(judge=given), name="t")
    assert (model.judge.flags_per_1000, model.judge.max_examples) == (4.0, 7)
    model = train_by(FirstExamples(8), components(judge=given), name="t", max_examples=9)
    assert (model.judge.flags_per_1000, model.judge.max_examples) == (4.0, 9)
    labels = train_by(FirstExamples(8), components(Marks(("quite/quiet",))), name="t", least_margin=0.5)
    assert isinstance(labels.judge, Labels) and labels.judge.least_margin == 0.5


@dataclass(frozen=True)
class Sharing(Perceptron):
    """Fits shared weights, and records whether it was given a prior."""

    drawn: object = None

    def fit_shared(self, batches):
        return LinearScorer(np.zeros(len(batches[0].columns)))

    def with_prior(self, shared):
        return Sharing(drawn=shared)

    def shared_from_state(self, arrays):
        return LinearScorer.from_state(arrays)

    def fit(self, batch, *, dev=None, rng=None):
        result = super().fit(batch, dev=dev, rng=rng)
        return Fitted(result.scorer, {"drawn": self.drawn is not None})


def test_fits_shared_weights_only_for_several_groups():
    plan = FirstExamples(8)
    model = train_by(plan, components(learner=Sharing()), name="t")
    assert "shared" not in plan.calls and model.shared is None

    class Two(FirstExamples):
        def shared(self, model, learner, rng):
            features = self.all.features(np.arange(8), 0, model.task, self.extractors)
            return learner.fit_shared([features.batch])

        def calibration_data(self, model, rng):
            return HeldOutCalibration(model, self.all, rng)

        def fit(self, model, learner, group, rng):
            return super().fit(model, learner, group, rng) if group == 0 else (None, {"examples": 0})

    two = Pairs(("quite/quiet", "peace/piece"))
    model = train_by(Two(8), components(two, learner=Sharing()), name="t")
    assert isinstance(model.shared, LinearScorer) and model.scorers[1] is None
    assert model.provenance["groups"]["quite/quiet"]["drawn"] is True


def test_rejects_a_task_with_invalid_decides():
    class Odd(Pairs):
        decides = "labels"

    message = "D414.*the task Odd: decides is 'labels'; expected a Decides"
    with pytest.raises(UserError, match=message):
        train_labelled(components(Odd()), [], name="t")


TASK = Marks(("quite/quiet",))
MARKED_TEXTS = [f"It is quite {word}." for word in ("late", "early", "old", "new", "green", "big", "warm")]
EXAMPLES = [Labelled(text, 6, 11, ("quite", "quiet")[i % 2], text) for i, text in enumerate(MARKED_TEXTS)]
STORAGES = (data.DenseBlocks, data.DenseLists, data.SparseRows, data.CrossedRows)


@dataclass(frozen=True)
class FitSize:
    """One shared column: how many examples it was fitted to; in `storage`."""

    storage: type
    own_labels: bool = False
    n: int = 0
    cross_fit: bool = True

    def fit(self, view, instances, groups):
        return replace(self, n=len(instances))

    @by_group
    def transform(self, view, instances, group):
        n, k = len(instances), len(group.candidates)
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        if self.own_labels:
            labels = Ragged(np.tile(np.arange(k), n), np.arange(n + 1) * k)
            batch = data.CrossedRows(np.full((n, 1), self.n), costs.ravel(), seen_columns([0, 1]), labels)
        elif self.storage is data.CrossedRows:
            batch = data.CrossedRows(np.full((n, 1), self.n), costs, seen_columns([0, 1]))
        else:
            values = np.full((n, k, 1), self.n, np.float32)
            batch = data.DenseBlocks(values, np.zeros((k, 1), np.int64), seen_columns([-1]), costs)
        result = (instances.positions.repeat(k) * 2 + np.tile(np.arange(k), n)).astype(np.int32)
        return Features(convert(batch, self.storage, own_labels=True), result, result)

    def state(self):
        return {"n": np.array(self.n)}

    def from_state(self, arrays):
        return replace(self, n=int(arrays["n"]))


def seen_columns(labels):
    return Columns(np.array(labels, np.int32), np.zeros(len(labels), np.int32), ("seen",))


def prepare(extractor):
    marked = label_instances(TASK, Words(), EXAMPLES)
    parts = ResolvedConfig(TASK, Words(), {"seen": extractor}, Constant(), Constant())
    return marked, FoldResampling(marked).prepare(parts, lambda *messages: None)


@pytest.mark.parametrize(
    "extractor", [*map(FitSize, STORAGES), FitSize(data.CrossedRows, own_labels=True)], ids=str
)
def test_features_are_out_of_fold(extractor):
    marked, ready = prepare(extractor)
    assert type(ready.features[0].batch) is extractor.storage
    batch, sizes = ready.features[0].batch, np.bincount(ready.folds)
    expected = np.repeat(7 - sizes[ready.folds], 2)
    assert set(expected.tolist()) == {5, 6}  # folds differ in size: rows that change places are seen
    assert batch.scores(np.ones(len(batch.columns))).tolist() == expected.tolist()
    assert batch.cost.tolist() == [c for g in marked.examples.instances.observed for c in (g != 0, g != 1)]
    positions = marked.examples.instances.positions
    assert ready.features[0].n_hits.tolist() == [2 * at + c for at in positions for c in (0, 1)]


def test_rejects_columns_that_differ_between_folds():
    class Learned(NearbyWords):
        cross_fit = True

        def fit(self, view, instances, groups):
            return Learned(self.reach, super().fit(view, instances, groups).vocabulary)

    message = r"D414.*extractor Learned: .*CrossedRows with \d+ columns.*cross_fit"
    with pytest.raises(UserError, match=message):
        prepare(Learned())


def test_storages_that_cannot_be_stacked():
    _, ready = prepare(FitSize(data.SparseRows))
    sparse = ready.features[0].batch
    assert stack_batches([sparse, convert(sparse, data.DenseLists)]) is None
    assert stack_batches([data.JoinedRows.from_parts([sparse, sparse])] * 2) is None


GROUP = Group("a/the/-", ("a", "the", ""))


@given(st.lists(st.sampled_from([0, 1, 2, 2, 2, 2]), max_size=80), st.integers(1, 60), st.integers(0, 2**32))
def test_balances_empty_places(observed, most, seed):
    rows, observed_ids = np.arange(len(observed)) * 3, np.array(observed, np.int32)
    sample = balanced_sample(rows, observed_ids, GROUP, maximum=most, rng=np.random.default_rng(seed))
    assert len(sample) <= max(most, 1) and len(set(sample.tolist())) == len(sample)
    assert (np.diff(sample) > 0).all()
    empties = int((observed_ids[sample // 3] == 2).sum())
    others = len(sample) - empties
    assert empties <= max(others, 1)
    words = observed.count(0) + observed.count(1)
    assert others == words or others >= most // 2


def test_bias_column_of_the_empty_candidate():
    columns = ngram_columns(GROUP)
    assert str(columns.names[bias_column(columns, GROUP)]) == ": bias"
    assert bias_column(ngram_columns(Group("a/the", ("a", "the"))), Group("a/the", ("a", "the"))) is None
    assert bias_column(Columns(np.arange(3), np.zeros(3, int), ("all",)), GROUP) is None


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_restored_bias_maximises_accuracy(seed, n):
    rng = np.random.default_rng(seed)
    scores, gold = rng.integers(-3, 4, (n, 3)).astype(float), rng.choice(3, n, p=[0.1, 0.1, 0.8])
    scorer, shift = restore_bias(LinearScorer(np.zeros(4)), 2, scores, gold.astype(np.int32), GROUP)
    assert scorer.weights.tolist() == [0, 0, shift, 0]

    def right(added):
        return int(((scores + np.array([0, 0, added])).argmax(axis=1) == gold).sum())

    assert right(shift) >= max(right(other) for other in np.arange(-8, 8, 0.25) + 0.125)


@dataclass(frozen=True)
class Sum:
    """Weigh every n-gram alike."""

    needs_training: bool = True

    def fit(self, batch: data.DenseBlocks, *, dev=None, rng=None):
        return Fitted(LinearScorer(np.ones(len(batch.columns))), {"n": len(batch.values)})

    def from_state(self, arrays):
        return LinearScorer.from_state(arrays)


@pytest.fixture(scope="module")
def article_model(tmp_path_factory):
    texts = [
        f"{who} saw the {what} near here. We like {what}s very much. {who} had a very old {what} then."
        for who in "She He Anna Paul".split()
        for what in "house dog garden boat train".split()
    ]
    path = build_table(tmp_path_factory.mktemp("counts") / "t.counts", texts, Words())
    task = OwnCandidates(candidates=["a", "the", ""], name="article", language="en")
    parts = components(task, extractors={"counts": NgramCounts(counts=path)}, learner=Sum(), baseline=Sum())
    return train(parts, {"train": texts, "dev": texts}, name="articles", min_examples=2, flags_per_1000=5)


def test_balanced_model_inserts_and_deletes_words(article_model):
    report = article_model.provenance["groups"]["a/the/-"]
    assert report["n"] == report["examples"] == 80  # 40 words, and as many empty places
    view = Words()(["We like boats very much. He saw the boat near here."])
    decided = article_model.decide(view)
    assert (decided.chosen == decided.observed).mean() > 0.9
    text = "He saw boat near here. We like the boats very much. She had a very old train then."
    (decisions,) = annotate([text], [article_model], flags_per_1000=50)
    flagged = [decisions.record(i, text) for i in np.flatnonzero(decisions.flagged)]
    flags = [(r["start"], r["end"], r["observed"], r["replacement"]) for r in flagged]
    assert flags == [(7, 7, "", "the "), (31, 34, "the", "")]
    assert [text[s:e] for s, e in zip(decisions.starts, decisions.ends, strict=True)] == ["", "the", "a"]
    text = "He saw boat near here. We like the boats very much."
    decisions = annotate([text], [article_model], flags_per_1000=50)
    result = AnnotatedDocument(Document(id="x", path="x", text=text), decisions)
    assert corrected_text(result) == "He saw the boat near here. We like boats very much."
    assert [r["replacement"] for r in records(result)] == ["the ", ""]


@pytest.mark.parametrize("most", [40, 20_000])
def test_per_instance_candidates_are_not_balanced(tmp_path, most):
    """Few words among many empty places: what all candidates share is learned from either."""
    rng = np.random.default_rng(0)
    words, what = "so on we all know very well that they said it".split(), "house dog boat train".split()
    places = [("saw the", ""), ("had a", ""), ("liked", "s")]

    def text():
        (before, after), rest = places[rng.integers(3)], " ".join(rng.choice(words, 30))
        return f"She {before} {rng.choice(what)}{after} {rest}."

    texts = [text() for _ in range(300)]
    path = build_table(tmp_path / "t.counts", texts, Words())
    task = OwnLists(("a", "the", ""), name="article")
    counts = {"counts": NgramCounts(counts=path)}
    parts = components(task, extractors=counts, learner=MeanDifference(), baseline=NoPreference())
    parts_of_text = {"train": texts[:200], "dev": texts[200:]}
    article_model = train(parts, parts_of_text, name="x", min_examples=2, max_examples=most)
    n_instances = len(task.instances(Words()(texts[:200])))
    assert article_model.provenance["groups"]["way"]["examples"] == min(most, n_instances)
    text = "She saw dog so on. She liked the trains so on. She had a boat so on."
    (decisions,) = annotate([text], [article_model], flags_per_1000=12)
    records = [decisions.record(i, text) for i in np.flatnonzero(decisions.flagged)]
    flags = [(r["start"], r["observed"], r["replacement"]) for r in records]
    assert flags == [(8, "", "the "), (29, "the", "")]


def test_span_of_an_empty_place_is_the_next_word(article_model):
    nlp = spacy.blank("en")
    component = Disambiguator(nlp, article_model, name="x", spans_key="article", flags_per_1000=50)
    doc = component(nlp("He saw boat near here. We like the boats very much."))
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for one in (doc, again):
        first, second = one.spans["article"]
        assert (first.text, first.label_, second.text, second.label_) == ("boat", "the", "the", "")
        record = first._.disambig
        assert (record["start"], record["end"], record["replacement"]) == (7, 7, "the ")
        assert second._.disambig["chosen"] == "" and second._.disambig["flagged"]


def shifted_rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, n)
    rows = rng.normal(size=(n, 8)) + gold[:, None]
    right = np.eye(2)[gold] > 0
    columns = data.CrossedColumns(numbered(8), ("one", "other"))
    batch = data.CrossedRows(csr_array(rows), (~right).astype(np.float32), columns)
    return batch, right, np.arange(n) % 5


def test_baseline_reports_bad_scores_only():
    batch, right, folds = shifted_rows()
    rng = np.random.default_rng(1)
    accuracy, baseline = sanity_baseline(batch, right, folds, rng.normal(size=right.shape))
    assert 0.4 < accuracy < 0.6 and baseline > 0.85
    assert sanity_baseline(batch, right, folds, right + 0.0) is None
    task = OwnCandidates(candidates=["a", "b"])
    assert baseline_warnings(task, [None]) == []
    (note,) = baseline_warnings(task, [(0.84, 0.955)])
    assert "84.0%" in note and "95.5%" in note and "regularisation" in note
    assert Group("g", ("a",)).learned


def test_no_baseline_for_few_examples_one_label_or_another_order():
    batch, right, folds = shifted_rows(MIN_BASELINE_EXAMPLES - 1)
    assert sanity_baseline(batch, right, folds, np.zeros(right.shape)) is None
    batch, right, folds = shifted_rows()
    assert sanity_baseline(batch, right[:, :1], folds, np.zeros((len(right), 1))) is None
    batch, right, folds = shifted_rows(4000)
    order = np.argsort(right[:, 0], kind="stable")
    scores = right + np.random.default_rng(2).normal(scale=0.5, size=right.shape)
    assert sanity_baseline(batch.take(order), right[order], folds, scores[order]) is None
