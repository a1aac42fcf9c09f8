"""PARSEVAL: values by hand with the rules of evalb, and properties of any trees."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_exponentiated_gradient.treebank import (
    DELETED,
    BracketF1,
    Parseval,
    Tree,
    TreeBrackets,
    format_one_line,
)
from examples import fewer_examples
from hypothesis import given
from made_trees import plain_trees, tree_of, trees

from disambig.api.measures import CostsTexts, Outcomes
from disambig.errors import UserError

GOLD = "((S (NP (PRP we)) (VP (VBP eat) (NP (NN soup)) (PP (IN with) (NP (DT a) (NN spoon)))) (. .)))"


def row(gold, found):
    """Return brackets right, due and there, words and right tags."""
    counts = Parseval.from_trees([tree_of(gold)], [None if found is None else tree_of(found)])
    columns = ("matched", "gold", "found", "words", "right_tags")
    return tuple(int(getattr(counts, column)[0]) for column in columns)


HAND = {
    # gold: S[0,6] NP[0,1] VP[1,6] NP[2,3] PP[3,6] NP[4,6]; the full stop and TOP are no more
    "the same": (GOLD, GOLD, (6, 6, 6, 6, 6)),
    # there: S NP VP NP[2,6] NP[2,3] PP NP
    "attached lower": (
        GOLD,
        "((S (NP (PRP we)) (VP (VBP eat) (NP (NP (NN soup)) (PP (IN with) (NP (DT a) (NN spoon))))) (. .)))",
        (6, 6, 7, 6, 6),
    ),
    # there: S NP VP[1,3] NP[2,3] PP NP: VP is another span
    "attached higher": (
        GOLD,
        "((S (NP (PRP we)) (VP (VBP eat) (NP (NN soup))) (PP (IN with) (NP (DT a) (NN spoon))) (. .)))",
        (5, 6, 6, 6, 6),
    ),
    # there: S NP VP[1,6] X[2,4] NP[4,6]; X crosses PP
    "crossing": (
        GOLD,
        "((S (NP (PRP we)) (VP (VBP eat) (X (NN soup) (IN with)) (NP (DT a) (NN spoon))) (. .)))",
        (4, 6, 5, 6, 6),
    ),
    "another label": ("((S (NP (NN a)) (VP (VB b))))", "((S (NP (NN a)) (NP (NN b))))", (2, 3, 3, 2, 1)),
    # each bracket is matched once: NP NP beside NP
    "twice": ("((NP (NP (NN a))))", "((NP (NN a)))", (1, 2, 1, 1, 1)),
    "twice too much": ("((NP (NN a)))", "((NP (NP (NP (NN a)))))", (1, 1, 3, 1, 1)),
    "a particle is an adverb": (
        "((VP (VB give) (PRT (RP up))))",
        "((VP (VB give) (ADVP (RB up))))",
        (2, 2, 2, 2, 1),
    ),
    # a bracket that only holds punctuation is none
    "only punctuation": (
        "((S (NP (NN a)) (PRN (: --) (, ,))))",
        "((S (NP (NN a)) (: --) (, ,)))",
        (2, 2, 2, 1, 1),
    ),
    # where punctuation hangs says nothing: NP[0,1] either way
    "punctuation": (
        "((S (NP (NN a) (, ,)) (VP (VB b))))",
        "((S (NP (NN a)) (, ,) (VP (VB b))))",
        (3, 3, 3, 2, 2),
    ),
    "brackets are words": ("((NP (-LRB- -LRB-) (NN a)))", "((NP (-LRB- -LRB-) (NN a)))", (1, 1, 1, 2, 2)),
    "functions": ("((S (NP (NN a)) (VP (VB b))))", "((S (NP-SBJ (NN a)) (VP=2 (VB b))))", (3, 3, 3, 2, 2)),
    # a word that is punctuation for one tree alone stays: S[0,2] NP[0,1]
    "a wrong tag of punctuation": ("((S (NP (NN a)) (. .)))", "((S (NP (NN a)) (NN .)))", (2, 2, 2, 2, 1)),
    "several below the top": (
        "((NP (NN a)) (VP (VB b)))",
        "((S (NP (NN a)) (VP (VB b))))",
        (2, 2, 3, 2, 2),
    ),
    "no parse": (GOLD, None, (0, 6, 0, 6, 0)),
    "other words": ("((NP (NN a)))", "((NP (NN b)))", (0, 1, 0, 1, 0)),
    "fewer words": ("((NP (NN a) (NN b)))", "((NP (NN a)))", (0, 1, 0, 2, 0)),
}


@pytest.mark.parametrize("name", HAND)
def test_by_hand(name):
    gold, found, expected = HAND[name]
    assert row(gold, found) == expected


def test_figures_of_several():
    gold = [tree_of(text) for text in (GOLD, GOLD, GOLD, GOLD)]
    found = [tree_of(HAND[name][1]) for name in ("the same", "attached lower", "crossing")]
    both = Parseval.from_trees(gold, [*found, None])
    assert both.precision == pytest.approx(16 / 18)
    assert both.recall == pytest.approx(16 / 24)
    assert both.f1 == pytest.approx(2 * 16 / (18 + 24))
    assert both.exact == 0.25
    assert both.errors.tolist() == [0, 1, 3, 6]
    assert both.failed.tolist() == [False, False, False, True]
    assert both.tagging == 18 / 24
    as_evalb = both.take(~both.failed)  # which leaves failed sentences out
    assert as_evalb.recall == pytest.approx(16 / 18)
    assert len(as_evalb) == 3
    assert Parseval.from_trees(plain_trees(), plain_trees()).f1 == 1.0
    nothing = Parseval.from_trees([], [])
    assert len(nothing) == 0
    assert np.isnan([nothing.f1, nothing.precision, nothing.recall, nothing.exact]).all()


@fewer_examples
@given(trees(), trees())
def test_properties_of_any_two_trees(one, other):
    same = Parseval.from_trees([one], [one])
    assert same.errors[0] == 0
    assert same.right_tags[0] == same.words[0]
    there, back = Parseval.from_trees([one], [other]), Parseval.from_trees([other], [one])
    if one.words() != other.words():
        assert there.failed[0]
        return
    assert there.matched[0] == back.matched[0] <= min(there.gold[0], there.found[0])
    assert (there.gold[0], there.found[0]) == (back.found[0], back.gold[0])
    assert there.errors[0] == back.errors[0] >= 0


@fewer_examples
@given(trees())
def test_another_label_costs_two_brackets(tree):
    found = Parseval.from_trees([tree], [Tree("TOP", (Tree("EXTRA", tree.children),))])
    some_word = any(tag not in DELETED for tag in tree.tags())
    assert found.errors[0] == some_word
    assert found.matched[0] == found.gold[0]
    mine = TreeBrackets.from_tree(tree)
    gone = [tag in DELETED for tag in mine.tags]
    for label, start, end in mine.counted(gone):
        assert label not in DELETED
        assert 0 <= start < end <= gone.count(False)


def outcomes(lists, chosen, references):
    costs = np.zeros(sum(map(len, lists)))
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    names = [text for each in lists for text in each]
    n = len(lists)
    ids = np.arange(len(names))
    ranks = np.concatenate([np.arange(len(each)) for each in lists])
    return Outcomes(
        offsets, costs, np.array(chosen), np.full(n, -1), costs, names, ids, ranks, np.arange(n), references
    )


def test_as_a_measure_of_lists():
    measure = BracketF1()
    gold = format_one_line(tree_of(GOLD))
    lower, crossing = (format_one_line(tree_of(HAND[name][1])) for name in ("attached lower", "crossing"))
    assert isinstance(measure, CostsTexts)
    assert measure.costs([gold, lower, crossing, ""], [gold] * 4).tolist() == [0, 1, 3, 6]
    lists = [[lower, gold], [crossing, lower]]
    picked = outcomes(lists, [0, 0], [gold, gold])
    assert measure.value(picked) == pytest.approx(2 * 10 / (6 + 7 + 6 + 5))
    assert measure.value(outcomes(lists, [1, 1], [gold, gold])) == pytest.approx(24 / 25)
    with pytest.raises(UserError, match="D433"):
        measure.value(outcomes(lists, [1, 1], None))
    with pytest.raises(UserError, match="D630"):
        measure.costs(["(S (NP"], [gold])
