"""The spaCy components of this plugin's tasks, which spaCy loads through its entry points."""

from __future__ import annotations

from disambig.api import label_factory

make_sense = label_factory(
    "disambig_sense", task="sense", pack="disambig_en_sense", requires=["token.tag"], falls_back=True
)
