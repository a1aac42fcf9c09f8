"""The type of checks, helpers, small learning problems with known answers, and scored examples.

In all learning problems some columns are clearly larger for the right candidate, so that some weights make no
mistake; the other columns are noise. The first candidate is right in more than half of the instances.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateLists,
    Columns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    Group,
    Instances,
    Ragged,
    ScoreBatch,
    SequenceRows,
    SparseRows,
    numbered,
    offsets_from_sizes,
    segments,
)
from disambig.errors import UserError, describe_value
from disambig.files import is_plain
from disambig.registry import load_plugins
from disambig.text import TokenView
from disambig.types import Arrays, Between, CandidateBatch, Decides

if TYPE_CHECKING:  # worker processes of check_runner import this module, and need no models
    from disambig.models import StandaloneModel


class Check(NamedTuple):
    """A check: its name, and a function that raises `AssertionError` if it fails."""

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run the check."""
        self.run()

    def __str__(self) -> str:
        return self.name


def collect_checks(owner: Any) -> list[Check]:
    """Return the public methods of `owner` as checks, in the order of their definition.

    Plugins are loaded, so that messages name the entry and its plugin.
    """
    load_plugins()
    names = [name for name in vars(type(owner)) if not name.startswith("_")]
    return [Check(name, contract_failures()(getattr(owner, name))) for name in names]


@contextmanager
def contract_failures() -> Iterator[None]:
    """Turn the error for a broken contract (D414) into an `AssertionError`."""
    try:
        yield
    except UserError as problem:
        if problem.code != "D414":
            raise
        raise AssertionError(str(problem)) from problem


def require(holds: object, message: str) -> None:
    """Raise `AssertionError` with `message` unless `holds` (``assert`` has no effect under ``python -O``)."""
    if not holds:
        raise AssertionError(message)


def require_equal(seen: Any, expected: Any, what: str) -> None:
    """Raise unless two arrays are equal, NaN to NaN; the message shows the first difference."""
    seen, expected = np.asarray(seen), np.asarray(expected)
    require(seen.shape == expected.shape, f"{what}: shape {seen.shape}, expected {expected.shape}")
    differ = (seen != expected) & ~((seen != seen) & (expected != expected))
    if differ.any():
        index = tuple(int(place) for place in np.argwhere(differ)[0])
        at = f"{', '.join(map(str, index))}: " if index else ""
        n = f" ({int(differ.sum()):,} of {differ.size:,} differ)" if differ.size > 1 else ""
        raise AssertionError(f"{what}: {at}{seen[index]} is not {expected[index]}{n}")


def require_close(seen: Any, expected: Any, what: str, *, within: float = 1e-6) -> None:
    """Raise unless two arrays agree up to `within`, relative to the largest value."""
    seen, expected = np.asarray(seen, np.float64), np.asarray(expected, np.float64)
    require(seen.shape == expected.shape, f"{what}: shape {seen.shape}, expected {expected.shape}")
    if seen.size:
        require(np.isfinite(seen).all(), f"{what}: some numbers are not finite")
        off = np.abs(seen - expected)
        at = np.unravel_index(int(off.argmax()), off.shape)
        scale = max(1.0, float(np.abs(expected).max()))
        problem = f"off by up to {off[at]:.3g}: {seen[at]:.6g} is not {expected[at]:.6g}"
        require(off[at] <= within * scale, f"{what}: {problem}")


def require_state(arrays: Arrays, what: str) -> None:
    """Raise unless `arrays` can be saved without pickle: named NumPy arrays of plain numbers."""
    require(isinstance(arrays, Mapping), f"{what}: state is {describe_value(arrays)}, not arrays by name")
    for name, array in arrays.items():
        dtype = getattr(array, "dtype", None)
        seen = type(array).__name__ if dtype is None else f"an array of {dtype}"
        are_numbers = getattr(dtype, "kind", "O") in "biuf"
        require(are_numbers, f"{what}: state {name!r} is not an array of numbers but {seen}")
        finite = bool(np.isfinite(array).all())  # other arrays are refused when a model is loaded
        require(finite, f"{what}: state {name!r} has NaN or infinite numbers")


