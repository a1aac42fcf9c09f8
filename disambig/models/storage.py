"""Save and load models: a folder of plain files; loading one executes nothing from it."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.config import read_config, resolve, write_config
from disambig.data import Group, PrecisionPoint, PrecisionTable, confusion_set
from disambig.decision import default_rule_config
from disambig.errors import UserError, contract_error
from disambig.files import (
    Checksum,
    TempFiles,
    file_stamp,
    follow_links,
    read_array,
    read_error,
    read_json,
    replace_atomically,
    replace_nonfinite,
    restore,
    save_output,
    temp_folder,
    writing,
)
from disambig.formatting import describe_exception, describe_failure
from disambig.models.model import DeferredChecks, Model, check_scorers, inconsistent_model
from disambig.packs import available, model_folder
from disambig.registry import plugin_packages
from disambig.types import Arrays, Learner, ReadsCountTable, Scorer, SharesWeights, TakesGroups, Task

_ABSENT = -1
"""Stands for the size of an array that a group does not have."""


def stack(states: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    """Concatenate the arrays of each key over groups, keeping dtypes and shapes.

    Each key gets two arrays: the flat values of all groups, and ``KEY.sizes``, shape ``(n_groups,)``; and a
    third, ``KEY.shapes``, shape ``(n_groups, ndim)``, if the arrays are not one-dimensional.

    Raises `TypeError` for arrays of Python objects, and for a key whose arrays differ in dtype or dimensions.
    """
    stacked: dict[str, NDArray[Any]] = {}
    for key in sorted({key for state in states for key in state}):
        arrays = [np.asarray(state[key]) if key in state else None for state in states]
        present = [array for array in arrays if array is not None]
        types = {(array.dtype, array.ndim) for array in present}
        if len(types) > 1 or present[0].dtype.hasobject:
            raise TypeError(f"state {key!r} needs plain arrays of one dtype in every group, not {types}")
        stacked[key] = np.concatenate([array.ravel() for array in present])
        stacked[f"{key}.sizes"] = np.array([_ABSENT if array is None else array.size for array in arrays])
        if present[0].ndim != 1:
            empty_shape = (0,) * present[0].ndim
            shapes = [empty_shape if array is None else array.shape for array in arrays]
            stacked[f"{key}.shapes"] = np.array(shapes, np.int64).reshape(len(states), present[0].ndim)
    return stacked


def unstack(stacked: Mapping[str, NDArray[Any]], n: int) -> list[dict[str, NDArray[Any]]]:
    """Return the states of `n` groups from the result of `stack`.

    Raises `KeyError` or `ValueError` if arrays are missing or inconsistent.
    """
    states: list[dict[str, NDArray[Any]]] = [{} for _ in range(n)]
    for key in [key for key in stacked if not key.endswith((".sizes", ".shapes"))]:
        values, sizes = stacked[key], stacked[f"{key}.sizes"]
        shapes = stacked.get(f"{key}.shapes")
        is_valid = sizes.dtype.kind == "i" and sizes.shape == (n,) and bool((sizes >= _ABSENT).all())
        lengths = np.maximum(sizes, 0) if is_valid else sizes
        if not is_valid or values.ndim != 1 or lengths.sum() != len(values) or (lengths > len(values)).any():
            raise ValueError(f"{key} and its sizes")
        for group, array in enumerate(np.split(values, np.cumsum(lengths)[:-1]) if n else []):
            if sizes[group] != _ABSENT:
                states[group][key] = array if shapes is None else array.reshape(shapes[group])
    return states


_PATH_SETTINGS: dict[str, Callable[[Path], bool]] = {
    "counts": Path.is_file,
    "gaps": Path.is_dir,
    "parts_of_speech": Path.is_dir,
    "words": Path.is_dir,
}
"""Settings of extractors and tasks that name a count table or a folder, with a check that it exists."""


def relative_paths(config: dict[str, Any], target: Path) -> dict[str, Any]:
    """Return `config` with the paths of existing files and folders as a model at `target` stores them.

    A path inside the directory that holds the model is stored relative to the model, so that both can be
    moved together and the path of the machine is not stored. Other paths are stored in full. Settings that a
    task or an extractor declares as paths are included (`TaskTraits.folders`).
    """
    home = target.parent.resolve() / target.name

    def stored(exists: Callable[[Path], bool], value: str) -> str:
        path = Path(value).resolve()
        if not exists(path):
            return value  # such as the name of a pack
        is_inside = path.is_relative_to(home.parent)
        return Path(os.path.relpath(path, home)).as_posix() if is_inside else str(path)

    return _with_paths(config, stored)


def absolute_paths(config: dict[str, Any], home: Path) -> dict[str, Any]:
    """Return the config of a model at `home` with full paths: the inverse of `relative_paths`."""

    def full(exists: Callable[[Path], bool], value: str) -> str:
        path = home / value
        is_relative = not os.path.isabs(value) and len(Path(value).parts) > 1
        return str(path.resolve()) if is_relative and exists(path) else value

    return _with_paths(config, full)


def _with_paths(
    config: dict[str, Any], convert: Callable[[Callable[[Path], bool], str], str]
) -> dict[str, Any]:
    """Return `config` with converted paths; `convert` gets the check that a path exists, and the path."""

    def with_section_paths(kind: str, section: Any) -> Any:
        if not isinstance(section, dict):
            return section
        checks = _PATH_SETTINGS | _declared_paths(kind, section)
        converted = {}
        for name, value in section.items():
            # "gaps" may also be a word of a task: only paths have separators
            is_path = name in checks and isinstance(value, str) and (kind != "tasks" or os.sep in value)
            converted[name] = convert(checks[name], value) if is_path else value
        return converted

    converted = dict(config)
    if "task" in converted:
        converted["task"] = with_section_paths("tasks", converted["task"])
    if "extractors" in converted:
        sections = converted["extractors"].items()
        converted["extractors"] = {name: with_section_paths("extractors", one) for name, one in sections}
    return converted


def _declared_paths(group: str, section: Any) -> dict[str, Callable[[Path], bool]]:
    """Return the settings that the class of an entry declares to be paths; none for an unknown entry."""
    from disambig.registry import entries
    from disambig.types import folders

    name = section.get(f"@disambig_{group}") if isinstance(section, dict) else None
    entry = entries(group).get(str(name))
    factory = entry.load() if entry is not None else None
    return dict.fromkeys(folders(factory), Path.exists) if isinstance(factory, type) else {}


def groups_to_json(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return groups as values for JSON."""
    rows = []
    for group in groups:
        row: dict[str, Any] = {"name": group.name, "candidates": list(group.candidates)}
        if group.variants:
            row["variants"] = [list(variants) for variants in group.variants]
        if group.glosses:
            row["glosses"] = list(group.glosses)
        rows.append(row)
    return rows


