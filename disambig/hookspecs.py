"""The door: the hooks through which every plugin, ours included, offers its parts.

Each hook is called once, when plugins are loaded, with a callback ``register(name, factory)``.

`name` is ``prefix.Name.v1``. The prefix is the name of the plugin's entry point or of its distribution,
with ``_`` for ``-``, so that nobody takes another's names. An experiment may have any prefix, such as the
paper's (``bergsma2010.table1.v1``), that is no name of another plugin and that none has taken before. Of two
who claim the same, the newcomer loses and is named: the core comes first, then what its distribution brings,
then the others in the order of their names.

`factory` is a class or function that a config section can call, or where it is: ``"package.module:Name"``, or
``".module:Name"`` beside the plugin's own module. Such a place is imported on first use: take this form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pluggy

PROJECT = "disambig"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Register(Protocol):
    """What a hook is called with."""

    def __call__(self, name: str, factory: Callable[..., Any] | str, /) -> None:
        """Offer a part under a name."""


class RegisterCommand(Protocol):
    """What the hook of commands is called with."""

    def __call__(self, name: str, factory: Callable[..., Any] | str, summary: str, /) -> None:
        """Offer a command ``prefix.command.v1`` with the line of help that `disambig --help` shows."""


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
def disambig_register_decoders(register: Register) -> None:
    """Register decoders: from row scores to the rows that win, or their marginals."""


@hookspec
def disambig_register_learners(register: Register) -> None:
    """Register learners: how weights are found from examples."""


@hookspec
def disambig_register_judges(register: Register) -> None:
    """Register judges: what makes decisions of scores (see `disambig.types.DecisionRule`)."""


@hookspec
def disambig_register_measures(register: Register) -> None:
    """Register measures: how good decisions are (see `disambig.metrics.outcomes`)."""


@hookspec
def disambig_register_readers(register: Register) -> None:
    """Register readers of labelled examples (see `disambig.formats.labelled`)."""


@hookspec
def disambig_register_runners(register: Register) -> None:
    """Register engines of jobs: ``register("yours.cluster.v1", ".place:make")`` is for ``--engine cluster``.

    The factory is called with `disambig.jobs.runners.EngineOptions` and returns a `Runner`.
    """


@hookspec
def disambig_register_experiments(register: Register) -> None:
    """Register experiments that can be repeated with one command (see `disambig.experiments.results`)."""


@hookspec
def disambig_register_commands(register: RegisterCommand) -> None:
    """Register commands of `disambig`: a Typer or a function, and its line of help.

    The part of the name in the middle is what the user calls: ``register("yours.convert.v1",
    ".commands.convert:app", "Convert kana to kanji.")`` is ``disambig convert``. A name of the core's, or of
    a plugin that was there before, is left out, which `disambig plugins` says.
    """
