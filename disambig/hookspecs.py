"""The door: the hooks through which every plugin, ours included, offers its parts.

Each hook is called once, when plugins are loaded, with a callback ``register(name, factory)``.
`name` is ``package.Name.v1``; `factory` is a class or function that a config section can call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy

PROJECT = "disambig"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

Register = Callable[[str, Callable[..., Any]], None]


@hookspec
def disambig_register_tokenisations(register: Register) -> None:
    """Register tokenisations: what a word is."""


@hookspec
def disambig_register_tasks(register: Register) -> None:
    """Register tasks: what is decided, and between which candidates."""


@hookspec
def disambig_register_extractors(register: Register) -> None:
    """Register feature extractors: what is known about each candidate."""


@hookspec
def disambig_register_kernels(register: Register) -> None:
    """Register kernels: how alike two instances are (see `disambig.types.Kernel`)."""


@hookspec
def disambig_register_learners(register: Register) -> None:
    """Register learners: how weights are found from examples."""


@hookspec
def disambig_register_experiments(register: Register) -> None:
    """Register experiments that can be repeated with one command (see `disambig.experiments.protocol`)."""
