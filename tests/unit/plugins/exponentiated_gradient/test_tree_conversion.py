"""Dependency trees as phrase structure: what linguists would draw, gaps, punctuation, wrong heads."""

from __future__ import annotations

import pytest
from disambig_exponentiated_gradient.treebank import (
    format_one_line,
    lift_heads,
    penn_punctuation,
    read_dependency_trees,
    tree_from_dependencies,
)

from disambig.errors import UserError

CASES = (
    (
        "The/DT/2/det dog/NN/3/nsubj barked/VBD/0/root ././3/punct",
        "(TOP (S (NP (DT The) (NN dog)) (VP (VBD barked)) (. .)))",
    ),
    (
        "Go/VB/0/root !/./1/punct",
        "(TOP (S (VP (VB Go)) (. !)))",
    ),
    (
        ("I/PRP/2/nsubj won/VBD/0/root ;/,/5/punct you/PRP/5/nsubj lost/VBD/2/parataxis ././2/punct"),
        ("(TOP (S (S (NP (PRP I)) (VP (VBD won))) (: ;) (S (NP (PRP you)) (VP (VBD lost))) (. .)))"),
    ),
    (
        (
            "She/PRP/4/nsubj has/VBZ/4/aux been/VBN/4/aux:pass seen/VBN/0/root in/IN/6/case "
            "Rome/NNP/4/obl ././4/punct"
        ),
        (
            "(TOP (S (NP (PRP She)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen) (PP (IN in) (NP "
            "(NNP Rome)))))) (. .)))"
        ),
    ),
    (
        "The/DT/2/det film/NN/5/nsubj was/VBD/5/cop very/RB/5/advmod long/JJ/0/root ././5/punct",
        "(TOP (S (NP (DT The) (NN film)) (VP (VBD was) (ADJP (RB very) (JJ long))) (. .)))",
    ),
    (
        ("He/PRP/4/nsubj is/VBZ/4/cop a/DT/4/det doctor/NN/0/root in/IN/6/case Kent/NNP/4/nmod ././4/punct"),
        (
            "(TOP (S (NP (PRP He)) (VP (VBZ is) (NP (NP (DT a) (NN doctor)) (PP (IN in) (NP (NNP "
            "Kent))))) (. .)))"
        ),
    ),
    (
        "Where/WRB/4/advmod did/VBD/4/aux she/PRP/4/nsubj go/VB/0/root ?/./4/punct",
        "(TOP (SBARQ (WHADVP (WRB Where)) (SQ (VBD did) (NP (PRP she)) (VP (VB go))) (. ?)))",
    ),
    (
        "Is/VBZ/4/cop the/DT/3/det seat/NN/4/nsubj free/JJ/0/root ?/./4/punct",
        "(TOP (SQ (VBZ Is) (NP (DT the) (NN seat)) (ADJP (JJ free)) (. ?)))",
    ),
    (
        "What/WP/0/root is/VBZ/1/cop your/PRP$/4/nmod:poss name/NN/1/nsubj ?/./1/punct",
        "(TOP (SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (PRP$ your) (NN name))) (. ?)))",
    ),
    (
        "How/WRB/2/advmod long/RB/5/advmod will/MD/5/aux it/PRP/5/nsubj last/VB/0/root ?/./5/punct",
        ("(TOP (SBARQ (WHADVP (WRB How) (RB long)) (SQ (MD will) (NP (PRP it)) (VP (VB last))) (. ?)))"),
    ),
    (
        "How/WRB/2/advmod long/RB/5/obl:unmarked will/MD/5/aux it/PRP/5/nsubj last/VB/0/root ?/./5/punct",
        ("(TOP (SBARQ (WHADVP (WRB How) (RB long)) (SQ (MD will) (NP (PRP it)) (VP (VB last))) (. ?)))"),
    ),
    (
        "What/WP/0/root would/MD/1/aux be/VB/1/cop the/DT/5/det price/NN/1/nsubj ?/./1/punct",
        ("(TOP (SBARQ (WHNP (WP What)) (SQ (MD would) (VP (VB be) (NP (DT the) (NN price)))) (. ?)))"),
    ),
    (
        "What/WDT/2/det sort/NN/4/obj you/PRP/4/nsubj have/VBP/0/root ?/./4/punct",
        "(TOP (SBARQ (WHNP (WDT What) (NN sort)) (S (NP (PRP you)) (VP (VBP have))) (. ?)))",
    ),
    (
        (
            "They/PRP/2/nsubj left/VBD/0/root ,/,/4/punct did/VBD/2/parataxis n't/RB/4/advmod "
            "they/PRP/4/nsubj ?/./2/punct"
        ),
        ("(TOP (S (S (NP (PRP They)) (VP (VBD left))) (, ,) (SQ (VBD did) (RB n't) (NP (PRP they))) (. ?)))"),
    ),
    (
        (
            "It/PRP/3/expl is/VBZ/3/cop late/JJ/0/root ,/,/5/punct is/VBZ/3/parataxis n't/RB/5/advmod "
            "it/PRP/5/expl ?/./3/punct"
        ),
        (
            "(TOP (S (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late)))) (, ,) (SQ (VBZ is) (RB n't) (NP (PRP "
            "it))) (. ?)))"
        ),
    ),
    (
        "Is/VBZ/0/root there/EX/1/expl a/DT/4/det way/NN/1/nsubj ?/./1/punct",
        "(TOP (SQ (VBZ Is) (NP (EX there)) (NP (DT a) (NN way)) (. ?)))",
    ),
    (
        "Is/VBZ/0/root there/EX/1/expl a/DT/4/det way/NN/1/nsubj",
        "(TOP (SQ (VBZ Is) (NP (EX there)) (NP (DT a) (NN way))))",
    ),
    (
        "There/EX/2/expl is/VBZ/0/root a/DT/4/det way/NN/2/nsubj ././2/punct",
        "(TOP (S (NP (EX There)) (VP (VBZ is) (NP (DT a) (NN way))) (. .)))",
    ),
    (
        "Are/VBP/0/root you/PRP/1/nsubj really/RB/1/advmod ?/./1/punct",
        "(TOP (SQ (VBP Are) (NP (PRP you)) (ADVP (RB really)) (. ?)))",
    ),
    (
        (
            "The/DT/2/det man/NN/6/nsubj who/WP/4/nsubj sings/VBZ/2/acl:relcl next/RB/4/advmod "
            "left/VBD/0/root ././6/punct"
        ),
        (
            "(TOP (S (NP (NP (DT The) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBZ sings) (ADVP "
            "(RB next)))))) (VP (VBD left)) (. .)))"
        ),
    ),
    (
        (
            "I/PRP/2/nsubj know/VBP/0/root that/IN/5/mark he/PRP/5/nsubj slept/VBD/2/ccomp "
            "and/CC/7/cc ate/VBD/5/conj ././2/punct"
        ),
        (
            "(TOP (S (NP (PRP I)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP he)) (VP (VP (VBD "
            "slept)) (CC and) (VP (VBD ate)))))) (. .)))"
        ),
    ),
    (
        ("They/PRP/2/nsubj thanked/VBD/0/root us/PRP/2/obj for/IN/5/mark coming/VBG/2/advcl ././2/punct"),
        (
            "(TOP (S (NP (PRP They)) (VP (VBD thanked) (NP (PRP us)) (PP (IN for) (S (VP (VBG "
            "coming))))) (. .)))"
        ),
    ),
    (
        (
            "He/PRP/2/nsubj wants/VBZ/0/root to/TO/4/mark go/VB/2/xcomp and/CC/6/cc "
            "see/VB/4/conj it/PRP/6/obj ././2/punct"
        ),
        (
            "(TOP (S (NP (PRP He)) (VP (VBZ wants) (S (VP (TO to) (VP (VP (VB go)) (CC and) (VP "
            "(VB see) (NP (PRP it))))))) (. .)))"
        ),
    ),
    (
        "old/JJ/2/amod cats/NNS/0/root and/CC/4/cc dogs/NNS/2/conj",
        "(TOP (NP (JJ old) (NNS cats) (CC and) (NNS dogs)))",
    ),
    (
        "the/DT/2/det cat/NN/0/root and/CC/6/cc a/DT/6/det big/JJ/6/amod dog/NN/2/conj",
        "(TOP (NP (NP (DT the) (NN cat)) (CC and) (NP (DT a) (JJ big) (NN dog))))",
    ),
    (
        (
            "\"/``/4/punct I/PRP/4/nsubj am/VBP/4/cop ill/JJ/7/ccomp ,/,/4/punct \"/''/4/punct "
            "said/VBD/0/root Tom/NNP/7/nsubj ././7/punct"
        ),
        (
            "(TOP (SINV (`` ``) (S (NP (PRP I)) (VP (VBP am) (ADJP (JJ ill)))) (, ,) ('' '') (VP "
            "(VBD said)) (NP (NNP Tom)) (. .)))"
        ),
    ),
    (
        (
            "The/DT/2/det cat/NN/7/nsubj (/-LRB-/5/punct a/DT/5/det tom/NN/2/appos "
            ")/-RRB-/5/punct slept/VBD/0/root ././7/punct"
        ),
        (
            "(TOP (S (NP (NP (DT The) (NN cat)) (PRN (-LRB- -LRB-) (NP (DT a) (NN tom)) (-RRB- "
            "-RRB-))) (VP (VBD slept)) (. .)))"
        ),
    ),
    (
        (
            "Tom/NNP/3/nmod:poss 's/POS/1/case sister/NN/4/nsubj turned/VBD/0/root "
            "off/RP/4/compound:prt the/DT/7/det light/NN/4/obj"
        ),
        (
            "(TOP (S (NP (NP (NNP Tom) (POS 's)) (NN sister)) (VP (VBD turned) (PRT (RP off)) "
            "(NP (DT the) (NN light)))))"
        ),
    ),
    (
        "Wow/UH/0/root !/./1/punct",
        "(TOP (INTJ (UH Wow) (. !)))",
    ),
    (
        "Thanks/NNS/0/root !/./1/punct",
        "(TOP (FRAG (NP (NNS Thanks)) (. !)))",
    ),
    (
        "How/WRB/2/advmod many/JJ/3/amod people/NNS/4/nsubj came/VBD/0/root ?/./4/punct",
        ("(TOP (SBARQ (WHNP (WHADJP (WRB How) (JJ many)) (NNS people)) (SQ (VP (VBD came))) (. ?)))"),
    ),
    (
        (
            "A/DT/2/det hearing/NN/3/nsubj:pass scheduled/VBN/0/root today/NN/3/obl:unmarked "
            "on/IN/7/case the/DT/7/det issue/NN/2/nmod"
        ),
        (
            "(TOP (S (NP (DT A) (NN hearing)) (VP (VBN scheduled) (NP (NN today)) (PP (IN on) "
            "(NP (DT the) (NN issue))))))"
        ),
    ),
    (
        (
            "There/EX/2/expl are/VBP/0/root two/CD/4/nummod eggs/NNS/2/nsubj on/IN/7/case "
            "the/DT/7/det table/NN/2/obl ././2/punct"
        ),
        (
            "(TOP (S (NP (EX There)) (VP (VBP are) (NP (CD two) (NNS eggs)) (PP (IN on) (NP (DT "
            "the) (NN table)))) (. .)))"
        ),
    ),
)
"""Words with tag, head and relation; the tree."""


