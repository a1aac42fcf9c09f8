"""Run an experiment in parts, here or on the workers of an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from disambig.errors import UserError
from disambig.experiments import ExperimentResult
from disambig.jobs.work import Function, ProgressCallback, Runner
from disambig.type_aliases import Progress


@runtime_checkable
class HasParts(Protocol):
    """An experiment that consists of independent parts.

    Its `run` is ``return run_parts(self, data=data, quick=quick, progress=progress)``.
    """

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> Sequence[str]:
        """Return the names of the parts, the longest first; shared cached files can be made here."""
        ...

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> Any:
        """Run one part; its result must be picklable."""
        ...

    def joined(self, found: Mapping[str, Any], *, quick: bool) -> ExperimentResult:
        """Combine the results of the parts, which are in the order of `parts`."""
        ...


def run_parts(experiment: HasParts, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
    """Run the parts of an experiment one after the other in this process."""
    names = experiment.parts(data=data, quick=quick, progress=progress)
    results = {name: experiment.part(name, data=data, quick=quick, progress=progress) for name in names}
    return experiment.joined(results, quick=quick)


@dataclass(frozen=True, slots=True)
class PartWork:
    """Run parts of one experiment on a worker.

    Attributes
    ----------
    name : str
        Registered name with its version.
    data : str
        Directory of the data, the same for every worker.
    quick : bool
    """

    name: str
    data: str
    quick: bool

    def start(self) -> Function:
        """Load the experiment."""
        from disambig.registry import entries

        experiment = entries("experiments")[self.name].load()()

        def done(part: str, tell: ProgressCallback) -> Any:
            return experiment.part(part, data=Path(self.data), quick=self.quick, progress=_ignore_progress)

        return done


def run_parts_on_workers(
    name: str, experiment: HasParts, runner: Runner, *, data: Path, quick: bool, progress: Progress
) -> ExperimentResult:
    """Run the parts of an experiment on the workers of an engine.

    Parameters
    ----------
    name : str
        Registered name with its version.
    experiment : HasParts
    runner : Runner
    data, quick, progress
        As for `Experiment.run`; `progress` is called for each part.

    Raises
    ------
    UserError
        D931 for a part that fails.
    """
    names = experiment.parts(data=data, quick=quick, progress=progress)
    results: dict[str, Any] = {}
    for outcome in runner.run(PartWork(name, str(data.resolve()), quick), names):
        if outcome.problem is not None:
            raise UserError("D931", name=name.rpartition(".v")[0], part=outcome.item, problem=outcome.problem)
        results[outcome.item] = outcome.result
        progress(f"{outcome.item}: done", len(results), len(names))
    return experiment.joined({part: results[part] for part in names}, quick=quick)


def _ignore_progress(stage: str, done: int, total: int) -> None:
    """Do nothing, since a worker has no terminal."""
