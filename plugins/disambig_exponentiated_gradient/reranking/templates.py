"""The kinds of features of a tree, by name; kernels know them by their places here.

Collins, Discriminative reranking for natural language parsing (ICML 2000), section 5; those marked CJ are
after Charniak and Johnson, Coarse-to-fine n-best parsing and MaxEnt discriminative reranking (ACL 2005).
A *closed* head is a word of a closed class: such words stand beside the labels they are the heads of.
"""

from __future__ import annotations

TEMPLATES = (
    "rule",
    "rule, parent",
    "rule, closed heads",
    "two-level rule",
    "bigram",
    "bigram, parent",
    "bigram, closed heads",
    "bigram, head words",
    "bigram, first head word",
    "bigram, second head word",
    "two-level bigram",
    "trigram",
    "trigram, closed heads",
    "head and modifier",
    "modifier, head words",
    "modifier, head word",
    "modifier, own word",
    "modifier, tags",
    "modifier, distance",
    "attached",
    "attached, head word",
    "attached, object",
    "attached, head word and object",
    "heavy",  # CJ
    "neighbours",  # CJ
    "first word",
    "last word",
    "word before",
    "word behind",
    "tags at the edges",
    "right branch",  # CJ
    "alike",  # CJ
    "lengths",  # CJ
    "word and parent",  # CJ
    "word and two above",  # CJ
    "word and its largest phrase",  # CJ
    "spine",  # CJ
    "spine, word",  # CJ
    "two words",  # CJ
    "two words, first",  # CJ
    "two words, second",  # CJ
    "heads of two levels",
)
"""In the order of `TEMPLATE`'s numbers."""
