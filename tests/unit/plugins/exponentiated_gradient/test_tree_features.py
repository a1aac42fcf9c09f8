"""Features of candidate trees are those found one after the other, and survive saving."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from disambig_exponentiated_gradient.reranking import TreeFeatures, TreeOccurrences
from disambig_exponentiated_gradient.treebank import clean_trees, format_one_line
from hypothesis import given, settings, strategies as st
from made_trees import plain_trees, tree_of, trees
from slow_tree_features import features

from disambig.data import CandidateLists, Group
from disambig.errors import UserError
from disambig.features import transform_checked
from disambig.formats import list_instances
from disambig.text import Words

GROUP = Group("trees", ())
JOINED = """(TOP (S (NP (NP (DT the) (NN cat)) (CC and) (NP (DT a) (NN dog))) (VP (VP (VBD ran) (PP (IN to)
 (NP (NN school)))) (, ,) (CC and) (VP (VBD slept) (PP (IN in) (NP (DT a) (JJ warm) (NN bed))))) (. .)))"""


def found_in(texts):
    """Return the features of each text by name."""
    source = TreeOccurrences(texts)
    found = source.occur(0, len(texts))
    names = source.names(found.places)
    assert len(set(names)) == len(set(found.keys.tolist())) == len(set(zip(names, found.keys, strict=True)))
    rows = found.rows.tolist()
    return [Counter(n for n, r in zip(names, rows, strict=True) if r == row) for row in range(len(texts))]


def test_written_trees_have_the_features_of_a_plain_count():
    some = [*plain_trees(), tree_of(JOINED)]
    assert found_in([format_one_line(tree) for tree in some]) == [features(tree) for tree in some]


@settings(max_examples=40, deadline=None)
@given(st.lists(trees(), min_size=1, max_size=3))
def test_made_trees_have_the_features_of_a_plain_count(some):
    plain = [clean_trees(tree) for tree in some]
    assert found_in([format_one_line(tree) for tree in some]) == [features(tree) for tree in plain]


def test_some_features_by_hand():
    (found,) = found_in([JOINED])
    assert found["rule: PP IN NP"] == 2
    assert found["two-level rule: VP <end> VP , CC VP <end> VP VBD PP"] == 1
    assert found["attached, head word and object: VP VBD right in slept bed"] == 1
    assert found["alike: NP NP 3 1"] == 1  # the same all the way down
    assert found["alike: VP VP 2 1"] == 1
    assert found["alike: VP VP 3 0"] == 1
    assert found["lengths: VP VP right 2 1"] == 1
    assert found["two words: NN NP PP VP <end> VP <end> ,"] == 1
    assert found["spine, word: VBD VP VP S TOP <end> <none> ran"] == 1


def test_traces_and_function_tags_are_not_looked_at():
    plain = "(TOP (S (NP (PRP we)) (VP (VBP agree))))"
    strange = "( (S (NP-SBJ-1 (PRP we)) (VP (VBP agree) (S (NP (-NONE- *-1))))) )"
    tagged = "(TOP (S (NP-SBJ (PRP we)) (VP (VBP agree))))"
    assert len({tuple(sorted(each.items())) for each in found_in([plain, strange, tagged, plain * 2])}) == 1
    assert found_in(["", plain])[0] == {}


@pytest.mark.parametrize(
    "text", ["(TOP (NP (NN a))", "(TOP (NP (NN a b)))", "(TOP (NP) (NN a))", "(TOP (", "a"]
)
def test_brackets_that_make_no_tree(text):
    with pytest.raises(UserError, match=r"D630.*line 1"):
        found_in(["(TOP (NN a))", text])


def test_deep_trees_are_refused():
    with pytest.raises(UserError, match="D631"):
        found_in(["(TOP " + "(X " * 600 + "(NN a)" + ")" * 601])


def lists_of(*texts):
    return list_instances(
        replace(CandidateLists.from_texts(texts), costs=np.zeros(sum(map(len, texts)), np.float32))
    )


def test_only_what_tells_candidates_apart_is_kept():
    low = "(TOP (S (NP (PRP we)) (VP (VBP see) (NP (NP (NNS cats)) (PP (IN in) (NP (NNS trees)))))))"
    high = "(TOP (S (NP (PRP we)) (VP (VBP see) (NP (NNS cats)) (PP (IN in) (NP (NNS trees))))))"
    view = Words()([])
    instances = lists_of([low, high], [high, low], [low])
    fitted = TreeFeatures(least=2).fit(view, instances, [GROUP])
    names = set(fitted.known.names)
    assert "rule: NP NP PP" in names and "rule: VP VBP NP PP" in names
    assert "rule: PP IN NP" not in names  # both trees have it
    assert not TreeFeatures(least=3).fit(view, instances, [GROUP]).known
    features_ = transform_checked(fitted, view, instances, GROUP)
    columns = list(features_.batch.columns.names)
    table = features_.batch.rows.toarray()
    assert table[:, columns.index("rule: NP NP PP")].tolist() == [1, 0, 0, 1, 1]
    about = features_.batch.columns
    assert {about.group_names[g] for g in about.groups.tolist()} <= {name.partition(":")[0] for name in names}
    again = transform_checked(TreeFeatures(least=2).from_state(fitted.state()), view, instances, GROUP)
    assert np.array_equal(again.batch.rows.toarray(), table)


def test_bad_settings():
    with pytest.raises(UserError, match=r"D452.*TreeFeatures\.least"):
        TreeFeatures(least=0)
    with pytest.raises(ValueError, match="fit the extractor first"):
        transform_checked(TreeFeatures(), Words()([]), lists_of(["(TOP (NN a))"]), GROUP)
