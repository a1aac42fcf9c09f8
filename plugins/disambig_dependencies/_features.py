"""The features of a parser state, and the rows of a state.

Both implementations use them: the compiled functions, and the NumPy version for short texts.
"""

from __future__ import annotations

import re

import numpy as np

STACK, HEAD, LABEL, LEFT, LEFT2, RIGHT, RIGHT2, N_LEFT, N_RIGHT, SET_LEFT, SET_RIGHT = range(11)
N_ROWS = 11

COLUMNS = (
    "none s0w s0t s0c s0d s1w s1t s1c s1d b0w b0t b0c b0d b1w b1t b1c b2w b2t s2w s2t s0wt s1wt b0wt "
    "s0lw s0rw s1lw s1rw b0lw s0lt s0rt s1lt s1rt b0lt s0l2t s0r2t b0l2t s1l2t s1r2t "
    "s0ll s0rl s1ll s1rl b0ll s0nl s0nr s1nl s1nr b0nl s0sl s0sr s1sl s1sr b0sl "
    "near across beforet aftert last"
).split()
"""Values of a state, from which features are made.

``s0``, ``s1`` and ``s2`` are the words at the top of the stack, ``b0``, ``b1`` and ``b2`` the first words
of the buffer. ``l``, ``r``, ``l2`` and ``r2`` after them are the last and the last but one child on the left
and on the right. The letters at the end are the word, the tag, the two classes (``c``, ``d``), word and tag
(``wt``) or the label (``l``); ``nl``, ``nr``, ``sl`` and ``sr`` are the numbers of children and the sets of
their labels. ``near`` and ``across`` are distances, ``beforet`` and ``aftert`` the tags of the words beside
``s0``, ``last`` is the last word of the sentence.
"""

N_DISTANT = 5
"""Number of columns at the end that have no row in `SOURCES`: distances, tags beside ``s0``, last word."""
WORD_AND_TAG = 4
"""Number of the kind of value that combines word and tag; 0 to 3 are the word, the tag and two classes."""
# a word, and either a child of it or itself with the kind of value, or a number or set of its children
_NAME = re.compile("([sb][012])(?:(l2|r2|l|r)?(wt|[wtcdl])|([ns][lr]))")
_CHILDREN = {"l": LEFT, "r": RIGHT, "l2": LEFT2, "r2": RIGHT2}
_KINDS = {kind: i for i, kind in enumerate(("w", "t", "c", "d", "wt"))}
_ROWS = {"l": LABEL, "nl": N_LEFT, "nr": N_RIGHT, "sl": SET_LEFT, "sr": SET_RIGHT}


def _source(name: str) -> tuple[int, int, int]:
    """Return the row of `SOURCES` for the value with a name."""
    match = _NAME.fullmatch(name)
    assert match is not None
    word, child, kind, of_word = match.groups()
    what = _KINDS[kind] if kind in _KINDS else -_ROWS[kind or of_word]
    return ("s0", "s1", "s2", "b0", "b1", "b2").index(word), _CHILDREN.get(child, -1), what


SOURCES = np.array([_source(name) for name in COLUMNS[1:-N_DISTANT]])
"""Sources of the values, shape ``(52, 3)``; the first value and the last `N_DISTANT` have none.

Each row has three numbers: the index of a word among s0, s1, s2, b0, b1 and b2; the row of the state that
has its child, or -1 for the word itself; and the kind of value, or minus the number of a row of the state.
"""

_TEMPLATES = """
    s0w s0t; s0w; s0t; s1w s1t; s1w; s1t; b0w b0t; b0w; b0t; b1w b1t; b1w; b1t; b2w b2t; b2t; s2w s2t;
    s2t; s0c; s1c; b0c; b1c;
    s0wt b0wt; s0wt b0t; s0t b0wt; s0w b0w; s0t b0t; s0w b0t; s0t b0w; b0t b1t; b0w b1t; b0t b1w;
    s0c b0c; s0c b0t; s0t b0c; s0d b0d;
    s1wt s0t; s1t s0wt; s1w s0w; s1t s0t; s1w s0t; s1t s0w; s1wt s0wt; s1c s0c; s1c s0t; s1t s0c;
    s1d s0d;
    s1t b0t; s1w b0w; s1w b0t; s1t b0w; s1c b0c;
    s0t b0t b1t; b0t b1t b2t; s1t s0t b0t; s2t s1t s0t; s0t s0lt b0t; s0t s0rt b0t; s0t b0t b0lt;
    s1t s1lt s0t; s1t s1rt s0t; s1t s0t s0lt; s1t s0t s0rt; s1w s0t b0t; s1t s0w b0t; s1t s0t b0w;
    s1c s0c b0t; s1wt s0t s0lw; s0w s0ll s0rl; s0t s0ll s0rl; s1w s1ll s1rl; s1t s1ll s1rl; b0w b0ll;
    b0t b0ll; s0t s0lw s0ll; s0t s0rw s0rl; s1t s1lw s1ll; s1t s1rw s1rl; b0t b0lw b0ll;
    s0t s0lt s0l2t; s0t s0rt s0r2t; b0t b0lt b0l2t; s1t s1rt s1r2t; s1t s1lt s1l2t; s1t s1rl s0t;
    s1t s0ll s0t; s1t s0rl s0t;
    s0w s0nl s0nr; s0t s0nl s0nr; s1w s1nr; s1t s1nl s1nr; b0w b0nl; b0t b0nl; s0t s0sl; s0t s0sr;
    s1t s1sl; s1t s1sr; b0t b0sl; s1w s1sr; s0w s0sl;
    s0t near; b0t near; s0t b0t near; s0w near; s1t s0t across; s1w across; s0w across; s1t across;
    s0t beforet; s0t aftert s1t; last s0t b0t; s0d; b0d; s1d
"""
# After Zhang and Nivre (2011). The place of a feature is part of its hash: do not reorder them.

TEMPLATES = np.array(
    [
        [COLUMNS.index(name) for name in (*template.split(), "none", "none", "none")[:3]]
        for template in _TEMPLATES.split(";")
    ]
)
"""The three columns of each feature, shape ``(112, 3)``."""
