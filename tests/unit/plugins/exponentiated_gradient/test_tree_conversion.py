"""Trees from dependencies and of derived sentences, the heads of their constituents, and pictures."""

from __future__ import annotations

import importlib.util
import re
import sys
import xml.etree.ElementTree as xml
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from disambig_exponentiated_gradient.parser import (
    TreeLayout,
    columns,
    draw_tree,
    html_foot,
    html_head,
    html_section,
    svg,
)
from disambig_exponentiated_gradient.treebank import (
    Tree,
    format_one_line,
    head_child,
    heads,
    lift_heads,
    penn_punctuation,
    read_dependency_trees,
    read_trees,
    tree_from_dependencies,
)
from examples import fewer_examples
from hypothesis import given, strategies as st
from made_trees import trees

from disambig.errors import UserError

CASES = """
The/DT/2/det dog/NN/3/nsubj barked/VBD/0/root ././3/punct
(TOP (S (NP (DT The) (NN dog)) (VP (VBD barked)) (. .)))
Go/VB/0/root !/./1/punct
(TOP (S (VP (VB Go)) (. !)))
I/PRP/2/nsubj won/VBD/0/root ;/,/5/punct you/PRP/5/nsubj lost/VBD/2/parataxis ././2/punct
(TOP (S (S (NP (PRP I)) (VP (VBD won))) (: ;) (S (NP (PRP you)) (VP (VBD lost))) (. .)))
She/PRP/4/nsubj has/VBZ/4/aux been/VBN/4/aux:pass seen/VBN/0/root in/IN/6/case Rome/NNP/4/obl ././4/punct
(TOP (S (NP (PRP She)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen) (PP (IN in) (NP (NNP Rome)))))) (. .)))
The/DT/2/det film/NN/5/nsubj was/VBD/5/cop very/RB/5/advmod long/JJ/0/root ././5/punct
(TOP (S (NP (DT The) (NN film)) (VP (VBD was) (ADJP (RB very) (JJ long))) (. .)))
He/PRP/4/nsubj is/VBZ/4/cop a/DT/4/det doctor/NN/0/root in/IN/6/case Kent/NNP/4/nmod ././4/punct
(TOP (S (NP (PRP He)) (VP (VBZ is) (NP (NP (DT a) (NN doctor)) (PP (IN in) (NP (NNP Kent))))) (. .)))
Where/WRB/4/advmod did/VBD/4/aux she/PRP/4/nsubj go/VB/0/root ?/./4/punct
(TOP (SBARQ (WHADVP (WRB Where)) (SQ (VBD did) (NP (PRP she)) (VP (VB go))) (. ?)))
Is/VBZ/4/cop the/DT/3/det seat/NN/4/nsubj free/JJ/0/root ?/./4/punct
(TOP (SQ (VBZ Is) (NP (DT the) (NN seat)) (ADJP (JJ free)) (. ?)))
What/WP/0/root is/VBZ/1/cop your/PRP$/4/nmod:poss name/NN/1/nsubj ?/./1/punct
(TOP (SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (PRP$ your) (NN name))) (. ?)))
How/WRB/2/advmod long/RB/5/advmod will/MD/5/aux it/PRP/5/nsubj last/VB/0/root ?/./5/punct
(TOP (SBARQ (WHADVP (WRB How) (RB long)) (SQ (MD will) (NP (PRP it)) (VP (VB last))) (. ?)))
How/WRB/2/advmod long/RB/5/obl:unmarked will/MD/5/aux it/PRP/5/nsubj last/VB/0/root ?/./5/punct
(TOP (SBARQ (WHADVP (WRB How) (RB long)) (SQ (MD will) (NP (PRP it)) (VP (VB last))) (. ?)))
What/WP/0/root would/MD/1/aux be/VB/1/cop the/DT/5/det price/NN/1/nsubj ?/./1/punct
(TOP (SBARQ (WHNP (WP What)) (SQ (MD would) (VP (VB be) (NP (DT the) (NN price)))) (. ?)))
What/WDT/2/det sort/NN/4/obj you/PRP/4/nsubj have/VBP/0/root ?/./4/punct
(TOP (SBARQ (WHNP (WDT What) (NN sort)) (S (NP (PRP you)) (VP (VBP have))) (. ?)))
They/PRP/2/nsubj left/VBD/0/root ,/,/4/punct did/VBD/2/parataxis n't/RB/4/advmod they/PRP/4/nsubj ?/./2/punct
(TOP (S (S (NP (PRP They)) (VP (VBD left))) (, ,) (SQ (VBD did) (RB n't) (NP (PRP they))) (. ?)))
It/PRP/3/expl is/VBZ/3/cop late/JJ/0/root ,/,/5/punct is/VBZ/3/parataxis n't/RB/5/advmod it/PRP/5/expl ?/./3/punct
(TOP (S (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late)))) (, ,) (SQ (VBZ is) (RB n't) (NP (PRP it))) (. ?)))
Is/VBZ/0/root there/EX/1/expl a/DT/4/det way/NN/1/nsubj ?/./1/punct
(TOP (SQ (VBZ Is) (NP (EX there)) (NP (DT a) (NN way)) (. ?)))
Is/VBZ/0/root there/EX/1/expl a/DT/4/det way/NN/1/nsubj
(TOP (SQ (VBZ Is) (NP (EX there)) (NP (DT a) (NN way))))
There/EX/2/expl is/VBZ/0/root a/DT/4/det way/NN/2/nsubj ././2/punct
(TOP (S (NP (EX There)) (VP (VBZ is) (NP (DT a) (NN way))) (. .)))
Are/VBP/0/root you/PRP/1/nsubj really/RB/1/advmod ?/./1/punct
(TOP (SQ (VBP Are) (NP (PRP you)) (ADVP (RB really)) (. ?)))
The/DT/2/det man/NN/6/nsubj who/WP/4/nsubj sings/VBZ/2/acl:relcl next/RB/4/advmod left/VBD/0/root ././6/punct
(TOP (S (NP (NP (DT The) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBZ sings) (ADVP (RB next)))))) (VP (VBD left)) (. .)))
I/PRP/2/nsubj know/VBP/0/root that/IN/5/mark he/PRP/5/nsubj slept/VBD/2/ccomp and/CC/7/cc ate/VBD/5/conj ././2/punct
(TOP (S (NP (PRP I)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP he)) (VP (VP (VBD slept)) (CC and) (VP (VBD ate)))))) (. .)))
They/PRP/2/nsubj thanked/VBD/0/root us/PRP/2/obj for/IN/5/mark coming/VBG/2/advcl ././2/punct
(TOP (S (NP (PRP They)) (VP (VBD thanked) (NP (PRP us)) (PP (IN for) (S (VP (VBG coming))))) (. .)))
He/PRP/2/nsubj wants/VBZ/0/root to/TO/4/mark go/VB/2/xcomp and/CC/6/cc see/VB/4/conj it/PRP/6/obj ././2/punct
(TOP (S (NP (PRP He)) (VP (VBZ wants) (S (VP (TO to) (VP (VP (VB go)) (CC and) (VP (VB see) (NP (PRP it))))))) (. .)))
old/JJ/2/amod cats/NNS/0/root and/CC/4/cc dogs/NNS/2/conj
(TOP (NP (JJ old) (NNS cats) (CC and) (NNS dogs)))
the/DT/2/det cat/NN/0/root and/CC/6/cc a/DT/6/det big/JJ/6/amod dog/NN/2/conj
(TOP (NP (NP (DT the) (NN cat)) (CC and) (NP (DT a) (JJ big) (NN dog))))
"/``/4/punct I/PRP/4/nsubj am/VBP/4/cop ill/JJ/7/ccomp ,/,/4/punct "/''/4/punct said/VBD/0/root Tom/NNP/7/nsubj ././7/punct
(TOP (SINV (`` ``) (S (NP (PRP I)) (VP (VBP am) (ADJP (JJ ill)))) (, ,) ('' '') (VP (VBD said)) (NP (NNP Tom)) (. .)))
The/DT/2/det cat/NN/7/nsubj (/-LRB-/5/punct a/DT/5/det tom/NN/2/appos )/-RRB-/5/punct slept/VBD/0/root ././7/punct
(TOP (S (NP (NP (DT The) (NN cat)) (PRN (-LRB- -LRB-) (NP (DT a) (NN tom)) (-RRB- -RRB-))) (VP (VBD slept)) (. .)))
Tom/NNP/3/nmod:poss 's/POS/1/case sister/NN/4/nsubj turned/VBD/0/root off/RP/4/compound:prt the/DT/7/det light/NN/4/obj
(TOP (S (NP (NP (NNP Tom) (POS 's)) (NN sister)) (VP (VBD turned) (PRT (RP off)) (NP (DT the) (NN light)))))
Wow/UH/0/root !/./1/punct
(TOP (INTJ (UH Wow) (. !)))
Thanks/NNS/0/root !/./1/punct
(TOP (FRAG (NP (NNS Thanks)) (. !)))
How/WRB/2/advmod many/JJ/3/amod people/NNS/4/nsubj came/VBD/0/root ?/./4/punct
(TOP (SBARQ (WHNP (WHADJP (WRB How) (JJ many)) (NNS people)) (SQ (VP (VBD came))) (. ?)))
A/DT/2/det hearing/NN/3/nsubj:pass scheduled/VBN/0/root today/NN/3/obl:unmarked on/IN/7/case the/DT/7/det issue/NN/2/nmod
(TOP (S (NP (DT A) (NN hearing)) (VP (VBN scheduled) (NP (NN today)) (PP (IN on) (NP (DT the) (NN issue))))))
There/EX/2/expl are/VBP/0/root two/CD/4/nummod eggs/NNS/2/nsubj on/IN/7/case the/DT/7/det table/NN/2/obl ././2/punct
(TOP (S (NP (EX There)) (VP (VBP are) (NP (CD two) (NNS eggs)) (PP (IN on) (NP (DT the) (NN table)))) (. .)))
"""  # noqa: E501
"""A line of words with tag, head and relation, and a line of the tree that they make."""


