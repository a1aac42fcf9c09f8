"""Every registered linear learner: contributions, curves, shared weights; lists against solvers."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from disambig_kernel_rls.rls import RLSCLin
from disambig_random_subspace.learners import (
    SGD,
    ConfidenceWeighted,
    PassiveAggressive,
    Perceptron as LinearPerceptron,
    RandomSubspaces,
)
from disambig_variance_svm.learners import KSVM, ConditionalLogit, VarianceSVM, dev_quality
from disambig_variance_svm.svm import solve_lists
from model_configs import model_config
from scipy.sparse import csr_array
from toy_learners import Constant, KernelRidge, Perceptron
from toy_plugin import Marks, NearbyWords, Pairs
from toy_texts import PLACES, QUIET_PLACES, SENTENCES, WORDS_CONFIG

from disambig import registry
from disambig.config import resolve
from disambig.counts import build_table
from disambig.data import Columns, CrossedRows, Ragged, SparseRows, convert, numbered
from disambig.decode import Chain
from disambig.errors import UserError
from disambig.evaluation import curve_of_labelled, curve_of_texts
from disambig.explain import OFFSET, explain_decision, rule_terms
from disambig.features import ContextProbabilities, ContextWindow, NgramCounts, SentenceWords
from disambig.formats import Labelled
from disambig.models import load_model, save_model
from disambig.tasks import OwnCandidates
from disambig.testing import blocks, chains, crossed_lists, dense_lists, lists
from disambig.testing.checks import accuracy
from disambig.text import Words
from disambig.training import fit, mean_cost, read_plan, train, train_labelled

TEXTS = QUIET_PLACES[: 3 * 2 * len(PLACES)]
VIEW = Words()(["We like a quiet garden, and the harbour is quite old."])
SETTINGS = {"variance_svm.VarianceSVM.v1": ({}, {"variance": [], "sum": ["3-gram"]}, {"full_matrix": True})}
OF_COUNTS = {f"variance_svm.{name}.v1" for name in ("Majority", "SumLM", "VarianceSVM")}
LEARNERS = [
    (name, settings)
    for name, factory in sorted(registry.load_all("learners").items())
    if not name.startswith("toys.") and not getattr(factory, "of_sequences", False)
    for settings in SETTINGS.get(name, ({},))
]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("explain") / "small.counts"
    build_table(path, [f"We like a quiet {place}. The {place} is quite old." for place in PLACES], Words())
    return path


def make_learner(name, **settings):
    return resolve({"learner": {"@disambig_learners": name, **settings}})["learner"]


def build_parts(learner, extractors, task=None, baseline=None):
    parts = {"task": task or Pairs(pairs=("quite/quiet",)), "tokenisation": Words(), "learner": learner}
    named = {str(i): extractor for i, extractor in enumerate(extractors)}
    return parts | {"extractors": named, "baseline": baseline or Constant()}


def train_model(learner, *extractors, task=None):
    texts = {"train": TEXTS, "dev": TEXTS[:20]}
    return train(build_parts(learner, extractors, task), texts, name="small", min_examples=2)


def sum_by_candidate(reasons):
    sums = defaultdict(float)
    for reason in reasons:
        sums[reason.candidate] += reason.contribution
    return sums


def check_sums(model, n=2):
    decisions = model.decide(VIEW)
    assert len(decisions) == n
    for index in range(n):
        record = decisions.record(index, VIEW.texts[0])
        sums = sum_by_candidate(explain_decision(model, VIEW, index) or [])
        for candidate, score in record["candidates"]:
            assert sums[candidate] == pytest.approx(score, abs=2e-4, rel=1e-6)  # records are float32


@pytest.mark.parametrize(("name", "settings"), LEARNERS, ids=[f"{name}-{s}" for name, s in LEARNERS])
def test_contributions_of_every_learner(counts, name, settings):
    learner = make_learner(name, **settings)
    check_sums(train_model(learner, NgramCounts(counts=counts)))


@pytest.mark.parametrize("name", ["variance_svm.VarianceSVM.v1", "variance_svm.ConditionalLogit.v1"])
def test_contributions_of_several_extractors(counts, name):
    learner = make_learner(name)
    model = train_model(learner, NgramCounts(counts=counts), SentenceWords())
    check_sums(model)
    model = train_model(learner, ContextProbabilities(counts=counts))
    check_sums(model)
    reasons = [reason for reason in explain_decision(model, VIEW, 0) if reason.count is not None]
    shown = {(reason.candidate, reason.evidence): reason.count for reason in reasons}
    assert shown[("quiet", "a quiet garden")] == 1  # the count itself, not what is made of it
    assert shown[("quiet", "like a quiet")] == len(PLACES)
    assert shown.get(("quite", "like a quite"), 0) == 0


def test_contributions_without_names_or_weights(load_with):
    load_with(toys="toy_plugin")
    model = train_model(Perceptron(), NearbyWords())
    check_sums(model)
    shown = [reason.evidence for reason in explain_decision(model, VIEW, 0)]
    assert all(re.fullmatch(r"feature \d+ of words \(it has no name\)", item) for item in shown)
    model = train_model(KernelRidge(), NearbyWords())
    assert explain_decision(model, VIEW, 0) is None


def marks_in(texts):
    result = []
    for number, text in enumerate(texts):
        start, label = text.index("qui"), "quiet" if "quite" in text else "quite"
        result.append(Labelled(text, start, start + 5, label, text, f"line {number}"))
    return result


def train_labels(learner, *extractors):
    parts = build_parts(learner, extractors, Marks(pairs=("quite/quiet",)))
    return train_labelled(parts, marks_in(TEXTS), name="small", min_examples=2)


def test_contributions_of_labels_shared_weights_and_full_matrices(counts):
    learner = make_learner("variance_svm.VarianceSVM.v1")
    check_sums(train_labels(learner, NgramCounts(counts=counts)))
    learner = make_learner("variance_svm.ConditionalLogit.v1")
    task = Pairs(pairs=("quite/quiet", "like/says", "old/garden"))
    model = train_model(learner, NgramCounts(counts=counts), task=task)
    model = replace(model, scorers=(None, *model.scorers[1:]))
    assert model.shared is not None
    check_sums(model, 5)
    learner = make_learner("variance_svm.VarianceSVM.v1", full_matrix=True)
    reasons = explain_decision(train_model(learner, NgramCounts(counts=counts)), VIEW, 0)
    against = [r for r in reasons if r.candidate == "quite" and r.evidence == "a quiet garden"]
    assert len(against) == 1 and against[0].count == 1
    assert {"bias", "quiet: bias"} <= {r.evidence for r in reasons if r.candidate == "quite"}


@pytest.mark.parametrize(
    ("name", "settings"), [item for item in LEARNERS if item[0] not in OF_COUNTS], ids=str
)
def test_contributions_of_labels_of_every_learner(name, settings):
    """Biases of labels are parts of the scores."""
    learner = make_learner(name, **settings)
    check_sums(train_labels(learner, ContextWindow(named=True)))


def terms_of_decisions(model):
    """Yield the record of each decision, the terms of its candidates and their probabilities."""
    decisions = model.decide(VIEW)
    shares = model.candidate_probabilities(decisions)
    for index in range(len(decisions)):
        first, last = decisions.offsets[index : index + 2]
        scores = dict(zip(("quite", "quiet"), decisions.scores[first:last].tolist(), strict=True))
        terms = rule_terms(model.judge, int(decisions.groups[index]), scores)
        yield decisions.record(index, VIEW.texts[0]), terms, shares[first:last]


@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.0, 0.5), (9.0, 0.0)], ids=str)
def test_terms_of_the_decision_rule(offset):
    """The sums of all terms give the choice, its margin and the probabilities."""
    model = train_labels(Perceptron(), ContextWindow())
    judge = replace(model.judge, offset=np.array([offset]), bias=np.array([[0.25, -0.25]]))
    for record, terms, shares in terms_of_decisions(replace(model, judge=judge)):
        totals = np.array([sum(value for _, value in item) for item in terms.values()])
        assert list(terms)[int(totals.argmax())] == record["chosen"]
        assert abs(totals[0] - totals[1]) == pytest.approx(record["margin"], rel=1e-4)
        offsets = [sum(part for name, part in item if name == OFFSET) for item in terms.values()]
        assert offsets == list(offset)
        odds = np.exp(totals)
        assert odds / odds.sum() == pytest.approx(shares, rel=1e-4)


def test_factors_of_both_sides():
    model = train_labels(Perceptron(), ContextWindow())
    judge = replace(model.judge, offset=np.array([[0.0, 0.5]]), sides=np.array([[0.5, 3.0]]))
    for _, terms, shares in terms_of_decisions(replace(model, judge=judge)):
        odds = np.exp([sum(value for _, value in item) for item in terms.values()])
        assert odds / odds.sum() == pytest.approx(shares, rel=1e-4)


OF_SVM = [{}, {"variance": []}, {"variance": [], "sum": ["3-gram", "4-gram"]}]
OF_SVM += [{"variance": [["2-gram"], ["3-gram"]]}, {"free": ["bias"]}, {"full_matrix": True}]
CURVE_SETTINGS = {"variance_svm.VarianceSVM.v1": OF_SVM}
CURVE_LEARNERS = [  # a learner's further settings are slow only because there are many
    pytest.param(name, settings, id=f"{name}-{settings}", marks=pytest.mark.slow if number else ())
    for name, factory in sorted(registry.load_all("learners").items())
    if not name.startswith("toys.") and not getattr(factory, "of_sequences", False)
    for number, settings in enumerate(CURVE_SETTINGS.get(name, ({},)))
]


def make_parts(counts, name, settings, task=None):
    baseline = make_learner("variance_svm.SumLM.v1")
    return build_parts(make_learner(name, **settings), [NgramCounts(counts=counts)], task, baseline)


@pytest.mark.parametrize(("name", "settings"), CURVE_LEARNERS)
def test_curves_of_every_learner(counts, name, settings):
    created = make_parts(counts, name, settings)
    result = curve_of_texts(created, QUIET_PLACES, sizes=(4, 40), draws=2)
    few, many = result["points"]
    assert result["baseline"] > 0.9
    learns = "Majority" not in name and "NoPreference" not in name
    assert many["accuracy"] > (0.9 if learns else 0.3)
    assert few["p_before"] is None and 0 <= many["p_before"] <= 1 and 0 <= many["p_baseline"] <= 1
    created = make_parts(counts, name, settings, task=Marks(pairs=("quite/quiet",)))
    labels = curve_of_labelled(created, marks_in(QUIET_PLACES[:30]), sizes=(20,), draws=2)
    assert labels["tested"] == 12 and 0 <= labels["points"][0]["p_baseline"] <= 1


def test_significance_and_own_candidates_in_curves(counts):
    task = OwnCandidates(candidates=["quite", "quiet"])
    created = make_parts(counts, "variance_svm.VarianceSVM.v1", {}, task=task)
    result = curve_of_texts(created, QUIET_PLACES, sizes=(10,), draws=1)
    assert result["points"][0]["accuracy"] > 0.9
    majority = make_parts(counts, "variance_svm.Majority.v1", {})
    result = curve_of_texts(majority, QUIET_PLACES, sizes=(4, 40), draws=1)
    assert result["points"][1]["p_baseline"] < 0.01  # the baseline is right everywhere
    assert np.isclose(result["baseline"], 1.0)


@pytest.fixture
def saved_model(load_with, small_table, tmp_path):
    """Save a model of two groups with own and shared weights."""
    load_with(toys="toy_plugin")
    counts = ("disambig.NgramCounts.v1", {"counts": str(small_table)})
    learners = "variance_svm.ConditionalLogit.v1", "toys.Constant.v1"
    config = model_config("toys.Pairs.v1", {"ngrams": counts}, *learners)
    texts = {"train": SENTENCES * 3, "dev": SENTENCES}
    save_model(train(resolve(config), texts, name="small", config=config, min_examples=3), tmp_path / "model")
    return tmp_path / "model"


def replace_shared_weights(saved_model, weights):
    """Replace the shared weights, and make model.json agree with the file again."""
    with np.load(saved_model / "weights.npz") as archive:
        arrays = dict(archive)
    np.savez(saved_model / "weights.npz", **arrays | {"shared.weights": weights})
    data = (saved_model / "weights.npz").read_bytes()
    manifest = json.loads((saved_model / "model.json").read_text())
    digest = blake2b(data, digest_size=16).hexdigest()
    manifest["files"]["weights.npz"] = {"size": len(data), "blake2b": digest}
    (saved_model / "model.json").write_text(json.dumps(manifest))


def test_damaged_shared_weights(saved_model):
    model = load_model(saved_model)
    assert None not in model.scorers
    good = model.shared.weights
    for bad in (good[:-1], good[:, None], good[0], good * np.nan, good + 1e308):
        replace_shared_weights(saved_model, bad)
        with pytest.raises(UserError, match="D405"):
            load_model(saved_model)
    replace_shared_weights(saved_model, good)
    assert (load_model(saved_model).shared.weights == good).all()


def test_a_trained_baseline_is_refused(tmp_path):
    path = tmp_path / "my.cfg"
    path.write_text(WORDS_CONFIG.replace("disambig.NoPreference", "variance_svm.ConditionalLogit"))
    with pytest.raises(UserError) as caught:
        read_plan(path)
    assert caught.value.code == "D005"
    assert "ConditionalLogit.v1 cannot be the [baseline]: name a learner" in str(caught.value)


ONLINE = {"perceptron": LinearPerceptron, "sgd": SGD, "pa": PassiveAggressive, "cw": ConfidenceWeighted}


def make_lists(*instances):
    """Return lists of (cost, row); a learner of seed 0 sees the instances in the order given."""
    order = np.random.default_rng(0).permutation(len(instances))
    placed = [instances[i] for i in np.argsort(order)]
    offsets = np.concatenate([[0], np.cumsum([len(item) for item in placed])]).astype(np.int64)
    cost = np.array([cost for item in placed for cost, _ in item], np.float32)
    rows = csr_array(np.array([row for item in placed for _, row in item], np.float64))
    return SparseRows(rows, offsets, cost, numbered(rows.shape[1]))


# First: right (1, 0, 0), wrong (0, 1, 0) at 2 and (0, 0, 1) at 1. Then right (0, 0, 1), wrong (1, 0, 1) at 3.
FIRST = [(0, (1, 0, 0)), (2, (0, 1, 0)), (1, (0, 0, 1))]
SECOND = [(3, (1, 0, 1)), (0, (0, 0, 1))]
BY_HAND = {
    # all score 0: of the wrong ones the first, (1, -1, 0); then 1 >= 0: less (1, 0, 0)
    "perceptron": (LinearPerceptron(passes=1), [0.0, -1.0, 0.0]),
    # alpha = 1/16: steps 2 and 16/9, weights shrink by 7/8 and 8/9 before. Rival 2 + 0: (2, -2, 0); then
    # 3 + 2 > 0: (16/9, -16/9, 0) - 16/9 (1, 0, 0)
    "sgd": (SGD(alpha=1 / 16, passes=1), [0.0, -16 / 9, 0.0]),
    # loss 2, |(1, -1, 0)|^2 = 2: a step of one. Then loss 3 + 1, |(1, 0, 0)|^2 = 1: the largest step, 2.5
    "pa": (PassiveAggressive(C=2.5, passes=1), [-1.5, -1.0, 0.0]),
    # phi = 1, m = 0, v = 2: step (sqrt(17) - 1) / 8 = .3903882, variances 1 / (1 + 2 step) = .5615528;
    # m = -.3903882, v = .5615528: step (sqrt((1 - 2 m)^2 + 8 v) - 1 - 2 m) / (4 v) = 1.1488
    "cw": (ConfidenceWeighted(confidence=0.8413447460685429, passes=1), None),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_updates_by_hand(name):
    learner, weights = BY_HAND[name]
    result = learner.fit(make_lists(FIRST, SECOND)).scorer.weights
    if weights is None:
        step = (np.sqrt(17) - 1) / 8
        variance = 1 / (1 + 2 * step)
        m, v = -step, variance
        second = (np.sqrt((1 - 2 * m) ** 2 + 8 * v) - 1 - 2 * m) / (4 * v)
        weights = [step - second * variance, -step, 0.0]
    assert result == pytest.approx(weights, abs=1e-6)


@pytest.mark.parametrize("name", ONLINE)
def test_several_right_candidates_and_constant_costs(name):
    # If several candidates are right, the one with the best score counts
    batch = make_lists([(0, (1, 0, 0)), (0, (0, 1, 0))], [(0, (1, 1, 0)), (0, (0, 0, 1))])
    assert not ONLINE[name]().fit(batch).scorer.weights.any()
    batch = lists()
    more = np.repeat(np.arange(60) % 3, np.diff(batch.offsets)).astype(np.float32)
    dear = replace(batch, cost=batch.cost + more)
    weights = ONLINE[name]().fit(batch).scorer.weights
    assert ONLINE[name]().fit(dear).scorer.weights.tobytes() == weights.tobytes()


@pytest.mark.parametrize("make", [lists, crossed_lists])
@pytest.mark.parametrize("name", ONLINE)
def test_masks_equal_masked_copies_of_lists(name, make):
    learner, batch = ONLINE[name](passes=2), make(25)
    d = learner.dimensions(batch)
    masks = np.random.default_rng(3).random((11, d)) > 0.3
    copies = [replace(batch, rows=csr_array(batch.rows.toarray() * mask)) for mask in masks]
    result = learner.fit_masked(batch, masks)
    assert result == pytest.approx(sum(learner.fit(copy).scorer.weights for copy in copies), abs=1e-9)
    ready = learner.prepare(batch)
    in_blocks = learner.fit_masked(ready, masks[:8]) + learner.fit_masked(ready, masks[8:])
    assert in_blocks == pytest.approx(result, abs=1e-12)


def test_intercepts_of_crossed_lists():
    """Without words, the more frequent label is chosen."""
    n = 40
    labels = np.tile([0, 2], n)
    right = np.random.default_rng(0).random(n) < 0.7
    cost = np.column_stack([right, ~right]).ravel().astype(np.float32)
    columns = Columns(np.repeat(np.arange(3, dtype=np.int32), 4), np.zeros(12, np.int32), ("words",))
    batch = CrossedRows(csr_array((n, 4)), cost, columns, Ragged(labels, np.arange(n + 1) * 2))
    for learner in (SGD(), ConfidenceWeighted(), RandomSubspaces(n_subspaces=9)):
        scores = learner.fit(batch).scorer.scores(batch).reshape(n, 2)
        assert (scores[:, 1] > scores[:, 0]).all()


@pytest.mark.parametrize("learner", [LinearPerceptron(), KSVM(), ConditionalLogit(), RLSCLin()])
def test_dense_equals_sparse(learner):
    dense = dense_lists()
    sparse = convert(dense, SparseRows)
    on_dense, on_sparse = fit(learner, dense).scorer, fit(learner, sparse).scorer
    assert on_dense.scores(dense) == pytest.approx(on_sparse.scores(sparse), abs=1e-4)
    assert on_sparse.scores(dense) == pytest.approx(on_sparse.scores(sparse), abs=1e-4)


@pytest.mark.parametrize("name", ONLINE)
def test_invalid_lists(name):
    learner, batch = ONLINE[name](), lists()
    with pytest.raises(UserError, match="D705"):
        learner.fit(batch.take(np.zeros(0, np.int64)))
    rows = batch.rows.toarray()
    rows[batch.offsets[4] + 1, 2] = np.nan
    with pytest.raises(UserError, match=r"D772.* 1 are NaN.*example 4, dimension 2"):
        learner.fit(replace(batch, rows=csr_array(rows)))
    with pytest.raises(UserError, match="D773"):
        learner.fit(replace(batch, rows=batch.rows * 1e120))


def solve_generally(batch, C, *, groups=(), shares=None):
    """Return weights and objective of the SVM of lists under variance subsets and L2, by a general solver."""
    cvxpy = pytest.importorskip("cvxpy")
    rows, n = convert(batch, SparseRows).rows.toarray(), len(batch.columns)
    w, losses = cvxpy.Variable(n), []
    for start, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        right = start + int(batch.cost[start:end].argmin())
        compared = [right, *(start + np.flatnonzero(batch.cost[start:end] > 0))]
        losses.append(cvxpy.max(batch.cost[compared] + (rows[compared] - rows[right]) @ w))
    strength = np.ones(n) if shares is None else shares
    inside = batch.columns.in_groups(groups)
    centre = cvxpy.Variable()
    penalty = cvxpy.sum(cvxpy.multiply(strength[~inside], w[~inside] ** 2)) if not inside.all() else 0.0
    if inside.any():
        penalty += cvxpy.sum(cvxpy.multiply(strength[inside], (w[inside] - centre) ** 2))
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * penalty + C * sum(losses)))
    value = problem.solve(solver=cvxpy.CLARABEL)
    return np.asarray(w.value), float(value)


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_k_svm_reaches_the_optimum(C):
    batch = lists(40)
    weights, value = solve_generally(batch, C)
    result = solve_lists(batch, C, tolerance=1e-6, max_iter=20_000)
    assert result.primal == pytest.approx(value, rel=1e-5)
    assert result.gap <= 1e-6
    assert result.weights == pytest.approx(weights, abs=1e-3)
    learned = KSVM(C=C, tolerance=1e-6, max_iter=20_000).fit(batch)
    assert learned.scorer.weights == pytest.approx(weights, abs=1e-3)
    assert learned.report["converged"] is True


def test_warm_start():
    batch = lists(40)
    cold = solve_lists(batch, 0.3, tolerance=1e-7, max_iter=50_000)
    warm = solve_lists(batch, 0.3, tolerance=1e-7, max_iter=50_000, start=solve_lists(batch, 0.1))
    assert warm.weights == pytest.approx(cold.weights, abs=1e-4)


@pytest.mark.parametrize("variance", [(), ("3-gram", "4-gram", "5-gram")])
def test_variance_svm_reaches_the_optimum(variance):
    batch = dense_lists(30)
    weights, value = solve_generally(batch, 0.02, groups=variance, shares=np.full(5, 0.2))
    result = VarianceSVM(C=0.02, variance=variance, tolerance=1e-6).fit(batch)
    assert result.report["objective"] == pytest.approx(value, rel=1e-5)
    lead = result.scorer.scores(batch) - batch.scores(weights)
    # a constant attribute's weight is anything in the variance subset
    assert lead == pytest.approx(lead[batch.offsets[:-1]].repeat(np.diff(batch.offsets)), abs=1e-2)


def test_lists_equal_blocks_with_shared_columns():
    """If candidates share their columns, blocks and lists are the same problem."""
    batch = blocks(40)
    columns = Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names)
    shared = replace(batch, column_of=np.tile(np.arange(5), (3, 1)), columns=columns)
    dense = convert(shared, type(dense_lists(1)))
    learner = VarianceSVM(C=0.01, variance=("2-gram", "4-gram"), tolerance=1e-6)
    assert learner.fit(dense).scorer.weights == pytest.approx(learner.fit(shared).scorer.weights, abs=1e-6)
    logit = ConditionalLogit(strength=1.0)
    assert logit.fit(dense).scorer.weights == pytest.approx(logit.fit(shared).scorer.weights, abs=1e-4)


def test_c_is_chosen_by_costs():
    train, dev = lists(40, seed=1), lists(40, seed=2)
    for learner in (KSVM(), VarianceSVM(variance=("all",)), VarianceSVM(variance=())):
        fitted = fit(learner, train, dev=dev)
        tried = {float(c): value for c, value in fitted.report["dev_accuracy"].items()}
        assert tried[fitted.report["C"]] == max(tried.values())
        assert dev_quality(dev, fitted.scorer.scores(dev)) == max(tried.values())
    scores = -dev.cost.astype(float)
    assert dev_quality(dev, scores) == 1.0
    worst = np.maximum.reduceat(dev.cost, dev.offsets[:-1])
    assert dev_quality(dev, -scores) == pytest.approx(1 - worst.mean() / dev.cost.max())


def test_wide_lists():
    rng = np.random.default_rng(0)
    indices = rng.integers(2_000_000, size=6000, dtype=np.int32)
    rows = csr_array((rng.normal(size=6000), indices, np.arange(601, dtype=np.int32) * 10))
    cost = np.tile([0, 1, 1], 200).astype(np.float32)
    columns = Columns(np.full(2_000_000, -1, np.int32), np.zeros(2_000_000, np.int32), ("words",))
    wide = SparseRows(csr_array(rows, shape=(600, 2_000_000)), np.arange(201) * 3, cost, columns)
    with pytest.raises(UserError, match="D417"):
        VarianceSVM(variance=("words",)).fit(wide)
    for learner in (VarianceSVM(variance=(), C=1e3), KSVM(C=10.0), LinearPerceptron()):
        assert mean_cost(learner.fit(wide).scorer, wide) == 0.0


def test_learners_on_chains():
    train, test = chains(60), chains(60, seed=9)
    alone = ConditionalLogit(strength=1.0).fit(train).scorer
    together = fit(ConditionalLogit(decoder=Chain()), train, dev=test)
    assert accuracy(test, alone.scores(test)) < 0.8
    assert accuracy(test, together.scorer.scores(test)) == 1.0
    tried = together.report["dev_log_loss"]
    assert min(tried, key=tried.get) == f"{together.report['strength']:g}"
    scorer = fit(SGD(decoder=Chain(), alpha=1e-3, passes=20), train).scorer
    assert accuracy(test, scorer.scores(test)) > 0.95


@pytest.mark.parametrize("learner", [SGD, ConditionalLogit])
def test_invalid_decoders(learner):
    with pytest.raises(UserError, match=rf"D711.*{learner.__name__}\.decoder is a str"):
        learner(decoder="chain")
