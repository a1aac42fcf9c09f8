"""Register the entries of this plugin; their modules are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("real_words.Article.v1", ".tasks:Article")
    register("real_words.Doubled.v1", ".tasks:Doubled")
    register("real_words.Form.v1", ".tasks:Form")
    register("real_words.Slip.v1", ".tasks:Slip")


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    register("real_words.Sound.v1", ".sounds:ArticleSound")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("real_words.cloze.v1", ".experiments.cloze:ClozeFigures")
