"""Trees for tests: a few fixed ones, a strategy for random ones, and a small parser."""

from __future__ import annotations

from functools import cache

from disambig_exponentiated_gradient.grammar import TreebankGrammar
from disambig_exponentiated_gradient.parser import Parser
from disambig_exponentiated_gradient.treebank import TOP, Tree, read_trees
from hypothesis import strategies as st

PLAIN = """
( (S (NP-SBJ (DT the) (NN cat)) (VP (VBZ sleeps)) (. .)) )
( (S (NP-SBJ (DT the) (JJ old) (JJ grey) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .)) )
( (S (NP-SBJ (NNS birds)) (VP (VBP sing) (PP-LOC (IN in) (NP (DT the) (NN garden)))) (. .)) )
( (S (NP-SBJ (PRP we)) (VP (VBP know) (SBAR (IN that) (S (NP-SBJ (NNS birds)) (VP (VBP sleep)))))) )
( (S (NP-SBJ (NP (DT the) (NN dog)) (PP (IN of) (NP (NN grandmother)))) (VP (VBZ is) (ADJP (JJ old))) (. .)) )
( (NP (NP (DT the) (NN garden)) (PP (IN of) (NP (PRP$ my) (NN friend)))) )
( (S (NP-SBJ (NNP Anna)) (VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN bird)) (ADVP (RB often))) (. .)) )
( (S (NP-SBJ (DT the) (NN cat)) (VP (VBZ sees) (NP (NP (NNS birds))
   (PP (IN in) (NP (DT a) (NN tree))))) (. .)) )
"""


def plain_trees():
    """Return the fixed trees."""
    return list(read_trees(PLAIN))


def parse_tree(text):
    """Return the only tree in a text."""
    (tree,) = read_trees(text)
    return tree


NAMES = st.sampled_from("NP VP S X @A a^b c~d e|f g%h %40 _ ADVP PRT TOP".split())
WORDS = st.sampled_from(["cat", "sleeps", "-LRB-", "3", "New", "co-op", "straße", "日本"])
TAGS = st.sampled_from(["NN", "VB", ",", ".", "CC", "POS", "IN", "T^A", "@T"])


def trees(max_leaves=12):
    """Return a strategy of trees in a bracket `TOP`, with strange labels, chains and wide nodes."""
    leaves = st.builds(lambda tag, word: Tree(tag, (), word), TAGS, WORDS)

    def above(below):
        return st.builds(Tree, NAMES, st.lists(below, min_size=1, max_size=6).map(tuple))

    nodes = st.recursive(leaves, above, max_leaves=max_leaves)
    return st.lists(nodes, min_size=1, max_size=3).map(lambda children: Tree(TOP, tuple(children)))


PARSED = """
(TOP (S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))) (. .)))
(TOP (S (NP (DT A) (NN dog))
  (VP (VBD saw) (NP (NP (DT the) (NN cat)) (PP (IN with) (NP (DT a) (NN bell))))) (. .)))
(TOP (S (NP (DT The) (NN dog))
  (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (DT a) (NN bell)))) (. .)))
(TOP (S (NP (DT A) (NN cat))
  (VP (VBD saw) (NP (DT the) (NN dog)) (PP (IN with) (NP (DT a) (NN bell)))) (. .)))
(TOP (S (NP (PRP She)) (VP (MD ca) (RB n't) (VP (VB see) (NP (DT the) (NN dog)))) (. .)))
(TOP (S (NP (PRP She)) (VP (MD ca) (RB n't)
  (VP (VB see) (NP (PRP it)) (PRN (-LRB- -LRB-) (ADVP (RB well)) (-RRB- -RRB-)))) (. .)))
(TOP (S (NP (PRP It)) (VP (VBD slept)) (. .)))
(TOP (S (`` ``) (NP (DT The) (NN bell)) ('' '') (VP (VBD rang)) (. .)))
(TOP (NP (DT A) (JJ well-known) (NN cat)))
(TOP (NP (DT A) (NN cat)) (. .))
"""
MANY = PARSED * 120
"""So many that each word has the tags that it has here, and no others."""
TEXT = "The cat saw the dog with a bell. She can't see it (well)."


@cache
def parser():
    return Parser(TreebankGrammar.from_trees(list(read_trees(MANY))))
