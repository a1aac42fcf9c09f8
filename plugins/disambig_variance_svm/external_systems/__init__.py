"""External systems for comparison: KenLM, LanguageTool's n-gram ratio rule, and Harper.

`kenlm` wraps a smoothed 5-gram language model and `ngram_ratio` the n-gram ratio rule of LanguageTool's
confusion check, each as an extractor of one attribute per candidate. `harper` runs a rule-based grammar
checker.

A KenLM model is made from text with one sentence per line, in the words of `disambig.words.v1`.
`Words().words` returns them together with the sentence boundaries; leave these out, since KenLM adds them
itself::

    lmplz -o 5 [--prune 0 0 0 1 1] < words.txt | build_binary probing /dev/stdin model.bin

`kenlm.load_or_make_kenlm` makes the pruned model from the text that the pack counts
(`plain_text.pack_paragraphs`). To compare other models with the shipped ones, make them from the same text.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