def read(line):
    columns_ = zip(*(word.rsplit("/", 3) for word in line.split()), strict=True)
    words, tags, heads, relations = map(list, columns_)
    return words, tags, [int(head) - 1 for head in heads], relations


LINES = CASES.strip().splitlines()


@pytest.mark.parametrize(("line", "tree"), list(zip(LINES[::2], LINES[1::2], strict=True)))
def test_trees(line, tree):
    assert format_one_line(tree_from_dependencies(*read(line))) == tree


def test_crossing_arcs_and_punctuation():
    words, tags, heads, relations = read(
        "A/DT/2/det hearing/NN/4/nsubj:pass is/VBZ/4/aux:pass scheduled/VBN/0/root "
        "on/IN/7/case the/DT/7/det issue/NN/2/nmod today/NN/4/obl:unmarked ././4/punct"
    )
    assert lift_heads(heads) == [1, 3, 3, -1, 6, 6, 3, 3, 3]
    tree = tree_from_dependencies(words, tags, heads, relations)
    assert tree.words() == words and "(PP (IN on) (NP (DT the) (NN issue)))" in format_one_line(tree)
    words, tags = ["a", ";", "-", "--", "...", "-", ","], ["NN", ",", ",", ":", ",", "HYPH", ","]
    assert penn_punctuation(words, tags) == ["NN", ":", ":", ":", ":", "HYPH", ","]


