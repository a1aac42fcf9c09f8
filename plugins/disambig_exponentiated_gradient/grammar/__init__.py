"""Grammars of treebanks: rules, words, and what a chart is built with."""
