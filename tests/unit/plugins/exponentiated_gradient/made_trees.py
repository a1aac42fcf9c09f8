"""Trees for tests: a few written for them, and made ones."""

from __future__ import annotations

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
    """Return the trees written here."""
    return list(read_trees(PLAIN))


def tree_of(text):
    """Return the one tree of a text."""
    (tree,) = read_trees(text)
    return tree


NAMES = st.sampled_from(
    ["NP", "VP", "S", "X", "@A", "a^b", "c~d", "e|f", "g%h", "%40", "_", "ADVP", "PRT", "TOP"]
)
WORDS = st.sampled_from(["cat", "sleeps", "-LRB-", "3", "New", "co-op", "straße", "日本"])
TAGS = st.sampled_from(["NN", "VB", ",", ".", "CC", "POS", "IN", "T^A", "@T"])


def trees(max_leaves=12):
    """Return a strategy of trees in a bracket `TOP`, with strange labels, chains and wide nodes."""
    leaves = st.builds(lambda tag, word: Tree(tag, (), word), TAGS, WORDS)
    nodes = st.recursive(
        leaves,
        lambda below: st.builds(
            lambda name, children: Tree(name, tuple(children)), NAMES, st.lists(below, min_size=1, max_size=6)
        ),
        max_leaves=max_leaves,
    )
    return st.lists(nodes, min_size=1, max_size=3).map(lambda children: Tree(TOP, tuple(children)))
