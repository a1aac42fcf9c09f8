"""spaCy components of this plugin's tasks, and universal parts of speech for Penn tags.

Only spaCy imports this module, through the entry points.
"""

from __future__ import annotations

from collections.abc import Mapping

from disambig.api.components import UniversalTags, document_factory, token_factory

_OF_POS = {
    "ADJ": "JJ JJR JJS",
    "ADP": "IN RP",
    "ADV": "RB RBR RBS WRB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "DT PDT",
    "INTJ": "UH",
    "NOUN": "NN NNS FW",
    "NUM": "CD LS",
    "PART": "TO POS",
    "PRON": "PRP PRP$ WP WP$ WDT EX",
    "PROPN": "NNP NNPS ADD",
    "PUNCT": ". , : `` '' -LRB- -RRB- HYPH NFP",
    "SYM": "SYM $ #",
    "VERB": "VB VBD VBG VBN VBP VBZ",
    "X": "AFX GW XX",
}
_WORDS = {
    ("AUX", "VBP"): "am are 'm 're \u2019m \u2019re m r re have 've \u2019ve ve do",
    ("AUX", "VBZ"): "is 's \u2019s `s s has does",
    ("AUX", "VBD"): "was were did 'd \u2019d",
    ("AUX", "VB"): "be",
    ("AUX", "VBG"): "being",
    ("AUX", "VBN"): "been",
    ("DET", "WDT"): "what whatever",
    ("PART", "RB"): "not n't n\u2019t nt",
    ("PRON", "DT"): "that",
    ("PRON", "NN"): (
        "anybody anyone anything everybody everyone everything nobody none nothing somebody someone something"
    ),
    ("SCONJ", "IN"): (
        "although because before cause if once since so that though till unless until whether while"
    ),
    ("SYM", "NN"): "# %",
}
OF_TAG: Mapping[str, str] = {tag: pos for pos, tags in _OF_POS.items() for tag in tags.split()}
OF_WORD: Mapping[tuple[str, str], str] = {
    (word, tag): pos for (pos, tag), words in _WORDS.items() for word in words.split()
}
"""Parts of speech that do not follow from the tag alone, by (lower-cased word, tag)."""


make_topic = document_factory("disambig_topic")
make_tagger = token_factory("disambig_tagger", task="tag", universal=lambda: UniversalTags(OF_TAG, OF_WORD))
