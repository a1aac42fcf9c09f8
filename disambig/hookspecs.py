"""The hooks through which every plugin, including the core, registers its entries.

Each hook is called once, when plugins are loaded, with a callback ``register(name, factory)``.

`name` has the form ``prefix.Name.v1``. The prefix must be the name of the plugin's entry point or of its
distribution, with ``_`` for ``-``, so that plugins cannot take each other's names. An experiment may have any
prefix that is not the name of another plugin and not yet reserved, such as that of the paper
(``bergsma2010.table1.v1``). If two plugins claim the same name, the later one is rejected and reported. The
order is: the core, the other plugins of its distribution, all others by name (see
`disambig.registry.sort_entry_points`).

`factory` is a class or function that a config section can call, or its location: ``"package.module:Name"``,
or ``".module:Name"`` relative to the plugin's own module. Prefer a location: it is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pluggy

PROJECT = "disambig"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Register(Protocol):
    """The callback that a hook receives."""

    def __call__(self, name: str, factory: Callable[..., Any] | str, /) -> None:
        """Register an entry under a name."""


class RegisterCommand(Protocol):
    """The callback that the hook for commands receives."""

    def __call__(self, name: str, factory: Callable[..., Any] | str, summary: str, /) -> None:
        """Register a command ``prefix.command.v1`` with the one-line help that `disambig --help` shows."""


@hookspec
def disambig_register_tokenisations(register: Register) -> None:
    """Register tokenisations, which define what a word is."""


@hookspec
def disambig_register_tasks(register: Register) -> None:
    """Register tasks, which define what is decided, and between which candidates."""


@hookspec
def disambig_register_extractors(register: Register) -> None:
    """Register feature extractors, which describe each candidate."""


@hookspec
def disambig_register_kernels(register: Register) -> None:
    """Register kernels, the similarity functions of two instances (see `disambig.types.Kernel`)."""


@hookspec
def disambig_register_decoders(register: Register) -> None:
    """Register decoders, which turn row scores into the best rows or into marginals."""


@hookspec
def disambig_register_learners(register: Register) -> None:
    """Register learners, which learn weights from examples."""


@hookspec
def disambig_register_judges(register: Register) -> None:
    """Register decision rules, which turn scores into decisions (see `disambig.types.DecisionRule`)."""


@hookspec
def disambig_register_measures(register: Register) -> None:
    """Register measures of the quality of decisions (see `disambig.metrics`)."""


@hookspec
def disambig_register_readers(register: Register) -> None:
    """Register readers of labelled examples (see `disambig.formats`)."""


@hookspec
def disambig_register_models(register: Register) -> None:
    """Register classes of models that are not models of a task (see `disambig.models.StandaloneModel`)."""


@hookspec
def disambig_register_runners(register: Register) -> None:
    """Register engines that run jobs; ``"yours.cluster.v1"`` provides ``--engine cluster``.

    The factory is called with a `disambig.jobs.EngineOptions` and returns a `disambig.jobs.Runner`.
    """


@hookspec
def disambig_register_experiments(register: Register) -> None:
    """Register experiments for ``disambig reproduce`` (see `disambig.experiments`)."""


@hookspec
def disambig_register_commands(register: RegisterCommand) -> None:
    """Register commands of `disambig`: a Typer application or a function, and its one-line help.

    The middle of the name is the name of the command: ``register("yours.convert.v1",
    ".commands.convert:app", "Convert kana to kanji.")`` provides ``disambig convert``. A command that the
    core or an earlier plugin already has is ignored and reported by `disambig plugins`.
    """
