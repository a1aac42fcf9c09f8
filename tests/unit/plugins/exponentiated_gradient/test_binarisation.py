"""Trees made binary and back, and what their symbols remember."""

from __future__ import annotations

import pytest
from disambig_exponentiated_gradient.treebank import (
    SPLITS,
    Binarisation,
    Tree,
    coarse_symbol,
    format_one_line,
    is_inside,
    node_label,
    quoted,
    restore_tree,
)
from hypothesis import given, strategies as st
from made_trees import NAMES, TAGS, plain_trees, tree_of, trees

from disambig.errors import UserError

SENTENCE = "((S (NP (DT the) (JJ big) (JJ grey) (NN dog)) (VP (VBZ is) (VP (VBN seen))) (. .)))"
SETTINGS = st.builds(
    Binarisation,
    st.integers(0, 3),
    st.integers(1, 3),
    tag_parents=st.booleans(),
    splits=st.lists(st.sampled_from(sorted(SPLITS)), unique=True).map(tuple),
    merge_questions=st.booleans(),
)


def made(text, *settings, **more):
    return format_one_line(
        Binarisation(*settings, **{"splits": (), "tag_parents": False} | more)(tree_of(text))
    )


def test_nothing_remembered():
    assert made(SENTENCE, 0, 1) == (
        "(TOP (S (NP (DT the) (@NP (JJ big) (@NP (JJ grey) (NN dog))))"
        " (@S (VP (VBZ is) (VP (VBN seen))) (. .))))"
    )


def test_children_before_and_labels_above():
    assert made(SENTENCE, 1, 2) == (
        "(TOP (S^TOP (NP^S (DT the) (@NP|DT (JJ big) (@NP|JJ (JJ grey) (NN dog))))"
        " (@S|NP (VP^S (VBZ is) (VP^VP (VBN seen))) (. .))))"
    )
    assert "(@NP|DT_JJ (JJ grey) (NN dog))" in made(SENTENCE, 2, 3)
    assert "(VBN^VP seen)" in made(SENTENCE, 1, 2, tag_parents=True)


@pytest.mark.parametrize(
    ("split", "text", "symbol"),
    [
        ("auxiliary", SENTENCE, "(VBZ~be is)"),
        ("auxiliary", "((VP (VBD had) (VP (VBN seen))))", "(VBD~have had)"),
        ("auxiliary", "((VP (MD 'd) (VP (VB go))))", "(MD 'd)"),
        ("preposition", "((PP (IN Of) (NP (NN tea))))", "(IN~of Of)"),
        ("preposition", "((PP (IN in) (NP (NN tea))))", "(IN in)"),
        ("alone", "((NP (DT this)))", "(DT~alone this)"),
        ("alone", "((NP (DT this) (NN dog)))", "(DT this)"),
        ("base", SENTENCE, "(NP~base (DT the)"),
        ("base", "((NP (NP (NN tea)) (PP (IN of) (NP (NN day)))))", "(TOP (NP (NP~base (NN tea))"),
        ("verb_form", SENTENCE, "(VP~fin (VBZ is) (VP~vbn (VBN seen)))"),
        ("verb_form", "((VP (TO to) (VP (VB go))))", "(VP~to (TO to) (VP~vb (VB go)))"),
        ("verb_form", "((VP (ADVP (RB up))))", "(VP (ADVP (RB up)))"),
        ("frequent_preposition", "((PP (IN With) (NP (NN tea))))", "(IN~with With)"),
        ("frequent_preposition", "((PP (IN near) (NP (NN tea))))", "(IN near)"),
        ("auxiliary_do", "((SQ (VBZ Does) (NP (NN tea)) (VP (VB help))))", "(VBZ~do Does)"),
        ("auxiliary_do", SENTENCE, "(VBZ is)"),
        ("wh_quantity", "((WHNP (WRB how) (JJ many)))", "(JJ~quantity many)"),
        ("wh_quantity", "((WHADJP (WRB how) (JJ old)))", "(JJ old)"),
        ("wh_quantity", "((NP (JJ many)))", "(JJ many)"),
        ("clause_form", "((S (VP (VB Go)) (. !)))", "(S~subjectless (VP"),
        (
            "clause_form",
            "((S (S (VP (VB Go))) (S (NP (NN tea)) (VP (VBZ is)))))",
            "(S~clauses (S~subjectless",
        ),
        ("clause_form", "((S (NP (NN tea)) (VP (VBZ is))))", "(TOP (S (NP"),
    ],
)
def test_splits(split, text, symbol):
    assert symbol in made(text, 0, 1, splits=(split,))


def test_above_words_and_phrases_questions_count_as_statements():
    question = "((SBARQ (WHNP (WDT which) (NN dog)) (SQ (VP (VBD barked))) (. ?)))"
    assert made(question, 0, 2, tag_parents=True, merge_questions=True) == (
        "(TOP (SBARQ^TOP (WHNP^SBARQ (WDT^NP which) (NN^NP dog))"
        " (@SBARQ (SQ^SBARQ (VP^S (VBD^VP barked))) (.^SBARQ ?))))"
    )
    assert "(VP^SQ (VBD^VP barked))" in made(question, 0, 2, tag_parents=True)


@given(trees(), SETTINGS)
def test_there_and_back(tree, settings):
    binarised = settings(tree)
    assert restore_tree(binarised) == tree
    assert binarised.words() == tree.words()
    for node in binarised.preorder():
        assert len(node.children) <= 2
        assert not is_inside(node.label) or len(node.children) == 2


@given(trees(), SETTINGS)
def test_coarse_symbols_are_those_of_the_plain_binarisation(tree, settings):
    plain = Binarisation(0, 1, tag_parents=False, splits=())(tree)
    fine = [coarse_symbol(node.label) for node in settings(tree).preorder()]
    assert fine == [node.label for node in plain.preorder()]
    assert fine == [coarse_symbol(symbol) for symbol in fine]


@given(st.one_of(NAMES, TAGS, st.text(max_size=5)))
def test_any_label_can_be_read_back(label):
    assert node_label(quoted(label) + "~one^X|Y") == label
    assert not is_inside(quoted(label))


def test_a_wide_and_a_deep_tree():
    wide = Tree("TOP", tuple(Tree("NN", (), "a") for _ in range(3000)))
    assert restore_tree(Binarisation()(wide)) == wide
    deep = Tree("NN", (), "a")
    for _ in range(3000):
        deep = Tree("NP", (deep, Tree("CC", (), "and")))
    assert restore_tree(Binarisation(1, 3)(deep)) == deep


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"horizontal": -1}, r"horizontal is -1: give a whole number from 0 to 9"),
        ({"horizontal": True}, "horizontal is True"),
        ({"vertical": 0}, r"vertical is 0: give a whole number from 1 to 9"),
        ({"vertical": 1.5}, "vertical is 1.5"),
        ({"splits": ("verbform",)}, "splits is 'verbform': there are verb_form"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(UserError, match=rf"D633.*{said}"):
        Binarisation(**settings)


def test_all_splits_have_a_case_above():
    default = ("auxiliary", "preposition", "alone", "base", "verb_form")
    assert Binarisation().splits == default
    assert set(SPLITS) == {*default, "frequent_preposition", "clause_form", "auxiliary_do", "wh_quantity"}
    assert [restore_tree(Binarisation()(tree)) for tree in plain_trees()] == plain_trees()