@pytest.mark.parametrize("seed", range(20))
def test_any_tree_keeps_its_words_in_order(seed):
    rng = np.random.default_rng(seed)
    relations = "nsubj obj conj cc mark case cop aux det amod advmod obl nmod parataxis punct acl:relcl xcomp"
    tags = "NN VB VBD JJ RB IN TO DT CC , . WP UH CD".split()
    for n in range(1, 12):
        order = rng.permutation(n).tolist()
        heads = [-1] * n
        for i in range(1, n):
            heads[order[i]] = order[int(rng.integers(i))]
        words = [f"w{i}" for i in range(n)]
        drawn = [rng.choice(some, n).tolist() for some in (tags, relations.split())]
        tree = tree_from_dependencies(words, drawn[0], heads, drawn[1])
        assert tree.words() == words


@pytest.mark.parametrize("heads", [[-1, -1], [1, 0], [-1, 5], [0, -1]])
def test_heads_that_are_no_tree(heads):
    with pytest.raises(UserError, match="D634"):
        list(read_dependency_trees([(["a", "b"], ["NN", "NN"], heads, ["root", "dep"])]))


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


def test_subjects_follow_the_verbs_of_quotations(derived):
    clause = "(`` ``) (S (NP (PRP It)) (VP (VBD rained))) (, ,) ('' '') (NP (PRP he)) (VP (VBD said)) (. .)"
    bracketed = f"((S {clause}))"
    stated = "((S (NP (DT the) (NN boy)) (VP (VBD slept)) (. .)))"
    question = "((SQ (VBD Did) (NP (PRP it)) (VP (VB rain)) (. ?)))"
    trees = list(read_trees(bracketed + stated + question))
    derived_lines = [format_one_line(tree) for tree in islice(derived.inverted_quotations(trees), 3)]
    after = "('' '') (VP (VBD said)) (NP (DT the) (NN boy)) (. .)))"
    rained = "(S (NP (PRP It)) (VP (VBD rained))"
    assert derived_lines == [
        f"(TOP (SINV (`` ``) {rained}) (, ,) {after}",
        f"(TOP (SINV (`` ``) {rained} (. !)) {after}",
        f"(TOP (SINV (`` ``) (SQ (VBD Did) (NP (PRP it)) (VP (VB rain)) (. ?)) {after}",
    ]
    assert list(derived.inverted_quotations([statement("(NP (PRP It))", "(VP (VBD rained))")])) == []


