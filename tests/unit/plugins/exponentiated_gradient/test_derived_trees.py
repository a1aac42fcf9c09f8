"""Trees of tag questions and inverted quotations that the build of the English parser derives."""

from __future__ import annotations

import importlib.util
import sys
from itertools import islice
from pathlib import Path

import pytest
from disambig_exponentiated_gradient.treebank import format_one_line, read_trees

SOURCE = Path(__file__).parents[4] / "corpora" / "disambig_en_parser" / "derived_trees.py"


@pytest.fixture(scope="module")
def derived():
    spec = importlib.util.spec_from_file_location("derived_trees", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["derived_trees"] = module
    spec.loader.exec_module(module)
    return module


def statement(subject, phrase):
    (tree,) = read_trees(f"((S {subject} {phrase} (. .)))")
    return tree


@pytest.mark.parametrize(
    ("subject", "phrase", "tag"),
    [
        ("(NP (PRP You))", "(VP (VBP 've) (VP (VBN met) (NP (PRP her))))", "have n't you ?"),
        ("(NP (DT The) (NN door))", "(VP (VBZ squeaks))", "does n't it ?"),
        ("(NP (NNS Cats))", "(VP (VBD slept))", "did n't they ?"),
        ("(NP (PRP She))", "(VP (MD ca) (RB n't) (VP (VB swim)))", "can she ?"),
        ("(NP (PRP I))", "(VP (VBP 'm) (ADJP (JJ late)))", "are n't I ?"),
        ("(NP (EX There))", "(VP (VBZ is) (NP (NN time)))", "is n't there ?"),
        ("(NP (PRP He))", "(VP (VBZ 's) (VP (VBN been) (ADVP (RB away))))", "has n't he ?"),
        ("(NP (PRP We))", "(VP (VBP have) (NP (DT a) (NN car)))", "do n't we ?"),
        ("(NP (NN Nobody))", "(VP (VBD called))", "did they ?"),
        ("", "(VP (VB Open) (NP (DT the) (NN door)))", "will you ?"),
        ("", "(VP (VB Let) (NP (PRP 's)) (S (VP (VB go))))", "shall we ?"),
    ],
)
def test_a_statement_gets_the_tag_that_english_wants(derived, subject, phrase, tag):
    tree = statement(subject, phrase)
    question = derived.tag_question(tree)
    assert " ".join(question.words()) == " ".join([*tree.words()[:-1], ",", tag])
    assert question.children[0].label == "S"
    assert [child.label for child in question.children[0].children] == ["S", ",", "SQ", "."]


@pytest.mark.parametrize(
    ("subject", "phrase"),
    [
        ("(NP (NP (NN tea)) (CC and) (NP (NN milk)))", "(VP (VBZ helps))"),
        ("(SBAR (WHNP (WP What)) (S (VP (VBZ matters))))", "(VP (VBZ is) (NP (NN time)))"),
        ("", "(VP (TO to) (VP (VB go)))"),
    ],
)
def test_other_sentences_get_no_tag(derived, subject, phrase):
    assert derived.tag_question(statement(subject, phrase)) is None


def test_subjects_stand_behind_the_verbs_of_quotations(derived):
    clause = "(`` ``) (S (NP (PRP It)) (VP (VBD rained))) (, ,) ('' '') (NP (PRP he)) (VP (VBD said)) (. .)"
    bracketed = f"((S {clause}))"
    stated = "((S (NP (DT the) (NN boy)) (VP (VBD slept)) (. .)))"
    asked = "((SQ (VBD Did) (NP (PRP it)) (VP (VB rain)) (. ?)))"
    trees = list(read_trees(bracketed + stated + asked))
    derived_lines = [format_one_line(tree) for tree in islice(derived.inverted_quotations(trees), 3)]
    after = "('' '') (VP (VBD said)) (NP (DT the) (NN boy)) (. .)))"
    rained = "(S (NP (PRP It)) (VP (VBD rained))"
    assert derived_lines == [
        f"(TOP (SINV (`` ``) {rained}) (, ,) {after}",
        f"(TOP (SINV (`` ``) {rained} (. !)) {after}",
        f"(TOP (SINV (`` ``) (SQ (VBD Did) (NP (PRP it)) (VP (VB rain)) (. ?)) {after}",
    ]


def test_without_quotations_none_are_derived(derived):
    assert list(derived.inverted_quotations([statement("(NP (PRP It))", "(VP (VBD rained))")])) == []
