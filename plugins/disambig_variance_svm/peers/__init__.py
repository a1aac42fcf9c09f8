"""Systems that a user may know, as extractors of one attribute a candidate; no learner enters here.

`kenlm`: a smoothed 5-gram language model; `ratio`: the n-gram ratio rule of LanguageTool's confusion check.
"""