def require_batch(batch: CandidateBatch, what: str) -> None:
    """Raise unless a batch is consistent and its `adjoint` is the adjoint of its `scores`."""
    n_rows, n_columns = len(batch.cost), len(batch.columns)
    offsets = batch.offsets
    steps = np.diff(offsets)
    require(offsets[0] == 0 and offsets[-1] == n_rows, f"{what}: offsets do not cover the {n_rows} rows")
    require((steps > 0).all(), f"{what}: an instance has no row")
    require((batch.cost >= 0).all(), f"{what}: a cost is negative")
    rng = np.random.default_rng(0)
    weights, mass = rng.normal(size=n_columns), rng.normal(size=n_rows)
    scores, sums = batch.scores(weights), batch.adjoint(mass)
    require(scores.shape == (n_rows,), f"{what}: scores of shape {scores.shape} for {n_rows} rows")
    require(sums.shape == (n_columns,), f"{what}: adjoint of shape {sums.shape} for {n_columns} columns")
    require_close(mass @ scores, weights @ sums, f"{what}: adjoint and scores do not match", within=1e-4)
    require(batch.row_sqnorm().shape == (n_rows,), f"{what}: the shape of row_sqnorm is not ({n_rows},)")
    if len(steps):
        index = np.array([len(steps) - 1, 0])
        rows = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in index])
        require_close(
            batch.take(index).scores(weights), scores[rows], f"{what}: take changes scores", within=1e-5
        )


def accuracy(batch: CandidateBatch, scores: NDArray[np.float64]) -> float:
    """Return the share of instances whose best row has no cost."""
    require(np.isfinite(scores).all(), "some scores are not finite")  # NaN would have no best row
    best = segments.best_rows(scores, batch.offsets)
    return float(np.mean(batch.cost[best] == 0))


GROUPS = ("2-gram", "3-gram", "4-gram", "5-gram", "bias")


def blocks(n: int = 60, *, labels: int = 3, seed: int = 0) -> DenseBlocks:
    """Return class blocks with one attribute for each of `GROUPS`; the values resemble n-gram counts.

    Equal weights on the 3-grams choose the right candidate everywhere, and every learner can find them.
    """
    rng = np.random.default_rng(seed)
    right = _labels(n, labels, rng)
    values = np.log1p(rng.poisson(2.0, size=(n, labels, len(GROUPS)))).astype(np.float32)
    values[np.arange(n), right, 1] = values[:, :, 1].max(axis=1) + 1 + rng.random(n)
    values[:, :, -1] = 1.0
    columns = Columns(
        np.repeat(np.arange(labels, dtype=np.int32), len(GROUPS)),
        np.tile(np.arange(len(GROUPS), dtype=np.int32), labels),
        GROUPS,
        [f"{label}: {name}" for label in range(labels) for name in GROUPS],
    )
    return DenseBlocks(
        values, np.arange(values[0].size).reshape(values.shape[1:]), columns, _costs(right, labels)
    )


def lists(n: int = 60, *, longest: int = 6, columns: int = 8, seed: int = 0) -> SparseRows:
    """Return n-best lists of different lengths with costs; the last instance has two right candidates."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, longest + 1, size=n)
    sizes[-1] = longest
    offsets = offsets_from_sizes(sizes)
    cost = rng.integers(1, 5, size=offsets[-1]).astype(np.float32)
    cost[offsets[:-1] + np.where(rng.random(n) < 0.6, 0, sizes - 1)] = 0.0
    cost[-2:] = 0.0
    rows = rng.normal(size=(len(cost), columns)) * (rng.random((len(cost), columns)) < 0.5)
    rows[:, 0] = -cost + rng.uniform(0.0, 0.5, len(cost))
    return SparseRows(csr_array(rows), offsets, cost, numbered(columns))


def crossed(n: int = 60, *, labels: int = 3, columns: int = 8, seed: int = 0) -> CrossedRows:
    """Return sparse rows, one per instance, crossed with labels: some words and a constant last column."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    right = _labels(n, labels, rng)
    rows = (rng.random((n, columns)) < 0.3).astype(np.float64)
    rows[:, :labels] = 3.0 * np.eye(labels)[right]
    rows[:, -1] = 1.0
    meaning = Columns(
        np.repeat(np.arange(labels, dtype=np.int32), columns),
        np.tile(np.array([*[0] * (columns - 1), 1], np.int32), labels),
        ("words", "bias"),
    )
    return CrossedRows(csr_array(rows), _costs(right, labels), meaning)


def dense_lists(n: int = 60, *, longest: int = 6, seed: int = 0) -> DenseLists:
    """Return lists of different lengths whose candidates share one attribute for each of `GROUPS`.

    Equal weights on the 3-grams choose the right candidate everywhere; costs are graded as in `lists`.
    """
    sparse = lists(n, longest=longest, seed=seed)
    rng = np.random.default_rng(seed + 1)
    values = np.log1p(rng.poisson(2.0, size=(len(sparse.cost), len(GROUPS)))).astype(np.float32)
    values[:, 1] = 4.0 - sparse.cost / 2 + rng.uniform(0.0, 0.2, len(sparse.cost))
    values[:, -1] = 1.0
    groups = np.arange(len(GROUPS), dtype=np.int32)
    columns = Columns(np.full(len(GROUPS), -1, np.int32), groups, GROUPS, list(GROUPS))
    return DenseLists(values, sparse.offsets, sparse.cost, columns)


