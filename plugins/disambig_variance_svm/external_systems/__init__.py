"""Systems that a user may know already, as extractors of one attribute for each candidate.

`kenlm`: a smoothed 5-gram language model; `ngram_ratio`: the n-gram ratio rule of LanguageTool's confusion check;
`harper`: a rule-based grammar checker.

A KenLM model is made of text with one sentence per line, in the words of `disambig.words.v1` (`Words().words`
returns them, ends of sentences included, which KenLM adds itself)::

    lmplz -o 5 [--prune 0 0 0 1 1] < words.txt | build_binary probing /dev/stdin model.bin

`kenlm.load_or_make_kenlm` makes the pruned model of the text that the pack counts (`plain_text.pack_paragraphs`).
To compare other models with what is shipped, make them of the same text.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