HEADS = """
S: NP *VP .
S: PP , NP *VP .
S: S , NP *VP .
S: *S CC S
VP: *MD RB VP
VP: *TO VP
VP: *VBD VP CC VP
VP: *VP CC VP
NP: DT JJ *NN
NP: DT NN *NN
NP: *NP PP
NP: NNP NNP *POS
NP: *NN CC NN
NP: *NP , NP CC NP
NP: DT *CD
NP: *$ CD
NP: DT *JJ
NP: *DT
NML: NN HYPH *NN
PP: *IN NP
PP: ADVP *IN NP
PP: VBG *IN NP
SBAR: *WHNP S
SBAR: *IN S
ADJP: RB *JJ
ADJP: NP *JJ
ADVP: RB *RB
QP: *IN CD NNS
WHNP: *WDT NN
PRN: *-LRB- NP -RRB-
FRAG: NP : *NP
CAPTION: LST *NP .
TOP: *S .
UNKNOWN: *A B C
"""
"""Constituents and their children, the head with a star."""


@pytest.mark.parametrize("line", HEADS.strip().splitlines())
def test_head_child(line):
    label, *children = line.split()
    (head,) = (i for i, child in enumerate(children) if child.startswith("*"))
    children[head] = children[head][1:]
    assert head_child(label[:-1], children) == head


def test_heads_of_deep_trees():
    tree = Tree("NN", (), "end")
    for _ in range(5000):
        tree = Tree("NP", (tree,))
    assert heads(tree).word == "end"


@fewer_examples
@given(trees())
def test_the_head_is_that_of_the_head_child(tree):
    words = tree.words()
    open_ = [heads(tree)]
    assert open_[0].tree is tree
    while open_:
        node = open_.pop()
        assert words[node.place] == node.word
        if node.tree.word is not None:
            assert node.head == -1
            continue
        labels = [child.label for child in node.tree.children]
        assert 0 <= head_child(node.tree.label, labels) == node.head < len(labels)
        below = node.children[node.head]
        assert (below.place, below.word, below.tag) == (node.place, node.word, node.tag)
        open_ += node.children


