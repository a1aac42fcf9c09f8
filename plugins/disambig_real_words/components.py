"""The spaCy components of this plugin's tasks, which spaCy loads through its entry points."""

from __future__ import annotations

from disambig.api import component_factory

make_articles = component_factory("disambig_articles", task="article")
make_doubled = component_factory("disambig_doubled", task="doubled")
make_forms = component_factory("disambig_forms", task="form")
make_slips = component_factory("disambig_slips", task="slip")
