"""Hooks of the plugin: names and modules of its entries, which are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    register("dependencies.Agreement.v1", ".agreement:Agreement")


@hookimpl
def disambig_register_models(register: Register) -> None:
    register("dependencies.DependencyParser.v1", ".parser:DependencyParser")