def with_saved_groups(task: Task, saved: Sequence[Any]) -> Task | None:
    """Return the task with the groups of a saved model; None if the task has different groups.

    Raises `LookupError` or `TypeError` if `saved` is not a result of `groups_to_json`.
    """
    if all(isinstance(group, str) for group in saved):
        return _groups_by_name(task, saved)
    groups = tuple(_group_from_json(group) for group in saved)
    if isinstance(task, TakesGroups):
        return task.of_groups(groups)
    # names and candidates determine the meaning of a model's weights
    expected = [(group.name, group.candidates) for group in groups]
    return task if [(group.name, group.candidates) for group in task.groups] == expected else None


def _groups_by_name(task: Task, names: Sequence[str]) -> Task | None:
    """Return the task with groups saved by name only, as by version 0.1.0; None if they do not match.

    A confusion set is named by its candidates.
    """
    if [group.name for group in task.groups] == list(names):
        return task
    if not isinstance(task, TakesGroups):
        return None
    try:
        return task.of_groups(tuple(confusion_set(name) for name in names))
    except UserError:
        return None


def _group_from_json(saved: Any) -> Group:
    name, candidates = saved["name"], tuple(saved["candidates"])
    variants = tuple(map(tuple, saved.get("variants", ())))
    glosses = tuple(saved.get("glosses", ()))
    if not all(isinstance(text, str) for text in (name, *candidates, *sum(variants, ()), *glosses)):
        raise TypeError(f"a group must consist of strings: {saved!r}")
    return Group(name, candidates, variants, glosses)