def crossed_lists(n: int = 60, *, labels: int = 5, columns: int = 10, seed: int = 0) -> CrossedRows:
    """Return sparse rows, one per instance, with a few possible labels each, including the right one."""
    whole = crossed(n, labels=labels, columns=columns, seed=seed)
    rng = np.random.default_rng(seed + 1)
    kept = (rng.random(whole.costs.shape) < 0.5) | (whole.costs == 0)
    kept[:, -1] |= kept.sum(axis=1) < 2
    kept[:, 0] |= kept.sum(axis=1) < 2
    offsets = offsets_from_sizes(kept.sum(axis=1))
    label_of = np.nonzero(kept)[1].astype(np.int64)
    return CrossedRows(whole.rows, whole.costs[kept], whole.columns, Ragged(label_of, offsets))


def chains(n: int = 30, *, labels: int = 3, words: int = 6, longest: int = 6, seed: int = 0) -> SequenceRows:
    """Return sequences of words and labels; the last words are only predictable from the label before.

    The label of such a word is the one after the label of the previous word. Some weights of words and of
    pairs of labels make no mistake; weights of words alone make many.
    """
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, size=n)
    sequences = np.repeat(np.arange(n), lengths)
    positions = np.concatenate([np.arange(length) for length in lengths])
    # the first words determine their labels, the others say nothing about them
    is_informative = positions <= np.repeat(rng.integers(0, lengths), lengths) // 2
    half = words // 2
    word_ids = rng.integers(half, size=len(sequences)) + np.where(is_informative, 0, half)
    right = np.zeros(len(sequences), np.int64)
    for i in range(len(right)):
        right[i] = word_ids[i] % labels if is_informative[i] else (right[i - 1] + 1) % labels
    return SequenceRows(csr_array(np.eye(words)[word_ids]), _costs(right, labels), sequences)


def _labels(n: int, labels: int, rng: np.random.Generator) -> NDArray[np.int64]:
    right = np.where(rng.random(n) < 0.5, 0, rng.integers(labels, size=n))
    right[: min(n, labels)] = np.arange(min(n, labels))  # so that every label occurs
    return right


def _costs(right: NDArray[np.int64], labels: int) -> NDArray[np.float32]:
    costs: NDArray[np.float32] = (np.arange(labels) != right[:, None]).astype(np.float32)
    return costs


WORDS = (
    Group("quite/quiet", ("quite", "quiet")),
    Group("to/too/two", ("to", "too", "two"), (("to", "too"),)),
)
LISTS = (Group("list", ()),)


@dataclass(frozen=True)
class MadeTask:
    """A task without instances, whose examples are synthetic."""

    decides: Decides
    groups: tuple[Group, ...]
    name: str = "made"
    language: str = ""
    metric: tuple[str, str | None] = ("accuracy", None)

    def instances(self, view: TokenView) -> Instances:
        """Return no instances."""
        nothing = np.zeros(0, np.int32)
        return Instances(np.zeros(0, np.int64), nothing, nothing, nothing)


@dataclass(frozen=True)
class MadeCalibrationData:
    """Synthetic, reproducible calibration data; see `disambig.types.CalibrationData`."""

    task: MadeTask
    parts: tuple[ScoreBatch, ...]
    n_words: int = 10_000

    @property
    def rng(self) -> np.random.Generator:
        """Random generator for sampling; it starts from the same seed each time."""
        return np.random.default_rng(0)

    def scored(self, group: int, *, maximum: int | None = None) -> ScoreBatch:
        """Return the first `maximum` examples of a group."""
        part = self.parts[group]
        return part if maximum is None else part.take(np.arange(min(maximum, len(part))))