SMALL_TREE = next(read_trees("(S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (PRP me))) (. .))")).children[0]
DRAWN_LABELS = st.sampled_from(["NP", "VP", "S", "A-VERY-LONG-LABEL", "X"])
DRAWN_WORDS = st.sampled_from(["a", "word", "\u732b\u304c", "e\u0301te\u0301", "incomprehensibilities"])
DRAWN_LEAVES = st.builds(lambda tag, word: Tree(tag, (), word), DRAWN_LABELS, DRAWN_WORDS)
DRAWN_TREES = st.recursive(
    DRAWN_LEAVES,
    lambda below: st.builds(Tree, DRAWN_LABELS, st.lists(below, min_size=1, max_size=4).map(tuple)),
    max_leaves=12,
)


def test_small_and_deep_trees_are_drawn():
    assert draw_tree(SMALL_TREE, width=40) == (
        "            S\n"
        "    ┌───────┴─┬─────┐\n"
        "    │        VP     │\n"
        "    │      ┌──┴─┐   │\n"
        "   NP      │   NP   │\n"
        " ┌──┴─┐    │    │   │\n"
        "DT   NN   VBD  PRP  .\n"
        "The  cat  saw  me   .\n"
    )
    assert draw_tree(SMALL_TREE, width=10) == (
        "S\n├─ NP\n│  ├─ DT  The\n│  └─ NN  cat\n├─ VP\n│  ├─ VBD  saw\n│  └─ NP\n│     └─ PRP  me\n└─ .  .\n"
    )
    tree = Tree("NN", (), "end")
    for _ in range(400):
        tree = Tree("X", (tree,))
    assert draw_tree(tree).count("X") == 400
    assert svg(tree).count(">X<") == 400


@fewer_examples
@given(DRAWN_TREES)
def test_labels_of_a_tree_do_not_overlap(tree):
    layout = TreeLayout.from_tree(tree, lambda node: float(max(len(node.label), len(node.word or ""))), 2.0)
    nodes = layout.nodes
    for level in set(layout.levels):
        row = [i for i in range(len(nodes.nodes)) if layout.levels[i] == level]
        spans = sorted((layout.centres[i] - len(nodes.nodes[i].label) / 2, nodes.nodes[i].label) for i in row)
        for (left, label), (right, _) in pairwise(spans):
            assert left + len(label) < right
    for i, parent in enumerate(nodes.parents):
        assert parent < 0 or layout.levels[parent] > layout.levels[i]
        assert 0 <= layout.centres[i] <= layout.width


@fewer_examples
@given(DRAWN_TREES)
def test_every_label_and_word_is_drawn(tree):
    wide, narrow = draw_tree(tree, width=10_000), draw_tree(tree, width=20)
    for text in (wide, narrow):
        for node in tree.preorder():
            assert node.label in text and (node.word or "") in text
    assert all(columns(line) <= 10_000 for line in wide.splitlines())
    last = wide.splitlines()[-1] if tree.children else None
    assert last is None or last.split() == tree.words()


@fewer_examples
@given(DRAWN_TREES)
def test_svg_is_well_formed_and_has_every_word(tree):
    root = xml.fromstring(svg(tree))
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    assert [element.text for element in texts if element.get("class") == "word"] == tree.words()


HOSTILE = ["<script>alert(1)</script>", '"onload="x', "&amp;", "a\x00b\x1b[31m"]
HOSTILE += ["\u202eevil", "'", "]]>", "\ud800"]


@pytest.mark.parametrize("word", HOSTILE)
def test_nothing_in_a_text_becomes_markup(word):
    tree = Tree("<i>", (Tree("&", (), word), Tree("NN", (), "x")))
    section = html_section(1, word, [tree], words=[word, "x"], notes=[word])
    made = html_head(f"About {word}") + section + html_foot()
    made.encode("utf8")
    body = made.partition("<body>")[2]
    assert "<script" not in body and "<i>" not in body and 'onload="' not in body
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", made)
    assert not re.search(r"""(?:src|href)=|@import|url\(""", made), "nothing is loaded from elsewhere"
    assert "default-src 'none'" in made and "prefers-color-scheme:dark" in made
    text = draw_tree(tree, words=[word, "x"])
    assert "\x1b" not in text and "\x00" not in text and "\u202e" not in text and "\ud800" not in text
