"""The spaCy components of this plugin's tasks, which spaCy loads through its entry points."""

from __future__ import annotations

from disambig.api import component_factory

make_articles = component_factory("disambig_articles", task="article")
make_doubled = component_factory("disambig_doubled", task="doubled")
make_forms = component_factory("disambig_forms", task="form")
make_slips = component_factory("disambig_slips", task="slip")
make_doubled_and_missing_words = component_factory("disambig_doubled_and_missing_words", task="doubled")
make_typos = component_factory("disambig_typos", task="slip")
make_word_forms = component_factory("disambig_word_forms", task="form")
