"""Reranking trees: their features, lists of candidates, grammars of folds, and parts of the experiments."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from disambig_exponentiated_gradient.experiments import (
    COMPARED,
    HINGE,
    compare_rerankers,
    epochs_to,
    informative_features,
    plain_steps,
    reranking_claims,
)
from disambig_exponentiated_gradient.experiments.tree_lists import COST, PCFG, PERCEPTRON
from disambig_exponentiated_gradient.grammar import TreebankGrammar
from disambig_exponentiated_gradient.learners import EG
from disambig_exponentiated_gradient.reranking import (
    TreeFeatures,
    TreeLists,
    TreeOccurrences,
    candidate_trees,
    jackknife_lists,
    read_lists,
    write_lists,
)
from disambig_exponentiated_gradient.treebank import clean_trees, format_one_line
from hypothesis import given, settings, strategies as st
from made_trees import parse_tree, plain_trees, trees
from scipy.sparse import csr_array
from slow_trees import features

from disambig.data import CandidateLists, Group
from disambig.errors import UserError
from disambig.features import transform_checked
from disambig.formats import list_instances
from disambig.testing.checks import lists as lists_batch
from disambig.text import Words

GROUP = Group("trees", ())
JOINED = """(TOP (S (NP (NP (DT the) (NN cat)) (CC and) (NP (DT a) (NN dog))) (VP (VP (VBD ran) (PP (IN to)
 (NP (NN school)))) (, ,) (CC and) (VP (VBD slept) (PP (IN in) (NP (DT a) (JJ warm) (NN bed))))) (. .)))"""


def found_in(texts):
    """Return the features of each text by name."""
    source = TreeOccurrences(texts)
    occurrences = source.occur(0, len(texts))
    names = source.names(occurrences.places)
    keys = occurrences.keys.tolist()
    assert len(set(names)) == len(set(keys)) == len(set(zip(names, keys, strict=True)))
    rows = occurrences.rows.tolist()
    return [Counter(n for n, r in zip(names, rows, strict=True) if r == row) for row in range(len(texts))]


def test_written_trees_have_the_features_of_a_plain_count():
    some = [*plain_trees(), parse_tree(JOINED)]
    assert found_in([format_one_line(tree) for tree in some]) == [features(tree) for tree in some]


@settings(max_examples=15, deadline=None)
@given(st.lists(trees(), min_size=1, max_size=3))
def test_made_trees_have_the_features_of_a_plain_count(some):
    plain = [clean_trees(tree) for tree in some]
    assert found_in([format_one_line(tree) for tree in some]) == [features(tree) for tree in plain]


def test_some_features_by_hand():
    (features_of_text,) = found_in([JOINED])
    assert features_of_text["rule: PP IN NP"] == 2
    for name in (
        *("alike: NP NP 3 1", "alike: VP VP 2 1", "alike: VP VP 3 0", "lengths: VP VP right 2 1"),
        "attached, head word and object: VP VBD right in slept bed",
        "spine, word: VBD VP VP S TOP <end> <none> ran",
    ):
        assert features_of_text[name] == 1
    plain = "(TOP (S (NP (PRP we)) (VP (VBP agree))))"
    strange = "( (S (NP-SBJ-1 (PRP we)) (VP (VBP agree) (S (NP (-NONE- *-1))))) )"
    tagged = "(TOP (S (NP-SBJ (PRP we)) (VP (VBP agree))))"
    assert len({tuple(sorted(counts.items())) for counts in found_in([plain, strange, tagged])}) == 1
    assert found_in(["", "(())", plain])[:2] == [{}, {}]


def test_bad_trees_and_settings():
    for text in (
        "(TOP (NP (NN a))",
        "(TOP (NP (NN a b)))",
        "(TOP (NP) (NN a))",
        "(TOP (",
        "a",
        "(TOP (NN a))(TOP (NN b))",
    ):
        with pytest.raises(UserError, match=r"D630.*line 1"):
            found_in(["(TOP (NN a))", text])
    with pytest.raises(UserError, match="D631"):
        found_in(["(TOP " + "(X " * 600 + "(NN a)" + ")" * 601])
    with pytest.raises(UserError, match=r"D452.*TreeFeatures\.least"):
        TreeFeatures(least=0)
    with pytest.raises(ValueError, match="fit the extractor first"):
        transform_checked(TreeFeatures(), Words()([]), make_instances(["(TOP (NN a))"]), GROUP)


def make_instances(*texts):
    costs = np.zeros(sum(map(len, texts)), np.float32)
    return list_instances(replace(CandidateLists.from_texts(texts), costs=costs))


def test_only_features_that_distinguish_candidates_are_kept():
    low = "(TOP (S (NP (PRP we)) (VP (VBP see) (NP (NP (NNS cats)) (PP (IN in) (NP (NNS trees)))))))"
    high = "(TOP (S (NP (PRP we)) (VP (VBP see) (NP (NNS cats)) (PP (IN in) (NP (NNS trees))))))"
    view = Words()([])
    instances = make_instances([low, high], [high, low], [low])
    fitted = TreeFeatures(least=2).fit(view, instances, [GROUP])
    names = set(fitted.ngrams.names)
    assert "rule: NP NP PP" in names and "rule: VP VBP NP PP" in names
    assert "rule: PP IN NP" not in names  # both trees have it
    assert not TreeFeatures(least=3).fit(view, instances, [GROUP]).ngrams
    features_ = transform_checked(fitted, view, instances, GROUP)
    columns = list(features_.batch.columns.names)
    table = features_.batch.rows.toarray()
    assert table[:, columns.index("rule: NP NP PP")].tolist() == [1, 0, 0, 1, 1]
    about = features_.batch.columns
    assert {about.group_names[g] for g in about.groups.tolist()} <= {name.partition(":")[0] for name in names}
    again = transform_checked(TreeFeatures(least=2).from_state(fitted.state()), view, instances, GROUP)
    assert np.array_equal(again.batch.rows.toarray(), table)


def same(first, second):
    contents = []
    for item in (first, second):
        arrays = [getattr(item.lists, name).tolist() for name in ("offsets", "scores", "ranks", "costs")]
        arrays += [item.counts.errors.tolist(), item.counts.failed.tolist()]
        contents.append((list(item.lists.texts), item.references, arrays))
    return contents[0] == contents[1]


def test_candidates_are_ranked_and_cost_their_errors():
    trees = plain_trees()
    candidates = candidate_trees(TreebankGrammar.from_trees(trees), trees, k=5)
    lists = candidates.lists
    assert len(candidates) == len(trees) and candidates.references == tuple(map(format_one_line, trees))
    for i, tree in enumerate(trees):
        rows = slice(lists.offsets[i], lists.offsets[i + 1])
        assert (np.diff(lists.scores[rows]) <= 0).all()
        assert len(set(lists.texts[rows])) == rows.stop - rows.start
        for text, cost in zip(lists.texts[rows], lists.costs[rows].tolist(), strict=True):
            is_right = text == format_one_line(tree)
            assert (cost == 0) == is_right  # these trees have no chains that evalb leaves out
    assert (candidates.counts.errors == lists.costs).all()
    trees = [parse_tree("(TOP (NP (DT the) (NN cat)))")]
    odd = parse_tree("(TOP (X (NN cat) (DT the) (DT the) (NN cat)))")
    candidates = candidate_trees(TreebankGrammar.from_trees(trees), [odd, *trees], k=5)
    assert candidates.lists.instance_candidates(0) == ("(TOP (NN cat) (NN the) (NN the) (NN cat))",)
    assert candidates.lists.costs[0] == 1
    assert candidates.lists.costs[-1] == 0


def test_lists_of_folds():
    """Grammars do not know what they parse; long sentences have no list but are learned from."""
    trees, seen = plain_trees(), []

    def learn(some):
        seen.append(list(some))
        return TreebankGrammar.from_trees(some)

    candidates = jackknife_lists(trees, learn=learn, longest=6, k=2, folds=2)
    short = [tree for tree in trees if len(tree.words()) <= 6]
    assert candidates.references == tuple(map(format_one_line, short)) and len(seen) == 2
    left_out = [tree for tree in trees for some in seen if tree not in some]
    assert sorted(map(format_one_line, trees)) == sorted(map(format_one_line, left_out))
    few = jackknife_lists(trees, longest=6, maximum=3, k=2, folds=2)
    assert len(few) == 3 and set(few.references) <= set(candidates.references)


def test_parts_are_joined_taken_and_stored(tmp_path):
    trees = plain_trees()
    grammar = TreebankGrammar.from_trees(trees)
    whole = candidate_trees(grammar, trees, k=3)
    n, reported = 200 // len(trees) + 1, []
    many = candidate_trees(grammar, trees * n, k=3, report=lambda done, total: reported.append(done))
    assert len(reported) > 2 and same(many, TreeLists.concat([whole] * n))  # they are parsed in several parts
    assert same(TreeLists.concat([whole.take(slice(0, 3)), whole.take(slice(3, 8))]), whole)
    candidates = candidate_trees(TreebankGrammar.from_trees(trees), trees, k=3)
    write_lists(tmp_path / "lists.npz", candidates)
    assert same(read_lists(tmp_path / "lists.npz"), candidates)


def test_fixed_steps():
    batch = lists_batch()
    path = plain_steps(batch, C=0.05, eta=0.5, steps=400, watch=lambda weights: float(weights @ weights))
    best = EG(C=0.05, loss="cost", gap=1e-6, epochs=400).fit(batch).report["path"]
    assert all(b >= a - 1e-12 for a, b in zip(path["dual"], path["dual"][1:], strict=False))
    assert abs(path["dual"][-1] - best["dual"][-1]) < 1e-3 * best["dual"][-1]
    assert path["gap"][-1] < 1e-2
    assert all(primal >= dual for primal, dual in zip(path["primal"], path["dual"], strict=True))
    path = plain_steps(lists_batch(), C=0.1, eta=4.0, steps=60, watch=lambda weights: 0.0)
    assert min(np.diff(path["dual"])) < 0
    assert epochs_to([0.5, 0.2, 0.1], 0.2) == 2
    assert epochs_to([0.5, 0.2, 0.1], 0.05) is None


def test_features_that_all_candidates_share_are_omitted():
    batch = lists_batch()
    width = batch.rows.shape[1]
    dense = batch.rows.toarray()
    dense[:, 0] = 3.0
    dense[batch.offsets[0] : batch.offsets[1], 1] = np.arange(batch.offsets[1] - batch.offsets[0])
    fewer = informative_features(replace(batch, rows=csr_array(dense)))
    assert fewer.rows.shape[1] == width and (fewer.rows[:, [0]].toarray() == 0).all()
    assert (fewer.rows.toarray()[: batch.offsets[1], 1] == dense[: batch.offsets[1], 1]).all()
    weights = np.random.default_rng(0).normal(size=width)
    apart = dense @ weights - fewer.scores(weights)
    for first, last in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        assert np.ptp(apart[first:last]) < 1e-9


def compared(points, p):
    return {pair: SimpleNamespace(difference=points.get(pair, 3.0) / 100, p=p) for pair in COMPARED}


def test_claims_hold_where_the_figures_say_so():
    good = reranking_claims({"a": compared({}, 0.001), "b": compared({(HINGE, COST): -0.5}, 0.04)})
    holds = {claim.claim: claim.holds for claim in good}
    assert not holds.pop("cost-sensitive EG is not worse than hinge on F1")
    assert all(holds.values())
    little = reranking_claims({"a": compared({(PCFG, COST): 1.9, (PERCEPTRON, COST): -0.1}, 0.001)})
    holds = {claim.claim: claim.holds for claim in little}
    assert holds["EG, cost-sensitive: reranking beats the PCFG"]
    assert not holds["our requirement: cost-sensitive EG is at least 2 points of F1 above the PCFG"]
    claim = "not worse than the averaged perceptron (not significantly, p < 0.05)"
    assert not holds[f"EG, cost-sensitive: {claim}"]
    unsure = reranking_claims({"a": compared({}, 0.2)})
    assert not unsure[0].holds


def test_comparison_is_of_the_chosen_trees():
    trees = plain_trees()
    candidates = candidate_trees(TreebankGrammar.from_trees(trees), trees, k=5)
    first, costs = candidates.lists.offsets[:-1], candidates.lists.costs
    best = np.array([a + np.argmin(costs[a:b]) for a, b in pairwise(candidates.lists.offsets)])
    at = {name: first for pair in COMPARED for name in pair} | {COST: best}
    points = 100 * (candidates.counts.take(best).f1 - candidates.counts.take(first).f1)
    compared_trees = compare_rerankers(candidates, at)
    assert abs(100 * compared_trees[PCFG, COST].difference - points) < 1e-9
    assert compared_trees[PCFG, HINGE].difference == 0
