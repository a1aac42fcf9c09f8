"""Descriptions of the columns of a batch, that is, of the flat weights, and their names."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, overload
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError, nearest_first
from disambig.runtime import WeakRefMixin

if TYPE_CHECKING:
    from disambig.types import Arrays

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Columns(WeakRefMixin):
    """Label, feature group and name of each column.

    Attributes
    ----------
    labels : array of int32, shape (n_columns,)
        Candidate that the column belongs to, as an index in its group; -1 if all candidates share it.
    groups : array of int32, shape (n_columns,)
        Feature group of the column, as an index into `group_names`.
    group_names : tuple of str
        For example ``("2-gram", "3-gram", "bias")``; subsets of weights are selected by these names.
    names : sequence of str
        Human-readable names; empty if there are too many columns to name.
    """

    labels: NDArray[np.int32]
    groups: NDArray[np.int32]
    group_names: tuple[str, ...]
    names: Sequence[str] = ()

    @staticmethod
    def of_group(group: str, n: int, *, candidates: int = 0, names: Sequence[str] = ()) -> Columns:
        """Return columns of one feature group: `n` that all candidates share, or `n` for each of some."""
        owners = np.arange(candidates, dtype=np.int32) if candidates else np.full(1, -1, np.int32)
        labels = np.repeat(owners, n)
        return Columns(labels, np.zeros(len(labels), np.int32), (group,), names)

    def __len__(self) -> int:
        return len(self.labels)

    def with_group(self, group: str, labels: Sequence[int]) -> Columns:
        """Return these columns, and after them one for each of `labels` in a feature group of their own."""
        return Columns(
            np.concatenate([self.labels, np.array(labels, np.int32)]),
            np.concatenate([self.groups, np.full(len(labels), len(self.group_names), np.int32)]),
            (*self.group_names, group),
            [*self.names, *[group] * len(labels)] if len(self.names) else (),
        )

    def in_groups(self, names: Sequence[str], *, setting: str = "the learner") -> NDArray[np.bool_]:
        """Return a mask of the columns that belong to the named feature groups.

        Parameters
        ----------
        names : sequence of str
        setting : str
            Part of the config that named them, for the error message.

        Raises
        ------
        UserError
            D451 for a name that is not a feature group of this batch.
        """
        unknown = [name for name in names if name not in self.group_names]
        if unknown:
            nearest = nearest_first(unknown[0], self.group_names)
            raise UserError("D451", setting=setting, name=unknown[0], names=nearest)
        return np.isin(self.groups, [self.group_names.index(name) for name in names])


def numbered(n_columns: int, label: int = -1) -> Columns:
    """Return columns that have no names and are all in one feature group."""
    return Columns(np.full(n_columns, label, np.int32), np.zeros(n_columns, np.int32), ("all",))


class LazySequence(Sequence[Item]):
    """A sequence of items that are made on access; subclasses define the length and `make_item`."""

    __slots__ = ()

    @abstractmethod
    def make_item(self, index: int) -> Item:
        """Return the item at `index`, which is between 0 and the length minus one."""

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        selected = range(len(self))[index]
        return self.make_item(selected) if isinstance(selected, int) else list(map(self.make_item, selected))


@dataclass(frozen=True, slots=True, eq=False)
class PackedStrings(LazySequence[str]):
    """Strings packed into one array of bytes; each is decoded on access."""

    letters: NDArray[np.uint8]  # the concatenated words, in UTF-8
    ends: NDArray[np.int64]  # (D,): end of each word in `letters`

    @classmethod
    def from_words(cls, words: Iterable[str]) -> PackedStrings:
        """Pack `words`."""
        encoded = [word.encode("utf8", "replace") for word in words]
        ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8).copy(), ends)

    @classmethod
    def from_known(cls, words: Mapping[int, str], n: int) -> PackedStrings:
        """Pack `n` words, given those at some indices; the others are empty."""
        return cls(np.zeros(0, np.uint8), np.zeros(n, np.int64)).replaced(words)

    def __len__(self) -> int:
        return len(self.ends)

    def make_item(self, index: int) -> str:
        """Return one word."""
        start = int(self.ends[index - 1]) if index else 0
        return bytes(self.letters[start : int(self.ends[index])]).decode("utf8", "replace")

    def replaced(self, words: Mapping[int, str]) -> PackedStrings:
        """Return a copy with the words at some indices replaced."""
        lengths, parts, copied = np.diff(self.ends, prepend=0), [], 0
        for index, word in sorted(words.items()):
            encoded = np.frombuffer(word.encode("utf8", "replace"), np.uint8)
            parts += [self.letters[copied : self.ends[index] - lengths[index]], encoded]
            copied, lengths[index] = int(self.ends[index]), len(encoded)
        return PackedStrings(np.concatenate([*parts, self.letters[copied:]]), np.cumsum(lengths))

    def state(self) -> Arrays:
        """Return the words as arrays; no arrays if there are no words."""
        return {"letters": self.letters, "ends": self.ends} if len(self) else {}


def strings_from_state(arrays: Arrays, n: int) -> PackedStrings:
    """Restore the result of `PackedStrings.state` for `n` columns; no words if it has none.

    Raises `KeyError` or `ValueError` if arrays are missing or do not fit together.
    """
    if "letters" not in arrays and "ends" not in arrays:
        return PackedStrings.from_words(())
    letters, ends = arrays["letters"], arrays["ends"]
    has_dtypes = letters.dtype == np.uint8 and ends.dtype.kind == "i"
    if ends.shape != (n,) or letters.ndim != 1 or not has_dtypes:
        raise ValueError(f"names of columns: expected bytes, and the ends of {n:,} names")
    bounds = np.concatenate([[0], ends, [len(letters)]])
    if (bounds[1:] < bounds[:-1]).any() or (len(ends) and ends[-1] != len(letters)):
        raise ValueError("names of columns: the ends of the names do not fit the bytes")
    return PackedStrings(letters, ends.astype(np.int64))


class CrossedColumns(Columns):
    """K * D columns, candidate by candidate; only D are stored, the others are made on access.

    Parameters
    ----------
    own : Columns
        The D columns of a row.
    candidates : tuple of str
        Column names begin with the candidate: ``"candidate: name"``.
    """

    __slots__ = ("candidates", "own")
    own: Columns
    candidates: tuple[str, ...]

    def __init__(self, own: Columns, candidates: tuple[str, ...]) -> None:
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "candidates", candidates)

    def __reduce__(self) -> tuple[object, ...]:
        return CrossedColumns, (self.own, self.candidates)

    def __len__(self) -> int:
        return len(self.own) * len(self.candidates)

    @property
    def labels(self) -> NDArray[np.int32]:
        """Candidate of each column."""
        return np.repeat(np.arange(len(self.candidates), dtype=np.int32), len(self.own))

    @property
    def groups(self) -> NDArray[np.int32]:
        """Feature group of each column; stored only once if all columns are in the same group."""
        row_groups = self.own.groups
        if row_groups.strides == (0,):  # one group, broadcast by the extractor: stay that small
            return np.broadcast_to(row_groups[:1], (len(self),))
        return np.tile(row_groups, len(self.candidates))

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the feature groups."""
        return self.own.group_names

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns; empty if the columns of a row have none."""
        return _CrossedNames(self.own.names, self.candidates) if len(self.own.names) else ()


def own_columns(columns: Columns, width: int) -> Columns:
    """Return the descriptions of the `width` columns of a row, without their candidates."""
    if isinstance(columns, CrossedColumns):
        return columns.own
    return Columns(np.full(width, -1, np.int32), columns.groups[:width], columns.group_names)


def candidate_names(columns: Columns, k: int) -> tuple[str, ...]:
    """Return the names of the `k` candidates; numbers if the columns do not name them."""
    return columns.candidates if isinstance(columns, CrossedColumns) else tuple(map(str, range(k)))


_Others = tuple["ref[Columns]", ...]
_last_joins: WeakKeyDictionary[Columns, tuple[_Others, Columns]] = WeakKeyDictionary()
"""The last columns joined to each first argument, and the result; kept as long as that argument lives."""


def join_columns(first: Columns, *others: Columns) -> Columns:
    """Join the columns of several rows; feature groups of the same name are merged."""
    joined_others, joined = _last_joins.get(first, ((), None))
    # columns compare by identity, so this is the same join as last time only if all objects are the same
    if joined is None or [reference() for reference in joined_others] != list(others):
        all_columns = JoinedColumns((first, *others))
        labels = np.full(len(all_columns), -1, np.int32)
        joined = Columns(labels, all_columns.groups, all_columns.group_names, all_columns.names)
        _last_joins[first] = tuple(map(ref, others)), joined
    return joined


class ChainedStrings(LazySequence[str]):
    """The concatenated names of several sets of columns, empty for columns without names."""

    def __init__(self, names: Sequence[Sequence[str]], sizes: Sequence[int]) -> None:
        self._names = names
        self._ends = np.cumsum(sizes).tolist()

    def __len__(self) -> int:
        return int(self._ends[-1])

    def make_item(self, index: int) -> str:
        """Return the name of one column."""
        part = bisect_right(self._ends, index)
        names = self._names[part]
        return names[index - (self._ends[part - 1] if part else 0)] if len(names) else ""


class JoinedColumns(Columns):
    """The concatenated columns of several batches; feature groups of the same name are merged."""

    __slots__ = ("parts",)
    parts: tuple[Columns, ...]

    def __init__(self, parts: Sequence[Columns]) -> None:
        object.__setattr__(self, "parts", tuple(parts))

    def __reduce__(self) -> tuple[object, ...]:
        return JoinedColumns, (self.parts,)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def labels(self) -> NDArray[np.int32]:
        """Candidate of each column."""
        return np.concatenate([part.labels for part in self.parts])

    @property
    def groups(self) -> NDArray[np.int32]:
        """Feature group of each column."""
        numbers = {name: i for i, name in enumerate(self.group_names)}
        return np.concatenate(
            [np.array([numbers[name] for name in p.group_names], np.int32)[p.groups] for p in self.parts]
        )

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the feature groups of all batches."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.group_names))

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns; empty if no batch has names."""
        names = [part.names for part in self.parts]
        return ChainedStrings(names, list(map(len, self.parts))) if any(map(len, names)) else ()


class _CrossedNames(LazySequence[str]):
    """``"candidate: name"`` of each column, made on access."""

    def __init__(self, row_names: Sequence[str], candidates: tuple[str, ...]) -> None:
        self._row_names, self._candidates = row_names, candidates

    def __len__(self) -> int:
        return len(self._row_names) * len(self._candidates)

    def make_item(self, index: int) -> str:
        """Return the name of one column."""
        candidate, column = divmod(index, len(self._row_names))
        name = self._row_names[column]
        return f"{self._candidates[candidate]}: {name}" if name else ""
