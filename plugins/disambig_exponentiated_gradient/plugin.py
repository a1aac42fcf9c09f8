"""Hooks of the plugin: names and modules of its entries, which are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl
from disambig.api.commands import RegisterCommand


@hookimpl
def disambig_register_learners(register: Register) -> None:
    register("exponentiated_gradient.EG.v1", ".learners.eg:EG")


@hookimpl
def disambig_register_models(register: Register) -> None:
    """Register the parser of text."""
    register("exponentiated_gradient.Parser.v1", ".parser.parser:Parser")


@hookimpl
def disambig_register_measures(register: Register) -> None:
    """Register the measure of trees."""
    register("exponentiated_gradient.BracketF1.v1", ".treebank.parseval:BracketF1")


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    """Register the features of trees."""
    register("exponentiated_gradient.TreeFeatures.v1", ".reranking.features:TreeFeatures")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    """Register the experiments of the paper."""
    register("collins2005.convergence.v1", ".experiments.convergence:Collins2005Convergence")
    register("collins2005.packed.v1", ".experiments.packed:Collins2005Packed")
    register("collins2005.reranking.v1", ".experiments.reranking:Collins2005Reranking")
    register("collins2005.tagging.v1", ".experiments.tagging:Collins2005Tagging")


@hookimpl
def disambig_register_commands(register: RegisterCommand) -> None:
    register(
        "exponentiated_gradient.parse.v1", ".parser.commands:parse", "Parse text: a tree for each sentence."
    )
    register(
        "exponentiated_gradient.train_parser.v1",
        ".parser.commands:train_parser",
        "Train a parser on your own treebank.",
    )
