"""Systems that a user may know, as extractors of one attribute a candidate; no learner enters here.

`kenlm`: a smoothed 5-gram language model; `ratio`: the n-gram ratio rule of LanguageTool's confusion check.

A KenLM model is made of text with a sentence a line, in the words of `disambig.words.v1` (`Words().words`
gives them, ends of sentences included, which KenLM adds itself)::

    lmplz -o 5 [--prune 0 0 0 1 1] < words.txt | build_binary probing /dev/stdin model.bin

`kenlm_making` makes the pruned one of the text that the pack counts (`plain_text.pack_paragraphs`); of
others beside what ships the text should be the same.
"""
