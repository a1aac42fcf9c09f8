"""The spaCy components of this plugin's tasks (loaded by spaCy alone, through its entry points)."""

from __future__ import annotations

from disambig.api import component_factory

make_article = component_factory("disambig_article", task="article")
make_doubled = component_factory("disambig_doubled", task="doubled")
make_form = component_factory("disambig_form", task="form")
make_slip = component_factory("disambig_slip", task="slip")
