"""Contracts of tasks, extractors, kernels and learners."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Group,
    GroupedInstances,
    Instances,
    find_certain_mistakes,
    find_examples,
    find_instances,
    find_right_words,
)
from disambig.errors import check_call, describe_value
from disambig.features import fit_checked, transform_checked, transform_table
from disambig.registry import describe_component
from disambig.testing.checks import (
    Check,
    accuracy,
    blocks,
    collect_checks,
    crossed,
    require,
    require_batch,
    require_close,
    require_equal,
)
from disambig.text import (
    END_HASH,
    START_HASH,
    Tokenisation,
    TokenView,
    Words,
    check_tokens,
    check_view,
    hash_word,
)
from disambig.training import fit, to_accepted_storage
from disambig.types import (
    CandidateBatch,
    FeatureExtractor,
    Features,
    Fitted,
    HasExamples,
    Kernel,
    Learner,
    TakesGroups,
    Task,
    check_declarations,
    decides,
    metric,
    needs_training,
)


def check_task(task: Task, texts: Sequence[str], tokenisation: Tokenisation | None = None) -> list[Check]:
    """Return the checks of a task.

    Parameters
    ----------
    task : Task
    texts : sequence of str
        Documents in which the task finds something to decide; any documents if it decides items outside a
        text.
    tokenisation : Tokenisation, optional
        By default ``disambig.words.v1``.
    """
    return collect_checks(_TaskChecks(task, list(texts), tokenisation or Words()))


@dataclass
class _TaskChecks:
    _task: Task
    _texts: list[str]
    _tokenisation: Tokenisation

    def keeps_its_contract(self) -> None:
        """Check what the task declares, and its instances, as training does."""
        check_declarations(self._task)
        find_instances(self._task, self._tokenisation(self._texts))

    def metric_is_about_a_candidate(self) -> None:
        name, candidate = metric(self._task)
        names = {candidate for group in self._task.groups for candidate in group.candidates}
        is_known = candidate is None or candidate in names
        require(is_known, f"metric {name!r} is about {candidate!r}, which is not a candidate")

    def has_groups_of_candidates(self) -> None:
        groups = self._task.groups
        require(len(groups) > 0, "groups is empty")
        for group in groups:
            minimum = 0 if self._own else 2  # per-instance lists replace the candidates of the group
            require(len(group.candidates) >= minimum, f"{group.name}: fewer than two candidates")
            strange = {name for variants in group.variants for name in variants} - set(group.candidates)
            require(not strange, f"{group.name}: variants {sorted(strange)} are not candidates")

    def accepts_groups_of_a_saved_model(self) -> None:
        if isinstance(self._task, TakesGroups):
            groups = self._task.groups[::-1][:-1] or self._task.groups
            seen = self._task.of_groups(groups).groups
            require(seen == groups, "of_groups returned a task with other groups")

    def finds_instances(self) -> None:
        instances = self._find(self._texts)[1]
        if decides(self._task).where == "items":
            in_text = "it finds instances in a text but decides items, which come from a reader"
            require(not len(instances), in_text)
        else:
            require(len(instances), "no instance in these texts: give texts with something to decide")

    def lists_are_complete(self) -> None:
        lists = self._find(self._texts)[1].lists
        if lists is None:
            return
        rows = int(lists.offsets[-1])
        for name in ("texts", "scores", "ranks", "costs"):
            size = len(getattr(lists, name))
            require(size == rows, f"{name} of {size:,} candidates, but the lists have {rows:,}")
        require(all(isinstance(text, str) for text in lists.texts), "a candidate is not a text")
        require(np.isfinite(lists.scores).all(), "a base score is not a finite number")
        require((lists.ranks >= 0).all(), "a rank is below 0")
        require(not (lists.costs < 0).any(), "a cost is negative")
        if lists.features is not None:
            shape = rows, len(lists.feature_names)
            require(lists.features.shape == shape, f"features of shape {lists.features.shape}, not {shape}")

    def decides_each_place_once(self) -> None:
        instances = self._find(self._texts)[1]
        places = np.stack([instances.positions, instances.lengths, instances.groups])
        distinct, counts = np.unique(places, axis=1, return_counts=True)
        twice = distinct[0, counts > 1]
        if len(twice) and decides(self._task).where != "items":
            first = f"the first at token {twice[0]}"
            raise AssertionError(f"{len(twice)} places are decided twice for the same group, {first}")

    def does_not_change_the_view(self) -> None:
        view = self._tokenisation(self._texts)
        before = copy.deepcopy(view)
        self._task.instances(view)
        for name in ("hashes", "starts", "ends", "sentences", "documents"):
            require_equal(getattr(view, name), getattr(before, name), f"{name} of the view after instances")

    def labels_are_not_in_the_text(self) -> None:
        if decides(self._task).between == "labels":
            observed = self._find(self._texts)[1].observed
            require((observed == -1).all(), "observed is a label, but the text contains no labels: use -1")

    def places_are_inside_sentences(self) -> None:
        view, instances = self._find(self._texts)
        for i in np.flatnonzero(instances.lengths < 1).tolist():
            candidates = instances.candidates(i, self._task.groups[instances.groups[i]])
            problem = "an instance has no token, although its group has no empty candidate: leave it out"
            require("" in candidates, problem)
        where = decides(self._task).where
        are_single = where != "tokens" or (instances.lengths == 1).all()
        require(are_single, "it decides single tokens, but an instance has several")
        for position, length in zip(instances.positions, instances.lengths, strict=True):
            inside = np.arange(position, position + length)
            # the positions of documents need not be inside one sentence
            tokens = inside[[0, -1]] if where == "documents" else inside
            require(
                (view.ends[tokens] > view.starts[tokens]).all(),
                f"the instance at token {position} begins or ends with the token that marks the start or end "
                "of a sentence: leave that out",
            )

    def texts_do_not_affect_each_other(self) -> None:
        together = self._find(self._texts)
        starts = together[0].documents
        apart = [self._find([text])[1] for text in self._texts]
        shifted = [piece.positions + starts[i] for i, piece in enumerate(apart)]
        require_equal(np.concatenate(shifted), together[1].positions, "positions in single texts")
        groups = np.concatenate([piece.groups for piece in apart])
        require_equal(groups, together[1].groups, "groups in single texts")
        lists = [texts for piece in apart for texts in self._lists(piece)]
        require(lists == self._lists(together[1]), "single texts have other candidates")

    def is_repeatable(self) -> None:
        first, second = self._find(self._texts)[1], self._find(self._texts)[1]
        require_equal(second.positions, first.positions, "positions in the second call")
        require_equal(second.observed, first.observed, "candidates in the second call")
        require(self._lists(first) == self._lists(second), "other candidates in the second call")

    def accepts_texts_without_words(self) -> None:
        for texts in ([], [""], [" \n"], ["", ""]):
            n = len(self._find(texts)[1])
            require(n == 0, f"{n} instances in texts without words, {texts!r}: leave these out")

    def certain_mistakes_are_valid(self) -> None:
        for texts in (self._texts, [""]):
            view, instances = self._find(texts)
            find_certain_mistakes(self._task, view, instances)

    def right_words_are_a_mask(self) -> None:
        for texts in (self._texts, [""]):
            find_right_words(self._task, self._tokenisation(texts))

    def examples_are_valid_instances(self) -> None:
        if not isinstance(self._task, HasExamples):
            return
        find_examples(self._task, self._tokenisation(self._texts))
        examples = _TaskChecks(_ExamplesTask(self._task), self._texts, self._tokenisation)
        try:
            examples.finds_instances()
            examples.lists_are_complete()
            examples.labels_are_not_in_the_text()
            examples.places_are_inside_sentences()
            examples.texts_do_not_affect_each_other()
            examples.is_repeatable()
            examples.accepts_texts_without_words()
        except AssertionError as problem:
            raise AssertionError(f"examples: {problem}") from problem

    @property
    def _own(self) -> bool:
        return decides(self._task).between == "lists"

    def _lists(self, instances: Instances) -> list[tuple[str, ...]]:
        lists = instances.lists
        return [lists.instance_candidates(i) for i in range(len(instances))] if lists is not None else []

    def _find(self, texts: list[str]) -> tuple[TokenView, Instances]:
        view = self._tokenisation(texts)
        return view, self._task.instances(view)


class _ExamplesTask:
    """A task whose instances are the examples of another task."""

    def __init__(self, task: Any) -> None:
        self._task = task

    def instances(self, view: TokenView) -> Instances:
        instances: Instances = self._task.examples(view)
        return instances

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)


def check_tokenisation(tokenisation: Tokenisation, texts: Sequence[str]) -> list[Check]:
    """Return the checks of a tokenisation.

    Parameters
    ----------
    tokenisation : Tokenisation
    texts : sequence of str
        Documents with words; include some that are difficult to split.
    """
    return collect_checks(_TokenisationChecks(tokenisation, list(texts)))


_MARKS = {START_HASH: "<S>", END_HASH: "</S>"}


@dataclass
class _TokenisationChecks:
    _tokenisation: Tokenisation
    _texts: list[str]

    def keeps_its_contract(self) -> None:
        """Check the tokenisation and its view of the texts, as the first use of a tokenisation does."""
        check_tokens(self._tokenisation)
        check_view(self._tokenisation, self._tokenisation(self._texts), self._texts)

    def words_are_in_text_order(self) -> None:
        view = self._tokenisation(self._texts)
        require((view.ends > view.starts).any(), "no word in these texts: give texts with words")
        for number, (first, last) in enumerate(pairwise(view.documents.tolist())):
            starts, ends = view.starts[first:last], view.ends[first:last]
            require((starts[1:] >= ends[:-1]).all(), f"the tokens of text {number} overlap, or do not ascend")

    def returns_one_word_per_token(self) -> None:
        for text in self._texts:
            words, n = self._tokenisation.words(text), len(self._tokenisation([text]))
            require(len(words) == n, f"words has {len(words)} words for {n} tokens of {text!r}")
            require(all(isinstance(word, str) for word in words), f"words of {text!r} are not texts")
            view = self._tokenisation([text])
            for token in range(n):
                word, mark = words[token], _MARKS.get(int(view.hashes[token]))
                require(
                    hash_word(word) == view.hashes[token] if mark is None else word == mark,
                    f"words gives {word!r} for {view.written(token)!r}, but the view has "
                    f"{mark or 'the hash of another word'} there",
                )

    def texts_do_not_affect_each_other(self) -> None:
        together = self._tokenisation(self._texts)
        for number, text in enumerate(self._texts):
            alone, part = self._tokenisation([text]), together.take(np.array([number]))
            for name in ("hashes", "starts", "ends", "sentences"):
                require_equal(getattr(alone, name), getattr(part, name), f"{name} of {text!r} alone")

    def accepts_texts_without_words(self) -> None:
        for texts in ([], [""], [" \n"], ["", ""]):
            view = self._tokenisation(texts)
            require(len(view) == 0, f"{len(view)} tokens in {texts!r}")
            n_documents = len(view.documents) - 1
            require(n_documents == len(texts), f"{n_documents} documents in {texts!r}")


def check_extractor(
    extractor: FeatureExtractor, task: Task, texts: Sequence[str], tokenisation: Tokenisation | None = None
) -> list[Check]:
    """Return the checks of a feature extractor, which is fitted on `texts` first.

    Parameters
    ----------
    extractor : FeatureExtractor
    task : Task
        A task that finds the instances and passes `check_task`.
    texts : sequence of str
    tokenisation : Tokenisation, optional
        By default ``disambig.words.v1``.
    """
    return collect_checks(_ExtractorChecks(extractor, task, list(texts), tokenisation or Words()))


@dataclass
class _ExtractorChecks:
    _extractor: FeatureExtractor
    _task: Task
    _texts: list[str]
    _tokenisation: Tokenisation

    def keeps_its_contract(self) -> None:
        """Fit the extractor with the checks of training (`disambig.features.fit_checked`)."""
        view = self._tokenisation(self._texts)
        fit_checked(self._extractor, view, self._task.instances(view), self._task.groups)

    def returns_consistent_batches(self) -> None:
        for group, features, _ in self._by_group(self._fit()):
            require_batch(features.batch, f"group {group.name}")

    def does_not_use_labels(self) -> None:
        """In use, labels are not known."""
        if decides(self._task).between != "labels":
            return  # the word in the text is known
        fitted, view = self._fit(), self._tokenisation(self._texts)
        for group, _, instances in self._by_group(fitted):
            labels = np.arange(len(instances), dtype=np.int32) % len(group.candidates)
            labelled = transform_checked(fitted, view, replace(instances, observed=labels), group).batch
            batch = transform_checked(fitted, view, instances.without_labels(), group).batch
            scores, with_labels = batch.scores(_probe(batch)), labelled.scores(_probe(batch))
            require_close(scores, with_labels, f"group {group.name} without observed candidates")

    def does_not_change_the_view(self) -> None:
        fitted, view = self._fit(), self._tokenisation(self._texts)
        before, instances = copy.deepcopy(view), self._task.instances(view)
        for g, rows in instances.rows_by_group():
            transform_checked(fitted, view, instances.take(rows), self._task.groups[g])
        for name in ("hashes", "starts", "ends", "sentences", "documents"):
            require_equal(getattr(view, name), getattr(before, name), f"{name} of the view after transform")

    def state_is_complete(self) -> None:
        unused = _copy(self._extractor)  # as a config makes it when a saved model is loaded
        fitted = self._fit()
        self._by_group(fitted)  # an extractor may prepare more in its first use than in `fit`
        again = unused.from_state({name: array.copy() for name, array in fitted.state().items()})
        expected = self._by_group(fitted)
        self._transform_last(again)  # another order must not change anything
        for (group, features, _), (_, wanted, _) in zip(self._by_group(again), expected, strict=True):
            probe = _probe(features.batch)
            seen = features.batch.scores(probe)
            require_equal(seen, wanted.batch.scores(probe), f"group {group.name} after from_state")

    def instances_do_not_affect_each_other(self) -> None:
        fitted, view = self._fit(), self._tokenisation(self._texts)
        for group, features, instances in self._by_group(fitted):
            alone = transform_checked(fitted, view, instances.take(slice(-1, None)), group).batch
            probe = _probe(alone)
            last = features.batch.scores(probe)[features.batch.offsets[-2] :]
            require_close(alone.scores(probe), last, f"group {group.name}: an instance alone", within=1e-5)

    def groups_do_not_affect_each_other(self) -> None:
        fitted, view = self._fit(), self._tokenisation(self._texts)
        by_group = self._by_group(fitted)
        parts = [(instances, group) for group, _, instances in by_group]
        together = transform_table([fitted], view, GroupedInstances.from_parts(parts))
        for (group, features, _), seen in zip(by_group, together, strict=True):
            what, probe = f"group {group.name} with the others", _probe(features.batch)
            require_equal(seen.batch.scores(probe), features.batch.scores(probe), what)
            require_equal(seen.batch.cost, features.batch.cost, f"costs of {what}")
            require_equal(seen.n_hits, features.n_hits, f"n_hits of {what}")
            require_equal(seen.n_queries, features.n_queries, f"n_queries of {what}")

    def accepts_no_instances(self) -> None:
        fitted, view = self._fit(), self._tokenisation([])
        columns = {group.name: made.batch.columns for group, made, _ in self._by_group(fitted)}
        for group in self._task.groups:
            features = transform_checked(fitted, view, self._task.instances(view), group)
            require(len(features.batch.cost) == 0, f"group {group.name}: rows without instances")
            if group.name in columns:
                seen, wanted = len(features.batch.columns), len(columns[group.name])
                require(seen == wanted, f"group {group.name}: {wanted} columns, but {seen} without instances")

    def _fit(self) -> FeatureExtractor:
        require(callable(getattr(self._extractor, "fit", None)), "it has no method fit")
        view = self._tokenisation(self._texts)
        return self._extractor.fit(view, self._task.instances(view), self._task.groups)

    def _transform_last(self, fitted: FeatureExtractor) -> None:
        """Transform the last instance alone."""
        view = self._tokenisation(self._texts)
        last = self._task.instances(view).take(slice(-1, None))
        if len(last):
            transform_checked(fitted, view, last, self._task.groups[int(last.groups[0])])

    def _by_group(self, fitted: FeatureExtractor) -> list[tuple[Group, Features, Instances]]:
        """Return each group that has instances, with their features."""
        view = self._tokenisation(self._texts)
        instances = self._task.instances(view)
        require(len(instances) > 0, "the task finds no instance in these texts")
        parts = [(self._task.groups[g], instances.take(rows)) for g, rows in instances.rows_by_group()]
        return [(group, transform_checked(fitted, view, part, group), part) for group, part in parts]


def _probe(batch: CandidateBatch) -> NDArray[np.float64]:
    """Return random weights of the columns: batches with the same features have the same scores."""
    return np.random.default_rng(0).normal(size=len(batch.columns))


def _copy(component: FeatureExtractor) -> FeatureExtractor:
    """Return an independent copy of a component, or the component if it cannot be copied."""
    try:
        return copy.deepcopy(component)
    except Exception:  # such as one with an open file
        return component


def check_kernel(kernel: Kernel, batch: CandidateBatch | None = None) -> list[Check]:
    """Return the checks of a kernel (similarity function).

    Parameters
    ----------
    kernel : Kernel
    batch : CandidateBatch, optional
        Instances in a storage that the kernel accepts; by default `disambig.testing.crossed`.
    """
    return collect_checks(_KernelChecks(kernel, crossed() if batch is None else batch))


@dataclass
class _KernelChecks:
    _kernel: Kernel
    _batch: CandidateBatch

    def keeps_its_contract(self) -> None:
        """Check the methods, and the types of what they return."""
        part = describe_component("kernels", self._kernel)
        check_call(part, self._kernel, "rows", "rows(batch), which returns a csr_array", None)
        check_call(part, self._kernel, "gram", "gram(left, right), which returns an array", None, None)
        rows: Any = self._rows()
        require(hasattr(rows, "indptr"), f"rows returned {describe_value(rows)}; expected a csr_array")
        gram: Any = self._kernel.gram(rows, rows)
        is_array = isinstance(gram, np.ndarray) and gram.dtype.kind == "f"
        require(is_array, f"gram returned {describe_value(gram)}; expected an array of floats")

    def declares_whether_it_is_linear(self) -> None:
        flag = self._kernel.is_linear
        require(isinstance(flag, bool), f"is_linear is {flag!r}: set it to True or False")

    def returns_one_row_per_instance(self) -> None:
        n = len(self._batch.offsets) - 1
        rows = self._rows()
        require(rows.shape[0] == n, f"{rows.shape[0]} rows for {n} instances")
        require(hasattr(rows, "indptr"), f"rows are not a csr_array but {type(rows).__name__}")

    def does_not_change_instances(self) -> None:
        batch = copy.deepcopy(self._batch)
        self._kernel.gram(self._kernel.rows(batch), self._kernel.rows(batch))
        probe = _probe(batch)
        require_equal(batch.scores(probe), self._batch.scores(probe), "features after rows and gram")

    def is_symmetric_and_finite(self) -> None:
        gram, n = self._gram(), len(self._batch.offsets) - 1
        require(gram.shape == (n, n), f"a Gram matrix of shape {gram.shape} for {n} instances")
        require(np.isfinite(gram).all(), "some numbers are not finite")
        require_close(gram, gram.T, "the transposed Gram matrix", within=1e-12)

    def is_positive_semidefinite(self) -> None:
        gram = self._gram()
        values = np.linalg.eigvalsh((gram + gram.T) / 2)
        minimum, maximum = float(values[0]), float(np.abs(values).max())
        rounding = 1e-12 * max(maximum, 1.0) * len(gram)
        require(minimum >= -rounding, f"an eigenvalue of the Gram matrix is {minimum:.3g}")

    def pairs_do_not_affect_each_other(self) -> None:
        gram, rows = self._gram(), np.array([2, 0])
        alone = self._kernel.rows(self._batch.take(rows))
        require_close(
            self._kernel.gram(alone, self._rows()), gram[rows], "two rows with all rows", within=1e-12
        )
        require_close(
            self._kernel.gram(self._rows(), alone), gram[:, rows], "all rows with two rows", within=1e-12
        )

    def is_linear_if_declared(self) -> None:
        if self._kernel.is_linear:
            rows, width = self._rows(), len(self._batch.columns) // int(np.diff(self._batch.offsets)[0])
            require(rows.shape[1] == width, f"rows have {rows.shape[1]} columns, those of the batch {width}")
            require_close(
                self._gram(), (rows @ rows.T).toarray(), "the Gram matrix of its rows", within=1e-12
            )

    def _rows(self) -> Any:
        return self._kernel.rows(copy.deepcopy(self._batch))

    def _gram(self) -> Any:
        rows = self._rows()
        return self._kernel.gram(rows, rows)


def check_learner(
    learner: Learner, batch: CandidateBatch | None = None, *, least: float | None = None
) -> list[Check]:
    """Return the checks of a learner.

    Parameters
    ----------
    learner : Learner
    batch : CandidateBatch, optional
        Examples, which are converted to a storage that the learner accepts; the scorer gets them unchanged.
        By default `disambig.testing.blocks`.
    least : float, optional
        Minimum accuracy of the trained scorer on its training examples; by default that of the best
        constant row.
    """
    return collect_checks(_LearnerChecks(learner, blocks() if batch is None else batch, least))


@dataclass
class _LearnerChecks:
    _learner: Learner
    _batch: CandidateBatch
    _least: float | None

    def keeps_its_contract(self) -> None:
        """Fit the learner with the checks of training (`disambig.training.fit`)."""
        train, dev = self._halves()
        needs_training(self._learner)
        fit(self._learner, train, dev=dev, rng=np.random.default_rng(0))

    def returns_one_finite_score_per_row(self) -> None:
        scores = self._fit().scorer.scores(self._batch)
        require(scores.shape == self._batch.cost.shape, f"scores of shape {scores.shape}")
        require(np.isfinite(scores).all(), "some scores are not finite")

    def is_repeatable(self) -> None:
        first, second = self._fit(), self._fit()
        require_equal(
            second.scorer.scores(self._batch), first.scorer.scores(self._batch), "scores after a second fit"
        )

    def does_not_change_examples(self) -> None:
        batch = copy.deepcopy(self._batch)
        self._learner.fit(to_accepted_storage(self._learner, batch), rng=np.random.default_rng(0))
        probe = _probe(batch)
        require_equal(batch.cost, self._batch.cost, "costs after fit")
        require_equal(batch.scores(probe), self._batch.scores(probe), "features after fit")

    def state_is_complete(self) -> None:
        scorer = self._fit().scorer
        again = self._learner.from_state({name: array.copy() for name, array in scorer.state().items()})
        require_equal(again.scores(self._batch), scorer.scores(self._batch), "scores after from_state")

    def instances_are_scored_independently(self) -> None:
        scorer = self._fit().scorer
        together = scorer.scores(self._batch)
        for i in {0, len(self._batch.offsets) - 2}:
            sequence = self._sequence_instances(i)
            alone = scorer.scores(self._batch.take(sequence))
            rows = slice(self._batch.offsets[sequence[0]], self._batch.offsets[sequence[-1] + 1])
            require_close(alone, together[rows], f"instance {i} scored alone", within=1e-5)

    def _sequence_instances(self, i: int) -> NDArray[np.int64]:
        """Return the instances in the sequence of instance `i`, or only `i` if there are no sequences."""
        if not hasattr(self._batch, "sequences"):
            return np.array([i])
        runs = self._batch.layout
        run = int(runs.searchsorted(i, side="right")) - 1
        return np.arange(runs[run], runs[run + 1])

    def accepts_development_data(self) -> None:
        train, dev = self._halves()
        taken, development = (to_accepted_storage(self._learner, part) for part in (train, dev))
        fitted = self._learner.fit(taken, dev=development, rng=np.random.default_rng(0))
        scores = fitted.scorer.scores(dev)
        require(np.isfinite(scores).all(), "some scores of the development data are not finite")

    def accepts_a_single_example(self) -> None:
        one = to_accepted_storage(self._learner, self._batch.take(self._sequence_instances(0)))
        scores = self._learner.fit(one, rng=np.random.default_rng(0)).scorer.scores(self._batch)
        require(np.isfinite(scores).all(), "scores after one example are not finite")

    def learns(self) -> None:
        if not needs_training(self._learner):
            return
        reached = accuracy(self._batch, self._fit().scorer.scores(self._batch))
        minimum = self._constant_accuracy() if self._least is None else self._least
        seen = f"{reached:.1%} of the training examples are right"
        require(reached >= minimum, f"{seen}, expected at least {minimum:.1%}")

    def _halves(self) -> tuple[CandidateBatch, CandidateBatch]:
        """Return every other instance, and the others."""
        instances = np.arange(len(self._batch.offsets) - 1)
        return self._batch.take(instances[::2]), self._batch.take(instances[1::2])

    def _constant_accuracy(self) -> float:
        """Return the accuracy of the best choice that ignores all features."""
        first, sizes = self._batch.offsets[:-1], np.diff(self._batch.offsets)
        rows = range(int(sizes.min()))
        return max(float(np.mean(self._batch.cost[first + row] == 0)) for row in rows)

    def _fit(self) -> Fitted:
        examples = to_accepted_storage(self._learner, copy.deepcopy(self._batch))
        fitted = self._learner.fit(examples, rng=np.random.default_rng(0))
        require(isinstance(fitted, Fitted), f"fit returned {type(fitted).__name__}, not Fitted")
        return fitted
