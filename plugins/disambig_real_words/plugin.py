"""What this plugin brings, and where it is: nothing is imported before it is used."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("real_words.Article.v1", ".article:Article")
    register("real_words.Doubled.v1", ".doubled:Doubled")
    register("real_words.Form.v1", ".other_words:Form")
    register("real_words.Slip.v1", ".other_words:Slip")


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    register("real_words.Sound.v1", ".sound:Sound")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("real_words.cloze.v1", ".experiments.cloze:ClozeFigures")
