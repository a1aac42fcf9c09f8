"""Run extractors, check their output, and join the features of several extractors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from inspect import signature
from types import MethodType
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Columns,
    CrossedColumns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    Group,
    GroupedInstances,
    Instances,
    JoinedColumns,
    JoinedRows,
    SequenceRows,
    SparseRows,
    convert,
    has_own_labels,
    join_crossed,
)
from disambig.errors import UserError, check_call, check_function, contract_error, describe_value
from disambig.features.rows import separate_columns
from disambig.formatting import describe_failure
from disambig.registry import describe_component, plugin_packages
from disambig.text import TokenView
from disambig.type_aliases import Floats
from disambig.types import (
    Arrays,
    CandidateBatch,
    Describes,
    FeatureExtractor,
    Features,
    cross_fits,
    describes,
    feature_source,
    folders,
    requires,
    rows_are_shared,
)

Restored = TypeVar("Restored")
Computed = TypeVar("Computed")
_STATE_WITH_ALL = "a state with every array that from_state(arrays) needs"
_ARRAYS_OF_NUMBERS = (
    "arrays of numbers by name; text is stored as bytes, such as np.frombuffer(text.encode(), np.uint8)"
)
_TOLERANCE = 1e-5


def restore_checked(
    component: str,
    state: object,
    from_state: Callable[[dict[str, NDArray[Any]]], Restored],
    compute: Callable[[Restored], Computed],
) -> Computed:
    """Restore a component from a state; return what it computes, such as scores.

    Raises D414 for a state that is not arrays of numbers, or that does not restore the component; it names
    the array that is missing if the error of `from_state` does.

    `component`: name of the component in messages.
    `state`: what its ``state()`` returned.
    """
    arrays = _check_arrays(component, state)
    names = ", ".join(arrays) or "no array"
    try:
        restored = from_state({name: np.array(array) for name, array in arrays.items()})
        if restored is None:
            raise contract_error(component, "from_state returned None", "what it restores from the arrays")
        return compute(restored)
    except (AttributeError, LookupError, TypeError, ValueError) as problem:
        if isinstance(problem, UserError):
            raise
        if isinstance(problem, KeyError) and problem.args:
            seen = f"from_state needs {problem.args[0]!r}"
        else:
            seen = f"the restored one raised {describe_failure(problem, plugin_packages())}"
        raise contract_error(component, f"{seen}, but state returned {names}", _STATE_WITH_ALL) from problem


def _check_arrays(component: str, state: object) -> dict[str, NDArray[Any]]:
    """Return a state; raise D414 unless it maps names to arrays of numbers, as only these can be saved."""
    if not isinstance(state, Mapping):
        raise contract_error(component, f"state returned {describe_value(state)}", _ARRAYS_OF_NUMBERS)
    for name, array in state.items():
        kind = array.dtype.kind if isinstance(array, np.ndarray | np.generic) else ""
        if kind and kind in "biuf":
            if np.isfinite(array).all():
                continue
            seen = f"state returned NaN or infinity under {name!r}"
            raise contract_error(component, seen, "finite numbers: a model with others cannot be loaded")
        if kind in ("U", "S"):
            value = "an array of strings"
        else:
            value = f"an array of {array.dtype}" if kind else describe_value(array)
        raise contract_error(component, f"state returned {value} under {name!r}", _ARRAYS_OF_NUMBERS)
    return {str(name): array for name, array in state.items()}


def _same_numbers(seen: NDArray[Any], expected: NDArray[Any]) -> bool:
    return seen.shape == expected.shape and np.allclose(seen, expected, rtol=_TOLERANCE, atol=_TOLERANCE)


def check_same_numbers(
    component: str, what: str, restored: NDArray[Any], expected: NDArray[Any], state: object
) -> None:
    """Raise D414 unless a restored component returns the same numbers; `what` names them in the message."""
    if _same_numbers(restored, expected):
        return
    names = ", ".join(map(str, state)) if isinstance(state, Mapping) and state else "no array"
    raise contract_error(
        component, f"{what} differ after from_state; state returned {names}", _STATE_WITH_ALL
    )


def transform_checked(
    extractor: FeatureExtractor, view: TokenView, instances: Instances, group: Group
) -> Features:
    """Transform the instances of one group with an extractor and check the features.

    Raises
    ------
    UserError
        D414 if there is not one row and one evidence value per candidate; D418, D419 (see
        `check_candidate_kind`).
    """
    return transform_table_checked(extractor, view, GroupedInstances.from_parts([(instances, group)]))[0]


def transform_table_checked(
    extractor: FeatureExtractor, view: TokenView, table: GroupedInstances
) -> list[Features]:
    """Transform a table with an extractor and check the features of each group.

    Raises `UserError` as for `transform_checked`.
    """
    check_candidate_kind(extractor, lists=table.lists is not None)
    transformed = _transform(extractor, view, table)
    if not isinstance(transformed, list) or len(transformed) != len(table.groups):
        n = len(table.groups)
        is_list = isinstance(transformed, list)
        returned = f"a list of {len(transformed):,}" if is_list else describe_value(transformed)
        wanted = f"a list of {n:,} Features, one per group"
        raise extractor_error(extractor, f"transform returned {returned}", wanted)
    return [_checked(extractor, *pair) for pair in zip(transformed, table.parts, strict=True)]


def _transform(extractor: FeatureExtractor, view: TokenView, table: GroupedInstances) -> list[Features]:
    if _is_for_one_group(type(extractor)):
        one_group: Any = extractor
        return [one_group.transform(view, instances, group) for instances, group in table.parts]
    return extractor.transform(view, table)


@lru_cache(maxsize=256)
def _is_for_one_group(kind: type) -> bool:
    """Return True if `transform` has the parameters of earlier releases: ``(view, instances, group)``."""
    return len(signature(kind.transform).parameters) == 4  # type: ignore[attr-defined]


def _checked(extractor: FeatureExtractor, features: object, part: tuple[Instances, Group]) -> Features:
    """Return the features if they fit the instances and the contract; raise D414 otherwise."""
    if not isinstance(features, Features):
        raise extractor_error(extractor, f"transform returned {describe_value(features)}", "Features")
    n_rows = _check_rows(extractor, features.batch, *part)
    _check_storage(extractor, features.batch)
    for name in ("n_hits", "n_queries"):
        counts: Any = getattr(features, name)
        if getattr(counts, "shape", None) != (n_rows,) or counts.dtype.kind not in "iu":
            seen = f"{name} of Features is {describe_value(counts)}"
            raise extractor_error(
                extractor, seen, f"an integer array of shape ({n_rows},), one per candidate"
            )
    outside = np.flatnonzero((features.n_hits < 0) | (features.n_hits > features.n_queries))
    if len(outside):
        row = outside[0]
        seen = f"candidate {row:,} has {features.n_hits[row]:,} hits of {features.n_queries[row]:,} look-ups"
        raise extractor_error(extractor, seen, "n_hits from 0 to n_queries")
    return features


def _check_rows(
    extractor: FeatureExtractor, batch: CandidateBatch, instances: Instances, group: Group
) -> int:
    """Raise an error if a batch does not have one row per candidate; return the number of rows."""
    n, k = len(instances), len(group.candidates)
    if isinstance(batch, DenseBlocks):
        _check_blocks(extractor, batch, n, k)
    needs_table = isinstance(batch, DenseBlocks | CrossedRows | SequenceRows) and not has_own_labels(batch)
    if needs_table and np.ndim(batch.costs) != 2:  # type: ignore[attr-defined]
        seen = f"transform gave {type(batch).__name__} with {describe_value(batch.costs)} as costs"  # type: ignore[attr-defined]
        raise extractor_error(extractor, seen, f"costs of shape {(n, k)}, one row per instance")
    if isinstance(batch, DenseBlocks) and batch.costs.shape == (n, k) and instances.lists is None:
        return n * k
    expected, offsets = instances.offsets(group), np.asarray(batch.offsets)
    if not np.array_equal(offsets, expected):
        seen = f"transform gave {len(offsets) - 1:,} instances with {int(offsets[-1]):,} rows"
        raise extractor_error(extractor, seen, f"{n:,} with {int(expected[-1]):,}, one row per candidate")
    return int(expected[-1])


def _check_blocks(extractor: FeatureExtractor, batch: DenseBlocks, n: int, k: int) -> None:
    """Raise an error if the values of class blocks do not fit their columns."""
    values: Any = batch.values
    if not isinstance(values, np.ndarray) or values.ndim != 3:
        seen = f"transform gave DenseBlocks with {describe_value(values)} as values"
        raise extractor_error(extractor, seen, f"an array of shape ({n}, {k}, number of attributes)")
    if values.shape[:2] != np.shape(batch.costs) and np.ndim(batch.costs) == 2:
        seen = f"transform gave DenseBlocks with values of shape {values.shape} and costs of shape "
        wanted = f"values of shape ({n}, {k}, number of attributes) and costs of shape {(n, k)}"
        raise extractor_error(extractor, f"{seen}{batch.costs.shape}", wanted)
    column_of: Any = batch.column_of
    wanted = values.shape[1:]
    if not isinstance(column_of, np.ndarray) or column_of.shape != wanted or column_of.dtype.kind not in "iu":
        seen = f"transform gave DenseBlocks with {describe_value(column_of)} as column_of"
        raise extractor_error(
            extractor, seen, f"integers of shape {wanted}, since values has the shape {values.shape}"
        )
    n_columns = len(batch.columns)
    if column_of.size and (column_of.min() < 0 or column_of.max() >= n_columns):
        bad = column_of[(column_of < 0) | (column_of >= n_columns)][0]
        seen = f"column_of has {bad:,}, with {n_columns:,} columns"
        raise extractor_error(extractor, seen, "indices of columns, from 0")


def _check_storage(extractor: FeatureExtractor, batch: CandidateBatch) -> None:
    """Raise an error if rows, costs and offsets of a batch do not fit together."""
    if isinstance(batch, DenseBlocks | DenseLists) and np.asarray(batch.values).dtype.kind not in "biuf":
        seen = f"transform gave {type(batch).__name__} with {describe_value(batch.values)} as values"
        raise extractor_error(extractor, seen, "an array of numbers")
    if rows_are_shared(extractor) and not isinstance(batch, CrossedRows):
        wanted = "CrossedRows, since rows_are_shared means that rows do not depend on the candidates"
        raise extractor_error(extractor, f"transform gave {type(batch).__name__}", wanted)
    if isinstance(batch, DenseBlocks) and batch.values.shape[:2] == batch.costs.shape:
        return
    n, n_rows = len(batch.offsets) - 1, int(batch.offsets[-1])
    if len(batch.cost) != n_rows:
        wanted = f"{n_rows:,}, one per candidate"
        raise extractor_error(extractor, f"transform gave a batch with {len(batch.cost):,} costs", wanted)
    if not isinstance(batch, SparseRows | CrossedRows | SequenceRows):
        return
    expected = n_rows if isinstance(batch, SparseRows) else n
    n_held, n_features = (batch.csr if isinstance(batch, SequenceRows) else batch.rows).shape
    if n_held != expected:
        seen = f"transform gave {type(batch).__name__} with {n_held:,} rows of features"
        unit = "candidate" if expected == n_rows else "instance"
        raise extractor_error(extractor, seen, f"{expected:,}, one per {unit}")
    if isinstance(batch, SequenceRows):
        return  # its columns are computed from its rows, which takes longer than tagging them
    if batch.rows.dtype.kind not in "biuf":
        seen = f"transform gave {type(batch).__name__} with rows of {batch.rows.dtype}"
        raise extractor_error(extractor, seen, "rows of numbers")
    per_feature = batch.n_labels if isinstance(batch, CrossedRows) else 1
    if n_features * per_feature != len(batch.columns):
        seen = f"transform gave {n_features:,} features a row and {len(batch.columns):,} columns"
        wanted = "a column" if per_feature == 1 else f"{per_feature} columns, one per label,"
        raise extractor_error(extractor, seen, f"{wanted} for each feature of a row")


def fit_checked(
    extractor: FeatureExtractor,
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
    *,
    labels: bool = False,
) -> FeatureExtractor:
    """Fit an extractor to instances of all groups and check the result.

    Raises D414 if there is no `fit`, if it does not return an extractor or changes this one, if its state
    does not restore it, or if costs or descriptions of columns are wrong; D418, D419 (see
    `check_candidate_kind`); D445 for a layer that it requires and the tokens do not have.

    `labels`: whether the observed candidates are labels, which are unknown when a model is used: then it is
    also an error if features depend on them.
    """
    check_candidate_kind(extractor, lists=instances.lists is not None)
    part = describe_component("extractors", extractor)
    wanted = "fit(view, instances, groups), which returns a fitted extractor (StatelessExtractor has one)"
    check_call(part, extractor, "fit", wanted, None, None, None)
    _check_parameters(extractor)
    for trait in (folders, rows_are_shared, cross_fits):
        trait(extractor)  # raises D414 for a value of another type
    _check_layers(extractor, view)
    before = attributes(extractor)
    fitted = extractor.fit(view, instances, groups)
    if changed := changed_attributes(extractor, before):
        seen = f"fit changed the extractor itself ({', '.join(changed)})"
        raise extractor_error(extractor, seen, "a new extractor, such as dataclasses.replace(self, ...)")
    for name in ("transform", "state", "from_state"):
        if not callable(getattr(fitted, name, None)):
            seen = f"fit returned {describe_value(fitted)}"
            seen = seen if fitted is None else f"{seen}, which has no method {name}"
            raise extractor_error(extractor, seen, "a fitted extractor")
    _check_parameters(fitted)
    wanted = "transform(view, table), which returns the Features of each group"
    check_call(part, fitted, "transform", wanted, None, None)
    check_call(part, fitted, "from_state", "from_state(arrays)", None)
    check_call(part, fitted, "state", "state(), which returns arrays of numbers by name")
    _check_restored(extractor, fitted, view, instances, groups)
    if labels:
        _check_without_labels(fitted, _some_instances(view, instances, groups))
    return fitted


def _check_layers(extractor: FeatureExtractor, view: TokenView) -> None:
    """Raise D445 if an extractor requires a layer that the tokens do not have."""
    missing = [name for name in requires(extractor) if name not in view.layers]
    if missing:
        name = describe_component("extractors", extractor)
        raise UserError("D445", extractor=name, layer=missing[0], tokenisation=view.tokenisation)


def _check_parameters(extractor: FeatureExtractor) -> None:
    """Raise D414 if `transform` is for a single group and `by_group` is missing, or cannot be called."""
    of_group = getattr(getattr(type(extractor), "transform", None), "of_group", None)
    if of_group is not None:
        part, wanted = describe_component("extractors", extractor), "transform(view, instances, group)"
        check_function(part, MethodType(of_group, extractor), "transform", wanted, None, None, None)
    elif hasattr(type(extractor), "transform") and _is_for_one_group(type(extractor)):
        wanted = "@by_group above it, or transform(view, table), which returns the Features of each group"
        raise extractor_error(extractor, "transform takes the instances of a single group", wanted)


def attributes(component: object) -> dict[str, object]:
    """Return the values that a component holds, in slots as well."""
    names = [field.name for field in fields(component)] if is_dataclass(component) else []
    slots = {name: getattr(component, name) for name in names if hasattr(component, name)}
    return slots | getattr(component, "__dict__", {})


def changed_attributes(component: object, before: Mapping[str, object]) -> list[str]:
    """Return the attributes that `fit` has set; properties that are computed once may appear."""
    return [
        name
        for name, value in attributes(component).items()
        if (value is not before[name] if name in before else not hasattr(type(component), name))
    ]


_DOCUMENTS, _INSTANCES, _TOKENS = 2, 20, 2_000
"""Maximum numbers of documents, and of instances and tokens in each, for comparing a restored extractor."""


def _check_restored(
    extractor: FeatureExtractor,
    fitted: FeatureExtractor,
    view: TokenView,
    instances: Instances,
    groups: Sequence[Group],
) -> None:
    """Check that a fitted extractor can be saved: the restored one returns the same features.

    Raises D414.

    `extractor`: as the config describes it; a model restores it from this one.
    `view`, `instances`, `groups`: what it was fitted to; features are compared on a few instances in short
    documents.
    """
    some = _some_instances(view, instances, groups)

    def fingerprint(one: FeatureExtractor) -> Floats:
        return np.concatenate([np.zeros(0), *(_fingerprint(transform_checked(one, *part)) for part in some)])

    expected = fingerprint(fitted)  # first of all: what `transform` itself raises is not a fault of `state`
    if not np.isfinite(expected).all():
        raise extractor_error(fitted, "transform gave features that are infinite or not a number", "numbers")
    for part in some:
        _check_batch(fitted, *part)
    component, state = describe_component("extractors", fitted), fitted.state()
    from_state = getattr(extractor, "from_state", fitted.from_state)  # `extractor` may stand for a fitted one
    before = attributes(extractor)
    restored = restore_checked(component, state, from_state, fingerprint)
    if not _same_numbers(restored, expected) and not _same_numbers(fingerprint(fitted), expected):
        wanted = (
            "the same features in every call: without random numbers, and without changes of the extractor"
        )
        raise extractor_error(fitted, "transform gave other features for the same instances", wanted)
    check_same_numbers(component, "features", restored, expected, state)
    if changed := changed_attributes(extractor, before):
        seen = f"from_state changed the extractor itself ({', '.join(changed)})"
        raise extractor_error(extractor, seen, "a new extractor, such as dataclasses.replace(self, ...)")


def _check_without_labels(
    extractor: FeatureExtractor, some: Sequence[tuple[TokenView, Instances, Group]]
) -> None:
    """Raise D414 if the features of instances depend on their labels."""
    for view, instances, group in some:
        labelled = _fingerprint(transform_checked(extractor, view, instances, group))
        unlabelled = _fingerprint(transform_checked(extractor, view, instances.without_labels(), group))
        if not _same_numbers(unlabelled, labelled):
            wanted = "features that do not depend on observed, which is -1 when the model is used"
            raise extractor_error(extractor, "transform gave other features without the right labels", wanted)


def _check_batch(extractor: FeatureExtractor, view: TokenView, instances: Instances, group: Group) -> None:
    """Raise D414 for other costs than those of the instances, and for invalid or varying columns."""
    batch = transform_checked(extractor, view, instances, group).batch
    if not np.array_equal(batch.cost, costs := instances.costs(group)):
        row = int(np.flatnonzero(np.asarray(batch.cost) != costs)[0])
        problem = f"the cost of candidate {row} is {float(batch.cost[row]):g}"
        raise extractor_error(extractor, problem, f"{float(costs[row]):g}, as in instances.costs(group)")
    _check_descriptions(extractor, batch.columns)
    wanted = len(batch.columns)
    for n in (0, 1):
        seen = len(transform_checked(extractor, view, instances.take(slice(n)), group).batch.columns)
        if seen != wanted:
            problem = (
                f"transform gave {wanted:,} columns for {len(instances):,} instances and {seen:,} for {n}"
            )
            raise extractor_error(extractor, problem, "the same columns in every call after fit")


def _check_descriptions(extractor: FeatureExtractor, columns: Columns) -> None:
    """Raise D414 unless columns have as many feature groups as labels, and as many names or none."""
    if isinstance(columns, JoinedColumns):
        for part in columns.parts:
            _check_descriptions(extractor, part)
        return
    stored = columns.own if isinstance(columns, CrossedColumns) else columns
    for name, wanted in (("labels", "an array"), ("groups", "an array"), ("group_names", "a tuple of names")):
        if np.ndim(getattr(stored, name)) != 1:
            raise extractor_error(extractor, f"{name} of its columns is {getattr(stored, name)!r}", wanted)
    if isinstance(stored.names, str) or not hasattr(stored.names, "__len__"):
        wanted = "a sequence of names, one per column, or () for none"
        raise extractor_error(extractor, f"names of its columns is {stored.names!r}", wanted)
    n, groups, n_groups = len(stored.labels), np.asarray(stored.groups), len(stored.group_names)
    for name, size in (("groups", len(groups)), ("names", len(stored.names))):
        if size != n and (size or name == "groups"):
            seen = f"its columns have {n:,} labels and {size:,} {name}"
            raise extractor_error(extractor, seen, f"Columns with {n:,} {name}, one per label")
    if n and (groups.min() < 0 or groups.max() >= n_groups):
        seen = f"a column is of feature group {groups.max()}, with {n_groups} in group_names"
        raise extractor_error(extractor, seen, "an index into group_names")


def _some_instances(
    view: TokenView, instances: Instances, groups: Sequence[Group]
) -> list[tuple[TokenView, Instances, Group]]:
    """Return a few instances of one group in each of a few short documents, with their documents alone."""
    if not len(instances) or not len(view):
        return []
    documents = view.document_indices(instances.positions)
    sizes = np.diff(view.documents)
    parts: list[tuple[TokenView, Instances, Group]] = []
    for document in np.unique(documents).tolist():
        if sizes[document] > _TOKENS:
            continue
        rows = np.flatnonzero(documents == document)
        group = int(instances.groups[rows[0]])
        few = instances.take(rows[instances.groups[rows] == group][:_INSTANCES])
        moved = replace(few, positions=few.positions - view.documents[document])
        parts.append((view.take(np.array([document])), moved, groups[group]))
        if len(parts) == _DOCUMENTS:
            break
    return parts


def _fingerprint(features: Features) -> Floats:
    """Return numbers that differ if features do: a random projection of each row, and the evidence."""
    weights = np.random.default_rng(0).normal(size=len(features.batch.columns))  # the same in every call
    parts = [features.batch.scores(weights), features.n_hits, features.n_queries, [len(weights)]]
    return np.concatenate([np.asarray(part, np.float64).ravel() for part in parts])


def extractor_error(extractor: FeatureExtractor, seen: str, wanted: str) -> UserError:
    """Return the error for an extractor that breaks its contract."""
    return contract_error(describe_component("extractors", extractor), seen, wanted)


def check_candidate_kind(extractor: FeatureExtractor, *, lists: bool) -> None:
    """Raise an error if an extractor does not support per-instance candidates (`lists`) or those of a group.

    Raises D418 or D419.
    """
    kind = describes(extractor)
    if kind not in get_args(Describes):
        raise extractor_error(extractor, f"describes is {kind!r}", f"one of {', '.join(get_args(Describes))}")
    if kind not in ("any", "lists" if lists else "group"):
        raise UserError("D419" if lists else "D418", extractor=type(extractor).__name__)


_LIST_STORAGES = (SparseRows, DenseLists)
"""Storages with one row per candidate in shared columns: sparse joined with dense gives sparse."""


def transform_union(
    extractors: Sequence[FeatureExtractor], view: TokenView, instances: Instances, group: Group
) -> Features:
    """Transform the instances of one group with every extractor and join the resulting columns."""
    return transform_table(extractors, view, GroupedInstances.from_parts([(instances, group)]))[0]


def transform_runs(
    runs: Sequence[tuple[Sequence[FeatureExtractor], slice]], view: TokenView, table: GroupedInstances
) -> list[Features]:
    """Transform runs of the groups of a table, without checks; return the joined features of each group.

    An extractor that several runs have (see `feature_source`) transforms their groups together.

    `runs`: extractors, and the consecutive groups that they transform; all groups of the table in turn.
    """
    source_of: Callable[[FeatureExtractor], Hashable] = feature_source if len(runs) > 1 else id
    sources = []  # of the extractors of each run
    users: dict[Hashable, tuple[FeatureExtractor, list[int]]] = {}  # an extractor, and the runs that have it
    for number, (extractors, _) in enumerate(runs):
        sources.append([source_of(extractor) for extractor in extractors])
        for source, extractor in zip(sources[number], extractors, strict=True):
            of_source = users.setdefault(source, (extractor, []))[1]
            if number not in of_source:
                of_source.append(number)
    tables = {tuple(range(len(runs))): table}
    features_of: dict[Hashable, dict[int, Features]] = {}  # of each source, by group
    for source, (extractor, numbers) in users.items():
        groups: list[int] = []
        for number in numbers:
            groups += range(runs[number][1].start, runs[number][1].stop)
        if (key := tuple(numbers)) not in tables:
            tables[key] = table.take_groups([runs[number][1] for number in numbers])
        features_of[source] = dict(zip(groups, _transform(extractor, view, tables[key]), strict=True))
    joined = []
    for own_sources, (_, run) in zip(sources, runs, strict=True):
        for group in range(run.start, run.stop):
            joined.append(_join([features_of[source][group] for source in own_sources]))
    return joined


def transform_table(
    extractors: Sequence[FeatureExtractor], view: TokenView, table: GroupedInstances
) -> list[Features]:
    """Transform a table with every extractor and check the features; return those of each group, joined."""
    names = extractor_names(extractors)
    of_each = [transform_table_checked(extractor, view, table) for extractor in extractors]
    return [join(features, names) for features in zip(*of_each, strict=True)]


def extractor_names(extractors: Sequence[FeatureExtractor]) -> list[str]:
    """Return the names of extractors for messages."""
    return [type(extractor).__name__ for extractor in extractors]


def join(parts: Sequence[Features], names: Sequence[str] = ()) -> Features:
    """Join features of the same candidates side by side; the evidence of all parts is added up.

    Batches with the same storage give that storage; dense and sparse lists give sparse rows. Class blocks
    with crossed rows, and other mixtures, are kept next to each other (`JoinedRows`). Columns keep their
    names, labels and feature groups; groups with the same name become one. Costs are those of the first part.

    Parameters
    ----------
    parts : sequence of Features
    names : sequence of str, optional
        Names of the parts in messages; by default their numbers.

    Raises
    ------
    UserError
        D416 for parts that do not describe the same candidates, or are sequences.
    """
    names = names or [f"{number}" for number in range(1, len(parts) + 1)]
    for part, name in zip(parts[1:], names[1:], strict=True):
        _check_joinable(parts[0].batch, names[0], part.batch, name)
    return _join(parts)


def _join(parts: Sequence[Features]) -> Features:
    """Join features as `join` does, without checks."""
    if len(parts) == 1:
        return parts[0]
    batches, n_hits, n_queries = [parts[0].batch], parts[0].n_hits, parts[0].n_queries
    for part in parts[1:]:
        batches.append(part.batch)
        n_hits, n_queries = n_hits + part.n_hits, n_queries + part.n_queries
    return Features(_join_batches(batches), n_hits.astype(np.int32), n_queries.astype(np.int32))


def _check_joinable(first: CandidateBatch, first_name: str, other: CandidateBatch, name: str) -> None:
    """Raise an error for batches that do not describe the same candidates, or are decided jointly."""
    joinable = (DenseBlocks, CrossedRows, DenseLists, SparseRows, JoinedRows)
    structured = [
        batch
        for batch in (first, other)
        # in other storages, a row is a candidate if the layout is nothing but the offsets
        if not isinstance(batch, joinable) and not np.array_equal(batch.layout, batch.offsets)
    ]
    n, n_other = len(first.offsets) - 1, len(other.offsets) - 1
    if structured:
        problem = f"{type(structured[-1]).__name__} is decided together"
    elif n != n_other:
        problem = f"one has {n:,} instances and the other {n_other:,}"
    elif not np.array_equal(first.offsets, other.offsets):
        sizes, other_sizes = np.diff(first.offsets), np.diff(other.offsets)
        i = int(np.flatnonzero(sizes != other_sizes)[0])
        problem = f"instance {i:,} has {sizes[i]} candidates in one and {other_sizes[i]} in the other"
    else:
        return
    raise UserError(
        "D416",
        first=f"{first_name} ({type(first).__name__})",
        second=f"{name} ({type(other).__name__})",
        problem=problem,
    )


def _join_batches(batches: Sequence[Any]) -> CandidateBatch:
    """Join batches in the most compact storage that can hold all of them; see `join`."""
    kinds, first = set(map(type, batches)), batches[0]
    if kinds == {DenseBlocks}:
        return _join_blocks(batches)
    if kinds == {CrossedRows}:
        same = all(np.array_equal(batch.label_of_rows, first.label_of_rows) for batch in batches[1:])
        return join_crossed(list(batches)) if same else JoinedRows.from_parts(batches)
    if kinds == {DenseLists}:
        values = np.concatenate([batch.values for batch in batches], axis=1)
        columns = _columns_of_lists(tuple(batch.columns for batch in batches))
        return DenseLists(values, first.offsets, first.cost, columns)
    if kinds <= set(_LIST_STORAGES):
        return _join_sparse([convert(batch, SparseRows) for batch in batches])
    parts = [p for batch in batches for p in (batch.parts if isinstance(batch, JoinedRows) else [batch])]
    by_storage: dict[type, list[CandidateBatch]] = {}
    for part in parts:  # each storage once, in order of first appearance
        by_storage.setdefault(type(part), []).append(part)
    if len(by_storage) == len(parts):
        return JoinedRows.from_parts(parts)
    joined = [_join_batches(same) if len(same) > 1 else same[0] for same in by_storage.values()]
    return joined[0] if len(joined) == 1 else JoinedRows.from_parts(joined)


def _join_sparse(batches: Sequence[SparseRows]) -> SparseRows:
    from scipy.sparse import csr_array, hstack

    rows = csr_array(hstack([batch.rows for batch in batches], format="csr"))
    columns = JoinedColumns([batch.columns for batch in batches])
    return SparseRows(rows, batches[0].offsets, batches[0].cost, columns)


@lru_cache(maxsize=1024)
def _columns_of_lists(parts: tuple[Columns, ...]) -> Columns:
    """Return the joined columns of lists as one object; they are few and requested repeatedly."""
    joined = JoinedColumns(parts)
    return Columns(joined.labels, joined.groups, joined.group_names, list(joined.names))


def _join_blocks(batches: Sequence[DenseBlocks]) -> DenseBlocks:
    values, places, columns = [], [], []
    for batch in batches:
        values.append(batch.values)
        places.append(np.asarray(batch.column_of, np.int64).tobytes())
        columns.append(batch.columns)
    joined = np.concatenate(values, axis=2)
    _, k, total = joined.shape
    of_blocks = _columns_of_blocks(tuple(columns), tuple(places), k)
    return DenseBlocks(joined, separate_columns(k, total), of_blocks, batches[0].costs)


@lru_cache(maxsize=1024)
def _columns_of_blocks(parts: tuple[Columns, ...], places: tuple[bytes, ...], k: int) -> Columns:
    """Return the meaning of the attributes of joined blocks; cached, because a model requests it repeatedly.

    `places` are the `column_of` arrays of the blocks, (K, A) each, as bytes.
    """
    names = tuple(dict.fromkeys(name for columns in parts for name in columns.group_names))
    groups, labelled = [], []
    for columns, place in zip(parts, places, strict=True):
        column_of = np.frombuffer(place, np.int64).reshape(k, -1)
        numbers = np.array([names.index(name) for name in columns.group_names], np.int32)
        groups.append(numbers[columns.groups[column_of]])
        labelled.append(np.array(list(columns.names) or [""] * len(columns), object)[column_of])
    total = sum(block.shape[1] for block in groups)
    return Columns(
        np.repeat(np.arange(k, dtype=np.int32), total),
        np.concatenate(groups, axis=1).ravel(),
        names,
        [str(name) for name in np.concatenate(labelled, axis=1).ravel()],
    )


@dataclass(frozen=True, slots=True, eq=False)
class ExtractorChoice:
    """Several extractors from which training chooses one: see `disambig.training.trainer`.

    A model has only the chosen one, and its config names it. Used on its own, this acts as the first one.

    Parameters
    ----------
    options : mapping of str to FeatureExtractor
        By name: ``[extractors.NAME.options.OPTION]``.

    Raises
    ------
    UserError
        D518 if there are fewer than two.
    """

    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        if len(self.options) < 2:
            raise UserError("D518", n=len(self.options))

    @property
    def first(self) -> FeatureExtractor:
        """The first option."""
        option: FeatureExtractor = next(iter(self.options.values()))
        return option

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> FeatureExtractor:
        """Return the first option, fitted."""
        return self.first.fit(view, instances, groups)

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return the features of the first option."""
        return transform_table_checked(self.first, view, table)

    def state(self) -> Arrays:
        """Return the state of the first option."""
        return self.first.state()

    def from_state(self, arrays: Arrays) -> FeatureExtractor:
        """Return the first option with a state."""
        return self.first.from_state(arrays)
