"""The contract of a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.errors import UserError
from disambig.fields import decides, metric
from disambig.testing.checks import Check, checks_of, require, require_equal
from disambig.text.hashing import hash_words
from disambig.text.view import Tokenisation, TokenView
from disambig.types import Between, HasExamples, TakesGroups, Task, Where


def check_task(task: Task, texts: Sequence[str], tokenisation: Tokenisation | None = None) -> list[Check]:
    """Return the checks of a task.

    Parameters
    ----------
    task : Task
    texts : sequence of str
        Documents in which the task finds something to decide; any, where it decides items outside a text.
    tokenisation : Tokenisation, optional
        By default ``disambig.words.v1``.
    """
    if tokenisation is None:
        from disambig.text.tokenisations.words import Words

        tokenisation = Words()
    return checks_of(_Checks(task, list(texts), tokenisation))


@dataclass
class _Checks:
    _task: Task
    _texts: list[str]
    _tokenisation: Tokenisation

    def has_name_and_language(self) -> None:
        name, language = self._task.name, self._task.language
        require(isinstance(name, str) and name.isidentifier(), f"name {name!r} is no identifier")
        require(isinstance(language, str), f"language is {language!r}, not a code such as 'en' or ''")

    def says_what_it_decides(self) -> None:
        try:
            what = decides(self._task)
        except UserError as problem:
            raise AssertionError(str(problem)) from problem
        require(what.where in get_args(Where), f"decides at {what.where!r}: none of {get_args(Where)}")
        require(what.between in get_args(Between), f"decides between {what.between!r}: {get_args(Between)}")
        name, candidate = metric(self._task)
        known = {each for group in self._task.groups for each in group.candidates}
        require(
            candidate is None or candidate in known, f"metric {name!r} is about {candidate!r}, no candidate"
        )

    def has_groups_of_candidates(self) -> None:
        groups = self._task.groups
        require(isinstance(groups, tuple) and len(groups) > 0, "groups is no tuple, or empty")
        names = [group.name for group in groups]
        require(len(set(names)) == len(names), f"two groups share a name: {sorted(names)}")
        for group in groups:
            known = set(group.candidates)
            least = 0 if self._own else 2  # lists of its own say all there is to say
            require(
                len(known) == len(group.candidates) >= least,
                f"{group.name}: fewer than two different candidates",
            )
            strange = [name for variants in group.variants for name in variants if name not in known]
            require(not strange, f"{group.name}: variants {strange} are no candidates")

    def takes_the_groups_of_a_saved_model(self) -> None:
        if isinstance(self._task, TakesGroups):
            given = self._task.groups[::-1][:-1] or self._task.groups
            require(self._task.of_groups(given).groups == given, "of_groups: other groups than were given")

    def finds_instances(self) -> None:
        found = self._find(self._texts)[1]
        if decides(self._task).where == "items":
            require(len(found) == 0, "instances in a text, but it decides items, which a reader brings")
            return
        require(len(found) > 0, "no instance in these texts: give texts with something to decide")

    def has_lists_where_it_says_so(self) -> None:
        found, n = self._find(self._texts)[1], len(self._find(self._texts)[1])
        own, between = found.own, decides(self._task).between
        if not self._own:
            require(
                own is None, f"instances have lists of their own, but it decides between {between}, not own"
            )
            return
        require(
            isinstance(own, CandidateLists),
            f"it decides between candidates of its own, but own is {type(own).__name__}, no CandidateLists",
        )
        assert own is not None
        require(len(own) == n, f"{len(own)} lists for {n} instances")
        require(bool((np.diff(own.offsets) > 0).all()), "a list is empty: every instance has one candidate")
        rows = int(own.offsets[-1])
        for name in ("texts", "scores", "ranks", "costs"):
            held = len(getattr(own, name))
            require(held == rows, f"{name} of {held:,} candidates, the lists have {rows:,}")
        require(all(isinstance(text, str) for text in own.texts), "a candidate is no text")
        require(bool(np.isfinite(own.scores).all()), "a base score is no finite number")
        require(bool((own.ranks >= 0).all()), "a rank is below 0")
        require(not (own.costs < 0).any(), "a cost is negative")
        if own.features is not None:
            shape = rows, len(own.feature_names)
            require(own.features.shape == shape, f"features of shape {own.features.shape}, not {shape}")

    def keeps_text_order(self) -> None:
        found = self._find(self._texts)[1]
        require(bool((np.diff(found.positions) >= 0).all()), f"positions fall: {found.positions}")

    def points_at_groups_and_candidates(self) -> None:
        found, groups = self._find(self._texts)[1], self._task.groups
        require(
            bool(((found.groups >= 0) & (found.groups < len(groups))).all()), "a group index is out of range"
        )
        sizes = np.array([len(group.candidates) for group in groups])[found.groups]
        if found.own is not None:
            sizes = np.diff(found.own.offsets)
        require(bool(((found.observed >= -1) & (found.observed < sizes)).all()), "observed is out of range")
        if decides(self._task).between == "labels":
            require(bool((found.observed == -1).all()), "observed is a label: of labels nothing stands there")

    def stays_inside_sentences(self) -> None:
        view, found = self._find(self._texts)
        empty = [
            i for i in np.flatnonzero(found.lengths < 1).tolist() if "" not in self._candidates(found, i)
        ]
        require(not empty, "an instance has no token, and no candidate that is no word")
        where = decides(self._task).where
        require(where != "tokens" or bool((found.lengths == 1).all()), "it decides tokens, and takes several")
        documents = where == "documents"
        for position, length in zip(found.positions, found.lengths, strict=True):
            inside = np.arange(position, position + length)
            tokens = inside[[0, -1]] if documents else inside  # a document has sentences
            require(
                bool((view.ends[tokens] > view.starts[tokens]).all()), f"token {position} is a sentence's end"
            )

    def observes_what_stands_there(self) -> None:
        view, found = self._find(self._texts)
        for i in np.flatnonzero(found.observed >= 0).tolist():
            candidate = self._candidates(found, i)[found.observed[i]]
            seen = view.hashes[found.positions[i] : found.positions[i] + found.lengths[i]]
            words = candidate.split(" ") if candidate else []
            require_equal(seen, hash_words(words), f"words observed as {candidate!r}")

    def takes_texts_one_by_one(self) -> None:
        together = self._find(self._texts)
        starts = together[0].documents
        apart = [self._find([text])[1] for text in self._texts]
        shifted = [found.positions + starts[i] for i, found in enumerate(apart)]
        require_equal(np.concatenate(shifted), together[1].positions, "positions of texts taken one by one")
        groups = np.concatenate([found.groups for found in apart])
        require_equal(groups, together[1].groups, "groups of texts taken one by one")
        lists = [texts for found in apart for texts in self._lists(found)]
        require(lists == self._lists(together[1]), "texts taken one by one have other candidates")

    def finds_the_same_twice(self) -> None:
        first, second = self._find(self._texts)[1], self._find(self._texts)[1]
        require_equal(second.positions, first.positions, "positions the second time")
        require_equal(second.observed, first.observed, "candidates the second time")
        require(self._lists(first) == self._lists(second), "there are other candidates the second time")

    def takes_texts_without_words(self) -> None:
        for texts in ([], [""], [" \n"], ["", ""]):
            require(len(self._find(texts)[1]) == 0, f"instances in {texts!r}")

    def learns_from_places_of_the_same_kind(self) -> None:
        if not isinstance(self._task, HasExamples):
            return
        examples = _Checks(_Learned(self._task), self._texts, self._tokenisation)
        try:
            examples.finds_instances()
            examples.keeps_text_order()
            examples.has_lists_where_it_says_so()
            examples.points_at_groups_and_candidates()
            examples.stays_inside_sentences()
            examples.observes_what_stands_there()
            examples.takes_texts_one_by_one()
            examples.finds_the_same_twice()
            examples.takes_texts_without_words()
        except AssertionError as problem:
            raise AssertionError(f"examples: {problem}") from problem

    @property
    def _own(self) -> bool:
        return decides(self._task).between == "own"

    def _candidates(self, found: Instances, index: int) -> tuple[str, ...]:
        if found.own is not None:
            return found.own.of_instance(index)
        return self._task.groups[found.groups[index]].candidates

    def _lists(self, found: Instances) -> list[tuple[str, ...]]:
        return [] if found.own is None else [found.own.of_instance(i) for i in range(len(found))]

    def _find(self, texts: list[str]) -> tuple[TokenView, Instances]:
        view = self._tokenisation(texts)
        return view, self._task.instances(view)


class _Learned:
    """A task with its examples in the place of its instances."""

    def __init__(self, task: Any) -> None:
        self._task = task

    def instances(self, view: TokenView) -> Instances:
        found: Instances = self._task.examples(view)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)