def make_calibration_data(between: Between = "words", n: int = 60, *, seed: int = 0) -> MadeCalibrationData:
    """Return scored examples in which the right candidate has the best score in three cases out of four.

    Parameters
    ----------
    between : "words", "labels" or "lists"
        Two groups of words or of labels, or lists of one to six candidates.
    n : int
        Number of examples of each group.
    seed : int
    """
    rng = np.random.default_rng(seed)
    groups = LISTS if between == "lists" else WORDS
    parts = []
    for number, group in enumerate(groups):
        fixed = len(group.candidates)
        sizes = rng.integers(1, 7, n) if between == "lists" else np.full(n, fixed)
        offsets = offsets_from_sizes(sizes)
        right = rng.integers(0, sizes).astype(np.int32)
        rows = int(offsets[-1])
        cost = np.ones(rows, np.float32)
        cost[offsets[:-1] + right] = 0.0
        scores = rng.normal(size=rows) + 2.0 * (cost == 0)
        evidence = rng.integers(0, 4, rows).astype(np.int32)
        lists = None
        if between == "lists":
            lists = replace(
                CandidateLists.from_texts([[f"text {i}" for i in range(k)] for k in sizes]), costs=cost
            )
        n_queries = np.full(rows, 4, np.int32)
        columns = scores, right, evidence, n_queries, cost
        parts.append(ScoreBatch.from_group(group, number, offsets, *columns, lists=lists))
    decides = Decides("items" if between == "lists" else "words", between)
    return MadeCalibrationData(MadeTask(decides, groups), tuple(parts))


def check_standalone(model: StandaloneModel, texts: Sequence[str]) -> list[Check]:
    """Return the checks of a model that `disambig_register_models` registers.

    Parameters
    ----------
    model : StandaloneModel
    texts : sequence of str
        At least two different texts with results first; others may be empty.
    """
    return collect_checks(_StandaloneChecks(model, list(texts)))


@dataclass
class _StandaloneChecks:
    _model: StandaloneModel
    _texts: list[str]

    def describes_itself(self) -> None:
        formats = self._model.formats
        are_texts = isinstance(formats, tuple) and all(isinstance(name, str) and name for name in formats)
        require(are_texts and formats, f"formats is {formats!r}: give a tuple of names")
        language, description = self._model.language, self._model.describe()
        require(isinstance(language, str) and language, f"language is {language!r}")
        one_line = isinstance(description, str) and bool(description) and "\n" not in description
        require(one_line, f"describe() returned {description!r}: expected a line of text")

    def returns_one_json_list_per_text(self) -> None:
        records = self._model.records(self._texts)
        require(len(records) == len(self._texts), f"{len(records)} lists for {len(self._texts)} texts")
        for text, results in zip(self._texts, records, strict=True):
            require(results or not text.strip(), f"no result for {text!r}")
            require(all(map(is_plain, results)), f"the results for {text!r} cannot be written as JSON")

    def texts_do_not_affect_each_other(self) -> None:
        together = self._model.records(self._texts)
        for text, results in zip(self._texts, together, strict=True):
            (alone,) = self._model.records([text])
            require(alone == results, f"{text!r} has other results alone than with other texts")

    def empty_texts_have_no_results(self) -> None:
        require(self._model.records([]) == [], "records([]) is not []")
        require(self._model.records([""]) == [[]], 'records([""]) is not [[]]')
        (_, empty, _) = self._model.records([self._texts[0], "", self._texts[1]])
        require(empty == [], "an empty text among others has results")

    def n_best_keeps_the_number_of_results(self) -> None:
        one, several = (self._model.records(self._texts, n_best=n) for n in (1, 3))
        sizes = [[len(results) for results in records] for records in (one, several)]
        require(sizes[0] == sizes[1], "n_best changes the number of sentences or lines")

    def saved_model_gives_the_same_results(self) -> None:
        from disambig.models import stored_format

        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / "model"
            self._model.save(folder)
            name = stored_format(folder)
            require(name in self._model.formats, f"the format in header.json, {name!r}, is not in formats")
            again = type(self._model).load(folder)
            require(again.describe() == self._model.describe(), "the loaded model has another description")
            same = again.records(self._texts) == self._model.records(self._texts)
            require(same, "the loaded model gives other results")

    def damaged_folders_raise_user_errors(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            whole = Path(home) / "model"
            self._model.save(whole)
            for number, path in enumerate(sorted(path for path in whole.rglob("*") if path.is_file())):
                damaged = Path(home) / str(number)
                self._model.save(damaged)
                copy = damaged / path.relative_to(whole)
                copy.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])
                self._require_error(damaged, f"{path.relative_to(whole)} is cut short")
            self._require_error(Path(home) / "nothing", "the folder does not exist")

    def _require_error(self, folder: Path, problem: str) -> None:
        try:
            loaded: Any = type(self._model).load(folder)
        except UserError:
            return
        except Exception as error:
            raise AssertionError(f"{problem}: {type(error).__name__}: {error}") from error
        raise AssertionError(f"{problem}, but it was loaded as {loaded.describe()!r}")