def read(line):
    words, tags, heads, relations = map(
        list, zip(*(word.rsplit("/", 3) for word in line.split()), strict=True)
    )
    return words, tags, [int(head) - 1 for head in heads], relations


@pytest.mark.parametrize(("line", "tree"), CASES)
def test_trees(line, tree):
    assert format_one_line(tree_from_dependencies(*read(line))) == tree


def test_crossing_arcs_are_lifted_and_no_word_is_lost():
    words, tags, heads, relations = read(
        "A/DT/2/det hearing/NN/4/nsubj:pass is/VBZ/4/aux:pass scheduled/VBN/0/root "
        "on/IN/7/case the/DT/7/det issue/NN/2/nmod today/NN/4/obl:unmarked ././4/punct"
    )
    assert lift_heads(heads) == [1, 3, 3, -1, 6, 6, 3, 3, 3]
    tree = tree_from_dependencies(words, tags, heads, relations)
    assert tree.words() == words and "(PP (IN on) (NP (DT the) (NN issue)))" in format_one_line(tree)


@pytest.mark.parametrize("seed", range(20))
def test_any_tree_keeps_its_words_in_order(seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    relations = (
        "nsubj obj conj cc mark case cop aux det amod advmod obl nmod parataxis punct acl:relcl xcomp".split()
    )
    tags = "NN VB VBD JJ RB IN TO DT CC , . WP UH CD".split()
    for n in range(1, 12):
        order = rng.permutation(n).tolist()
        heads = [-1] * n
        for i in range(1, n):
            heads[order[i]] = order[int(rng.integers(i))]
        words = [f"w{i}" for i in range(n)]
        tree = tree_from_dependencies(
            words, rng.choice(tags, n).tolist(), heads, rng.choice(relations, n).tolist()
        )
        assert tree.words() == words


def test_semicolons_dashes_and_ellipses_are_colons():
    words, tags = ["a", ";", "-", "--", "...", "-", ","], ["NN", ",", ",", ":", ",", "HYPH", ","]
    assert penn_punctuation(words, tags) == ["NN", ":", ":", ":", ":", "HYPH", ","]


@pytest.mark.parametrize("heads", [[-1, -1], [1, 0], [-1, 5], [0, -1]])
def test_heads_that_are_no_tree(heads):
    with pytest.raises(UserError, match="D634"):
        list(read_dependency_trees([(["a", "b"], ["NN", "NN"], heads, ["root", "dep"])]))
