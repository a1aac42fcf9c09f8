"""Lists of trees: candidates, costs, and grammars that never saw what they parse."""

from __future__ import annotations

import numpy as np
from disambig_exponentiated_gradient.grammar import TreebankGrammar
from disambig_exponentiated_gradient.reranking import (
    TreeLists,
    candidate_trees,
    jackknife_lists,
    lists as lists_module,
    read_lists,
    write_lists,
)
from disambig_exponentiated_gradient.treebank import format_one_line
from made_trees import plain_trees, tree_of


def same(first, second):
    return (
        list(first.lists.texts) == list(second.lists.texts)
        and first.references == second.references
        and all(
            np.array_equal(getattr(first.lists, name), getattr(second.lists, name))
            for name in ("offsets", "scores", "ranks", "costs")
        )
        and np.array_equal(first.counts.errors, second.counts.errors)
        and np.array_equal(first.counts.failed, second.counts.failed)
    )


def test_candidates_are_ranked_and_cost_their_errors():
    trees = plain_trees()
    found = candidate_trees(TreebankGrammar.from_trees(trees), trees, k=5)
    own = found.lists
    assert len(found) == len(trees) and found.references == tuple(map(format_one_line, trees))
    for i, tree in enumerate(trees):
        rows = slice(own.offsets[i], own.offsets[i + 1])
        assert (np.diff(own.scores[rows]) <= 0).all()
        assert len(set(own.texts[rows])) == rows.stop - rows.start
        for text, cost in zip(own.texts[rows], own.costs[rows].tolist(), strict=True):
            assert (cost == 0) == (
                text == format_one_line(tree)
            )  # these trees have no chains that evalb leaves out
    assert (found.counts.errors == own.costs).all()


def test_a_sentence_without_a_parse_has_one_candidate():
    trees = [tree_of("(TOP (NP (DT the) (NN cat)))")]
    odd = tree_of("(TOP (X (NN cat) (DT the) (DT the) (NN cat)))")
    found = candidate_trees(TreebankGrammar.from_trees(trees), [odd, *trees], k=5)
    assert found.lists.instance_candidates(0) == ("(TOP (NN cat) (NN the) (NN the) (NN cat))",)
    assert found.lists.costs[0] == 1
    assert found.lists.costs[-1] == 0


def test_grammars_of_folds_do_not_know_what_they_parse():
    trees = plain_trees()
    seen = []

    def learn(some):
        seen.append(list(some))
        return TreebankGrammar.from_trees(some)

    found = jackknife_lists(trees, learn=learn, k=4, folds=4)
    assert len(found) == len(trees) and found.references == tuple(map(format_one_line, trees))
    assert len(seen) == 4
    parsed = [tree for tree in trees for some in seen if tree not in some]
    assert sorted(map(format_one_line, parsed)) == sorted(map(format_one_line, trees))


def test_long_sentences_have_no_list_but_are_learned_from():
    trees = plain_trees()
    learned = []

    def learn(some):
        learned.extend(some)
        return TreebankGrammar.from_trees(some)

    found = jackknife_lists(trees, learn=learn, longest=6, k=2, folds=2)
    short = [tree for tree in trees if len(tree.words()) <= 6]
    assert found.references == tuple(map(format_one_line, short))
    assert len(learned) == len(trees)
    few = jackknife_lists(trees, longest=6, most=3, k=2, folds=2)
    assert len(few) == 3 and set(few.references) <= set(found.references)


def test_parts_are_joined_and_taken(monkeypatch):
    trees = plain_trees()
    grammar = TreebankGrammar.from_trees(trees)
    whole = candidate_trees(grammar, trees, k=3)
    monkeypatch.setattr(lists_module, "_AT_ONCE", 3)
    assert same(candidate_trees(grammar, trees, k=3), whole)
    assert same(TreeLists.concat([whole.take(slice(0, 3)), whole.take(slice(3, 8))]), whole)


def test_lists_are_read_as_they_were_written(tmp_path):
    trees = plain_trees()
    found = candidate_trees(TreebankGrammar.from_trees(trees), trees, k=3)
    write_lists(tmp_path / "lists.npz", found)
    assert same(read_lists(tmp_path / "lists.npz"), found)