_OLD_FORMAT, _OLD_FILES = 1, ("config.cfg", "weights.npz")
"""Format 1 has the state of the decision rule among the weights, and no section for it in the config."""
_LABELS, _CALIBRATION, _OPERATING = "labels.", "calibration.", "operating."


def with_decision_rule(config: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the config of a model in format 1 with the decision rule that its arrays belong to."""
    labels = any(name.startswith(_LABELS) for name in arrays)
    name = "disambig.Labels.v1" if labels else "disambig.Corrections.v1"
    return {**config, "judge": {"@disambig_judges": name}}


def decision_rule_arrays(
    arrays: Mapping[str, NDArray[Any]], saved: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    """Return the decision rule's state in format 1; raise LookupError or ValueError if it is incomplete."""
    labels = _with_prefix(arrays, _LABELS)
    if labels:
        return {"least_margin": np.zeros(1), **labels}  # the first models had no least margin
    rule = _with_prefix(arrays, _CALIBRATION) | _with_prefix(arrays, _OPERATING)
    return rule | {"flags_per_1000": np.array([float(saved["flags_per_1000"])])}


def _with_prefix(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def check_target(path: str | Path, *, force: bool = False) -> Path:
    """Return the directory for a new model, with links resolved, without changing anything there.

    Raises D406 if a model or an empty directory exists there, unless `force` is set; D940 if anything else
    exists there; D309 if the path cannot be read.
    """
    with writing(path):
        target = follow_links(Path(path))
        restore(target)
        if target.exists():
            if not (target.is_dir() and (_is_model(target) or next(target.iterdir(), None) is None)):
                raise UserError("D940", path=path)
            if not force:
                raise UserError("D406", path=path)
    return target


def _is_model(home: Path) -> bool:
    """Return True if a directory has the description of a model, whether or not its files are intact."""
    try:
        saved = read_json(home / "model.json")
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(saved, dict) and {"format", "name", "files"} <= saved.keys()


PRECISION_FILE = "trust.json"
_PRECISION_FORMAT = 1


def write_precision(home: Path, trust: PrecisionTable) -> None:
    """Write the precision table of the model in the directory `home`, replacing an existing one.

    Raises D309 if it cannot be written, D405 if there is no model.
    """
    measured = {
        "format": _PRECISION_FORMAT,
        "model": _description_digest(home),
        "task": trust.task,
        "text": trust.text,
        "per_1000": trust.per_1000,
        "points": [asdict(point) for point in trust.points],
        "pairs": {pair: [asdict(point) for point in points] for pair, points in trust.pairs.items()},
    }
    with save_output(home / PRECISION_FILE) as write:
        write((json.dumps(measured, indent=1, ensure_ascii=False) + "\n").encode())


def read_precision(home: Path) -> PrecisionTable | None:
    """Return the precision table of the model in the directory `home`; None if there is none for it.

    Raises D862 for a damaged file.
    """
    path = home / PRECISION_FILE
    try:
        saved = read_json(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise UserError("D862", path=path, problem=problem) from None
    try:
        if saved["format"] != _PRECISION_FORMAT:
            raise ValueError(f"its format is {saved['format']!r}, not {_PRECISION_FORMAT}")
        if saved["model"] != _description_digest(home):
            return None
        pairs = {str(pair): _points(points) for pair, points in saved["pairs"].items()}
        text, per_1000 = str(saved["text"]), float(saved["per_1000"])
        return PrecisionTable(str(saved["task"]), text, per_1000, _points(saved["points"]), pairs)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise UserError("D862", path=path, problem=repr(problem)) from None


def _points(saved: Sequence[Mapping[str, Any]]) -> tuple[PrecisionPoint, ...]:
    """Return the saved points of a precision curve; ValueError if they are not a rising curve of shares."""
    points = tuple(PrecisionPoint(**point) for point in saved)
    leasts, shares = [point.least for point in points], [point.share for point in points]
    if not points or leasts[0] != 0 or leasts != sorted(leasts) or shares != sorted(shares):
        raise ValueError("the curve does not rise from 0")
    if not all(0 <= point.low <= point.share <= point.high <= 1 for point in points):
        raise ValueError("a share is not between 0 and 1, or not inside its interval")
    return points


def _description_digest(home: Path) -> str:
    """Return a digest of ``model.json``, which has the digests of all other files of a model."""
    try:
        return hashlib.blake2b((home / "model.json").read_bytes(), digest_size=16).hexdigest()
    except OSError as problem:
        raise UserError("D405", path=home / "model.json", problem=problem) from None


_FORMAT = 2
_FILES = ("config.cfg", "weights.npz", "judge.npz")
_MAX_WEIGHT = 1e30
"""Largest allowed weight: scores are float32, which overflows at 3e38."""


def save_model(model: Model, path: str | Path, *, force: bool = False) -> None:
    """Write `model` as a directory, atomically: an existing one is replaced once the new one is complete.

    Raises
    ------
    UserError
        D406 if a model or an empty directory exists there, unless `force` is set; D940 if anything else
        exists there; D309 if it cannot be written; D415 if it could not be loaded again.
    """
    target = check_target(path, force=force)
    with writing(target):
        _write(model, target)


def _write(model: Model, target: Path) -> None:
    """Write a model to a temporary folder, check that it can be loaded, and then replace the old one."""
    import srsly

    from disambig.models.model_card import card

    target.parent.mkdir(parents=True, exist_ok=True)
    with temp_folder(TempFiles.for_target(target)) as draft:
        config = {"judge": default_rule_config(model.task), **model.config}
        write_config(relative_paths(config, target), draft / "config.cfg")
        arrays = _state_arrays(model)
        np.savez(draft / "weights.npz", **arrays)  # type: ignore[arg-type]
        np.savez(draft / "judge.npz", **_check_plain(model.judge.state()))  # type: ignore[arg-type]
        description = {
            "format": _FORMAT,
            "name": model.name,
            "version": model.version,
            "language": model.language,
            "task": model.task.name,
            "groups": groups_to_json(model.task.groups[: len(model.scorers)]),
            "trained": [scorer is not None for scorer in model.scorers],
            "counts": _table_identities(model),
            "files": {name: _file_digest(draft / name) for name in _FILES},
            "provenance": replace_nonfinite(model.provenance),
        }
        srsly.write_json(draft / "model.json", description, indent=1)
        (draft / "README.md").write_text(card(model, target.name), encoding="utf8")
        _check_loads(draft, target, arrays)
        os.chmod(draft, 0o755)
        replace_atomically(draft, target)


def _check_loads(draft: Path, target: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise D415 unless the model in `draft` can be loaded and saves the same arrays again."""
    try:
        again = _state_arrays(load_model(draft))
    except UserError as problem:
        text = problem.text.replace(str(draft), str(target))
        raise UserError("D415", path=target, problem=text) from problem
    differing = [
        name
        for name in sorted({*again, *arrays})
        if name not in again or name not in arrays or not np.array_equal(again[name], arrays[name])
    ]
    if differing:
        raise UserError("D415", path=target, problem=f"{', '.join(differing[:3])} would be different")


def load_model(path: str | Path, *, defer_checks: bool = False) -> Model:
    """Read a model's directory.

    Parameters
    ----------
    path : path
    defer_checks : bool
        Check that the scorers of a group fit its features when the group is first decided, not now.

    Raises
    ------
    UserError
        D405 for a missing or damaged file, D407 for an unsupported format, D408 for a different count table,
        D409 if the task has other groups than the model was trained for, D414 for an exception of a plugin.
    """
    home = Path(path)
    with suppress(OSError):
        restore(home)
    saved = _read_json(home)
    is_old = saved["format"] == _OLD_FORMAT
    _check_files(home, saved, _OLD_FILES if is_old else _FILES)
    config = absolute_paths(read_config(home / "config.cfg"), home)
    arrays = _read_arrays(home / "weights.npz")
    if is_old:
        config = with_decision_rule(config, arrays)
    parts = _resolve(config, home)
    try:
        rule_arrays = decision_rule_arrays(arrays, saved) if is_old else _read_arrays(home / "judge.npz")
        # weights come from a file that anybody may have written: NaN or infinity would spread silently
        _check_arrays(arrays)
        _check_arrays(rule_arrays)
        task = with_saved_groups(parts["task"], saved["groups"])
        if task is None:
            raise UserError("D409", path=home, task=saved["task"])
        model = _restore_model(saved, {**parts, "task": task}, config, arrays, rule_arrays)
        if defer_checks:
            model = replace(model, unchecked=DeferredChecks(home))
        else:
            check_scorers(model, range(len(model.scorers)))
        counts = saved["counts"]
    except (AttributeError, LookupError, TypeError, ValueError) as problem:
        if isinstance(problem, UserError):
            raise
        raise inconsistent_model(home, problem) from problem
    except Exception as problem:
        failure = describe_failure(problem, plugin_packages())
        if failure == describe_exception(problem):  # raised in no plugin
            raise
        wanted = "components that can be loaded, and that decide texts without words"
        raise contract_error(f"the model {home}", f"loading it raised {failure}", wanted) from problem
    if _table_identities(model) != counts:
        raise UserError("D408", path=home)
    return model


def _restore_model(
    saved: Mapping[str, Any],
    components: Mapping[str, Any],
    config: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    rule_arrays: dict[str, NDArray[Any]],
) -> Model:
    """Return the model with the state that was saved.

    `saved`: the contents of ``model.json``.
    `components`: the unfitted components of `config`.
    `arrays`, `rule_arrays`: the states of extractors and scorers, and of the decision rule.
    """
    task, learner = components["task"], components["learner"]
    states = unstack(_with_prefix(arrays, "scorers."), len(task.groups))
    return Model(
        name=str(saved["name"]),
        version=str(saved["version"]),
        task=task,
        tokenisation=components["tokenisation"],
        extractors=tuple(
            extractor.from_state(_with_prefix(arrays, f"extractor.{name}."))
            for name, extractor in components["extractors"].items()
        ),
        baseline=components["baseline"],
        scorers=tuple(
            learner.from_state(state) if trained else None
            for state, trained in zip(states, saved["trained"], strict=True)
        ),
        judge=components["judge"].from_state(rule_arrays, task.groups),
        shared=_load_shared(learner, _with_prefix(arrays, "shared.")),
        config=config,
        provenance=dict(saved["provenance"]),
    )


def _check_files(home: Path, saved: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise D405 for a file that is missing or differs from its digest in model.json."""
    for name in names:
        path, problem = home / name, "missing, or different from what model.json records"
        expected = saved["files"].get(name) if isinstance(saved.get("files"), dict) else None
        if expected is None or not path.is_file() or _file_digest(path) != expected:
            raise UserError("D405", path=path, problem=problem)


def _resolve(config: dict[str, Any], home: Path) -> dict[str, Any]:
    """Return the components of a config; D001 for a missing plugin names the model that needs it."""
    try:
        return resolve(config, source=home / "config.cfg")
    except UserError as problem:
        if problem.code != "D001":
            raise
        advice = f"needed by the model {home}: install the plugin that it was trained with"
        names = f"{problem.values['names']}, {advice}"
        raise UserError("D001", **{**problem.values, "names": names}) from None


def _read_json(home: Path) -> dict[str, Any]:
    path = home / "model.json"
    try:
        saved = read_json(path)
    except (OSError, ValueError) as problem:
        raise UserError("D405", path=path, problem=problem) from problem
    if not isinstance(saved, dict):
        raise UserError("D405", path=path, problem="not a JSON object")
    if saved.get("format") not in (_OLD_FORMAT, _FORMAT):
        supported = f"{_OLD_FORMAT} and {_FORMAT}"
        raise UserError("D407", path=home, seen=saved.get("format"), known=supported)
    return saved


def _file_digest(path: Path) -> dict[str, Any]:
    checksum = Checksum.from_file(path)
    return {"size": checksum.size, "blake2b": checksum.digest()}


def _table_identities(model: Model) -> list[str]:
    """Return the identities of the count tables that the extractors use."""
    return [
        extractor.table.identity for extractor in model.extractors if isinstance(extractor, ReadsCountTable)
    ]


def _state_arrays(model: Model) -> dict[str, NDArray[Any]]:
    """Return the states of all extractors and scorers as arrays with unique names."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, extractor in zip(model.config["extractors"], model.extractors, strict=True):
        for key, array in extractor.state().items():
            arrays[f"extractor.{name}.{key}"] = array
    if model.shared is not None:
        arrays.update({f"shared.{key}": array for key, array in model.shared.state().items()})
    states = [scorer.state() if scorer is not None else {} for scorer in model.scorers]
    arrays.update({f"scorers.{key}": array for key, array in stack(states).items()})
    return _check_plain(arrays)


def _check_plain(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state; raise D414 for values that are not arrays, and for Python objects."""
    for key, array in arrays.items():
        if not isinstance(array, np.ndarray | np.generic):
            problem = f"it is of type {type(array).__name__}"
        elif array.dtype.hasobject:
            problem = "it contains Python objects"
        else:
            continue
        raise UserError("D414", component=f"the state {key}", problem=problem, wanted="a plain array")
    return dict(arrays)


def _load_shared(learner: Learner, arrays: Mapping[str, NDArray[Any]]) -> Scorer | None:
    if not arrays:
        return None
    if not isinstance(learner, SharesWeights):
        raise ValueError(f"shared weights, which {type(learner).__name__} does not support")
    return learner.shared_from_state(arrays)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read plain, uncompressed arrays from a .npz: no file can expand to more memory than its size."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("compressed members")
        with np.load(path, allow_pickle=False) as archive:
            return {name: read_array(archive, name) for name in archive.files}
    except Exception as problem:  # NumPy and zipfile raise many types for damaged and malicious files
        raise UserError("D405", path=path, problem=problem) from problem


def _check_arrays(arrays: dict[str, NDArray[Any]]) -> None:
    """Raise ValueError for arrays with NaN, infinite or very large numbers."""
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} contains values that are not finite numbers")
        if array.dtype.kind == "f":
            # needs no copy of the array; both are NaN if any number is
            extremes = float(array.min(initial=0.0)), float(array.max(initial=0.0))
            if not np.isfinite(extremes).all():
                raise ValueError(f"{name} contains values that are not finite numbers")
            if max(map(abs, extremes)) > _MAX_WEIGHT:
                raise ValueError(f"{name} contains numbers beyond {_MAX_WEIGHT:g}")


def load(name_or_path: str | Path) -> Model:
    """Load a model: a task such as ``"preposition"``, ``"PACK/TASK"``, or a model directory.

    For a model of an installed pack, whether scorers fit the features is checked when they are first used.

    Raises
    ------
    UserError
        D404 for an unknown name, with the known names and the pack that contains it; D666 for a directory
        without a model, D308 for one that may not be read; D405 to D409 for a damaged one.
    """
    home = model_folder(name_or_path)
    is_installed = str(name_or_path) in available()
    if not is_installed:
        try:
            (home / "model.json").stat()
        except (FileNotFoundError, NotADirectoryError):
            raise UserError("D666", path=home) from None
        except OSError as problem:
            raise read_error(str(home), problem) from problem
    return _load(home, file_stamp(home / "model.json"), is_installed)


@lru_cache(maxsize=32)
def _load(path: Path, stamp: tuple[int, ...], defer_checks: bool) -> Model:
    # the stamp invalidates the cache if the file changes
    return load_model(path, defer_checks=True) if defer_checks else load_model(path)
