"""Run an experiment in parts, here or on the workers of an engine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_type_hints, runtime_checkable
from urllib.parse import quote

from disambig import __version__
from disambig.errors import UserError
from disambig.experiments import ExperimentResult, file_digest
from disambig.files import read_json, save_file, save_json, writing
from disambig.formatting import pluralize
from disambig.jobs.work import Function, ProgressCallback, Runner, run_checked
from disambig.type_aliases import Progress, no_progress

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@runtime_checkable
class HasParts(Protocol):
    """An experiment that consists of independent parts.

    Its `run` is ``return run_parts(self, data=data, quick=quick, progress=progress)``.
    """

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> Sequence[str]:
        """Return the names of the parts, the longest first; shared cached files can be made here."""
        ...

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> Any:
        """Run one part.

        Its result is picklable. If it also consists of plain values (numbers, text, lists, mappings by text,
        and dataclasses of these) and the annotation gives its type, it can be saved (`SavedParts`).
        """
        ...

    def joined(self, results: Mapping[str, Any], *, quick: bool) -> ExperimentResult:
        """Combine the results of the parts, which are in the order of `parts`."""
        ...


MANIFEST = "experiment.json"


@dataclass(frozen=True)
class SavedParts:
    """A directory with the results of finished parts as JSON, so that a stopped run can be resumed."""

    directory: Path
    result_type: Any  # the type of a part's result

    @classmethod
    def open(cls, directory: Path, name: str, experiment: HasParts, *, data: Path, quick: bool) -> SavedParts:
        """Open a directory, or make it; its parts must be of the same experiment, version and data.

        Raises D932 for a directory with other contents or parts of another run, D934 if the results of this
        experiment cannot be saved, D309 if the directory cannot be written.

        `name`: registered name with its version.
        `data` and `quick`: as for `Experiment.run`.
        """
        saved = cls(directory, _result_type(name, experiment))
        files = sorted({path for pattern in experiment.needs for path in data.glob(pattern)})  # type: ignore[attr-defined]
        run = {
            "experiment": name,
            "version": __version__,
            "quick": quick,
            "data": {path.relative_to(data).as_posix(): file_digest(path) for path in files},
        }
        with writing(directory):
            directory.mkdir(parents=True, exist_ok=True)
            is_new = not any(directory.iterdir())
            if is_new:
                save_json(directory / MANIFEST, run)
        if not is_new:
            saved._check_run(run)
        return saved

    def finished(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the saved results of some parts. Raises D933 for a file that cannot be read."""
        from pydantic import ValidationError

        results = {}
        for name in names:
            path = self._path(name)
            if not path.exists():
                continue
            try:
                # not `read_json`, which rejects NaN
                results[name] = self._adapter.validate_python(json.loads(path.read_bytes()))
            except (OSError, ValueError, RecursionError) as problem:
                invalid = isinstance(problem, ValidationError)
                reason = "it is not a result of this experiment" if invalid else str(problem)
                raise UserError("D933", path=path, problem=reason) from problem
        return results

    def save(self, name: str, result: Any) -> None:
        """Save the result of a part atomically. Raises D309."""
        # JSON does not know the numbers of NumPy
        text = json.dumps(self._adapter.dump_python(result), indent=1, default=lambda number: number.item())
        with writing(path := self._path(name)), save_file(path) as write:
            write(text.encode())

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        from pydantic import TypeAdapter

        return TypeAdapter(self.result_type)

    def _path(self, name: str) -> Path:
        return self.directory / f"{quote(name, safe=' ,')}.json"

    def _check_run(self, run: Mapping[str, Any]) -> None:
        """Raise an error if the parts in the directory are those of another run."""
        try:
            saved = read_json(self.directory / MANIFEST)
        except (OSError, ValueError):
            saved = None
        if not isinstance(saved, dict) or saved.keys() != run.keys():
            raise UserError("D932", path=self.directory, problem="it contains other files")
        saved_run = {
            "experiment": f"the experiment {saved['experiment']}",
            "version": f"version {saved['version']} of disambig",
            "quick": "a quick run" if saved["quick"] else "a full run",
            "data": "other data",
        }
        for key, value in run.items():
            if saved[key] != value:
                problem = f"its parts are those of {saved_run[key]}"
                raise UserError("D932", path=self.directory, problem=problem)


def _result_type(name: str, experiment: HasParts) -> Any:
    """Return the type of the results of parts; D934 if it is unknown or not one that JSON can hold."""
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        result_type = get_type_hints(type(experiment).part).get("return", Any)
        TypeAdapter(result_type)
    except (PydanticUserError, NameError) as problem:
        raise UserError("D934", name=name.rpartition(".v")[0]) from problem
    return result_type


def run_parts(
    experiment: HasParts, *, data: Path, quick: bool, progress: Progress, saved: SavedParts | None = None
) -> ExperimentResult:
    """Run the parts of an experiment one after the other in this process, except those that are saved."""
    names = experiment.parts(data=data, quick=quick, progress=progress)
    results = {} if saved is None else saved.finished(names)
    for name in names:
        if name not in results:
            results[name] = experiment.part(name, data=data, quick=quick, progress=progress)
            if saved is not None:
                saved.save(name, results[name])
    return experiment.joined({name: results[name] for name in names}, quick=quick)


@dataclass(frozen=True, slots=True)
class PartWork:
    """Run parts of one experiment on a worker."""

    name: str  # registered name with its version
    data: str  # directory of the data, the same for every worker
    quick: bool

    def start(self) -> Function:
        """Load the experiment."""
        from disambig.registry import entries

        experiment = entries("experiments")[self.name].load()()

        def run_part(part: str, report_progress: ProgressCallback) -> Any:
            return experiment.part(part, data=Path(self.data), quick=self.quick, progress=no_progress)

        return run_part


def run_parts_on_workers(
    name: str,
    experiment: HasParts,
    runner: Runner,
    *,
    data: Path,
    quick: bool,
    progress: Progress,
    saved: SavedParts | None = None,
) -> ExperimentResult:
    """Run the parts of an experiment on the workers of an engine, except those that are saved.

    Raises D931 for a part that fails.

    `data`, `quick`, `progress`: as for `Experiment.run`; `progress` is called for each part.
    """
    names = experiment.parts(data=data, quick=quick, progress=progress)
    results = {} if saved is None else saved.finished(names)
    remaining = [part for part in names if part not in results]
    progress(f"running {pluralize(len(remaining), 'part')}", len(results), len(names))  # a part can take long
    for outcome in run_checked(runner, PartWork(name, str(data.resolve()), quick), remaining):
        if outcome.problem is not None:
            raise UserError("D931", name=name.rpartition(".v")[0], part=outcome.item, problem=outcome.problem)
        results[outcome.item] = outcome.result
        if saved is not None:
            saved.save(outcome.item, outcome.result)
        progress(f"{outcome.item}: done", len(results), len(names))
    return experiment.joined({part: results[part] for part in names}, quick=quick)
