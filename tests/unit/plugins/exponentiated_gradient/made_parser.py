"""A parser of a few trees of our own, for tests."""

from __future__ import annotations

from functools import cache

from disambig_exponentiated_gradient.grammar import TreebankGrammar
from disambig_exponentiated_gradient.parser import Parser
from disambig_exponentiated_gradient.treebank import read_trees

TREES = """
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
MANY = TREES * 120
"""So many that each word has the tags that it has here, and no others."""
TEXT = "The cat saw the dog with a bell. She can't see it (well)."


@cache
def parser() -> Parser:
    return Parser(TreebankGrammar.from_trees(list(read_trees(MANY))))
